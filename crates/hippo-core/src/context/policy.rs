//! What do the lifecycle policies decide for an entry, and which rule decided it?
//!
//! Rules are read in their order, and each field of a decision is that of the last rule that matches and names it
//! (v2 §10). What a rule matches on is what was put, not what an earlier rule made of it.

mod evaluate;
mod read;
#[cfg(test)]
mod tests;

use std::sync::LazyLock;

use super::{Kind, Priority};

pub use evaluate::{Evaluated, FieldOf, Record, evaluate};
pub use read::{PolicyError, read};

/// The rules that hold in every workspace, as a policy file.
pub const BUILT_IN: &str = include_str!("policy/built_in.yaml");

/// The type of source of errors (v2 §10).
pub const ERROR: &str = "error";

/// The fields that a rule can decide, by their keys in a policy file.
pub const FIELDS: [&str; 8] = [
    "keep",
    "index",
    "compression",
    "decay_rate",
    "floor",
    "priority",
    "persist",
    "expires_after_turns",
];

/// The rules that hold in every workspace, before those of its own file.
#[must_use]
pub fn built_in() -> &'static [Rule] {
    // A test holds that they can be read.
    static RULES: LazyLock<Vec<Rule>> = LazyLock::new(|| {
        let mut rules = read(BUILT_IN).unwrap_or_default();
        rules.iter_mut().for_each(|rule| rule.built_in = true);
        rules
    });
    &RULES
}

/// The built-in rules and after them those of a workspace's policy file.
///
/// # Errors
/// See [`read`].
pub fn rules(file: &str) -> Result<Vec<Rule>, PolicyError> {
    let own = read(file)?;
    Ok(built_in().iter().cloned().chain(own).collect())
}

/// How much of the content a summary keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Compression {
    /// As much as fits into the usual size.
    #[default]
    Normal,
    /// As little as possible: for what is large and seldom asked for again.
    Aggressive,
}

impl Compression {
    /// The name in a policy file.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::Aggressive => "aggressive",
        }
    }
}

/// A rule.
#[derive(Debug, Clone, PartialEq)]
pub struct Rule {
    /// Line on which it begins, from 1.
    pub line: usize,
    /// Whether it holds in every workspace. What a caller gives expressly is stronger than such a rule.
    pub built_in: bool,
    /// What it is about.
    pub matches: Match,
    /// What it decides.
    pub action: Action,
}

impl Rule {
    /// Where it stands, for people: `line 3`, or `built-in, line 3`.
    #[must_use]
    pub fn place(&self) -> String {
        let from = if self.built_in { "built-in, " } else { "" };
        format!("{from}line {}", self.line)
    }
}

/// What a rule is about. All that is named must hold; nothing named holds always.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Match {
    /// One of these types.
    pub kinds: Option<Vec<Kind>>,
    /// One of these priorities.
    pub priorities: Option<Vec<Priority>>,
    /// One of these types of source; `error` is also what was put as one, wherever it comes from.
    pub sources: Option<Vec<String>>,
    /// The content has one of these words or phrases, in small or large letters, at the beginning of a word.
    pub contains: Option<Vec<String>>,
}

/// What a rule decides. What is not named is left to others.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Action {
    /// How much a turn counts, in [0, 10].
    pub decay_rate: Option<f32>,
    /// It never gets weaker, in [0, 1].
    pub floor: Option<f32>,
    /// How much it matters.
    pub priority: Option<Priority>,
    /// Whether it goes into long-term memory.
    pub persist: Option<bool>,
    /// It leaves the context this many turns after it was made, at least 1.
    pub expires_after_turns: Option<u64>,
    /// Whether it is of any use: what is not is neither stored nor an entry.
    pub keep: Option<bool>,
    /// Whether an entry is made of it, however small or large it is.
    pub index: Option<bool>,
    /// How much its summary keeps.
    pub compression: Option<Compression>,
}

/// What is put, as far as rules look at it.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    /// Its type.
    pub kind: Kind,
    /// Its priority as given.
    pub priority: Priority,
    /// Type of its source.
    pub source: &'a str,
    /// Its content.
    pub content: &'a str,
    /// Whether it was put as an error.
    pub error: bool,
}

/// A decided value, and the rule that decided it, by position.
pub type Decided<T> = Option<(T, usize)>;

/// What the rules decide together; `None` is left to the defaults.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Decision {
    /// See [`Action::decay_rate`].
    pub decay_rate: Decided<f32>,
    /// See [`Action::floor`].
    pub floor: Decided<f32>,
    /// See [`Action::priority`].
    pub priority: Decided<Priority>,
    /// See [`Action::persist`].
    pub persist: Decided<bool>,
    /// See [`Action::expires_after_turns`].
    pub expires_after_turns: Decided<u64>,
    /// See [`Action::keep`].
    pub keep: Decided<bool>,
    /// See [`Action::index`].
    pub index: Decided<bool>,
    /// See [`Action::compression`].
    pub compression: Decided<Compression>,
}

/// What the rules decide.
#[must_use]
pub fn decide(rules: &[Rule], subject: &Subject<'_>) -> Decision {
    let mut decision = Decision::default();
    let mut lower = None;
    for (number, rule) in rules.iter().enumerate() {
        if !rule.matches.holds(subject, &mut lower) {
            continue;
        }
        let Action {
            decay_rate,
            floor,
            priority,
            persist,
            expires_after_turns,
            keep,
            index,
            compression,
        } = rule.action;
        set(&mut decision.decay_rate, decay_rate, number);
        set(&mut decision.floor, floor, number);
        set(&mut decision.priority, priority, number);
        set(&mut decision.persist, persist, number);
        set(&mut decision.expires_after_turns, expires_after_turns, number);
        set(&mut decision.keep, keep, number);
        set(&mut decision.index, index, number);
        set(&mut decision.compression, compression, number);
    }
    decision
}

fn set<T>(field: &mut Decided<T>, value: Option<T>, rule: usize) {
    if let Some(value) = value {
        *field = Some((value, rule));
    }
}

impl Match {
    /// Whether the rule is about it. `lower` is the content in small letters, made when the first rule asks for it.
    fn holds(&self, subject: &Subject<'_>, lower: &mut Option<String>) -> bool {
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
        phrases.iter().any(|phrase| has(lower, phrase))
    }
}

/// Whether a phrase stands in a text at the beginning of a word; both in small letters.
fn has(text: &str, phrase: &str) -> bool {
    let inside = |at: usize| text[..at].chars().next_back().is_some_and(char::is_alphanumeric);
    let word = phrase.chars().next().is_some_and(char::is_alphanumeric);
    text.match_indices(phrase).any(|(at, _)| !word || !inside(at))
}
