//! Dry run of a policy file on sample records.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Decision, ERROR, PolicyRule, RuleValue, Subject, decide};
use crate::capture::{CaptureSettings, Indexing, WorthFacts, judge_worth};
use hippo_types::context::{ContextKind, ContextPriority};
use hippo_types::tokens;

/// Sample record.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PolicyRecord {
    /// Type of the content.
    #[serde(rename = "type")]
    pub kind: ContextKind,
    /// Priority given by the caller, if any.
    #[serde(default)]
    pub priority: Option<ContextPriority>,
    /// Source type; may be empty.
    #[serde(rename = "source.type", default)]
    pub source: String,
    /// The content; may be empty.
    #[serde(default)]
    pub content: String,
    /// Tokens of the content, if the content itself is not given.
    #[serde(default)]
    pub tokens: Option<u64>,
    /// True if captured as an error.
    #[serde(default)]
    pub error: bool,
}

/// Outcome for a record, with the reasons.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PolicyEvaluation {
    /// Locations of all matching rules, in order.
    pub matched: Vec<String>,
    /// Outcome: entry, passed through, or dropped.
    pub outcome: Indexing,
    /// Reason for the outcome.
    pub reason: String,
    /// All fields that rules can set, in the order of [`super::FIELDS`].
    pub fields: Vec<EvaluatedField>,
}

/// Field with its value and its origin.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EvaluatedField {
    /// Key in a policy file.
    pub field: &'static str,
    /// The value; null if there is none.
    pub value: Value,
    /// Location of the rule; `None` for the caller or the defaults.
    pub rule: Option<String>,
}

/// Applies the rules to each record.
#[must_use]
pub fn evaluate(
    rules: &[PolicyRule],
    records: &[PolicyRecord],
    settings: &CaptureSettings,
) -> Vec<PolicyEvaluation> {
    records
        .iter()
        .map(|record| evaluate_record(rules, record, settings))
        .collect()
}

fn evaluate_record(
    rules: &[PolicyRule],
    record: &PolicyRecord,
    settings: &CaptureSettings,
) -> PolicyEvaluation {
    let error = record.error || record.source == ERROR;
    let subject = Subject {
        kind: record.kind,
        priority: record.priority.unwrap_or_default(),
        source: &record.source,
        content: &record.content,
        error,
    };
    let decision = decide(rules, &subject);
    let worth = judge_worth(
        rules,
        &decision,
        &WorthFacts {
            kind: record.kind,
            tokens: record.tokens.unwrap_or(tokens::of(&record.content) as u64),
            blank: record.tokens.is_none() && record.content.trim().is_empty(),
            error,
            asked: false,
        },
        settings,
    );
    let matched = rules
        .iter()
        .filter(|rule| rule.matches.matches(&subject, &mut None));
    PolicyEvaluation {
        matched: matched.map(PolicyRule::location).collect(),
        outcome: worth.indexing,
        reason: worth.reason,
        fields: describe_fields(rules, record, &decision),
    }
}

fn describe_fields(rules: &[PolicyRule], record: &PolicyRecord, decision: &Decision) -> Vec<EvaluatedField> {
    let field = |field, decided: Option<(Value, usize)>, default: Value| EvaluatedField {
        field,
        rule: decided
            .as_ref()
            .and_then(|(_, rule)| rules.get(*rule))
            .map(PolicyRule::location),
        value: decided.map_or(default, |(value, _)| value),
    };
    // An explicit value of the caller overrides a built-in rule.
    let given = record.priority;
    let strong = |rule: usize| given.is_none() || rules.get(rule).is_some_and(|rule| !rule.built_in);
    let priority = decision.priority.filter(|(_, rule)| strong(*rule));
    vec![
        field("keep", to_json(decision.keep), json!(true)),
        field("index", to_json(decision.index), Value::Null),
        field(
            "compression",
            to_json(
                decision
                    .compression
                    .map(|(compression, rule)| (compression.name(), rule)),
            ),
            json!("normal"),
        ),
        field(
            "decay_rate",
            number_to_json(decision.decay_rate),
            shorten_float(record.kind.rate()),
        ),
        field("floor", number_to_json(decision.floor), shorten_float(0.0)),
        field(
            "priority",
            to_json(priority.map(|(priority, rule)| (priority.name(), rule))),
            json!(given.unwrap_or_default().name()),
        ),
        field("persist", to_json(decision.persist), json!(false)),
        field(
            "expires_after_turns",
            to_json(decision.expires_after_turns),
            Value::Null,
        ),
    ]
}

fn to_json<T: Into<Value>>(decided: RuleValue<T>) -> Option<(Value, usize)> {
    decided.map(|(value, rule)| (value.into(), rule))
}

fn number_to_json(decided: RuleValue<f32>) -> Option<(Value, usize)> {
    decided.map(|(number, rule)| (shorten_float(number), rule))
}

/// Converts a number without rounding artefacts: 0.15, not 0.15000000596.
fn shorten_float(number: f32) -> Value {
    number.to_string().parse::<f64>().map_or(Value::Null, Value::from)
}
