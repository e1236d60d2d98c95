//! Parser for policy files.

use std::fmt;

use super::{Compression, FIELDS, PolicyRule, RuleAction, RuleMatch};
use crate::yaml::{self, Data, Node, Scalar, YamlError};
use hippo_types::context::{ContextKind, ContextPriority};

/// Maximum number of rules in a file.
const MOST_RULES: usize = 1_000;
/// Key of the list of rules.
const RULES: &str = "lifecycle_policies";

/// Error in a policy file. If there is an error, the whole file is rejected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyError {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// What is wrong, and what is expected.
    pub what: String,
}

impl fmt::Display for PolicyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: {}", self.line, self.column, self.what)
    }
}

impl std::error::Error for PolicyError {}

impl From<YamlError> for PolicyError {
    fn from(error: YamlError) -> Self {
        let YamlError { line, column, what } = error;
        Self { line, column, what }
    }
}

type PolicyResult<T> = Result<T, PolicyError>;

/// Parses the rules of a policy file (v2 §10). An empty file has no rules.
///
/// # Errors
/// Returns the first position with invalid YAML, an unknown key or value, a rule that can never match, or a rule that
/// sets nothing. In each case, the whole file is rejected.
pub fn parse_rules(text: &str) -> Result<Vec<PolicyRule>, PolicyError> {
    let whole = |what: String| PolicyError {
        line: 1,
        column: 1,
        what,
    };
    let documents = yaml::load(text).map_err(PolicyError::from)?;
    let mut rules = Vec::new();
    let Some(document) = documents.first() else {
        return Ok(rules);
    };
    if let Some(second) = documents.get(1) {
        return Err(error_at(
            second,
            "the file has a second document; put all rules into the first",
        ));
    }
    if is_null(document) {
        return Ok(rules);
    }
    for (key, value) in mapping_pairs(document, &format!("`{RULES}:`"))? {
        if key_text(key)? != RULES {
            return Err(unknown_error(key, "key", &[RULES]));
        }
        if is_null(value) {
            continue;
        }
        let Data::Sequence(items) = &value.data else {
            return Err(error_at(value, "expected a list of rules"));
        };
        for item in items {
            rules.push(parse_rule(item)?);
        }
    }
    if rules.len() > MOST_RULES {
        return Err(whole(format!(
            "{} rules; the maximum is {MOST_RULES}",
            rules.len()
        )));
    }
    Ok(rules)
}

fn parse_rule(node: &Node<'_>) -> PolicyResult<PolicyRule> {
    let (mut matches, mut action) = (RuleMatch::default(), None);
    for (key, value) in mapping_pairs(node, "a rule with `match` and `action`")? {
        match key_text(key)? {
            "match" if is_null(value) => {}
            "match" => matches = read_match(value)?,
            "action" => action = Some(read_action(value)?),
            _ => return Err(unknown_error(key, "key", &["match", "action"])),
        }
    }
    match action {
        None => Err(error_at(node, "the rule has no `action`")),
        Some(action) if action == RuleAction::default() => Err(error_at(node, "the rule has no effect")),
        Some(action) => Ok(PolicyRule {
            line: node.span.start.line(),
            built_in: false,
            matches,
            action,
        }),
    }
}

fn read_match(node: &Node<'_>) -> PolicyResult<RuleMatch> {
    const KEYS: [&str; 4] = ["type", "priority", "source.type", "contains"];
    let mut matches = RuleMatch::default();
    for (key, value) in mapping_with_values(node, "conditions")? {
        match key_text(key)? {
            "type" => {
                matches.kinds = Some(parse_list(value, |value| {
                    parse_name(value, &ContextKind::ALL, ContextKind::name)
                })?)
            }
            "priority" => {
                matches.priorities = Some(parse_list(value, |value| {
                    parse_name(value, &ContextPriority::ALL, ContextPriority::name)
                })?)
            }
            "source" | "source.type" if matches.sources.is_some() => {
                return Err(error_at(key, "the rule lists its source types twice"));
            }
            "source.type" => matches.sources = Some(parse_list(value, parse_word)?),
            "source" => {
                for (inner, value) in mapping_with_values(value, "`type:`")? {
                    match key_text(inner)? {
                        "type" => matches.sources = Some(parse_list(value, parse_word)?),
                        _ => return Err(unknown_error(inner, "key", &["type"])),
                    }
                }
            }
            "contains" => {
                let phrases = parse_list(value, parse_word)?;
                matches.contains = Some(phrases.iter().map(|phrase| phrase.to_lowercase()).collect());
            }
            _ => return Err(unknown_error(key, "key", &KEYS)),
        }
    }
    Ok(matches)
}

fn read_action(node: &Node<'_>) -> PolicyResult<RuleAction> {
    let mut action = RuleAction::default();
    for (key, value) in mapping_with_values(node, "the actions of the rule")? {
        match key_text(key)? {
            "decay_rate" => action.decay_rate = Some(parse_number(value, 10.0)?),
            "floor" => action.floor = Some(parse_number(value, 1.0)?),
            "priority" => {
                action.priority = Some(parse_name(value, &ContextPriority::ALL, ContextPriority::name)?)
            }
            "persist" => action.persist = Some(parse_bool(value)?),
            "expires_after_turns" => {
                let turns = value
                    .data
                    .as_integer()
                    .and_then(|turns| u64::try_from(turns).ok());
                let turns = turns.filter(|turns| *turns > 0);
                action.expires_after_turns =
                    Some(turns.ok_or_else(|| error_at(value, "expected a number of turns from 1"))?);
            }
            "index" => action.index = Some(parse_bool(value)?),
            "keep" => action.keep = Some(parse_bool(value)?),
            "compression" => {
                let all = [Compression::Normal, Compression::Aggressive];
                action.compression = Some(parse_name(value, &all, Compression::name)?);
            }
            _ => return Err(unknown_error(key, "key", &FIELDS)),
        }
    }
    Ok(action)
}

/// Parses one value or a list of values. An empty list is rejected, because the rule could never match.
fn parse_list<T>(node: &Node<'_>, one: impl Fn(&Node<'_>) -> PolicyResult<T>) -> PolicyResult<Vec<T>> {
    match &node.data {
        Data::Sequence(items) if items.is_empty() => {
            Err(error_at(node, "the list is empty: the rule can never match"))
        }
        Data::Sequence(items) => items.iter().map(one).collect(),
        _ => Ok(vec![one(node)?]),
    }
}

fn mapping_pairs<'n, 'i>(
    node: &'n Node<'i>,
    expected: &str,
) -> PolicyResult<Vec<(&'n Node<'i>, &'n Node<'i>)>> {
    match &node.data {
        Data::Mapping(mapping) => Ok(mapping.iter().collect()),
        _ => Err(error_at(node, &format!("expected {expected}"))),
    }
}

/// Returns the pairs of a mapping without null values.
fn mapping_with_values<'n, 'i>(
    node: &'n Node<'i>,
    expected: &str,
) -> PolicyResult<Vec<(&'n Node<'i>, &'n Node<'i>)>> {
    let pairs = mapping_pairs(node, expected)?;
    match pairs.iter().find(|(_, value)| is_null(value)) {
        Some((key, _)) => Err(error_at(key, &format!("`{}` has no value", key_text(key)?))),
        None => Ok(pairs),
    }
}

fn key_text<'n>(node: &'n Node<'_>) -> PolicyResult<&'n str> {
    node.data
        .as_str()
        .ok_or_else(|| error_at(node, "expected a name"))
}

fn parse_word(node: &Node<'_>) -> PolicyResult<String> {
    let text = match &node.data {
        Data::Value(Scalar::String(text)) => text.trim().to_owned(),
        Data::Value(Scalar::Integer(number)) => number.to_string(),
        _ => return Err(error_at(node, "expected a string; put the value in quotes")),
    };
    if text.is_empty() {
        return Err(error_at(node, "the text is empty: the rule can never match"));
    }
    Ok(text)
}

fn parse_name<T: Copy>(node: &Node<'_>, all: &[T], name: impl Fn(T) -> &'static str) -> PolicyResult<T> {
    let names: Vec<&str> = all.iter().map(|one| name(*one)).collect();
    let found = node
        .data
        .as_str()
        .and_then(|text| names.iter().position(|name| *name == text));
    found
        .and_then(|at| all.get(at).copied())
        .ok_or_else(|| unknown_error(node, "value", &names))
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "policy files contain small numbers"
)]
fn parse_number(node: &Node<'_>, most: f64) -> PolicyResult<f32> {
    let number = node
        .data
        .as_floating_point()
        .or_else(|| node.data.as_integer().map(|whole| whole as f64));
    let number = number.filter(|number| (0.0..=most).contains(number));
    number
        .map(|number| number as f32)
        .ok_or_else(|| error_at(node, &format!("expected a number from 0 to {most}")))
}

fn parse_bool(node: &Node<'_>) -> PolicyResult<bool> {
    node.data
        .as_bool()
        .ok_or_else(|| error_at(node, "expected true or false"))
}

fn is_null(node: &Node<'_>) -> bool {
    matches!(node.data, Data::Value(Scalar::Null))
}

fn unknown_error(node: &Node<'_>, what: &str, known: &[&str]) -> PolicyError {
    let found = match &node.data {
        Data::Value(Scalar::String(text)) => text.to_string(),
        Data::Value(Scalar::Integer(number)) => number.to_string(),
        Data::Value(Scalar::Boolean(truth)) => truth.to_string(),
        _ => String::new(),
    };
    error_at(
        node,
        &format!("unknown {what} `{found}`; expected one of {}", known.join(", ")),
    )
}

fn error_at(node: &Node<'_>, what: &str) -> PolicyError {
    PolicyError {
        line: node.span.start.line(),
        column: node.span.start.col() + 1,
        what: what.to_owned(),
    }
}
