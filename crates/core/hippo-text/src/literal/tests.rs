//! Tests of the literals found in a text.

use proptest::prelude::*;

use super::LiteralKind::{Id, Number, Path, Term, Url};
use super::*;

#[derive(Default)]
struct Found<'t> {
    words: Vec<usize>,
    literals: Vec<(&'t str, LiteralKind, usize)>,
}

impl<'t> LiteralVisitor<'t> for Found<'t> {
    fn word(&mut self, at: usize) {
        self.words.push(at);
    }
    fn literal(&mut self, literal: &'t str, sort: LiteralKind, at: usize) {
        self.literals.push((literal, sort, at));
    }
}

fn scan_literals(text: &str) -> Vec<(&str, LiteralKind)> {
    let mut found = Found::default();
    scan(text, &mut found);
    let literals = found.literals.into_iter();
    literals.map(|(literal, sort, _)| (literal, sort)).collect()
}

#[test]
fn words_are_classified_by_their_form() {
    for (word, sort) in [
        ("src/agent/oracle.ts", Some(Path)),
        ("/home/ada", Some(Path)),
        ("README.md", Some(Path)),
        ("a.rs", Some(Path)),
        ("a/b.rs", Some(Path)),
        ("~/notes", Some(Path)),
        (".gitignore", Some(Path)),
        ("@scope/package", Some(Path)),
        ("input/output", Some(Path)),
        ("and/or", None),
        ("n/a", None),
        ("maxVisible", Some(Id)),
        ("TK_NONE", Some(Id)),
        ("HAT-110", Some(Id)),
        ("e10", Some(Id)),
        ("ada@example.org", Some(Id)),
        ("v1.2.3", Some(Id)),
        ("foo.bar", Some(Id)),
        ("e.g", None),
        ("2024-05-18", Some(Number)),
        ("10.0.0.1", Some(Number)),
        ("158", Some(Number)),
        ("12", None),
        ("README", Some(Term)),
        ("copy-on-write", Some(Term)),
        ("re-read", None),
        ("THE", None),
        ("hello", None),
        ("Hello", None),
        ("Müller", None),
        ("-----", None),
        ("two words", None),
    ] {
        assert_eq!(classify_literal(word), sort, "{word}");
    }
}

#[test]
fn non_ascii_letters_belong_to_a_word() {
    let cases: [(&str, &[(&str, LiteralKind)]); 8] = [
        (
            "in /home/müller/notes.md, see",
            &[("/home/müller/notes.md", Path)],
        ),
        (
            "größe_max und Straßen-Plan-2",
            &[("größe_max", Id), ("Straßen-Plan-2", Id)],
        ),
        // Punctuation marks end a word, as in ASCII.
        (
            "“src/main.rs” – ‘a_b_c’…",
            &[("src/main.rs", Path), ("a_b_c", Id)],
        ),
        (
            "→crate_map│HAT110·HAT111",
            &[("crate_map", Id), ("HAT110", Id), ("HAT111", Id)],
        ),
        // Letters of scripts without spaces do not begin a word. They belong to a word only after a mark such as `/`.
        (
            "修改src/main.rs文件。看docs/文档/a.md吧",
            &[("src/main.rs", Path), ("docs/文档/a.md", Path)],
        ),
        ("「max_size」を", &[("max_size", Id)]),
        ("файл/путь/ключ.toml", &[("файл/путь/ключ.toml", Path)]),
        ("🚢boat_7🚢", &[("boat_7", Id)]),
    ];
    for (text, literals) in cases {
        assert_eq!(scan_literals(text), literals, "{text}");
    }
}

#[test]
fn urls_are_reported_whole_or_not_at_all() {
    let cases: [(&str, &[(&str, LiteralKind)]); 10] = [
        ("see https://a.b/c?d=1&e. Then", &[("https://a.b/c?d=1&e", Url)]),
        ("(http://a.b/c)", &[("http://a.b/c", Url)]),
        ("s3://bucket/x", &[("s3://bucket/x", Url)]),
        ("git+ssh://host/x.git", &[("git+ssh://host/x.git", Url)]),
        ("-chrome-extension://abc/x", &[("chrome-extension://abc/x", Url)]),
        ("https://a.b/ü/c", &[("https://a.b/ü/c", Url)]),
        (
            "“https://a.b/c” und https://a.b/d。",
            &[("https://a.b/c", Url), ("https://a.b/d", Url)],
        ),
        ("**https://a.b/c**", &[("https://a.b/c", Url)]),
        ("12://345 678", &[("678", Number)]),
        ("file://", &[]),
    ];
    for (text, literals) in cases {
        assert_eq!(scan_literals(text), literals, "{text}");
    }
    let long = format!("https://a.b/{} next_word", "c_d/".repeat(60));
    assert_eq!(scan_literals(&long), [("next_word", Id)]);
}

#[test]
fn the_dot_of_a_call_does_not_belong_to_the_name() {
    let cases: [(&str, &[(&str, LiteralKind)]); 5] = [
        ("    .collect();\n    .unwrap_or(1)", &[("unwrap_or", Id)]),
        ("f().is_some", &[("is_some", Id)]),
        ("{...ownProps} ..-a_bc", &[("ownProps", Id), ("a_bc", Id)]),
        (
            "\".env.local\" ../up/x",
            &[(".env.local", Path), ("../up/x", Path)],
        ),
        ("--no-default-features", &[("no-default-features", Term)]),
    ];
    for (text, literals) in cases {
        assert_eq!(scan_literals(text), literals, "{text}");
    }
}

#[test]
fn location_suffixes_follow_paths() {
    for (text, end, behind) in [
        ("a.rs:12:3: error", 4, 9),
        ("a.rs:12", 4, 7),
        ("a.rs#L12-L14", 4, 8),
        ("a.rs:x", 4, 4),
        ("a.rs:123456789", 4, 4),
        ("a.rs", 4, 4),
        ("a.rs", 9, 9),
    ] {
        assert_eq!(location_end(text, end), behind, "{text}");
    }
}

#[test]
fn word_offsets_are_correct() {
    let mut found = Found::default();
    let text = "Über a_b, 日本語の文。次";
    scan(text, &mut found);
    let words: Vec<&str> = found.words.iter().map(|at| &text[*at..]).collect();
    assert_eq!(
        words,
        [
            "Über a_b, 日本語の文。次",
            "a_b, 日本語の文。次",
            "日本語の文。次",
            "次"
        ]
    );
}

#[test]
fn leading_hyphens_do_not_change_a_word() {
    for (text, told) in [
        ("-\u{fc}aA", None),
        ("--aBcd-", Some(Id)),
        ("--aBc", None),
        ("...-README", Some(Term)),
    ] {
        let mut found = Found::default();
        scan(text, &mut found);
        assert_eq!(found.literals.first().map(|(_, sort, _)| *sort), told, "{text}");
        assert_eq!(classify_literal(text.trim_matches(['-', '.'])), told);
    }
}

#[test]
fn no_word_is_reported_twice() {
    let mut found = Found::default();
    scan("A0Aa+b://one.org and git+https://two.org", &mut found);
    let told: Vec<&str> = found.literals.iter().map(|(literal, ..)| *literal).collect();
    assert_eq!(told, ["A0Aa", "b://one.org", "git+https://two.org"]);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn literals_occur_in_the_text_at_their_offset(text in "(\\PC{0,6}|[a-z_./:@~+ -]{0,8}|://|日本|ü|[.]{2}|[A-Z0-9]{1,4}){0,12}") {
        let mut found = Found::default();
        scan(&text, &mut found);
        let mut last = 0;
        for (literal, sort, at) in found.literals {
            prop_assert!(text[at..].starts_with(literal), "{} at {}", literal, at);
            prop_assert!(at >= last && (LEAST..=MOST).contains(&literal.len()));
            last = at + literal.len();
            // A literal that is found in a text must also be recognized alone.
            prop_assert_eq!(classify_literal(literal), Some(sort), "{}", literal);
            prop_assert!(location_end(&text, last) >= last);
        }
        prop_assert!(found.words.is_sorted() && found.words.iter().all(|at| text.is_char_boundary(*at)));
    }
}
