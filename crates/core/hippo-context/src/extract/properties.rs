//! Property tests of extraction on arbitrary bytes.

use proptest::prelude::*;
use proptest::sample::Index;

use super::tests::fixtures;
use super::*;

fn config() -> ProptestConfig {
    ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// Generates arbitrary bytes, and fixtures that are modified, cut, repeated and concatenated.
fn contents() -> impl Strategy<Value = Vec<u8>> {
    let fixture =
        || (any::<Index>()).prop_map(|at| fixtures()[at.index(fixtures().len())].1.as_bytes().to_vec());
    let edits = prop::collection::vec((any::<Index>(), any::<u8>()), 0..12);
    let mutated = (fixture(), edits).prop_map(|(mut bytes, edits)| {
        for (at, byte) in edits {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        bytes
    });
    prop_oneof![
        1 => prop::collection::vec(any::<u8>(), 0..2_000),
        1 => any::<String>().prop_map(String::into_bytes),
        3 => mutated,
        2 => (fixture(), any::<Index>(), 1_usize..40).prop_map(|(bytes, cut, times)| {
            bytes[..cut.index(bytes.len())].repeat(times)
        }),
        2 => (fixture(), fixture(), any::<Index>()).prop_map(|(mut one, two, at)| {
            let at = at.index(one.len());
            one.splice(at..at, two);
            one
        }),
        1 => ("[\\[{(<\"'`:,#|*=@+\\-/\\\\\n ]{1,3}", 1_usize..2_000).prop_map(|(text, times)| text.repeat(times).into_bytes()),
    ]
}

fn hint() -> impl Strategy<Value = (&'static str, &'static str)> {
    let tools = vec!["", "read", "exec", "browser.snapshot"];
    let refs = vec![
        "",
        "src/lib.rs",
        "{\"path\":\"a/b.py\"}",
        "x.json",
        "a.md",
        "cat y.go",
        "page.html",
    ];
    (prop::sample::select(tools), prop::sample::select(refs))
}

/// Generates a template and a secret for it. The secret is recognised by its format, by the label in the template, or
/// as the lines of a key.
fn hidden() -> impl Strategy<Value = (&'static str, String)> {
    let known = prop::sample::select(vec![
        "\npassword = \"{}\"\n",
        "\"api_key\": \"{}\",",
        "\nAuthorization: Bearer {}\n",
        " {} ",
        "https://ada:{}@example.org/x",
        "\nexport TOKEN={}\n",
    ]);
    let labelled = prop::sample::select(vec![
        "\npassword = \"{}\"\n",
        "\n\"api_key\": \"{}\",\n",
        "\nexport DB_PASSWORD={}\n",
    ]);
    let line = prop::collection::vec("[a-z][A-Z][0-9][A-Za-z0-9+/]{61}", 1..4);
    prop_oneof![
        known.prop_map(|form| (form, "ghp_aB3dE5gH7jK9mN1pQ3sT5vW7xY9zA1bC3dE5".to_owned())),
        (labelled, "[a-z]{2}[0-9][A-Z][a-z]{2}[0-9]{2}[a-zA-Z0-9]{14}")
            .prop_map(|(form, secret)| (form, secret)),
        line.prop_map(|lines| (
            "{}",
            format!("{}\n-----END RSA PRIVATE KEY-----", lines.join("\n"))
        )),
    ]
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn any_bytes_yield_a_deterministic_entry_within_its_budget(
        bytes in contents(),
        (source_type, source_ref) in hint(),
        tokens in prop::option::of(0_usize..700),
    ) {
        let hints = Hints { source_type, source_ref };
        let entry = extract(&bytes, &hints, tokens);
        let most = tokens.unwrap_or_else(|| default_tokens(tokens::of_bytes(bytes.len())));
        prop_assert!(entry.entry_tokens <= most.clamp(LEAST_TOKENS, MOST_TOKENS), "{entry:?}");
        prop_assert_eq!(entry.entry_tokens, tokens::of(&entry.rendered()));
        prop_assert_eq!(entry.content_tokens, tokens::of_bytes(bytes.len()));
        prop_assert!(!entry.summary.trim().is_empty() && !entry.summary.contains('\n'));
        prop_assert_eq!(extract(&bytes, &hints, tokens), entry);
    }

    #[test]
    fn an_entry_contains_no_secret(
        bytes in contents(),
        at in any::<Index>(),
        (form, secret) in hidden(),
        tokens in 16_usize..500,
    ) {
        let mut text = String::from_utf8_lossy(&bytes).into_owned();
        let at = text.floor_char_boundary(at.index(text.len() + 1));
        // The secret is on a line of its own. Otherwise, text directly before the secret could form a word with it.
        text.insert_str(at, &format!("\n{}\n", form.replace("{}", &secret)));
        let shown = extract(text.as_bytes(), &Hints::default(), Some(tokens)).rendered();
        for piece in secret.split('\n').filter(|line| !line.starts_with("---")) {
            prop_assert!(!shown.contains(&piece[4..20]), "{shown}");
        }
        prop_assert_eq!(hippo_redact::redact(&shown).into_owned(), shown.clone());
    }

    #[test]
    fn a_larger_budget_keeps_the_headline(bytes in contents(), tokens in 16_usize..250) {
        let less = extract(&bytes, &Hints::default(), Some(tokens));
        let more = extract(&bytes, &Hints::default(), Some(tokens * 2));
        prop_assert_eq!(less.kind, more.kind);
        // The smaller budget may cut the headline. Sentences after the headline may differ, because values take their
        // place.
        let headline = less.summary.split(['…', ';']).next().unwrap_or_default();
        prop_assert!(more.summary.starts_with(headline), "{less:?}\n{more:?}");
        prop_assert!(more.entry_tokens + 24 >= less.entry_tokens, "{less:?}\n{more:?}");
    }
}

#[test]
fn deep_nesting_does_not_overflow_the_stack() {
    for part in [
        "[", "{\"a\":", "<div>", "(", "> ", "- ", "    ", "│   ", "/* ", "\"\"\"", "[a](", "```\n",
    ] {
        let text = part.repeat(200_000);
        let entry = extract(text.as_bytes(), &Hints::default(), None);
        assert!(entry.entry_tokens <= MOST_TOKENS, "{part}");
    }
}
