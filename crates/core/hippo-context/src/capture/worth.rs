//! Decision whether content becomes an entry or stays unchanged (v2 §6.1).

use super::{CaptureSettings, Indexing};
use crate::policy::{Decision, PolicyRule};
use hippo_types::context::ContextKind;

/// Facts that decide the outcome, besides the policies.
#[derive(Debug, Clone, Copy)]
pub struct WorthFacts {
    /// Type of the content.
    pub kind: ContextKind,
    /// Tokens of the content.
    pub tokens: u64,
    /// True if the content is blank.
    pub blank: bool,
    /// True if the content is an error.
    pub error: bool,
    /// True if the caller requests an entry, by manual encoding or by `persist`.
    pub asked: bool,
}

/// Outcome, and the reason for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// Outcome.
    pub indexing: Indexing,
    /// Reason for the outcome, for people.
    pub reason: String,
    /// Position of the rule that decided the outcome.
    pub rule: Option<usize>,
}

/// Decides on the outcome. In order of precedence: workspace rules, the caller's request, built-in rules, size.
#[must_use]
pub fn judge_worth(
    rules: &[PolicyRule],
    decision: &Decision,
    worth: &WorthFacts,
    settings: &CaptureSettings,
) -> Verdict {
    let by_rule = |indexing, rule: usize, key: &str| Verdict {
        indexing,
        reason: match rules.get(rule) {
            Some(rule) => format!("policy at {}: {key}", rule.location()),
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
        return verdict(Indexing::Passed, "the content is blank".to_owned());
    }
    let built_in = |rule: usize| rules.get(rule).is_some_and(|rule| rule.built_in);
    match decision.index {
        Some((_, rule)) if worth.asked && built_in(rule) => {}
        Some((true, rule)) => return by_rule(Indexing::Entry, rule, "index: true"),
        Some((false, rule)) => return by_rule(Indexing::Passed, rule, "index: false"),
        None => {}
    }
    if worth.asked {
        return verdict(Indexing::Entry, "requested by the caller".to_owned());
    }
    let most = settings.worth_tokens;
    let (indexing, reason) = match worth.kind {
        _ if worth.error => (Indexing::Entry, "an error".to_owned()),
        ContextKind::ToolResult if worth.tokens > most => (
            Indexing::Entry,
            format!("a tool result of more than {most} tokens"),
        ),
        ContextKind::ToolResult => (
            Indexing::Passed,
            format!("a tool result of at most {most} tokens"),
        ),
        ContextKind::Message => (
            Indexing::Passed,
            "a message without lasting instructions".to_owned(),
        ),
        ContextKind::State | ContextKind::Memory => {
            (Indexing::Entry, format!("of type {}", worth.kind.name()))
        }
    };
    verdict(indexing, reason)
}
