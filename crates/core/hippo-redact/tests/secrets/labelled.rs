//! Labelled lines with and without secrets.

use hippo_redact::redact;

const LABELLED: &str = include_str!("../data/secrets.txt");

/// Returns the labelled lines that begin with `sign`: `+` for lines with secrets, `-` for lines without secrets. `⟦`
/// and `⟧` enclose each secret.
pub fn labelled(sign: &str) -> Vec<String> {
    let lines = LABELLED.lines().filter_map(|line| line.strip_prefix(sign));
    lines
        .map(|line| line.replace('·', "").replace("\\n", "\n"))
        .collect()
}

/// Returns the marked secrets in a labelled line.
pub fn secrets(line: &str) -> Vec<&str> {
    let after = line.split('⟦').skip(1);
    after.filter_map(|rest| Some(rest.split_once('⟧')?.0)).collect()
}

/// Returns the lines whose first secret is redacted, each with this secret.
pub fn found_secrets() -> Vec<(String, String)> {
    let lines = labelled("+ ").into_iter().filter(|line| !line.contains('\n'));
    lines
        .filter_map(|line| {
            let secret = (*secrets(&line).first()?).to_owned();
            let text = line.replace(['⟦', '⟧'], "");
            let hidden = secret.len() >= 6 && !redact(&text).contains(&secret);
            hidden.then_some((text, secret))
        })
        .collect()
}

pub fn assert_shows_none(what: &str, shown: &str, of: &[(String, String)]) {
    let leaked: Vec<&str> = of
        .iter()
        .map(|(_, secret)| secret.as_str())
        .filter(|secret| shown.contains(secret))
        .collect();
    assert!(leaked.is_empty(), "{what} shows {leaked:?}");
}
