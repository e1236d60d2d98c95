//! Tests of redaction: recall, precision, linear running time.

use proptest::prelude::*;

use super::*;

const SAMPLES: &str = include_str!("../tests/data/redact.txt");

/// Returns the labelled lines that begin with `sign`. Each has the text, the expected text after redaction, and the
/// secrets.
fn samples(sign: &str) -> Vec<(String, String, Vec<String>)> {
    let lines = SAMPLES.lines().filter_map(|line| line.strip_prefix(sign));
    lines
        .map(|line| {
            let line = line.replace('·', "").replace("\\n", "\n");
            let mut shown = String::new();
            let mut secrets = Vec::new();
            let mut rest = line.as_str();
            while let Some((before, after)) = rest.split_once('⟦') {
                let (secret, after) = after.split_once('⟧').unwrap();
                shown.push_str(before);
                shown.push_str(REDACTED);
                secrets.push(secret.to_owned());
                rest = after;
            }
            shown.push_str(rest);
            (line.replace(['⟦', '⟧'], ""), shown, secrets)
        })
        .collect()
}

#[test]
fn secrets_are_found() {
    let samples = samples("+ ");
    assert!(samples.len() >= 300, "{}", samples.len());
    let (mut secrets, mut missed, mut inexact) = (0, Vec::new(), Vec::new());
    for (line, shown, of) in &samples {
        let found = redact(line);
        secrets += of.len();
        missed.extend(of.iter().filter(|secret| found.contains(*secret)).map(|_| line));
        if found != *shown {
            inexact.push(format!("{line}\n  {found}"));
        }
    }
    assert!(
        missed.len() * 100 <= secrets,
        "{} of {secrets}: {missed:#?}",
        missed.len()
    );
    assert!(
        inexact.len() * 50 <= samples.len(),
        "{}: {}",
        inexact.len(),
        inexact.join("\n")
    );
}

#[test]
fn text_without_secrets_is_not_changed() {
    let samples = samples("- ");
    assert!(samples.len() >= 300, "{}", samples.len());
    let changed: Vec<String> = samples
        .iter()
        .filter(|(line, ..)| redact(line) != *line)
        .map(|(line, ..)| format!("{line}\n  {}", redact(line)))
        .collect();
    assert!(
        changed.len() * 100 <= samples.len(),
        "{} of {}:\n{}",
        changed.len(),
        samples.len(),
        changed.join("\n")
    );
}

#[test]
fn a_long_text_is_redacted_like_its_lines() {
    for sign in ["+ ", "- "] {
        let samples = samples(sign);
        let lines = samples.iter().filter(|(line, shown, _)| {
            !line.contains('\n') && redact(line) == *shown && !line.contains("BEGIN")
        });
        let (text, shown): (Vec<&str>, Vec<&str>) = lines
            .map(|(line, shown, _)| (line.as_str(), shown.as_str()))
            .unzip();
        assert_eq!(redact(&text.join("\n\n")), shown.join("\n\n"));
        assert_eq!(redact(&text.join("\r\n\r\n")), shown.join("\r\n\r\n"));
    }
}

#[test]
fn redacting_samples_again_changes_nothing() {
    for (line, ..) in samples("+ ").into_iter().chain(samples("- ")) {
        let once = redact(&line).into_owned();
        assert_eq!(redact(&once), once);
        assert_eq!(find_kinds(&line).is_empty(), once == line, "{line}");
    }
}

/// Generates texts of labels, prefixes and parts of secrets in random order.
fn nasty() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        6 => prop::sample::select(vec![
            "password", "key", "token", "secret", "api", "API_", "pass", "pw", "passphrase", "seed phrase", "Bearer ", "Basic ", "Authorization: ",
            "sk-", "sk-ant-", "ghp_", "AKIA", "xoxb-", "eyJ", "SG.", "://", "@", ":AA", "-----BEGIN RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----",
            "密码", "--", "[redacted]", "[", "]", " is ", " for ", " the ", " to ", "my ",
        ]).prop_map(str::to_owned),
        5 => prop::sample::select(vec![
            " ", ":", "=", ": ", " = ", "\"", "'", "`", "**", "|", "->", "→", "：", ",", ";", "&", "?", "/", "\\", "\n", ".", "_", "(", ")", "<", ">", "{", "}", "$", "!", "…",
        ]).prop_map(str::to_owned),
        4 => "[a-zA-Z0-9]{1,24}",
        2 => prop::sample::select(vec!["hunter2", "swordfish", "Zx81kQ9dPw72LmA0vBt3", "dXNlcjpwYXNz", "é", "日", "x", "your-key", "3f2a9c1d0b4e5f60718293a4b5c6d7e8"]).prop_map(str::to_owned),
    ];
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: ProptestConfig::default().cases.max(2_000), ..ProptestConfig::default() })]

    #[test]
    fn redacting_again_changes_nothing(text in nasty()) {
        let once = redact(&text).into_owned();
        prop_assert_eq!(&redact(&once), &once, "{}", text);
        prop_assert_eq!(find_kinds(&text).is_empty(), matches!(redact(&text), Cow::Borrowed(_)), "{}", text);
    }

    #[test]
    fn redaction_of_any_text_is_idempotent(text in any::<String>()) {
        let once = redact(&text).into_owned();
        prop_assert_eq!(&redact(&once), &once);
    }
}

#[test]
fn text_around_secrets_is_not_changed() {
    assert!(matches!(
        redact("nothing to hide"),
        Cow::Borrowed("nothing to hide")
    ));
    assert_eq!(
        redact("pw: nas4711, then\n\tall  else"),
        "pw: [redacted], then\n\tall  else"
    );
}

/// Asserts that repeated text is redacted in linear time. With quadratic time, the test would never finish.
fn assert_linear_time(end: &str) {
    let units = [
        "key",
        "key=",
        "key:",
        "apikey=",
        "key=a",
        "password is ",
        "password for ",
        "密码",
        "密码：",
        "://",
        "a://b:c",
        "a://b",
        "sk-",
        " sk-ant-",
        "eyJ",
        ".eyJaaaaaaaaaa.",
        ".sk-aB1cD2eF3gH4iJ5kL6mN7",
        "/eyJaaaaaaaaaa.aaaaaaaaaa",
        "+password=aB1cD2eF3gH4",
        "1:AA",
        "Bearer ",
        "Basic a",
        " is the key",
        "a is my key",
        "secret=\"",
        "secret='\"",
        "pw:$",
        "--token ",
        "seed phrase: a ",
        "passphrase=aaa-",
        "token:,a:",
        "secret=a,b=",
        "key_prod=",
        "-----BEGIN ",
        "-----BEGIN RSA PRIVATE KEY-----",
        "-----BEGIN RSA PRIVATE KEY----------END ",
        "token aB1aB1aB1aB1aB1aB1aB1 ",
        "A1b",
        "x",
    ];
    for unit in units {
        let text = unit.repeat(300_000 / unit.len()) + end;
        let once = redact(&text).into_owned();
        assert_eq!(redact(&once), once, "{unit} {end}");
    }
}

// Each case is a separate test, so that the cases run in parallel: without optimisation, each case takes a minute.
#[test]
fn redaction_takes_linear_time() {
    assert_linear_time("");
}

#[test]
fn redaction_before_redacted_text_takes_linear_time() {
    assert_linear_time(REDACTED);
}

#[test]
fn redaction_before_words_takes_linear_time() {
    assert_linear_time(" is the key");
}
