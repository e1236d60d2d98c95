//! Tests of policy rules, and of errors in policy files.

use super::load_rules as policy_rules;
use super::*;
use crate::capture::{CaptureSettings, Indexing};

/// Example of v2 §10 with its rules in a different layout.
const EXAMPLE: &str = "\
lifecycle_policies:
  # Tool results decay fast unless high priority
  - match:
      type: tool_result
      priority: [normal, low]
    action:
      decay_rate: 0.15
      persist: false
  - match:
      type: message
      contains: [\"remember\", \"always\", \"never\", \"important\"]
    action:
      priority: high
      persist: true
  - match:
      type: tool_result
      source.type: error
    action:
      expires_after_turns: 50
  - match:
      source.type: browser.snapshot
    action:
      index: true
      compression: aggressive
      decay_rate: 0.2
  - match:
      source.type: [config.schema, config.get]
    action:
      decay_rate: 0.3
      persist: false
";

fn subject<'a>(kind: ContextKind, source: &'a str, content: &'a str) -> Subject<'a> {
    Subject {
        kind,
        priority: ContextPriority::Normal,
        source,
        content,
        error: false,
    }
}

#[test]
fn the_example_of_the_specification_decides_as_documented() {
    let rules = parse_rules(EXAMPLE).unwrap();
    assert_eq!(
        rules.iter().map(|rule| rule.line).collect::<Vec<_>>(),
        [3, 9, 15, 20, 26]
    );
    let of = |kind, source, content| decide(&rules, &subject(kind, source, content));

    let snapshot = of(ContextKind::ToolResult, "browser.snapshot", "<page>");
    assert_eq!(
        snapshot.decay_rate,
        Some((0.2, 3)),
        "a later rule is the stronger one"
    );
    assert_eq!(snapshot.persist, Some((false, 0)), "field by field");
    assert_eq!(snapshot.index, Some((true, 3)));
    assert_eq!(snapshot.compression, Some((Compression::Aggressive, 3)));
    let error = of(ContextKind::ToolResult, "error", "");
    assert_eq!(error.expires_after_turns, Some((50, 2)));
    let failed = Subject {
        error: true,
        ..subject(ContextKind::ToolResult, "exec", "")
    };
    assert_eq!(
        decide(&rules, &failed).expires_after_turns,
        Some((50, 2)),
        "marked as one"
    );
    assert_eq!(
        of(ContextKind::ToolResult, "config.get", "{}").decay_rate,
        Some((0.3, 4))
    );
    assert_eq!(
        of(ContextKind::State, "config.schema", "{}").decay_rate,
        Some((0.3, 4))
    );

    let said = of(ContextKind::Message, "user", "Please NEVER deploy on Fridays");
    assert_eq!(
        (said.priority, said.persist),
        (Some((ContextPriority::High, 1)), Some((true, 1)))
    );
    for other in ["nevertheless is a word that begins so", "whenever you like"] {
        let decided = of(ContextKind::Message, "user", other).priority;
        assert_eq!(decided.is_some(), other.starts_with("never"), "{other}");
    }
    assert_eq!(of(ContextKind::State, "task", "remember"), Decision::default());
    let important = Subject {
        priority: ContextPriority::High,
        ..subject(ContextKind::ToolResult, "exec", "")
    };
    assert_eq!(decide(&rules, &important), Decision::default());
}

#[test]
fn rules_match_the_original_content_not_earlier_results() {
    let rules = parse_rules(
        "lifecycle_policies:\n- action: {priority: critical}\n- match: {priority: normal}\n  action: {floor: 0.5}\n\
         - match: {priority: critical}\n  action: {persist: true}\n",
    )
    .unwrap();
    let decision = decide(&rules, &subject(ContextKind::State, "task", ""));
    assert_eq!(decision.priority, Some((ContextPriority::Critical, 0)));
    assert_eq!((decision.floor, decision.persist), (Some((0.5, 1)), None));
}

#[test]
fn empty_files_have_no_rules() {
    for text in [
        "",
        "\n# nothing\n",
        "lifecycle_policies:\n",
        "lifecycle_policies: []\n",
        "---\n",
    ] {
        assert_eq!(parse_rules(text).unwrap(), [], "{text:?}");
    }
}

/// Errors are reported at the first character of the wrong key or value, counted from 1; `^` marks the position before
/// that character.
#[test]
fn errors_are_reported_with_line_and_column() {
    let rule = |matches: &str, action: &str| {
        format!("lifecycle_policies:\n- match: {matches}\n  action: {action}\n")
    };
    let good = "{index: true}";
    let table = [
        (
            rule("{type: ^tool_results}", good),
            "unknown value `tool_results`",
        ),
        (
            rule("{type: [state, ^'tool_results']}", good),
            "unknown value `tool_results`",
        ),
        (rule("{^type: }", good), "has no value"),
        (rule("{}", "{index: true, ^persist: ~}"), "has no value"),
        (
            rule("{contains: [ü, ä], ^kind: state}", good),
            "unknown key `kind`",
        ),
        (rule("{type: ^[]}", good), "can never match"),
        (rule("{contains: [a, ^'']}", good), "can never match"),
        (rule("{contains: ^{a: b}}", good), "expected a string"),
        (rule("{source: {^ref: a}}", good), "unknown key `ref`"),
        (
            rule("{source.type: exec, ^source: {type: file}}", good),
            "lists its source types twice",
        ),
        (rule("{type: state, ^type: message}", good), "duplicated key"),
        (rule("{}", "{^decay: 1}"), "unknown key `decay`"),
        (rule("{}", "{decay_rate: ^fast}"), "from 0 to 10"),
        (rule("{}", "{floor: ^1.5}"), "from 0 to 1"),
        (rule("{}", "{floor: ^.nan}"), "from 0 to 1"),
        (rule("{}", "{persist: ^maybe}"), "true or false"),
        (rule("{}", "{expires_after_turns: ^0}"), "from 1"),
        (rule("{}", "{expires_after_turns: ^-3}"), "from 1"),
        (rule("{}", "{priority: ^amygdala}"), "critical, high, normal, low"),
        (
            rule("{}", "{index: true, compression: ^strong}"),
            "normal, aggressive",
        ),
        (
            "lifecycle_policies:\n- ^match: {}\n  action: {}\n".to_owned(),
            "has no effect",
        ),
        ("lifecycle_policies:\n- ^match: {}\n".to_owned(), "no `action`"),
        (
            "lifecycle_policies:\n- ^when: {}\n".to_owned(),
            "unknown key `when`",
        ),
        ("lifecycle_policies:\n- ^7\n".to_owned(), "a rule with"),
        ("^policies: []\n".to_owned(), "unknown key `policies`"),
        ("lifecycle_policies: ^3\n".to_owned(), "a list of rules"),
        ("^- a\n".to_owned(), "expected "),
        (
            "lifecycle_policies: []\n---\n^c: d\n".to_owned(),
            "second document",
        ),
    ];
    for (marked, what) in table {
        let (before, after) = marked.split_once('^').unwrap();
        let line = before.matches('\n').count() + 1;
        let column = before.chars().rev().take_while(|mark| *mark != '\n').count() + 1;
        let error = parse_rules(&format!("{before}{after}")).unwrap_err();
        assert!(error.what.contains(what), "{marked}: {error}");
        assert_eq!((error.line, error.column), (line, column), "{marked}: {error}");
    }
    let broken = parse_rules("lifecycle_policies:\n  - match: {type: [state\n").unwrap_err();
    assert!(broken.line >= 2, "{broken}");
    assert!(parse_rules(&"#".repeat(300_000)).is_err());
}

proptest::proptest! {
    #[test]
    fn any_text_is_parsed_or_rejected(text in ".{0,200}") {
        let _ = parse_rules(&text);
    }

    #[test]
    fn mutated_files_are_parsed_or_rejected(at in 0usize..EXAMPLE.len(), with in "[ -~\\n]{0,4}", cut in 0usize..9) {
        let mut text = EXAMPLE.to_owned();
        text.replace_range(at..(at + cut).min(EXAMPLE.len()), &with);
        let _ = parse_rules(&text);
    }
}

#[test]
fn built_in_rules_are_valid_and_do_not_change_rates() {
    let rules = parse_rules(BUILT_IN).unwrap();
    assert_eq!(rules.len(), built_in_rules().len());
    for rule in built_in_rules() {
        assert!(rule.built_in && rule.action.decay_rate.is_none() && rule.action.floor.is_none());
    }
    let both = policy_rules(EXAMPLE).unwrap();
    assert_eq!(both.iter().filter(|rule| rule.built_in).count() + 5, both.len());
}

#[test]
fn an_evaluation_names_the_rule_of_each_field() {
    let rules = policy_rules(EXAMPLE).unwrap();
    let records: Vec<PolicyRecord> = serde_json::from_str(
        r#"[
        {"type": "tool_result", "source.type": "browser.snapshot", "content": "<page>"},
        {"type": "tool_result", "priority": "high", "source.type": "exec", "tokens": 1001},
        {"type": "message", "source.type": "user", "content": "Never on Fridays"},
        {"type": "message", "source.type": "user", "priority": "low", "content": "Never on Fridays"},
        {"type": "tool_result", "source.type": "exec", "error": true, "content": "exit 1"}
    ]"#,
    )
    .unwrap();
    let all = evaluate(&rules, &records, &CaptureSettings::default());
    let of = |record: usize, field: &str| {
        let found = all[record].fields.iter().find(|one| one.field == field).unwrap();
        (found.value.to_string(), found.rule.clone().unwrap_or_default())
    };
    let is = |value: &str, rule: &str| (value.to_owned(), rule.to_owned());
    assert_eq!(
        all[0].fields.iter().map(|field| field.field).collect::<Vec<_>>(),
        FIELDS
    );
    assert_eq!(all[0].matched, ["line 3", "line 20"]);
    assert_eq!(of(0, "decay_rate"), is("0.2", "line 20"));
    assert_eq!(of(0, "persist"), is("false", "line 3"));
    assert_eq!(of(0, "compression"), is("\"aggressive\"", "line 20"));
    assert_eq!(of(0, "priority"), is("\"normal\"", ""));
    assert_eq!(
        (all[0].outcome, all[0].reason.as_str()),
        (Indexing::Entry, "policy at line 20: index: true")
    );
    assert_eq!(of(1, "decay_rate"), is("0.1", ""));
    assert_eq!(all[1].outcome, Indexing::Entry, "{}", all[1].reason);
    assert_eq!(of(2, "priority"), is("\"high\"", "line 9"));
    assert!(all[2].matched[0].starts_with("built-in, line"));
    assert_eq!(
        of(3, "priority"),
        is("\"high\"", "line 9"),
        "a rule of the workspace is stronger than the caller"
    );
    assert_eq!(of(4, "expires_after_turns"), is("50", "line 15"));
    let built_in = evaluate(built_in_rules(), &records[3..4], &CaptureSettings::default());
    assert_eq!(built_in[0].fields[5].value, "low", "a built-in rule is not");
    let unknown = serde_json::from_str::<PolicyRecord>(r#"{"type": "state", "kind": 1}"#);
    assert!(unknown.is_err());
}
