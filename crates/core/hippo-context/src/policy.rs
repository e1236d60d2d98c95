//! Lifecycle policies: which rule decides which field of an entry.
//!
//! Rules are applied in order. Each field gets the value of the last matching rule that sets it (v2 §10). Rules match
//! the content as the caller gave it, not the result of earlier rules.

mod evaluate;
mod read;
#[cfg(test)]
mod tests;

use hippo_types::context::{ContextKind, ContextPriority};
use std::sync::LazyLock;

pub use evaluate::{EvaluatedField, PolicyEvaluation, PolicyRecord, evaluate};
pub use read::{PolicyError, parse_rules};

/// Rules of every workspace, in the format of a policy file.
pub const BUILT_IN: &str = include_str!("policy/built_in.yaml");

/// Source type of errors (v2 §10).
pub const ERROR: &str = "error";

/// Fields that a rule can set, by their keys in a policy file.
#[rustfmt::skip] // keep the list compact
pub const FIELDS: [&str; 8] = [
    "keep", "index", "compression", "decay_rate", "floor", "priority", "persist", "expires_after_turns",
];

/// Returns the built-in rules, which apply in every workspace and precede the rules of its own file.
#[must_use]
pub fn built_in_rules() -> &'static [PolicyRule] {
    // A test ensures that the rules are valid.
    static RULES: LazyLock<Vec<PolicyRule>> = LazyLock::new(|| {
        let mut rules = parse_rules(BUILT_IN).unwrap_or_default();
        rules.iter_mut().for_each(|rule| rule.built_in = true);
        rules
    });
    &RULES
}

/// Parses a policy file and returns the built-in rules followed by its rules.
///
/// # Errors
/// See [`parse_rules`].
pub fn load_rules(file: &str) -> Result<Vec<PolicyRule>, PolicyError> {
    let own = parse_rules(file)?;
    Ok(built_in_rules().iter().cloned().chain(own).collect())
}

/// Amount of content that a summary keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Compression {
    /// As much as fits into the usual size.
    #[default]
    Normal,
    /// As little as possible, for large content that is rarely needed again.
    Aggressive,
}

impl Compression {
    /// Returns the name used in policy files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::Aggressive => "aggressive",
        }
    }
}

/// Rule of a policy file.
#[derive(Debug, Clone, PartialEq)]
pub struct PolicyRule {
    /// Line on which the rule begins, from 1.
    pub line: usize,
    /// True for a built-in rule. Explicit values from the caller override such a rule.
    pub built_in: bool,
    /// Conditions of the rule.
    pub matches: RuleMatch,
    /// Values that the rule sets.
    pub action: RuleAction,
}

impl PolicyRule {
    /// Returns the location for display: `line 3`, or `built-in, line 3`.
    #[must_use]
    pub fn location(&self) -> String {
        let from = if self.built_in { "built-in, " } else { "" };
        format!("{from}line {}", self.line)
    }
}

/// Conditions of a rule. All given conditions must be true; a rule without conditions always matches.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RuleMatch {
    /// Types, of which one must match.
    pub kinds: Option<Vec<ContextKind>>,
    /// Priorities, of which one must match.
    pub priorities: Option<Vec<ContextPriority>>,
    /// Source types, one of which must match; `error` also matches any content captured as an error.
    pub sources: Option<Vec<String>>,
    /// Words or phrases, ignoring case. The content must contain one of them at the start of a word.
    pub contains: Option<Vec<String>>,
}

/// Values that a rule sets. Missing values are left to other rules.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct RuleAction {
    /// Decay rate: the factor of the number of turns since the last access, in [0, 10].
    pub decay_rate: Option<f32>,
    /// Minimum strength, in [0, 1].
    pub floor: Option<f32>,
    /// Importance of the entry.
    pub priority: Option<ContextPriority>,
    /// True to write the entry to long-term memory.
    pub persist: Option<bool>,
    /// Number of turns after creation until the entry expires; at least 1.
    pub expires_after_turns: Option<u64>,
    /// False if the content is useless, so that it is neither stored nor becomes an entry.
    pub keep: Option<bool>,
    /// True to create an entry of any size, false to create none.
    pub index: Option<bool>,
    /// Amount of content that the summary keeps.
    pub compression: Option<Compression>,
}

/// Content as seen by the rules. It borrows what `PolicyRecord` owns, with the defaults filled in.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    /// Type of the content.
    pub kind: ContextKind,
    /// Priority given by the caller.
    pub priority: ContextPriority,
    /// Source type.
    pub source: &'a str,
    /// The content.
    pub content: &'a str,
    /// True if captured as an error.
    pub error: bool,
}

/// Value with the position of the rule that set it.
pub type RuleValue<T> = Option<(T, usize)>;

/// Combined result of the rules; `None` leaves a field to the defaults. Unlike [`RuleAction`], it contains the position
/// of the rule that set each value.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Decision {
    /// See [`RuleAction::decay_rate`].
    pub decay_rate: RuleValue<f32>,
    /// See [`RuleAction::floor`].
    pub floor: RuleValue<f32>,
    /// See [`RuleAction::priority`].
    pub priority: RuleValue<ContextPriority>,
    /// See [`RuleAction::persist`].
    pub persist: RuleValue<bool>,
    /// See [`RuleAction::expires_after_turns`].
    pub expires_after_turns: RuleValue<u64>,
    /// See [`RuleAction::keep`].
    pub keep: RuleValue<bool>,
    /// See [`RuleAction::index`].
    pub index: RuleValue<bool>,
    /// See [`RuleAction::compression`].
    pub compression: RuleValue<Compression>,
}

/// Applies the rules to content.
#[must_use]
pub fn decide(rules: &[PolicyRule], subject: &Subject<'_>) -> Decision {
    let mut decision = Decision::default();
    let mut lower = None;
    for (number, rule) in rules.iter().enumerate() {
        if !rule.matches.matches(subject, &mut lower) {
            continue;
        }
        let RuleAction {
            decay_rate,
            floor,
            priority,
            persist,
            expires_after_turns,
            keep,
            index,
            compression,
        } = rule.action;
        set_field(&mut decision.decay_rate, decay_rate, number);
        set_field(&mut decision.floor, floor, number);
        set_field(&mut decision.priority, priority, number);
        set_field(&mut decision.persist, persist, number);
        set_field(&mut decision.expires_after_turns, expires_after_turns, number);
        set_field(&mut decision.keep, keep, number);
        set_field(&mut decision.index, index, number);
        set_field(&mut decision.compression, compression, number);
    }
    decision
}

fn set_field<T>(field: &mut RuleValue<T>, value: Option<T>, rule: usize) {
    if let Some(value) = value {
        *field = Some((value, rule));
    }
}

impl RuleMatch {
    /// Returns true if the conditions are true. `lower` caches the content in lower case.
    fn matches(&self, subject: &Subject<'_>, lower: &mut Option<String>) -> bool {
        let is = |source: &String| source == subject.source || subject.error && source == ERROR;
        let source = self.sources.as_ref().is_none_or(|sources| sources.iter().any(is));
        let kind = self
            .kinds
            .as_ref()
            .is_none_or(|kinds| kinds.contains(&subject.kind));
        let priority = self
            .priorities
            .as_ref()
            .is_none_or(|priorities| priorities.contains(&subject.priority));
        if !(kind && priority && source) {
            return false;
        }
        let Some(phrases) = &self.contains else {
            return true;
        };
        let lower = lower.get_or_insert_with(|| subject.content.to_lowercase());
        phrases.iter().any(|phrase| contains_phrase(lower, phrase))
    }
}

/// Returns true if the text contains the phrase at the start of a word. Both are in lower case.
fn contains_phrase(text: &str, phrase: &str) -> bool {
    let inside = |at: usize| text[..at].chars().next_back().is_some_and(char::is_alphanumeric);
    let word = phrase.chars().next().is_some_and(char::is_alphanumeric);
    text.match_indices(phrase).any(|(at, _)| !word || !inside(at))
}
