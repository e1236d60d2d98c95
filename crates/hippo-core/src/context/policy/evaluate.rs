//! Which rule decides which field of each record of a list: how a policy file is tried out before it is used?

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Decided, Decision, ERROR, Rule, Subject, decide};
use crate::context::capture::{Indexing, Settings, Worth, worth};
use crate::context::{Kind, Priority};
use crate::tokens;

/// Something that could be put.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// Its type.
    #[serde(rename = "type")]
    pub kind: Kind,
    /// Its priority as given; `None`: not given.
    #[serde(default)]
    pub priority: Option<Priority>,
    /// Type of its source; may be empty.
    #[serde(rename = "source.type", default)]
    pub source: String,
    /// Its content; may be empty.
    #[serde(default)]
    pub content: String,
    /// Tokens of its content, when that is not given as a whole.
    #[serde(default)]
    pub tokens: Option<u64>,
    /// Whether it was put as an error.
    #[serde(default)]
    pub error: bool,
}

/// What becomes of a record, and why.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Evaluated {
    /// Places of all rules that match, in their order.
    pub matched: Vec<String>,
    /// Whether it becomes an entry, passes through, or is dropped.
    pub outcome: Indexing,
    /// Why.
    pub reason: String,
    /// All fields that rules can decide, in the order of [`super::FIELDS`].
    pub fields: Vec<FieldOf>,
}

/// One field, its value, and who decided it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FieldOf {
    /// The key in a policy file.
    pub field: &'static str,
    /// The value; null where there is none.
    pub value: Value,
    /// Place of the rule; `None`: the caller or the defaults.
    pub rule: Option<String>,
}

/// What the rules make of each record, in their order.
#[must_use]
pub fn evaluate(rules: &[Rule], records: &[Record], settings: &Settings) -> Vec<Evaluated> {
    records
        .iter()
        .map(|record| one(rules, record, settings))
        .collect()
}

fn one(rules: &[Rule], record: &Record, settings: &Settings) -> Evaluated {
    let error = record.error || record.source == ERROR;
    let subject = Subject {
        kind: record.kind,
        priority: record.priority.unwrap_or_default(),
        source: &record.source,
        content: &record.content,
        error,
    };
    let decision = decide(rules, &subject);
    let worth = worth(
        rules,
        &decision,
        &Worth {
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
        .filter(|rule| rule.matches.holds(&subject, &mut None));
    Evaluated {
        matched: matched.map(Rule::place).collect(),
        outcome: worth.indexing,
        reason: worth.reason,
        fields: fields(rules, record, &decision),
    }
}

fn fields(rules: &[Rule], record: &Record, decision: &Decision) -> Vec<FieldOf> {
    let field = |field, decided: Option<(Value, usize)>, default: Value| FieldOf {
        field,
        rule: decided
            .as_ref()
            .and_then(|(_, rule)| rules.get(*rule))
            .map(Rule::place),
        value: decided.map_or(default, |(value, _)| value),
    };
    // What a caller gives expressly is stronger than a built-in rule.
    let given = record.priority;
    let strong = |rule: usize| given.is_none() || rules.get(rule).is_some_and(|rule| !rule.built_in);
    let priority = decision.priority.filter(|(_, rule)| strong(*rule));
    vec![
        field("keep", value(decision.keep), json!(true)),
        field("index", value(decision.index), Value::Null),
        field(
            "compression",
            value(
                decision
                    .compression
                    .map(|(compression, rule)| (compression.name(), rule)),
            ),
            json!("normal"),
        ),
        field(
            "decay_rate",
            number(decision.decay_rate),
            shown(record.kind.rate()),
        ),
        field("floor", number(decision.floor), shown(0.0)),
        field(
            "priority",
            value(priority.map(|(priority, rule)| (priority.name(), rule))),
            json!(given.unwrap_or_default().name()),
        ),
        field("persist", value(decision.persist), json!(false)),
        field(
            "expires_after_turns",
            value(decision.expires_after_turns),
            Value::Null,
        ),
    ]
}

fn value<T: Into<Value>>(decided: Decided<T>) -> Option<(Value, usize)> {
    decided.map(|(value, rule)| (value.into(), rule))
}

fn number(decided: Decided<f32>) -> Option<(Value, usize)> {
    decided.map(|(number, rule)| (shown(number), rule))
}

/// A number as it was written: 0.15, not 0.15000000596.
fn shown(number: f32) -> Value {
    number.to_string().parse::<f64>().map_or(Value::Null, Value::from)
}
