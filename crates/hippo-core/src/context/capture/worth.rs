//! Does an entry stand for a content, or does the content stay where it is (v2 §6.1)?

use super::{Indexing, Settings};
use crate::context::Kind;
use crate::context::policy::{Decision, Rule};

/// What decides it besides the policies.
#[derive(Debug, Clone, Copy)]
pub struct Worth {
    /// Its type.
    pub kind: Kind,
    /// Its tokens.
    pub tokens: u64,
    /// Whether there is nothing in it.
    pub blank: bool,
    /// Whether it is an error.
    pub error: bool,
    /// Whether the caller asks for an entry: its encoding is manual, or it is to persist.
    pub asked: bool,
}

/// What becomes of it, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// What becomes of it.
    pub indexing: Indexing,
    /// Why, for people.
    pub reason: String,
    /// Position of the rule that decided it.
    pub rule: Option<usize>,
}

/// The verdict. Rules of the workspace are stronger than the caller's wish, that is stronger than built-in rules, and these
/// are stronger than the size.
#[must_use]
pub fn worth(rules: &[Rule], decision: &Decision, worth: &Worth, settings: &Settings) -> Verdict {
    let by_rule = |indexing, rule: usize, key: &str| Verdict {
        indexing,
        reason: match rules.get(rule) {
            Some(rule) => format!("policy at {}: {key}", rule.place()),
            None => format!("policy: {key}"),
        },
        rule: Some(rule),
    };
    let verdict = |indexing, reason: String| Verdict {
        indexing,
        reason,
        rule: None,
    };
    if let Some((false, rule)) = decision.keep {
        return by_rule(Indexing::Dropped, rule, "keep: false");
    }
    if worth.blank {
        return verdict(Indexing::Passed, "there is nothing in it".to_owned());
    }
    let built_in = |rule: usize| rules.get(rule).is_some_and(|rule| rule.built_in);
    match decision.index {
        Some((_, rule)) if worth.asked && built_in(rule) => {}
        Some((true, rule)) => return by_rule(Indexing::Entry, rule, "index: true"),
        Some((false, rule)) => return by_rule(Indexing::Passed, rule, "index: false"),
        None => {}
    }
    if worth.asked {
        return verdict(Indexing::Entry, "the caller asks for it".to_owned());
    }
    let most = settings.worth_tokens;
    let (indexing, reason) = match worth.kind {
        _ if worth.error => (Indexing::Entry, "an error".to_owned()),
        Kind::ToolResult if worth.tokens > most => (
            Indexing::Entry,
            format!("a tool result of more than {most} tokens"),
        ),
        Kind::ToolResult => (
            Indexing::Passed,
            format!("a tool result of at most {most} tokens"),
        ),
        Kind::Message => (
            Indexing::Passed,
            "a message without lasting instructions".to_owned(),
        ),
        Kind::State | Kind::Memory => (Indexing::Entry, format!("of type {}", worth.kind.name())),
    };
    verdict(indexing, reason)
}
