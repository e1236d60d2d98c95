use super::*;

/// The example of v2 §10 with its rules in another order of lines.
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

fn subject<'a>(kind: Kind, source: &'a str, content: &'a str) -> Subject<'a> {
    Subject {
        kind,
        priority: Priority::Normal,
        source,
        content,
    }
}

#[test]
fn the_example_decides_as_it_says() {
    let rules = read(EXAMPLE).unwrap();
    assert_eq!(rules.iter().map(|rule| rule.line).collect::<Vec<_>>(), [3, 9, 15, 20, 26]);
    let of = |kind, source, content| decide(&rules, &subject(kind, source, content));

    let snapshot = of(Kind::ToolResult, "browser.snapshot", "<page>");
    assert_eq!(snapshot.decay_rate, Some((0.2, 3)), "a later rule is the stronger one");
    assert_eq!(snapshot.persist, Some((false, 0)), "field by field");
    assert_eq!(snapshot.index, Some((true, 3)));
    assert_eq!(snapshot.compression, Some((Compression::Aggressive, 3)));
    let error = of(Kind::ToolResult, "error", "");
    assert_eq!(error.expires_after_turns, Some((50, 2)));
    assert_eq!(of(Kind::ToolResult, "config.get", "{}").decay_rate, Some((0.3, 4)));
    assert_eq!(of(Kind::State, "config.schema", "{}").decay_rate, Some((0.3, 4)));

    let said = of(Kind::Message, "user", "Please NEVER deploy on Fridays");
    assert_eq!((said.priority, said.persist), (Some((Priority::High, 1)), Some((true, 1))));
    for other in ["nevertheless is a word that begins so", "whenever you like"] {
        let decided = of(Kind::Message, "user", other).priority;
        assert_eq!(decided.is_some(), other.starts_with("never"), "{other}");
    }
    assert_eq!(of(Kind::State, "task", "remember"), Decision::default());
    let important = Subject {
        priority: Priority::High,
        ..subject(Kind::ToolResult, "exec", "")
    };
    assert_eq!(decide(&rules, &important), Decision::default());
}

#[test]
fn what_was_put_is_matched_not_what_a_rule_made_of_it() {
    let rules = read(
        "lifecycle_policies:\n- action: {priority: critical}\n- match: {priority: normal}\n  action: {floor: 0.5}\n\
         - match: {priority: critical}\n  action: {persist: true}\n",
    )
    .unwrap();
    let decision = decide(&rules, &subject(Kind::State, "task", ""));
    assert_eq!(decision.priority, Some((Priority::Critical, 0)));
    assert_eq!((decision.floor, decision.persist), (Some((0.5, 1)), None));
}

#[test]
fn empty_files_have_no_rules() {
    for text in ["", "\n# nothing\n", "lifecycle_policies:\n", "lifecycle_policies: []\n", "---\n"] {
        assert_eq!(read(text).unwrap(), [], "{text:?}");
    }
}

#[test]
fn mistakes_are_told_with_their_place() {
    let rule = |matches: &str, action: &str| format!("lifecycle_policies:\n- match: {matches}\n  action: {action}\n");
    let good = "{index: true}";
    let table = [
        (rule("{type: tool_results}", good), 2, 17, "unknown value `tool_results`"),
        (rule("{kind: state}", good), 2, 11, "unknown key `kind`"),
        (rule("{type: []}", good), 2, 16, "can never match"),
        (rule("{contains: [a, '']}", good), 2, 24, "can never match"),
        (rule("{source: {ref: a}}", good), 2, 19, "unknown key `ref`"),
        (rule("{}", "{decay: 1}"), 3, 12, "unknown key `decay`"),
        (rule("{}", "{decay_rate: fast}"), 3, 24, "from 0 to 10"),
        (rule("{}", "{floor: 1.5}"), 3, 19, "from 0 to 1"),
        (rule("{}", "{floor: .nan}"), 3, 19, "from 0 to 1"),
        (rule("{}", "{persist: maybe}"), 3, 21, "true or false"),
        (rule("{}", "{expires_after_turns: 0}"), 3, 33, "from 1"),
        (rule("{}", "{priority: amygdala}"), 3, 22, "critical, high, normal, low"),
        (rule("{}", "{}"), 2, 3, "decides nothing"),
        ("lifecycle_policies:\n- match: {}\n".to_owned(), 2, 3, "no `action`"),
        ("lifecycle_policies:\n- 7\n".to_owned(), 2, 3, "a rule with"),
        ("policies: []\n".to_owned(), 1, 1, "unknown key `policies`"),
        ("lifecycle_policies: 3\n".to_owned(), 1, 21, "a list of rules"),
        ("- a\n".to_owned(), 1, 1, "is expected"),
        ("a: b\n---\nc: d\n".to_owned(), 3, 1, "second document"),
    ];
    for (text, line, column, what) in table {
        let error = read(&text).unwrap_err();
        assert!(error.what.contains(what), "{text}: {error}");
        assert_eq!((error.line, error.column), (line, column), "{text}: {error}");
    }
    let broken = read("lifecycle_policies:\n  - match: {type: [state\n").unwrap_err();
    assert!(broken.line >= 2, "{broken}");
    assert!(read(&"#".repeat(300_000)).is_err());
}

proptest::proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in ".{0,200}") {
        let _ = read(&text);
    }

    #[test]
    fn mutated_files_are_read_or_refused(at in 0usize..EXAMPLE.len(), with in "[ -~\\n]{0,4}", cut in 0usize..9) {
        let mut text = EXAMPLE.to_owned();
        text.replace_range(at..(at + cut).min(EXAMPLE.len()), &with);
        let _ = read(&text);
    }
}
