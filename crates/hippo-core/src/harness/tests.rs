//! Tests of the reader of `hipocampus.config.json`.

use proptest::prelude::*;

use super::*;

#[test]
fn comments_and_trailing_commas_and_nothing_else() {
    let read = |text: &str| jsonc_parser::parse_to_serde_value::<serde_json::Value>(text, &as_people_write());
    assert_eq!(read("// a\n{\"b\": [1, 2,], /* c */}").unwrap()["b"][1], 2);
    for no in [
        "{b: 1}",
        "{'b': 1}",
        "{\"b\": 0x1}",
        "{\"b\": .5}",
        "{\"b\": NaN}",
        "{\"a\": 1 \"b\": 2}",
    ] {
        assert!(read(no).is_err(), "{no}");
    }
}

#[test]
fn what_is_sound_is_read_and_keys_of_others_are_left_alone() {
    let text = "{ // ours\n \"platform\": \"codex\", \"tenants\": [-1,], \"search\": {\"vector\": false, \"embedModel\": \"auto\", \"top\": -3},\n \
        \"compaction\": {\"rootMaxTokens\": 1500, \"cooldownHours\": 0.5}, \"index\": {\"inPrompt\": true}, }";
    let whole = Settings {
        platform: Some("codex".to_owned()),
        vector: Some(false),
        index_in_prompt: Some(true),
        root_max_tokens: Some(1_500),
        cooldown_hours: Some(0.5),
    };
    assert_eq!(read(text.as_bytes()), (whole, vec![]));
    for nothing in ["{}", r#"{"platform":null,"search":{"vector":null},"index":null}"#] {
        assert_eq!(
            read(nothing.as_bytes()),
            (Settings::default(), vec![]),
            "{nothing}"
        );
    }
}

#[test]
fn without_trust_a_folder_only_narrows() {
    let of = |text: &str| read(text.as_bytes()).0;
    let small = of(
        r#"{"search":{"vector":false},"compaction":{"rootMaxTokens":500,"cooldownHours":9},"index":{"inPrompt":false}}"#,
    );
    assert_eq!(small.narrowed(3_000, 3.0), (small.clone(), vec![]));
    let large = of(r#"{"compaction":{"rootMaxTokens":1000000,"cooldownHours":0},"index":{"inPrompt":true}}"#);
    let (narrowed, wider) = large.narrowed(3_000, 3.0);
    let expected = Settings {
        root_max_tokens: Some(3_000),
        cooldown_hours: Some(3.0),
        ..Settings::default()
    };
    assert_eq!(narrowed, expected);
    let keys: Vec<&str> = wider.iter().map(|wider| wider.key).collect();
    assert_eq!(
        keys,
        [
            "compaction.rootMaxTokens",
            "compaction.cooldownHours",
            "index.inPrompt"
        ]
    );
}

#[test]
fn what_cannot_be_meant_is_told_with_its_place_and_costs_nothing_else() {
    let table = [
        (
            r#"{"platform": "vim"}"#,
            "line 1, column 14: platform is \"vim\"; expected is one of claude-code, openclaw, opencode, codex, none",
        ),
        (
            r#"{"platform": 3}"#,
            "line 1, column 14: platform is 3; expected is one of claude-code, openclaw, opencode, codex, none",
        ),
        (
            "{\n  \"search\": {\n    \"vector\": \"no\"\n  }\n}",
            "line 3, column 15: search.vector is \"no\"; expected is true or false",
        ),
        (
            r#"{"search": false}"#,
            "line 1, column 12: search is false; expected is an object { … }",
        ),
        (
            r#"{"search": {"embedModel": 1}}"#,
            "line 1, column 27: search.embedModel is 1; expected is a text such as \"auto\"",
        ),
        (
            r#"{"index": {"inPrompt": 1}}"#,
            "line 1, column 24: index.inPrompt is 1; expected is true or false",
        ),
        (
            r#"{"compaction": {"rootMaxTokens": -5}}"#,
            "line 1, column 34: compaction.rootMaxTokens is -5; expected is a whole number from 200 to 1000000",
        ),
        (
            r#"{"compaction": {"rootMaxTokens": 199}}"#,
            "line 1, column 34: compaction.rootMaxTokens is 199; expected is a whole number from 200 to 1000000",
        ),
        (
            r#"{"compaction": {"rootMaxTokens": 300.5}}"#,
            "line 1, column 34: compaction.rootMaxTokens is 300.5; expected is a whole number from 200 to 1000000",
        ),
        (
            r#"{"compaction": {"rootMaxTokens": [1]}}"#,
            "line 1, column 34: compaction.rootMaxTokens is a list; expected is a whole number from 200 to 1000000",
        ),
        (
            r#"{"compaction": {"cooldownHours": -1}}"#,
            "line 1, column 34: compaction.cooldownHours is -1; expected is a number of hours from 0 to 8760",
        ),
        (
            r#"{"compaction": {"cooldownHours": "é3"}}"#,
            "line 1, column 34: compaction.cooldownHours is \"é3\"; expected is a number of hours from 0 to 8760",
        ),
        (
            r#"{"é": 1, "search": {"vector": true, "vector": false}}"#,
            "line 1, column 37: search.vector stands there twice: leave one",
        ),
        ("[]", "line 1, column 1: it holds no object { … }"),
        ("", "line 1, column 1: it holds no object { … }"),
        ("\u{feff}[]", "line 1, column 1: it holds no object { … }"),
    ];
    for (text, told) in table {
        let (settings, misfits) = read(text.as_bytes());
        let misfits: Vec<String> = misfits.iter().map(Misfit::to_string).collect();
        assert_eq!(
            (settings, misfits),
            (Settings::default(), vec![told.to_owned()]),
            "{text}"
        );
    }
    let (_, torn) = read(b"{\n  \"platform\": \n");
    assert_eq!((torn[0].line, torn[0].column), (3, 1), "{torn:?}");
    let (_, odd) = read(b"{\n \"a\": \"\xff\"}");
    assert_eq!(odd[0].to_string(), "line 2, column 8: it is no UTF-8");
    let (settings, misfits) =
        read(br#"{"compaction":{"rootMaxTokens":"x","cooldownHours":2},"platform":"vim","search":{"vector":false}}"#);
    assert_eq!(misfits.len(), 2, "{misfits:?}");
    assert_eq!(
        (settings.cooldown_hours, settings.vector),
        (Some(2.0), Some(false))
    );
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        let _ = read(&bytes);
    }

    #[test]
    fn what_is_used_is_within_its_bounds(tokens in any::<i64>(), hours in any::<f64>()) {
        let text = format!(r#"{{"compaction":{{"rootMaxTokens":{tokens},"cooldownHours":{hours:?}}}}}"#);
        let (settings, _) = read(text.as_bytes());
        let (least, most) = ROOT_TOKENS;
        prop_assert!(settings.root_max_tokens.is_none_or(|tokens| (least..=most).contains(&tokens)));
        prop_assert!(settings.cooldown_hours.is_none_or(|hours| (0.0..=MOST_HOURS).contains(&hours)));
    }
}
