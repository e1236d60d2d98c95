//! Tests of terms and of their FTS5 expressions.

use proptest::prelude::*;

use super::*;

#[test]
fn words_identifiers_and_scripts_are_split_into_terms() {
    let table: [(&str, &str); 22] = [
        ("Running dogs", "run dog"),
        (
            "the max_connections setting",
            "the max_connections max connect set",
        ),
        ("camelCase", "camelcas camel case"),
        ("foo-bar", "foo-bar foo bar"),
        ("v1.24.4", "v1.24.4 v1 24"),
        (
            "src/chunk/parse.rs",
            "src/chunk/parse.rs parse.rs src chunk pars rs",
        ),
        ("ada@example.org", "ada@example.org ada exampl org"),
        ("Ada's", "ada"),
        ("Ada’s don’t", "ada dont"),
        ("we'll", "we"),
        ("O'Brien", "obrien brien"),
        ("l'été", "lete ete"),
        ("1,000 m", "1000 m"),
        ("C++ and C#", "c++ and c#"),
        ("Café Zürich", "cafe zurich"),
        ("Привет, мир", "привет мир"),
        ("東京都", "東京 京都 都"),
        ("猫", "猫"),
        ("API集成", "api 集成 成"),
        ("한국어", "한국 국어 어"),
        ("10:30", "10:30 10 30"),
        ("…!?", ""),
    ];
    for (text, expected) in table {
        assert_eq!(index_terms(text).join(" "), expected, "{text}");
    }
}

#[test]
fn long_words_are_truncated() {
    let blob = "é".repeat(1_000);
    assert_eq!(index_terms(&blob), ["e".repeat(TERM)]);
    let path = "dir/".repeat(40) + "file.rs";
    let terms = index_terms(&path);
    assert_eq!(terms[0], "file.rs");
    assert!(terms.iter().all(|term| term.len() <= TERM));
}

#[test]
fn a_question_marks_its_stop_words() {
    let terms = query_terms("When did Caroline go to the LGBTQ support group?");
    let telling: Vec<&str> = terms
        .iter()
        .filter(|term| !term.stop)
        .map(|term| term.term.as_str())
        .collect();
    assert_eq!(telling[..4], ["carolin", "lgbtq", "support", "group"]);
    assert_eq!(telling[4..], ["@carolin", "@lgbtq", "@support", "@group"]);
    assert!(query_terms("what is it").iter().all(|term| term.stop));
}

#[test]
fn short_questions_match_prefixes() {
    let prefixes = |query: &str| query_terms(query).iter().filter(|term| term.prefix).count();
    assert_eq!(prefixes("ku"), 1);
    assert_eq!(prefixes("the db"), 1);
    assert_eq!(prefixes("猫"), 1);
    assert_eq!(prefixes("kubernetes"), 0);
    assert_eq!(prefixes("which db did the api team choose"), 0);
}

#[test]
fn the_speaker_has_a_separate_term() {
    let mut out = String::new();
    assert_eq!(
        Analyzer::new().index_terms("- **Caroline:** Hi, @mel!", &mut out),
        4
    );
    assert_eq!(out, "carolin hi mel @carolin");
}

#[test]
fn each_term_of_a_question_occurs_once() {
    let terms: Vec<String> = query_terms("dog dogs DOG")
        .into_iter()
        .map(|term| term.term)
        .collect();
    assert_eq!(terms, ["dog", "@dog"]);
}

/// Creates an index like the one in the store, in which only spaces separate terms.
fn index() -> rusqlite::Connection {
    let connection = rusqlite::Connection::open_in_memory().unwrap();
    connection
        .execute_batch("CREATE VIRTUAL TABLE terms USING fts5(text, tokenize = \"ascii\")")
        .unwrap();
    connection
}

fn matches(connection: &rusqlite::Connection, expression: &str) -> rusqlite::Result<i64> {
    connection.query_row(
        "SELECT count(*) FROM terms WHERE terms MATCH ?1",
        [expression],
        |row| row.get(0),
    )
}

#[test]
fn query_operators_are_treated_as_words() {
    let connection = index();
    for text in [
        "AND",
        "a OR b",
        "NEAR(x y)",
        "x*",
        "^x",
        "text:x",
        "\"",
        "\"\"",
        "()",
        "-x",
        "{a b}:c",
        "\0",
    ] {
        for prefix in [false, true] {
            let term = QueryTerm {
                term: text.to_owned(),
                stop: false,
                prefix,
            };
            assert_eq!(matches(&connection, &fts_query(&term)).unwrap(), 0, "{text}");
        }
    }
}

fn cases() -> ProptestConfig {
    ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// Generates text with many characters that FTS5 and the scanner treat specially.
fn odd_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        any::<String>(),
        "[a-zA-Z0-9'_.:/@,-]{1,12}",
        Just("AND".to_owned()),
        Just("NEAR(".to_owned()),
        Just("\"".to_owned()),
        Just("*".to_owned()),
        Just("日本語".to_owned()),
        Just("\u{301}".to_owned()),
        Just(" ".to_owned()),
        Just("\0".to_owned()),
    ];
    prop::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn every_question_is_a_valid_query_expression(text in odd_text(), prefix: bool) {
        let connection = index();
        let raw = QueryTerm { term: text.clone(), stop: false, prefix };
        prop_assert!(matches(&connection, &fts_query(&raw)).is_ok());
        let terms: Vec<String> = query_terms(&text).iter().map(fts_query).collect();
        if !terms.is_empty() {
            prop_assert!(matches(&connection, &terms.join(" OR ")).is_ok());
        }
    }

    #[test]
    fn terms_are_never_empty_and_have_no_spaces(text in odd_text()) {
        for term in index_terms(&text) {
            prop_assert!(!term.is_empty() && term.len() <= TERM);
            prop_assert!(!term.contains(|mark: char| mark.is_whitespace() || mark.is_control() || mark == '"'));
        }
    }

    #[test]
    fn a_text_yields_the_same_terms_as_query_and_as_document(text in odd_text()) {
        // A query also contains a speaker term for every word.
        let words = |terms: Vec<String>| {
            let mut words: Vec<String> = terms.into_iter().filter(|term| !term.starts_with('@')).collect();
            words.sort();
            words.dedup();
            words
        };
        let indexed = words(index_terms(&text));
        let asked = words(query_terms(&text).into_iter().map(|term| term.term).collect());
        prop_assert_eq!(asked, indexed);
    }

    #[test]
    fn joined_terms_equal_the_list_of_terms(text in odd_text()) {
        let mut joined = String::new();
        let count = Analyzer::new().index_terms(&text, &mut joined);
        let terms = index_terms(&text);
        prop_assert_eq!(count, terms.len());
        prop_assert_eq!(joined, terms.join(" "));
    }
}
