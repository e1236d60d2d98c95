//! Which rules does a policy file state, and where is it wrong?

use std::fmt;

use super::{Action, Compression, FIELDS, Match, Rule};
use crate::context::{Kind, Priority};
use crate::yaml::{self, Data, Node, Scalar, YamlError};

/// Rules of a file, at most.
const MOST_RULES: usize = 1_000;
/// The key that rules stand under.
const RULES: &str = "lifecycle_policies";

/// Why a policy file is refused as a whole, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyError {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// What is wrong, and what would be right.
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

type Read<T> = Result<T, PolicyError>;

/// The rules of a policy file (v2 §10). An empty file has none.
///
/// # Errors
/// The first place that is no YAML, has an unknown key or value, or states a rule that can never match or decides
/// nothing. No rule of such a file holds.
pub fn read(text: &str) -> Result<Vec<Rule>, PolicyError> {
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
        return Err(at(second, "a second document; all rules stand in one"));
    }
    if is_null(document) {
        return Ok(rules);
    }
    for (key, value) in pairs(document, &format!("`{RULES}:`"))? {
        if text_of(key)? != RULES {
            return Err(unknown(key, "key", &[RULES]));
        }
        if is_null(value) {
            continue;
        }
        let Data::Sequence(items) = &value.data else {
            return Err(at(value, "a list of rules is expected"));
        };
        for item in items {
            rules.push(rule(item)?);
        }
    }
    if rules.len() > MOST_RULES {
        return Err(whole(format!("{} rules; {MOST_RULES} is the most", rules.len())));
    }
    Ok(rules)
}

fn rule(node: &Node<'_>) -> Read<Rule> {
    let (mut matches, mut action) = (Match::default(), None);
    for (key, value) in pairs(node, "a rule with `match` and `action`")? {
        match text_of(key)? {
            "match" if is_null(value) => {}
            "match" => matches = read_match(value)?,
            "action" => action = Some(read_action(value)?),
            _ => return Err(unknown(key, "key", &["match", "action"])),
        }
    }
    match action {
        None => Err(at(node, "the rule has no `action`")),
        Some(action) if action == Action::default() => Err(at(node, "the rule decides nothing")),
        Some(action) => Ok(Rule {
            line: node.span.start.line(),
            built_in: false,
            matches,
            action,
        }),
    }
}

fn read_match(node: &Node<'_>) -> Read<Match> {
    const KEYS: [&str; 4] = ["type", "priority", "source.type", "contains"];
    let mut matches = Match::default();
    for (key, value) in given(node, "conditions")? {
        match text_of(key)? {
            "type" => matches.kinds = Some(list(value, |value| named(value, &Kind::ALL, Kind::name))?),
            "priority" => {
                matches.priorities = Some(list(value, |value| named(value, &Priority::ALL, Priority::name))?)
            }
            "source" | "source.type" if matches.sources.is_some() => {
                return Err(at(key, "the rule names its types of source twice"));
            }
            "source.type" => matches.sources = Some(list(value, word)?),
            "source" => {
                for (inner, value) in given(value, "`type:`")? {
                    match text_of(inner)? {
                        "type" => matches.sources = Some(list(value, word)?),
                        _ => return Err(unknown(inner, "key", &["type"])),
                    }
                }
            }
            "contains" => {
                let phrases = list(value, word)?;
                matches.contains = Some(phrases.iter().map(|phrase| phrase.to_lowercase()).collect());
            }
            _ => return Err(unknown(key, "key", &KEYS)),
        }
    }
    Ok(matches)
}

fn read_action(node: &Node<'_>) -> Read<Action> {
    let mut action = Action::default();
    for (key, value) in given(node, "what the rule decides")? {
        match text_of(key)? {
            "decay_rate" => action.decay_rate = Some(number(value, 10.0)?),
            "floor" => action.floor = Some(number(value, 1.0)?),
            "priority" => action.priority = Some(named(value, &Priority::ALL, Priority::name)?),
            "persist" => action.persist = Some(truth(value)?),
            "expires_after_turns" => {
                let turns = value
                    .data
                    .as_integer()
                    .and_then(|turns| u64::try_from(turns).ok());
                let turns = turns.filter(|turns| *turns > 0);
                action.expires_after_turns =
                    Some(turns.ok_or_else(|| at(value, "a number of turns from 1 is expected"))?);
            }
            "index" => action.index = Some(truth(value)?),
            "keep" => action.keep = Some(truth(value)?),
            "compression" => {
                let all = [Compression::Normal, Compression::Aggressive];
                action.compression = Some(named(value, &all, Compression::name)?);
            }
            _ => return Err(unknown(key, "key", &FIELDS)),
        }
    }
    Ok(action)
}

/// One value or a list of them; of none the rule could never match.
fn list<T>(node: &Node<'_>, one: impl Fn(&Node<'_>) -> Read<T>) -> Read<Vec<T>> {
    match &node.data {
        Data::Sequence(items) if items.is_empty() => {
            Err(at(node, "the list is empty: the rule can never match"))
        }
        Data::Sequence(items) => items.iter().map(one).collect(),
        _ => Ok(vec![one(node)?]),
    }
}

fn pairs<'n, 'i>(node: &'n Node<'i>, expected: &str) -> Read<Vec<(&'n Node<'i>, &'n Node<'i>)>> {
    match &node.data {
        Data::Mapping(mapping) => Ok(mapping.iter().collect()),
        _ => Err(at(node, &format!("{expected} is expected"))),
    }
}

/// The same where no value may be left out.
fn given<'n, 'i>(node: &'n Node<'i>, expected: &str) -> Read<Vec<(&'n Node<'i>, &'n Node<'i>)>> {
    let pairs = pairs(node, expected)?;
    match pairs.iter().find(|(_, value)| is_null(value)) {
        Some((key, _)) => Err(at(key, &format!("`{}` has no value", text_of(key)?))),
        None => Ok(pairs),
    }
}

fn text_of<'n>(node: &'n Node<'_>) -> Read<&'n str> {
    node.data.as_str().ok_or_else(|| at(node, "a name is expected"))
}

fn word(node: &Node<'_>) -> Read<String> {
    let text = match &node.data {
        Data::Value(Scalar::String(text)) => text.trim().to_owned(),
        Data::Value(Scalar::Integer(number)) => number.to_string(),
        _ => return Err(at(node, "a text is expected; quote it")),
    };
    if text.is_empty() {
        return Err(at(node, "the text is empty: the rule can never match"));
    }
    Ok(text)
}

fn named<T: Copy>(node: &Node<'_>, all: &[T], name: impl Fn(T) -> &'static str) -> Read<T> {
    let names: Vec<&str> = all.iter().map(|one| name(*one)).collect();
    let found = node
        .data
        .as_str()
        .and_then(|text| names.iter().position(|name| *name == text));
    found
        .and_then(|at| all.get(at).copied())
        .ok_or_else(|| unknown(node, "value", &names))
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "small numbers, given by hand"
)]
fn number(node: &Node<'_>, most: f64) -> Read<f32> {
    let number = node
        .data
        .as_floating_point()
        .or_else(|| node.data.as_integer().map(|whole| whole as f64));
    let number = number.filter(|number| (0.0..=most).contains(number));
    number
        .map(|number| number as f32)
        .ok_or_else(|| at(node, &format!("a number from 0 to {most} is expected")))
}

fn truth(node: &Node<'_>) -> Read<bool> {
    node.data
        .as_bool()
        .ok_or_else(|| at(node, "true or false is expected"))
}

fn is_null(node: &Node<'_>) -> bool {
    matches!(node.data, Data::Value(Scalar::Null))
}

fn unknown(node: &Node<'_>, what: &str, known: &[&str]) -> PolicyError {
    let found = match &node.data {
        Data::Value(Scalar::String(text)) => text.to_string(),
        Data::Value(Scalar::Integer(number)) => number.to_string(),
        Data::Value(Scalar::Boolean(truth)) => truth.to_string(),
        _ => String::new(),
    };
    at(
        node,
        &format!("unknown {what} `{found}`; there are {}", known.join(", ")),
    )
}

fn at(node: &Node<'_>, what: &str) -> PolicyError {
    PolicyError {
        line: node.span.start.line(),
        column: node.span.start.col() + 1,
        what: what.to_owned(),
    }
}
