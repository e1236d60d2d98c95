//! Is what a caller puts worth an entry, and what does the entry say (v2 §6)?
//!
//! Policies decide first, then the caller's own wish, then the rule of v2 §6.1. An entry shows no secret, whoever wrote its
//! summary, and takes at most [`MOST_TOKENS`] tokens in a prompt.

mod clean;
#[cfg(test)]
mod tests;
mod worth;

use std::borrow::Cow;

use serde::Serialize;
use serde_json::{Map, Value};

use super::policy::{self, Compression, Decided, Decision, ERROR, Rule, Subject};
use super::render::{block, without_sections};
use super::{ContextEntry, Decay, Encoding, Kind, Lifecycle, Modifiers, Priority, Source, complete};
use crate::extract::{self, Hints, MOST_TOKENS};
use crate::{redact, text, tokens};

pub use worth::{Verdict, Worth, worth};

/// Contents of at most this many tokens are their own summary.
const SHORT: usize = 60;
/// Bytes of a reference that is no path, at most.
const MOST_REFERENCE: usize = 1_000;
/// Entries that an entry can name as related, at most.
const MOST_ASSOCIATIONS: usize = 16;

/// What a workspace is set to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// Tool results of more tokens become entries.
    pub worth_tokens: u64,
    /// Tokens of an entry at most, up to [`MOST_TOKENS`].
    pub entry_tokens: usize,
    /// Whether content that shows a secret is stored.
    pub store_secrets: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            worth_tokens: super::WORTH_AN_ENTRY,
            entry_tokens: MOST_TOKENS,
            store_secrets: true,
        }
    }
}

/// What a caller puts.
#[derive(Debug, Clone, Copy, Default)]
pub struct Put<'a> {
    /// Id of the entry, if it becomes one.
    pub id: &'a str,
    /// Its type; `None`: a tool result.
    pub kind: Option<Kind>,
    /// `source.type`.
    pub source_type: &'a str,
    /// `source.ref`.
    pub source_ref: &'a str,
    /// The turn.
    pub turn: u64,
    /// All of it.
    pub content: &'a str,
    /// The caller's own summary.
    pub summary: Option<&'a str>,
    /// The caller's own key data.
    pub key_data: Option<&'a Map<String, Value>>,
    /// `modifiers.priority`.
    pub priority: Option<Priority>,
    /// `modifiers.encoding`.
    pub encoding: Option<Encoding>,
    /// `modifiers.associations`.
    pub associations: &'a [String],
    /// `lifecycle.expires`, a turn.
    pub expires: Option<u64>,
    /// `lifecycle.persist`.
    pub persist: Option<bool>,
    /// Whether it is an error; a source of type `error` is one as well.
    pub error: bool,
}

/// What becomes of what was put.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Indexing {
    /// An entry stands for it.
    Entry,
    /// It stays in the context as it is.
    Passed,
    /// It is of no use: neither stored nor an entry.
    Dropped,
}

/// What was made of what was put.
#[derive(Debug, Clone, PartialEq)]
pub struct Captured {
    /// What becomes of it.
    pub indexing: Indexing,
    /// The entry, if one stands for it.
    pub entry: Option<ContextEntry>,
    /// Why, for people.
    pub reason: String,
    /// Position of the rule that decided it.
    pub rule: Option<usize>,
    /// Whether the content shows a secret.
    pub secret: bool,
    /// Whether the content may be stored: not if it is dropped, or shows a secret and the settings forbid it.
    pub store: bool,
    /// Tokens of the content, estimated.
    pub tokens: u64,
    /// Tokens of the entry as it is rendered, estimated, at most [`MOST_TOKENS`]; 0 without one.
    pub entry_tokens: u64,
}

/// Whether it is worth an entry, and the entry. Takes time linear in the content.
#[must_use]
pub fn capture(put: &Put<'_>, rules: &[Rule], settings: &Settings) -> Captured {
    let kind = put.kind.unwrap_or(Kind::ToolResult);
    let error = put.error || put.source_type == ERROR;
    let decision = policy::decide(
        rules,
        &Subject {
            kind,
            priority: put.priority.unwrap_or_default(),
            source: put.source_type,
            content: put.content,
            error,
        },
    );
    let content_tokens = tokens::of(put.content) as u64;
    let verdict = worth(
        rules,
        &decision,
        &Worth {
            kind,
            tokens: content_tokens,
            blank: put.content.trim().is_empty(),
            error,
            asked: put.encoding == Some(Encoding::Manual) || put.persist == Some(true),
        },
        settings,
    );
    let secret = shows_secret(put.content);
    let store = verdict.indexing != Indexing::Dropped && (settings.store_secrets || !secret);
    let entry = (verdict.indexing == Indexing::Entry).then(|| {
        let retrievable = store || complete::file_of(put.source_type, put.source_ref).is_some();
        entry(put, kind, retrievable, secret, rules, &decision, settings)
    });
    Captured {
        indexing: verdict.indexing,
        entry_tokens: entry.as_ref().map_or(0, |entry| tokens::of(&block(entry)) as u64),
        entry,
        reason: verdict.reason,
        rule: verdict.rule,
        secret,
        store,
        tokens: content_tokens,
    }
}

/// What a caller gave, unless a rule of the workspace decides; a built-in rule decides only what nobody gave.
fn settled<T>(given: Option<T>, decided: Decided<T>, rules: &[Rule]) -> Option<T> {
    let built_in = |rule: usize| rules.get(rule).is_some_and(|rule| rule.built_in);
    match decided {
        Some((value, rule)) if given.is_none() || !built_in(rule) => Some(value),
        _ => given,
    }
}

fn entry(
    put: &Put<'_>,
    kind: Kind,
    retrievable: bool,
    secret: bool,
    rules: &[Rule],
    decision: &Decision,
    settings: &Settings,
) -> ContextEntry {
    let expires = decision
        .expires_after_turns
        .map(|(turns, rule)| (put.turn.saturating_add(turns), rule));
    let mut associations: Vec<String> = Vec::new();
    for id in put
        .associations
        .iter()
        .filter(|id| !id.is_empty() && *id != put.id)
    {
        if associations.len() < MOST_ASSOCIATIONS && !associations.contains(id) {
            associations.push(id.clone());
        }
    }
    let mut entry = ContextEntry {
        id: put.id.to_owned(),
        kind,
        source: Source {
            kind: text::clip(&redact::redact(put.source_type), 128),
            reference: reference(put),
            turn: put.turn,
            retrievable,
        },
        summary: String::new(),
        key_data: None,
        strength: 1.0,
        decay: Decay {
            rate: settled(None, decision.decay_rate, rules).unwrap_or(kind.rate()),
            floor: settled(None, decision.floor, rules).unwrap_or(0.0),
            last_access: put.turn,
        },
        modifiers: Modifiers {
            priority: settled(put.priority, decision.priority, rules).unwrap_or_default(),
            encoding: put.encoding.unwrap_or_default(),
            associations,
        },
        lifecycle: Lifecycle {
            created: put.turn,
            expires: settled(put.expires, expires, rules),
            persist: settled(put.persist, decision.persist, rules).unwrap_or(false),
        },
    };
    let most = settings.entry_tokens.clamp(extract::LEAST_TOKENS, MOST_TOKENS);
    let room = most
        .saturating_sub(clean::size(&entry))
        .max(extract::LEAST_TOKENS);
    let aggressive = settled(None, decision.compression, rules) == Some(Compression::Aggressive);
    let (summary, key_data) = told(put, kind, secret, room, aggressive);
    entry.summary = summary;
    entry.key_data = Some(key_data).filter(|data| !data.is_empty());
    clean::hide_secrets(&mut entry);
    clean::fit(&mut entry, most);
    entry
}

/// Summary and key data within some tokens: the caller's own, and for what it did not give what the content says.
fn told(
    put: &Put<'_>,
    kind: Kind,
    secret: bool,
    room: usize,
    aggressive: bool,
) -> (String, Map<String, Value>) {
    let given = put
        .summary
        .map(clean::summary)
        .filter(|summary| !summary.is_empty());
    let given_data = put.key_data.map(clean::data);
    if let (Some(summary), Some(data)) = (&given, &given_data) {
        return (summary.clone(), data.clone());
    }
    // What hippod itself had put into the prompt is no news.
    let content = without_sections(put.content);
    let short = tokens::of(&content) <= SHORT && !content.trim().is_empty();
    let (summary, data) = if short {
        (clean::summary(&content), Map::new())
    } else {
        let usual = extract::default_tokens(tokens::of(&content));
        let budget = if aggressive { usual / 2 } else { usual };
        // What was left out may have stood between two parts of a secret.
        let clean = !secret && matches!(content, Cow::Borrowed(_));
        let hints = Hints {
            source_type: put.source_type,
            source_ref: put.source_ref,
            content_type: None,
        };
        let extract = extract::extract_from(content.as_bytes(), &hints, Some(budget.min(room)), clean);
        let said = (kind == Kind::Message).then(|| clean::instructions(&content, room * 2));
        let summary = said.filter(|said| !said.is_empty()).unwrap_or(extract.summary);
        (summary, extract.key_data)
    };
    let summary = if summary.is_empty() {
        format!("{} tokens of content", tokens::of(put.content))
    } else {
        summary
    };
    (given.unwrap_or(summary), given_data.unwrap_or(data))
}

/// The reference without secrets; what is no path is cut where it is very long.
fn reference(put: &Put<'_>) -> String {
    let shown = redact::redact(put.source_ref);
    if complete::file_of(put.source_type, put.source_ref).is_some() {
        return shown.into_owned();
    }
    text::clip(&shown, MOST_REFERENCE)
}

/// Whether a text shows a secret, see [`crate::redact`].
#[must_use]
pub fn shows_secret(text: &str) -> bool {
    redact::redact(text) != text
}
