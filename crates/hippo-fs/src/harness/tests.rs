//! Tests of the reader of `hipocampus.config.json`.

use proptest::prelude::*;

use super::*;

#[test]
fn json_may_have_comments_and_trailing_commas_only() {
    let read = |text: &str| jsonc_parser::parse_to_serde_value::<Value>(text, &json_options());
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
fn valid_values_are_read_and_unknown_keys_ignored() {
    let text = "{ // ours\n \"platform\": \"codex\", \"tenants\": [-1,], \"search\": {\"vector\": false, \"embedModel\": \"auto\", \"top\": -3},\n \
        \"compaction\": {\"rootMaxTokens\": 1500, \"cooldownHours\": 0.5}, \"index\": {\"inPrompt\": true}, }";
    let whole = HarnessSettings {
        platform: Some("codex".to_owned()),
        vector: Some(false),
        index_in_prompt: Some(true),
        root_max_tokens: Some(1_500),
        cooldown_hours: Some(0.5),
        session_compaction: None,
    };
    assert_eq!(read(text.as_bytes()), (whole, vec![]));
    for nothing in ["{}", r#"{"platform":null,"search":{"vector":null},"index":null}"#] {
        assert_eq!(
            read(nothing.as_bytes()),
            (HarnessSettings::default(), vec![]),
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
    let expected = HarnessSettings {
        root_max_tokens: Some(3_000),
        cooldown_hours: Some(3.0),
        ..HarnessSettings::default()
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
fn invalid_values_are_reported_and_others_kept() {
    let table = [
        (
            r#"{"platform": "vim"}"#,
            "platform is \"vim\"; expected one of claude-code, openclaw, opencode, codex, pi, none",
        ),
        (
            r#"{"platform": 3}"#,
            "platform is 3; expected one of claude-code, openclaw, opencode, codex, pi, none",
        ),
        (
            "{\n  \"search\": {\n    \"vector\": \"no\"\n  }\n}",
            "search.vector is \"no\"; expected true or false",
        ),
        (
            r#"{"search": false}"#,
            "search is false; expected an object { … }",
        ),
        (
            r#"{"index": {"inPrompt": 1}}"#,
            "index.inPrompt is 1; expected true or false",
        ),
        (
            r#"{"compaction": {"rootMaxTokens": -5}}"#,
            "compaction.rootMaxTokens is -5; expected a whole number from 200 to 1000000",
        ),
        (
            r#"{"compaction": {"rootMaxTokens": 199}}"#,
            "compaction.rootMaxTokens is 199; expected a whole number from 200 to 1000000",
        ),
        (
            r#"{"compaction": {"rootMaxTokens": 300.5}}"#,
            "compaction.rootMaxTokens is 300.5; expected a whole number from 200 to 1000000",
        ),
        (
            r#"{"compaction": {"rootMaxTokens": [1]}}"#,
            "compaction.rootMaxTokens is a list; expected a whole number from 200 to 1000000",
        ),
        (
            r#"{"compaction": {"cooldownHours": -1}}"#,
            "compaction.cooldownHours is -1; expected a number of hours from 0 to 8760",
        ),
        (
            r#"{"compaction": {"cooldownHours": "é3"}}"#,
            "compaction.cooldownHours is \"é3\"; expected a number of hours from 0 to 8760",
        ),
        ("[]", "expected an object { … }"),
        ("", "expected an object { … }"),
        ("\u{feff}[]", "expected an object { … }"),
    ];
    for (text, message) in table {
        let (settings, invalid) = read(text.as_bytes());
        assert_eq!(
            (settings, invalid),
            (HarnessSettings::default(), vec![message.to_owned()]),
            "{text}"
        );
    }
    let (_, torn) = read(b"{\n  \"platform\": \n");
    assert!(torn[0].contains("line 3"), "{torn:?}");
    let (_, odd) = read(b"{\n \"a\": \"\xff\"}");
    assert_eq!(odd, ["not valid UTF-8"]);
    let (settings, invalid) =
        read(br#"{"compaction":{"rootMaxTokens":"x","cooldownHours":2},"platform":"vim","search":{"vector":false}}"#);
    assert_eq!(invalid.len(), 2, "{invalid:?}");
    assert_eq!(
        (settings.cooldown_hours, settings.vector),
        (Some(2.0), Some(false))
    );
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_accepted(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        let _ = read(&bytes);
    }

    #[test]
    fn accepted_values_are_within_bounds(tokens in any::<i64>(), hours in any::<f64>()) {
        let text = format!(r#"{{"compaction":{{"rootMaxTokens":{tokens},"cooldownHours":{hours:?}}}}}"#);
        let (settings, _) = read(text.as_bytes());
        let (least, most) = ROOT_TOKENS;
        prop_assert!(settings.root_max_tokens.is_none_or(|tokens| (least..=most).contains(&tokens)));
        prop_assert!(settings.cooldown_hours.is_none_or(|hours| (0.0..=MOST_HOURS).contains(&hours)));
    }
}
