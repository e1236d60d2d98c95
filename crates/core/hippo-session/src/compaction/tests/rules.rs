//! Tests that types, scores, tiers and settings match the hippocampus.md extension.

use super::*;

#[test]
fn the_type_follows_role_and_words() {
    use EntryType::{Context, Decision, Ephemeral, ToolResult, Unknown, UserIntent};
    let long = "The answer is long enough that it says more than an acknowledgement, token by token.";
    let cases: [(Role, &str, EntryType); 31] = [
        (Role::Tool, "decided", ToolResult),
        (Role::Tool, "heartbeat", ToolResult),
        (Role::Tool, "", ToolResult),
        (Role::User, "Fix the build", UserIntent),
        (Role::User, "", UserIntent),
        (Role::User, "HEARTBEAT", Ephemeral),
        (Role::User, "read HEARTBEAT.md and go on", Ephemeral),
        (Role::User, "what does /status say", Ephemeral),
        (Role::User, "NO_REPLY", Ephemeral),
        (Role::User, "we decided on a plan", UserIntent),
        (Role::Assistant, "ok", Ephemeral),
        (Role::Assistant, "OK, done.", Ephemeral),
        (Role::Assistant, "NO_REPLY", Ephemeral),
        (Role::Assistant, "Looks fine.", Ephemeral),
        (Role::Assistant, "Done.", Context),
        (Role::Assistant, "", Context),
        (Role::Assistant, long, Context),
        (Role::Assistant, "Decision: keep it", Decision),
        (Role::Assistant, "We DECIDED against it", Decision),
        (Role::Assistant, "I will do it", Decision),
        (Role::Assistant, "My plan", Decision),
        (Role::Assistant, "An explanation", Decision),
        (Role::Assistant, "This approach", Decision),
        (Role::Assistant, "a strategy", Decision),
        (Role::Assistant, "Я решил так", Decision),
        (Role::Assistant, "ПЛАН такой", Decision),
        (Role::Assistant, "Буду делать", Decision),
        (Role::Assistant, "сделаю завтра", Decision),
        (Role::Assistant, "другой Подход", Decision),
        (Role::Assistant, "просто текст", Context),
        (Role::Other, "decided", Unknown),
    ];
    for (role, text, expected) in cases {
        assert_eq!(classify(&Message::new(role, text)), expected, "{role:?}: {text}");
    }
    // From 50 characters on, a message with "ok" is not an acknowledgement.
    let at = |length: usize| format!("ok{}", "я".repeat(length - 2));
    assert_eq!(classify(&Message::new(Role::Assistant, at(49))), Ephemeral);
    assert_eq!(classify(&Message::new(Role::Assistant, at(50))), Context);
    // Words in tool calls do not count.
    let mut call = Message::new(Role::Assistant, "");
    call.calls = "write(path=plan.md)".to_owned();
    assert_eq!(classify(&call), Context);
}

#[test]
fn importance_is_modified_in_order() {
    use EntryType::{Decision, Ephemeral, ToolResult, UserIntent};
    let facts = |age, tokens, referenced| ScoreFacts {
        age,
        tokens,
        referenced,
    };
    let cases = [
        (Decision, facts(9, 1, false), 0.90),
        (Decision, facts(4, 1, false), 1.0),
        (Decision, facts(5, 1, false), 0.90),
        (UserIntent, facts(4, 1, false), 0.95),
        (UserIntent, facts(5, 1, true), 1.0),
        (ToolResult, facts(9, 10_000, false), 0.30),
        (ToolResult, facts(9, 10_001, false), 0.15),
        (ToolResult, facts(9, 30_000, false), 0.15),
        (ToolResult, facts(9, 30_001, false), 0.10),
        (Decision, facts(9, 30_001, false), 0.65),
        (ToolResult, facts(0, 10_001, true), 0.50),
        (Ephemeral, facts(9, 30_001, true), 0.30),
    ];
    for (kind, facts, expected) in cases {
        let found = importance(kind, facts);
        assert!((found - expected).abs() < 1e-9, "{kind:?} {facts:?}: {found}");
    }
}

#[test]
fn retention_decays_by_type_down_to_a_floor() {
    let config = CompactionConfig::default();
    let cases = [
        (EntryType::Decision, 0.9, 0, 0.9),
        (EntryType::Decision, 0.9, 10, 0.9 * (-0.3_f64).exp()),
        (EntryType::Decision, 0.9, 1_000, 0.5),
        (EntryType::UserIntent, 0.8, 1_000, 0.35),
        (EntryType::ToolResult, 0.3, 1, 0.3 * (-0.2_f64).exp()),
        (EntryType::Context, 0.5, 10, 0.5 * (-1.2_f64).exp()),
        (EntryType::Ephemeral, 0.1, 2, 0.1 * (-0.7_f64).exp()),
        (EntryType::Unknown, 0.4, 2, 0.4 * (-0.3_f64).exp()),
    ];
    for (kind, importance, age, expected) in cases {
        let found = retention(&config, kind, importance, age);
        assert!((found - expected).abs() < 1e-12, "{kind:?} {age}: {found}");
    }
}

#[test]
fn a_threshold_belongs_to_the_tier_above_it() {
    let config = CompactionConfig::default();
    let cases = [
        (0.0, Tier::Sparse),
        (0.249_999, Tier::Sparse),
        (0.25, Tier::Compress),
        (0.649_999, Tier::Compress),
        (0.65, Tier::Keep),
        (1.0, Tier::Keep),
    ];
    for (retention, expected) in cases {
        assert_eq!(tier(&config, retention), expected, "{retention}");
    }
}

#[test]
fn a_configuration_sets_its_keys_and_warns_about_unknown_ones() {
    let text = r#"{"decayRates": {"decision": 0.5, "vibe": 1, "context": "x"}, "retentionFloor": {"decision": 0.1},
        "sparseThreshold": 0.2, "compressThreshold": 7, "maxSparseIndexTokens": 10, "debug": true, "logFile": "x.log", "extra": [1]}"#;
    let (config, warnings) = CompactionConfig::read(&serde_json::from_str(text).unwrap());
    assert_eq!(config.decay_rates[EntryType::Decision as usize], 0.5);
    assert_eq!(config.decay_rates[EntryType::Context as usize], 0.12);
    assert_eq!(config.retention_floor[EntryType::Decision as usize], 0.1);
    assert_eq!(config.retention_floor[EntryType::UserIntent as usize], 0.35);
    assert_eq!((config.sparse_threshold, config.compress_threshold), (0.2, 0.65));
    assert_eq!(config.max_sparse_index_tokens, 10);
    let mut warnings = warnings;
    warnings.sort();
    let expected = [
        "sessionCompaction: compressThreshold cannot be 7; using its default",
        "sessionCompaction: decayRates.context cannot be \"x\"; using its default",
        "sessionCompaction: unknown key decayRates.vibe",
        "sessionCompaction: unknown key extra",
    ];
    assert_eq!(warnings, expected);
}

#[test]
fn a_message_is_referenced_by_its_words_or_its_beginning() {
    let referenced = |texts: [(&str, &str); 3]| {
        let text: String = texts
            .iter()
            .map(|(role, text)| message_line(role, text))
            .collect();
        let padding: String = (0..6).map(|_| message_line("assistant", "so")).collect();
        let entry = compacted(&(text + &padding)).scores().next().unwrap();
        entry.importance
    };
    let plain = 0.3;
    let lifted = 0.5;
    let cases = [
        // The agent repeats an identifier of the message.
        (
            [
                ("tool", "saved as build_4711.log"),
                ("user", "x"),
                ("assistant", "see build_4711.log"),
            ],
            lifted,
        ),
        // A tool result that repeats the words does not count as a reference.
        (
            [
                ("tool", "saved as build_4711.log"),
                ("user", "x"),
                ("tool", "build_4711.log"),
            ],
            plain,
        ),
        // Any message that repeats the first thirty characters counts as a reference.
        (
            [
                ("tool", "the quick brown fox jumps over the lazy dog"),
                ("user", "x"),
                ("tool", "it said: the quick brown fox jumps over the cat"),
            ],
            lifted,
        ),
        (
            [
                ("tool", "the quick brown fox"),
                ("user", "x"),
                ("tool", "the quick brown fox"),
            ],
            plain,
        ),
        // An empty message is never referenced.
        ([("tool", ""), ("user", "x"), ("assistant", "anything")], plain),
        ([("tool", "   \n"), ("user", "x"), ("assistant", "   \n")], plain),
    ];
    for (texts, expected) in cases {
        assert!((referenced(texts) - expected).abs() < 1e-9, "{texts:?}");
    }
}

#[test]
fn output_of_tools_in_messages_of_the_user_does_not_replace_the_goal() {
    let page = "<p>the pump runs</p>\n".repeat(40);
    let output = |number: u32| {
        format!(
            "  % Total    % Received\n100   29{number}  100   293    0     0  12993      0 --:--:-- --:--:-- 15421\n{page}bash-$"
        )
    };
    let mut text = message_line("user", "Find out if the pump runs in the cellar");
    for number in 0..6 {
        text += &message_line("assistant", "I will fetch the page.");
        text += &message_line("user", &output(number));
    }
    let compacted = compacted_within(&text, 800);
    let kinds: Vec<String> = compacted.scores().map(|score| score.kind.to_string()).collect();
    assert_eq!(kinds[..3], ["user_intent", "context", "tool_result"]);
    assert_eq!(kinds.iter().filter(|kind| *kind == "tool_result").count(), 6);
    let summary = &compacted.summary;
    assert!(
        summary.contains("## Goal\n- Find out if the pump runs"),
        "{summary}"
    );
    assert!(!summary.contains("[USER]"), "{summary}");
    // If the user begins with output, it is the goal all the same.
    let first = compacted_within(&message_line("user", &output(0)), 800);
    assert_eq!(first.scores().next().unwrap().kind, "user_intent");
}

#[test]
fn long_messages_of_the_user_leave_room_for_the_first_goal() {
    let mut text = message_line("user", "Find out if the pump runs in the cellar");
    for number in 0..30 {
        text += &message_line(
            "user",
            &format!("Report {number}: {}", "the water rises. ".repeat(60)),
        );
    }
    let summary = compacted_within(&text, 800).summary;
    assert!(
        summary.contains("## Goal\n- Find out if the pump runs"),
        "{summary}"
    );
}

#[test]
fn names_have_priority_over_line_numbers() {
    let lines = (400..1000).map(|line| format!("{line}: pump\n"));
    let view = lines.collect::<String>()
        + &(0..30)
            .map(|name| format!("valve_opening_{name}\n"))
            .collect::<String>();
    let text = message_line("user", "Please read the file") + &message_line("tool", &view);
    let summary = compacted_within(&text, 480).summary;
    assert!(summary.contains("valve_opening_29"), "{summary}");
}
