//! Tests of policy rules, and of errors in policy files.

use super::load_rules as policy_rules;
use super::*;

/// The policy file of v2 §10, with a different YAML layout.
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
        by_line(&snapshot, |action| action.decay_rate),
        Some((0.2, 20)),
        "a later rule is the stronger one"
    );
    assert_eq!(
        by_line(&snapshot, |action| action.persist),
        Some((false, 3)),
        "field by field"
    );
    assert_eq!(by_line(&snapshot, |action| action.index), Some((true, 20)));
    assert_eq!(
        by_line(&snapshot, |action| action.compression),
        Some((Compression::Aggressive, 20))
    );
    let error = of(ContextKind::ToolResult, "error", "");
    assert_eq!(
        by_line(&error, |action| action.expires_after_turns),
        Some((50, 15))
    );
    let failed = Subject {
        error: true,
        ..subject(ContextKind::ToolResult, "exec", "")
    };
    assert_eq!(
        by_line(&decide(&rules, &failed), |action| action.expires_after_turns),
        Some((50, 15)),
        "marked as one"
    );
    for kind in [ContextKind::ToolResult, ContextKind::State] {
        let config = of(kind, "config.get", "{}");
        assert_eq!(by_line(&config, |action| action.decay_rate), Some((0.3, 26)));
    }

    let said = of(ContextKind::Message, "user", "Please NEVER deploy on Fridays");
    assert_eq!(
        by_line(&said, |action| action.priority),
        Some((ContextPriority::High, 9))
    );
    assert_eq!(by_line(&said, |action| action.persist), Some((true, 9)));
    for other in ["nevertheless is a word that begins so", "whenever you like"] {
        let decided = of(ContextKind::Message, "user", other);
        let priority = decided.value(|action| action.priority);
        assert_eq!(priority.is_some(), other.starts_with("never"), "{other}");
    }
    let nothing = Decision(Vec::new());
    assert_eq!(of(ContextKind::State, "task", "remember"), nothing);
    let important = Subject {
        priority: ContextPriority::High,
        ..subject(ContextKind::ToolResult, "exec", "")
    };
    assert_eq!(decide(&rules, &important), nothing);
}

/// Returns the value of a field and the line of the rule that set it.
fn by_line<T>(decision: &Decision<'_>, field: impl Fn(&RuleAction) -> Option<T>) -> Option<(T, usize)> {
    decision.value(field).map(|(value, rule)| (value, rule.line))
}

#[test]
fn rules_match_the_original_content_not_earlier_results() {
    let rules = parse_rules(
        "lifecycle_policies:\n- action: {priority: critical}\n- match: {priority: normal}\n  action: {floor: 0.5}\n\
         - match: {priority: critical}\n  action: {persist: true}\n",
    )
    .unwrap();
    let decision = decide(&rules, &subject(ContextKind::State, "task", ""));
    assert_eq!(
        by_line(&decision, |action| action.priority),
        Some((ContextPriority::Critical, 2))
    );
    assert_eq!(by_line(&decision, |action| action.floor), Some((0.5, 3)));
    assert_eq!(decision.value(|action| action.persist), None);
}

#[test]
fn rules_of_the_workspace_override_the_caller_who_overrides_built_in_rules() {
    let said = subject(ContextKind::Message, "user", "Never on Fridays");
    let given = Some(ContextPriority::Low);
    let rules = policy_rules(EXAMPLE).unwrap();
    let decided = decide(&rules, &said);
    assert_eq!(
        decided.resolve(given, |action| action.priority),
        Some(ContextPriority::High)
    );
    let decided = decide(built_in_rules(), &said);
    assert_eq!(decided.resolve(given, |action| action.priority), given);
    assert_eq!(
        decided.resolve(None, |action| action.priority),
        Some(ContextPriority::High)
    );
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

/// Each `^` marks the position before the first character of a wrong key or value. The error must report the line and
/// column of that character, counted from 1.
#[test]
fn errors_are_reported_with_line_and_column() {
    let rule = |matches: &str, action: &str| {
        format!("lifecycle_policies:\n- match: {matches}\n  action: {action}\n")
    };
    let good = "{index: true}";
    let table = [
        (
            rule("{type: ^tool_results}", good),
            "unknown variant `tool_results`",
        ),
        (
            rule("{type: [state, ^'tool_results']}", good),
            "unknown variant `tool_results`",
        ),
        (rule("{type: ^~}", good), "expected"),
        (
            rule("{}", "{index: true, persist: ^~}"),
            "invalid type: null, expected a boolean",
        ),
        (
            rule("{contains: [ü, ä], ^kind: state}", good),
            "unknown key `kind`",
        ),
        (rule("{type: ^[]}", good), "can never match"),
        (rule("{contains: [a, ^'']}", good), "can never match"),
        (rule("{contains: ^{a: b}}", good), "expected a single value"),
        (rule("{^source: {type: a}}", good), "unknown key `source`"),
        (rule("{type: state, ^type: message}", good), "duplicated key"),
        (rule("{}", "{^decay: 1}"), "unknown key `decay`"),
        (rule("{}", "{decay_rate: ^fast}"), "from 0 to 10"),
        (rule("{}", "{floor: ^1.5}"), "from 0 to 1"),
        (rule("{}", "{floor: ^.nan}"), "from 0 to 1"),
        (rule("{}", "{persist: ^maybe}"), "expected a boolean"),
        (rule("{}", "{expires_after_turns: ^0}"), "expected a nonzero u64"),
        (rule("{}", "{expires_after_turns: ^-3}"), "expected a nonzero u64"),
        (
            rule("{}", "{priority: ^amygdala}"),
            "expected one of `critical`, `high`, `normal`, `low`",
        ),
        (
            rule("{}", "{index: true, compression: ^strong}"),
            "expected `normal` or `aggressive`",
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
