//! Parser for policy files.

use std::num::NonZeroU64;

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{FIELDS, PolicyRule, RuleAction, RuleMatch};
use crate::yaml::{self, Data, Node, Scalar, YamlError};

/// Maximum number of rules in a file.
const MOST_RULES: usize = 1_000;
/// Key of the list of rules.
const RULES: &str = "lifecycle_policies";

type PolicyResult<T> = Result<T, YamlError>;

/// Parses the rules of a policy file (v2 §10). An empty file has no rules.
///
/// # Errors
/// Returns the first position with invalid YAML, an unknown key or value, a rule that can never match, or a rule that
/// sets nothing. In each case, the whole file is rejected.
pub fn parse_rules(text: &str) -> PolicyResult<Vec<PolicyRule>> {
    let documents = yaml::load(text)?;
    if let Some(second) = documents.get(1) {
        let what = "the file has a second document; put all rules into the first";
        return Err(error_at(second, what));
    }
    let mut rules = Vec::new();
    let document = documents.first().filter(|document| !is_null(document));
    for (key, value) in document.map_or_else(
        || Ok(Vec::new()),
        |document| pairs(document, "the key `lifecycle_policies`"),
    )? {
        if key_text(key)? != RULES {
            return Err(unknown_key(key, &[RULES]));
        }
        match &value.data {
            _ if is_null(value) => {}
            Data::Sequence(items) if items.len() > MOST_RULES => {
                let what = format!("the file has {} rules; the maximum is {MOST_RULES}", items.len());
                return Err(error_at(value, &what));
            }
            Data::Sequence(items) => rules = items.iter().map(parse_rule).collect::<PolicyResult<_>>()?,
            _ => return Err(error_at(value, "expected a list of rules")),
        }
    }
    Ok(rules)
}

fn parse_rule(node: &Node<'_>) -> PolicyResult<PolicyRule> {
    let (mut matches, mut action) = (RuleMatch::default(), None);
    for (key, value) in pairs(node, "a rule with `match` and `action`")? {
        match key_text(key)? {
            "match" if is_null(value) => {}
            "match" => matches = parse_match(value)?,
            "action" => action = Some(parse_action(value)?),
            _ => return Err(unknown_key(key, &["match", "action"])),
        }
    }
    match action {
        None => Err(error_at(node, "the rule has no `action`")),
        Some(action) if action == RuleAction::default() => Err(error_at(
            node,
            "the rule has no effect, because its `action` is empty",
        )),
        Some(action) => Ok(PolicyRule {
            line: node.span.start.line(),
            built_in: false,
            matches,
            action,
        }),
    }
}

fn parse_match(node: &Node<'_>) -> PolicyResult<RuleMatch> {
    let mut matches = RuleMatch::default();
    for (key, value) in pairs(node, "conditions, such as `type: message`")? {
        match key_text(key)? {
            "type" => matches.kinds = Some(parse_list(value, parse_value)?),
            "priority" => matches.priorities = Some(parse_list(value, parse_value)?),
            "source.type" => matches.sources = Some(parse_list(value, parse_phrase)?),
            "contains" => {
                let phrases = parse_list(value, parse_phrase)?;
                matches.contains = Some(phrases.iter().map(|phrase| phrase.to_lowercase()).collect());
            }
            _ => return Err(unknown_key(key, &["type", "priority", "source.type", "contains"])),
        }
    }
    Ok(matches)
}

fn parse_action(node: &Node<'_>) -> PolicyResult<RuleAction> {
    let mut action = RuleAction::default();
    for (key, value) in pairs(node, "the fields to set, such as `priority: high`")? {
        match key_text(key)? {
            "decay_rate" => action.decay_rate = Some(parse_number(value, 10.0)?),
            "floor" => action.floor = Some(parse_number(value, 1.0)?),
            "priority" => action.priority = Some(parse_value(value)?),
            "persist" => action.persist = Some(parse_value(value)?),
            "expires_after_turns" => {
                action.expires_after_turns = Some(parse_value::<NonZeroU64>(value)?.get());
            }
            "index" => action.index = Some(parse_value(value)?),
            "keep" => action.keep = Some(parse_value(value)?),
            "compression" => action.compression = Some(parse_value(value)?),
            _ => return Err(unknown_key(key, &FIELDS)),
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

fn parse_phrase(node: &Node<'_>) -> PolicyResult<String> {
    let text: String = parse_value(node)?;
    match text.trim() {
        "" => Err(error_at(node, "the text is empty: the rule can never match")),
        text => Ok(text.to_owned()),
    }
}

fn parse_number(node: &Node<'_>, most: f32) -> PolicyResult<f32> {
    let number = parse_value(node).ok();
    let number = number.filter(|number| (0.0..=most).contains(number));
    number.ok_or_else(|| error_at(node, &format!("expected a number from 0 to {most}")))
}

/// Parses a single value.
fn parse_value<T: DeserializeOwned>(node: &Node<'_>) -> PolicyResult<T> {
    let value = match &node.data {
        Data::Value(Scalar::Boolean(truth)) => Value::from(*truth),
        Data::Value(Scalar::Integer(number)) => Value::from(*number),
        Data::Value(Scalar::FloatingPoint(number)) => Value::from(number.into_inner()),
        Data::Value(Scalar::String(text)) => Value::from(&**text),
        Data::Value(Scalar::Null) => Value::Null,
        _ => return Err(error_at(node, "expected a single value")),
    };
    serde_json::from_value(value).map_err(|error| error_at(node, &error.to_string()))
}

fn pairs<'n, 'i>(node: &'n Node<'i>, expected: &str) -> PolicyResult<Vec<(&'n Node<'i>, &'n Node<'i>)>> {
    match &node.data {
        Data::Mapping(mapping) => Ok(mapping.iter().collect()),
        _ => Err(error_at(node, &format!("expected {expected}"))),
    }
}

fn key_text<'n>(node: &'n Node<'_>) -> PolicyResult<&'n str> {
    let text = node.data.as_str();
    text.ok_or_else(|| error_at(node, "expected a text as the key"))
}

fn is_null(node: &Node<'_>) -> bool {
    matches!(node.data, Data::Value(Scalar::Null))
}

fn unknown_key(node: &Node<'_>, known: &[&str]) -> YamlError {
    let found = node.data.as_str().unwrap_or_default();
    let known = known.join(", ");
    error_at(node, &format!("unknown key `{found}`; expected one of {known}"))
}

fn error_at(node: &Node<'_>, what: &str) -> YamlError {
    YamlError {
        line: node.span.start.line(),
        column: node.span.start.col() + 1,
        what: what.to_owned(),
    }
}
