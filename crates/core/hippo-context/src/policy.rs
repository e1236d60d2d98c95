//! Lifecycle policies: rules that set fields of context entries.
//!
//! Rules are applied in order. Each field gets the value of the last matching rule that sets it (v2 §10). Rules match
//! the content as the caller gave it, not the result of earlier rules.

mod read;
#[cfg(test)]
mod tests;

use std::sync::LazyLock;

use serde::Deserialize;

use hippo_types::context::{ContextKind, ContextPriority};

use crate::yaml::YamlError;
pub use read::parse_rules;

/// Rules that apply in every workspace, in the format of a policy file.
pub const BUILT_IN: &str = include_str!("policy/built_in.yaml");

/// Source type of errors (v2 §10).
pub const ERROR: &str = "error";

/// Keys in the `action` of a rule; each key sets one field.
#[rustfmt::skip] // keep the list compact
pub const FIELDS: [&str; 8] = [
    "keep", "index", "compression", "decay_rate", "floor", "priority", "persist", "expires_after_turns",
];

/// Returns the built-in rules, which apply in every workspace and precede the rules of the workspace's policy file.
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

/// Parses a policy file. Returns the built-in rules, followed by the rules of the file.
///
/// # Errors
/// See [`parse_rules`].
pub fn load_rules(file: &str) -> Result<Vec<PolicyRule>, YamlError> {
    let own = parse_rules(file)?;
    Ok(built_in_rules().iter().cloned().chain(own).collect())
}

/// Amount of content that a summary keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Compression {
    /// As much content as fits into the default size of a summary.
    Normal,
    /// As much content as fits into half of the default size, for large content that is rarely needed again.
    Aggressive,
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
    /// Types of content, one of which must match; `None` matches every type.
    pub kinds: Option<Vec<ContextKind>>,
    /// Priorities, one of which must match.
    pub priorities: Option<Vec<ContextPriority>>,
    /// Source types, one of which must match; `error` also matches any content captured as an error.
    pub sources: Option<Vec<String>>,
    /// Words or phrases, whose case is ignored. At least one must occur in the content, at the start of a word.
    pub contains: Option<Vec<String>>,
}

/// Values that a rule sets. `None` leaves a field unchanged.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct RuleAction {
    /// Decay rate, in [0, 10]. The formula of the strength multiplies it by the number of turns since the last access.
    pub decay_rate: Option<f32>,
    /// Minimum strength, in [0, 1].
    pub floor: Option<f32>,
    /// Importance of the entry.
    pub priority: Option<ContextPriority>,
    /// True to write the entry to long-term memory.
    pub persist: Option<bool>,
    /// Number of turns after creation until the entry expires; at least 1.
    pub expires_after_turns: Option<u64>,
    /// False to drop useless content: hippod neither stores it nor creates an entry.
    pub keep: Option<bool>,
    /// True to create an entry of any size, false to create none.
    pub index: Option<bool>,
    /// Amount of content that the summary keeps.
    pub compression: Option<Compression>,
}

/// Captured content that is compared with the rules.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    /// Type of the content.
    pub kind: ContextKind,
    /// Priority given by the caller.
    pub priority: ContextPriority,
    /// Source type of the content.
    pub source: &'a str,
    /// The content.
    pub content: &'a str,
    /// True if the content was captured as an error.
    pub error: bool,
}

/// The rules that match some content, in order.
#[derive(Debug, Clone, PartialEq)]
pub struct Decision<'r>(Vec<&'r PolicyRule>);

impl<'r> Decision<'r> {
    /// Returns the value of a field, and the rule that set it: the last matching rule with a value for this field.
    pub fn value<T>(&self, field: impl Fn(&RuleAction) -> Option<T>) -> Option<(T, &'r PolicyRule)> {
        let mut rules = self.0.iter().rev();
        rules.find_map(|rule| Some((field(&rule.action)?, *rule)))
    }

    /// Chooses between the caller's value of a field and the value of a rule. A workspace rule takes precedence over
    /// the caller; a built-in rule only supplies a missing value.
    pub fn resolve<T>(&self, given: Option<T>, field: impl Fn(&RuleAction) -> Option<T>) -> Option<T> {
        match self.value(field) {
            Some((value, rule)) if given.is_none() || !rule.built_in => Some(value),
            _ => given,
        }
    }
}

/// Returns the rules that match the content.
#[must_use]
pub fn decide<'r>(rules: &'r [PolicyRule], subject: &Subject<'_>) -> Decision<'r> {
    let mut lower = None;
    let matching = rules
        .iter()
        .filter(|rule| rule.matches.matches(subject, &mut lower));
    Decision(matching.collect())
}

impl RuleMatch {
    /// Returns true if the content meets all conditions of the rule. `lower` caches the content in lower case.
    fn matches(&self, subject: &Subject<'_>, lower: &mut Option<String>) -> bool {
        let is = |source: &String| source == subject.source || subject.error && source == ERROR;
        let source = self.sources.as_ref().is_none_or(|all| all.iter().any(is));
        let kind = self.kinds.as_ref().is_none_or(|all| all.contains(&subject.kind));
        let priorities = self.priorities.as_ref();
        let priority = priorities.is_none_or(|all| all.contains(&subject.priority));
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
