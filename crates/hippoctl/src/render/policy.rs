//! Rendering of the decisions of lifecycle policies.

use std::collections::BTreeSet;
use std::fmt::Write;

use hippo_context::capture::Indexing;
use hippo_context::policy::EvaluatedField;
use serde_json::Value;

use super::{INDENT, one_line, plural, short, table};
use crate::output::Style;
use crate::verbs::policy::{PolicyTestResult, RecordUse};

/// Maximum number of characters of a source name in a table.
const SHORT: usize = 32;

/// Renders the outcome and reason of each record and, below it, the fields that a rule determined. Without `all`,
/// records that stay in the context are omitted, unless a rule of the policy file matches them.
pub fn tested(tested: &PolicyTestResult, all: bool, style: Style) -> String {
    let own: BTreeSet<&str> = tested
        .rules
        .iter()
        .filter(|rule| !rule.built_in)
        .map(|rule| rule.place.as_str())
        .collect();
    let shown = |record: &&RecordUse| {
        let evaluated = &record.evaluated;
        let by_own = evaluated.matched.iter().any(|place| own.contains(place.as_str()));
        all || by_own || evaluated.outcome != Indexing::Passed
    };
    let records: Vec<&RecordUse> = tested.records.iter().filter(shown).collect();
    let rows: Vec<Vec<String>> = records.iter().map(|record| row(record, style)).collect();
    let mut text = String::new();
    for (line, record) in table(&rows, 6).lines().zip(records) {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{line}");
        let decided: Vec<String> = record.evaluated.fields.iter().filter_map(field).collect();
        if !decided.is_empty() {
            let _ = writeln!(text, "{INDENT}{}", style.quiet(decided.join("; ")));
        }
    }
    text
}

/// Returns the totals, and the rules that matched no content.
pub fn notes(tested: &PolicyTestResult) -> Vec<String> {
    let PolicyTestResult {
        policy,
        rules,
        records,
        entries,
        passed,
        dropped,
    } = tested;
    let mut notes = vec![match policy {
        Some(policy) => format!("rules: the built-in ones, then {policy}"),
        None => "rules: the built-in ones; no .hippocampus/policies.yaml was found".to_owned(),
    }];
    notes.push(format!(
        "{}: {entries} as entries, {passed} passed, {dropped} dropped",
        plural(records.len() as u64, "record")
    ));
    let idle = rules.iter().filter(|rule| rule.matched == 0);
    let idle: Vec<&str> = idle.map(|rule| rule.place.as_str()).collect();
    if !idle.is_empty() {
        notes.push(format!("note: these rules match no content: {}", idle.join("; ")));
    }
    notes
}

fn row(record: &RecordUse, style: Style) -> Vec<String> {
    let RecordUse {
        index,
        type_,
        source,
        tokens,
        evaluated,
    } = record;
    let outcome = match evaluated.outcome {
        Indexing::Entry => style.good("entry"),
        Indexing::Passed => "passed".to_owned(),
        Indexing::Dropped => style.bad("dropped"),
    };
    vec![
        style.strong(index.to_string()),
        (*type_).to_owned(),
        short(&one_line(source), SHORT),
        plural(*tokens, "token"),
        outcome,
        one_line(&evaluated.reason),
    ]
}

/// Formats a field that a rule determined, with the name of the rule at the end.
fn field(field: &EvaluatedField) -> Option<String> {
    let rule = field.rule.as_ref()?;
    let value = match &field.value {
        Value::String(text) => one_line(text),
        value => value.to_string(),
    };
    Some(format!("{} {value} ({rule})", field.field))
}
