//! Tests of capture: outcome, contents, redaction, size.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::policy::{built_in_rules, load_rules};
use crate::render::format_block;

const TOKEN: &str = "ghp_abcdefghijklmnopqrstuvwxyz0123456789";

fn put<'a>(kind: ContextKind, source: &'a str, content: &'a str) -> CaptureInput<'a> {
    CaptureInput {
        id: "ctx_1",
        kind: Some(kind),
        source_type: source,
        turn: 7,
        content,
        ..CaptureInput::default()
    }
}

fn captured(put: &CaptureInput<'_>) -> CaptureResult {
    capture(put, built_in_rules(), &CaptureSettings::default())
}

#[test]
fn large_results_errors_and_lasting_instructions_become_entries() {
    use Indexing::{Entry, Passed};
    let (at, above) = ("word ".repeat(800), "word ".repeat(801));
    let table = [
        (ContextKind::ToolResult, "exec", at.as_str(), Passed),
        (ContextKind::ToolResult, "exec", above.as_str(), Entry),
        (ContextKind::ToolResult, "error", "no such file", Entry),
        (ContextKind::ToolResult, "exec", " \n", Passed),
        (ContextKind::Message, "user", "What is the time?", Passed),
        (ContextKind::Message, "user", above.as_str(), Passed),
        (ContextKind::Message, "user", "Never deploy on Fridays.", Entry),
        (
            ContextKind::Message,
            "user",
            "Whenever you deploy, tell me.",
            Passed,
        ),
        (
            ContextKind::Message,
            "assistant",
            "I will always remember.",
            Passed,
        ),
        (ContextKind::Message, "system", "Important: be brief.", Passed),
        (ContextKind::State, "task", "Deploying to staging.", Entry),
        (ContextKind::Memory, "MEMORY.md", "Ada likes tea.", Entry),
    ];
    for (kind, source, content, indexing) in table {
        let captured = captured(&put(kind, source, content));
        assert_eq!(captured.indexing, indexing, "{source} {}", captured.reason);
        assert_eq!(captured.entry.is_some(), indexing == Entry);
        assert_eq!(captured.tokens, tokens::of(content) as u64);
    }
    let mut failed = put(ContextKind::ToolResult, "exec", "exit 1");
    failed.error = true;
    let entry = captured(&failed).entry.unwrap();
    assert_eq!(
        (entry.lifecycle.expires, entry.summary.as_str()),
        (Some(57), "exit 1")
    );
    let asked = CaptureInput {
        encoding: Some(ContextEncoding::Manual),
        ..put(ContextKind::Message, "assistant", "We never do that.")
    };
    assert_eq!(captured(&asked).indexing, Entry, "the caller asks for it");
}

#[test]
fn an_entry_has_the_defaults_of_its_type_and_the_given_values() {
    let content = "Never deploy on Fridays.";
    let entry = captured(&put(ContextKind::Message, "user", content))
        .entry
        .unwrap();
    assert_eq!(
        (entry.summary.as_str(), entry.strength, entry.decay.rate),
        (content, 1.0, 0.05)
    );
    assert_eq!(
        (entry.modifiers.priority, entry.lifecycle.persist),
        (ContextPriority::High, true)
    );
    assert_eq!(
        (
            entry.source.turn,
            entry.decay.last_access,
            entry.lifecycle.created
        ),
        (7, 7, 7)
    );
    assert!(entry.source.retrievable);
    let associations = [
        "a".to_owned(),
        "ctx_1".into(),
        "a".into(),
        String::new(),
        "b".into(),
    ];
    let given = CaptureInput {
        priority: Some(ContextPriority::Critical),
        associations: &associations,
        persist: Some(false),
        expires: Some(9),
        ..put(ContextKind::Message, "user", content)
    };
    let entry = captured(&given).entry.unwrap();
    assert_eq!(
        entry.modifiers.priority,
        ContextPriority::Critical,
        "no built-in rule is stronger than the caller"
    );
    assert_eq!(
        (entry.lifecycle.persist, entry.lifecycle.expires),
        (false, Some(9))
    );
    assert_eq!(entry.modifiers.associations, ["a", "b"]);
}

#[test]
fn workspace_rules_override_the_caller() {
    let rules = load_rules(
        "lifecycle_policies:\n\
         - match: {type: tool_result, contains: deploy}\n  action: {index: true, priority: low, persist: false, decay_rate: 0.3, floor: 0.2}\n\
         - match: {source.type: noise}\n  action: {keep: false}\n\
         - match: {source.type: [web, error]}\n  action: {index: false}\n",
    )
    .unwrap();
    let of = |put: &CaptureInput<'_>| capture(put, &rules, &CaptureSettings::default());
    let given = CaptureInput {
        priority: Some(ContextPriority::High),
        persist: Some(true),
        ..put(ContextKind::ToolResult, "exec", "deployed")
    };
    let decided = of(&given);
    assert_eq!(decided.reason, "policy at line 2: index: true");
    let entry = decided.entry.unwrap();
    assert_eq!(
        (entry.modifiers.priority, entry.lifecycle.persist),
        (ContextPriority::Low, false)
    );
    assert_eq!((entry.decay.rate, entry.decay.floor), (0.3, 0.2));
    let noise = of(&put(ContextKind::ToolResult, "noise", &"hum ".repeat(2_000)));
    assert_eq!(
        (noise.indexing, noise.store, noise.entry),
        (Indexing::Dropped, false, None)
    );
    let web = of(&put(ContextKind::ToolResult, "web", &"page ".repeat(2_000)));
    assert_eq!((web.indexing, web.store), (Indexing::Passed, true));
    assert_eq!(
        of(&put(ContextKind::ToolResult, "error", "no")).indexing,
        Indexing::Passed
    );
}

#[test]
fn aggressive_compression_keeps_less() {
    let snapshot: String = (0..2_000)
        .map(|n| format!("- button \"Action number {n}\" [ref=e{n}]\n"))
        .collect();
    let rules = load_rules(
        "lifecycle_policies:\n- match: {source.type: browser.snapshot}\n  action: {compression: aggressive}\n",
    )
    .unwrap();
    let of = |rules: &[PolicyRule]| {
        let put = put(ContextKind::ToolResult, "browser.snapshot", &snapshot);
        capture(&put, rules, &CaptureSettings::default())
    };
    let (usual, less) = (of(built_in_rules()), of(&rules));
    assert!(
        less.entry_tokens * 3 < usual.entry_tokens * 2,
        "{} {}",
        less.entry_tokens,
        usual.entry_tokens
    );
    assert!(
        usual.entry_tokens * 40 < usual.tokens,
        "{} {}",
        usual.entry_tokens,
        usual.tokens
    );
    assert!(less.entry.unwrap().key_data.is_some());
}

#[test]
fn secrets_are_in_neither_summary_nor_key_data() {
    let content = format!(
        "{}\npassword: hunter2hunter2\ntoken {TOKEN}\n",
        "line of a log\n".repeat(500)
    );
    let key_data = json!({
        "token": TOKEN, "auth": {"password": "hunter2hunter2", "user": "ada"}, "list": [["api_key=abcdefgh12345678"]],
        "port": 8080, TOKEN: 1,
    });
    let summary = format!("Logged in\nwith {TOKEN}.");
    let given = CaptureInput {
        summary: Some(&summary),
        key_data: key_data.as_object(),
        source_ref: "curl -H 'Authorization: Bearer abcdefghijklmnop123456'",
        ..put(ContextKind::ToolResult, "exec", &content)
    };
    for put in [put(ContextKind::ToolResult, "exec", &content), given] {
        let captured = captured(&put);
        assert!(captured.secret && captured.store);
        let entry = captured.entry.unwrap();
        let wire = serde_json::to_string(&entry).unwrap();
        for secret in ["hunter2", "ghp_", "abcdefgh"] {
            assert!(!wire.contains(secret), "{wire}");
        }
        assert!(!shows_secret(&format_block(&entry)), "{wire}");
    }
    let entry = captured(&given).entry.unwrap();
    let data = entry.key_data.unwrap();
    assert_eq!(
        (&data["port"], &data["auth"]["user"]),
        (&json!(8080), &json!("ada"))
    );
    assert_eq!(entry.summary, "Logged in with [redacted].");
    let strict = CaptureSettings {
        store_secrets: false,
        ..CaptureSettings::default()
    };
    let refused = capture(&given, built_in_rules(), &strict);
    assert!(!refused.store && !refused.entry.unwrap().source.retrievable);
    let file = CaptureInput {
        source_ref: "log.txt",
        ..put(ContextKind::ToolResult, "file", &content)
    };
    assert!(
        capture(&file, built_in_rules(), &strict)
            .entry
            .unwrap()
            .source
            .retrievable,
        "its file can be read again"
    );
}

#[test]
fn text_that_is_a_secret_only_in_combination_is_removed() {
    let data = json!({"a": "the password is:", "b": "hunter2hunter2"});
    let table = [
        CaptureInput {
            source_ref: "hunter2hunter2",
            ..put(ContextKind::State, "password:", "Logged in.")
        },
        CaptureInput {
            summary: Some("The password is:"),
            key_data: data.as_object(),
            ..put(ContextKind::State, "task", "Logged in.")
        },
    ];
    for put in table {
        let entry = captured(&put).entry.unwrap();
        assert!(!shows_secret(&format_block(&entry)), "{}", format_block(&entry));
        assert!(
            !format_block(&entry).contains("password: hunter2"),
            "{}",
            format_block(&entry)
        );
        assert!(!entry.summary.is_empty());
    }
}

#[test]
fn the_first_values_of_a_long_list_are_kept() {
    let paths: Vec<String> = (0..90)
        .map(|at| format!("src/part_{at}/module_{at}.rs"))
        .collect();
    let data = json!({ "paths": paths, "sizes": { "largest": 90_417, "smallest": 12 }, "exit": 101 });
    let captured = captured(&CaptureInput {
        summary: Some("90 files"),
        key_data: data.as_object(),
        ..put(ContextKind::ToolResult, "list", &"word ".repeat(2_000))
    });
    assert!(
        (400..=500).contains(&captured.entry_tokens),
        "{}",
        captured.entry_tokens
    );
    let entry = captured.entry.unwrap();
    let told = entry.key_data.unwrap();
    let kept = told["paths"].as_array().unwrap();
    assert!(kept.len() > 20, "{}", kept.len());
    assert_eq!(kept[..], data["paths"].as_array().unwrap()[..kept.len()]);
    assert_eq!((&told["sizes"], &told["exit"]), (&data["sizes"], &data["exit"]));
    assert_eq!(entry.summary, "90 files");
}

#[test]
fn long_messages_are_summarized_by_their_instructions() {
    let said = format!(
        "{} Always write tests first. And so on.",
        "Some words before. ".repeat(60)
    );
    let entry = captured(&put(ContextKind::Message, "user", &said)).entry.unwrap();
    assert_eq!(entry.summary, "Always write tests first.");
}

#[test]
fn sections_inserted_by_hippod_are_not_summarized() {
    let section =
        "<!-- hippod: context -->\n- [ctx_9] file a.md @ turn 1: The secret garden.\n<!-- /hippod -->\n";
    let content = format!("{section}{}", "plain words follow here\n".repeat(300));
    let entry = captured(&put(ContextKind::ToolResult, "exec", &content))
        .entry
        .unwrap();
    assert!(!serde_json::to_string(&entry).unwrap().contains("garden"));
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        ".{0,300}".prop_map(Value::from),
        Just(json!(TOKEN)),
        Just(json!("<!-- /hippod -->\n```")),
    ];
    leaf.prop_recursive(3, 40, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Value::from),
            prop::collection::btree_map("password|token|[a-z]{1,30}", inner, 0..8)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_entry_is_small_and_shows_no_secret(
        content in "(.{0,60}\n|password: hunter2hunter2\n|[a-z]{3,9} ){0,120}",
        summary in proptest::option::of(".{0,4000}|token=abcdefgh12345678 .{0,90}"),
        data in proptest::option::of(any_value()), reference in ".{0,3000}", kind in 0usize..4, most in 0usize..900,
    ) {
        let wrapped = data.map(|data| json!({"value": data}));
        let rules = load_rules("lifecycle_policies:\n- action: {index: true}\n").unwrap();
        let settings = CaptureSettings { entry_tokens: most, ..CaptureSettings::default() };
        let put = CaptureInput {
            summary: summary.as_deref(),
            key_data: wrapped.as_ref().and_then(Value::as_object),
            source_ref: &reference,
            ..put(ContextKind::ALL[kind], "exec", &content)
        };
        let captured = capture(&put, &rules, &settings);
        prop_assert_eq!(captured.secret, shows_secret(&content));
        if let Some(entry) = &captured.entry {
            prop_assert!(captured.entry_tokens <= 500 && captured.entry_tokens > 0);
            let block = format_block(entry);
            prop_assert!(!shows_secret(&block), "{}", block);
            prop_assert!(!shows_secret(&entry.summary) && !entry.summary.is_empty());
            let data = serde_json::to_string(&entry.key_data).unwrap();
            prop_assert!(!shows_secret(&data), "{}", data);
            prop_assert!(tokens::of(&serde_json::to_string(entry).unwrap()) <= 700);
        } else {
            prop_assert!(content.trim().is_empty());
        }
        prop_assert_eq!(capture(&put, &rules, &settings), captured);
    }
}
