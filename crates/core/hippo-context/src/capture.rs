//! Capture of content as a context entry (v2 §6).
//!
//! The workspace's policies, the caller's request, the built-in policies and the size (v2 §6.1) decide whether content
//! becomes an entry, in this order of precedence. An entry never contains a secret, even if the caller supplied the
//! summary. It has at most [`MOST_TOKENS`] tokens in a prompt.

pub(crate) mod clean;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use serde::Serialize;
use serde_json::{Map, Value};

use super::complete;
use super::policy::{self, Compression, Decision, ERROR, PolicyRule, RuleAction, Subject};
use crate::extract::{self, Hints, MOST_TOKENS};
use hippo_text::fence::without_sections;
use hippo_text::text;
use hippo_types::context::{
    ContextDecay, ContextEncoding, ContextEntry, ContextKind, ContextLifecycle, ContextModifiers,
    ContextPriority, ContextSource,
};
use hippo_types::tokens;

/// Maximum tokens of short content, which is used as its own summary.
const SHORT: usize = 60;
/// Maximum bytes of a source reference. A path may be longer.
const MOST_REFERENCE: usize = 1_000;
/// Maximum number of related entries.
const MOST_ASSOCIATIONS: usize = 16;

/// Capture settings of a workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CaptureSettings {
    /// Number of tokens above which a tool result becomes an entry.
    pub worth_tokens: u64,
    /// Maximum tokens of an entry, up to [`MOST_TOKENS`].
    pub entry_tokens: usize,
    /// True if content with secrets may be stored.
    pub store_secrets: bool,
}

impl Default for CaptureSettings {
    fn default() -> Self {
        Self {
            worth_tokens: super::WORTH_AN_ENTRY,
            entry_tokens: MOST_TOKENS,
            store_secrets: true,
        }
    }
}

/// Content to capture, with the caller's metadata.
#[derive(Debug, Clone, Copy, Default)]
pub struct CaptureInput<'a> {
    /// Id of the entry, if one is created.
    pub id: &'a str,
    /// Type of the content; `None` counts as a tool result.
    pub kind: Option<ContextKind>,
    /// Value for `source.type`: the tool that produced the content.
    pub source_type: &'a str,
    /// Value for `source.ref`: a path, an address or a command.
    pub source_ref: &'a str,
    /// Turn of the capture.
    pub turn: u64,
    /// The complete content.
    pub content: &'a str,
    /// Summary given by the caller.
    pub summary: Option<&'a str>,
    /// Key data given by the caller.
    pub key_data: Option<&'a Map<String, Value>>,
    /// Priority given by the caller, for `modifiers.priority`.
    pub priority: Option<ContextPriority>,
    /// Value for `modifiers.encoding`: manual if a user or agent asked for the entry.
    pub encoding: Option<ContextEncoding>,
    /// Ids of related entries, for `modifiers.associations`.
    pub associations: &'a [String],
    /// Turn in which the entry expires, for `lifecycle.expires`.
    pub expires: Option<u64>,
    /// True to write the entry to long-term memory, for `lifecycle.persist`.
    pub persist: Option<bool>,
    /// True if the content is an error. Content of the source type `error` always counts as an error.
    pub error: bool,
}

/// Outcome of a capture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Indexing {
    /// An entry represents the content.
    Entry,
    /// The content stays in the context unchanged.
    Passed,
    /// The content is useless: hippod neither stores it nor creates an entry for it.
    Dropped,
}

/// Result of a capture.
#[derive(Debug, Clone, PartialEq)]
pub struct CaptureResult {
    /// Outcome of the capture.
    pub indexing: Indexing,
    /// The entry, if one was created.
    pub entry: Option<ContextEntry>,
    /// Reason for the outcome, for people.
    pub reason: String,
    /// Location of the rule that decided the outcome.
    pub rule: Option<String>,
    /// True if the content contains a secret.
    pub secret: bool,
    /// True if the content may be stored. False if the content is dropped, or if it contains a secret and the settings
    /// forbid storing secrets.
    pub store: bool,
    /// Estimated tokens of the content.
    pub tokens: u64,
    /// Estimated tokens of the rendered entry, at most [`MOST_TOKENS`]; 0 without an entry.
    pub entry_tokens: u64,
}

/// Decides whether content becomes an entry, and creates the entry. The running time is linear in the length of the
/// content.
#[must_use]
pub fn capture(put: &CaptureInput<'_>, rules: &[PolicyRule], settings: &CaptureSettings) -> CaptureResult {
    let kind = put.kind.unwrap_or(ContextKind::ToolResult);
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
    let tokens = tokens::of(put.content) as u64;
    let (indexing, why, rule) = judge_worth(put, kind, error, &decision, tokens, settings.worth_tokens);
    let rule = rule.map(PolicyRule::location);
    let secret = shows_secret(put.content);
    let store = indexing != Indexing::Dropped && (settings.store_secrets || !secret);
    let entry = (indexing == Indexing::Entry).then(|| {
        let retrievable = store || complete::source_path(put.source_type, put.source_ref).is_some();
        build_entry(put, kind, retrievable, secret, &decision, settings)
    });
    let reason = match &rule {
        Some(rule) => format!("policy at {rule}: {why}"),
        None => why.into_owned(),
    };
    CaptureResult {
        indexing,
        entry_tokens: entry.as_ref().map_or(0, super::lifecycle::size),
        entry,
        reason,
        rule,
        secret,
        store,
        tokens,
    }
}

/// Decides whether content becomes an entry (v2 §6.1). The criteria are, in order of precedence: workspace rules, the
/// caller's request, built-in rules, and the size. Returns the outcome, its reason, and the rule that decided it.
fn judge_worth<'r>(
    put: &CaptureInput<'_>,
    kind: ContextKind,
    error: bool,
    decision: &Decision<'r>,
    tokens: u64,
    most: u64,
) -> (Indexing, Cow<'static, str>, Option<&'r PolicyRule>) {
    let asked = put.encoding == Some(ContextEncoding::Manual) || put.persist == Some(true);
    if let Some((false, rule)) = decision.value(|action| action.keep) {
        return (Indexing::Dropped, "keep: false".into(), Some(rule));
    }
    if put.content.trim().is_empty() {
        return (Indexing::Passed, "the content is blank".into(), None);
    }
    let (indexing, why) = match decision.value(|action| action.index) {
        Some((index, rule)) if !(asked && rule.built_in) => match index {
            true => return (Indexing::Entry, "index: true".into(), Some(rule)),
            false => return (Indexing::Passed, "index: false".into(), Some(rule)),
        },
        _ if asked => (Indexing::Entry, "requested by the caller"),
        _ if error => (Indexing::Entry, "an error"),
        _ => match kind {
            ContextKind::ToolResult => {
                let (indexing, than) = match tokens > most {
                    true => (Indexing::Entry, "more than"),
                    false => (Indexing::Passed, "at most"),
                };
                let why = format!("a tool result of {than} {most} tokens");
                return (indexing, why.into(), None);
            }
            ContextKind::Message => (Indexing::Passed, "a message without lasting instructions"),
            ContextKind::State => (Indexing::Entry, "of type state"),
            ContextKind::Memory => (Indexing::Entry, "of type memory"),
        },
    };
    (indexing, why.into(), None)
}

fn build_entry(
    put: &CaptureInput<'_>,
    kind: ContextKind,
    retrievable: bool,
    secret: bool,
    decision: &Decision<'_>,
    settings: &CaptureSettings,
) -> ContextEntry {
    let expires = |action: &RuleAction| Some(put.turn.saturating_add(action.expires_after_turns?));
    let mut associations: Vec<String> = Vec::new();
    let is_other = |id: &&String| !id.is_empty() && *id != put.id;
    for id in put.associations.iter().filter(is_other) {
        if associations.len() < MOST_ASSOCIATIONS && !associations.contains(id) {
            associations.push(id.clone());
        }
    }
    let rate = decision.resolve(None, |action| action.decay_rate);
    let floor = decision.resolve(None, |action| action.floor);
    let priority = decision.resolve(put.priority, |action| action.priority);
    let persist = decision.resolve(put.persist, |action| action.persist);
    let mut entry = ContextEntry {
        id: put.id.to_owned(),
        kind,
        source: ContextSource {
            kind: text::clip(&hippo_redact::redact(put.source_type), 128),
            reference: redact_reference(put),
            turn: put.turn,
            retrievable,
            stale: false,
        },
        summary: String::new(),
        key_data: None,
        strength: 1.0,
        decay: ContextDecay {
            rate: rate.unwrap_or(kind.rate()),
            floor: floor.unwrap_or(0.0),
            last_access: put.turn,
        },
        modifiers: ContextModifiers {
            priority: priority.unwrap_or_default(),
            encoding: put.encoding.unwrap_or_default(),
            associations,
        },
        lifecycle: ContextLifecycle {
            created: put.turn,
            expires: decision.resolve(put.expires, expires),
            persist: persist.unwrap_or(false),
        },
    };
    let most = settings.entry_tokens.clamp(extract::LEAST_TOKENS, MOST_TOKENS);
    let room = most.saturating_sub(clean::count_tokens(&entry));
    let room = room.max(extract::LEAST_TOKENS);
    let aggressive = decision.resolve(None, |action| action.compression) == Some(Compression::Aggressive);
    let (summary, key_data) = summarize(put, kind, secret, room, aggressive);
    entry.summary = summary;
    entry.key_data = Some(key_data).filter(|data| !data.is_empty());
    clean::hide_secrets(&mut entry);
    clean::shrink_to(&mut entry, most);
    entry
}

/// Returns the summary and the key data, within `room` tokens. If the caller did not supply one of the two, it is
/// extracted from the content.
fn summarize(
    put: &CaptureInput<'_>,
    kind: ContextKind,
    secret: bool,
    room: usize,
    aggressive: bool,
) -> (String, Map<String, Value>) {
    let given = put.summary.map(clean::clean_summary);
    let given = given.filter(|summary| !summary.is_empty());
    let given_data = put.key_data.map(clean::clean_data);
    if let (Some(summary), Some(data)) = (&given, &given_data) {
        return (summary.clone(), data.clone());
    }
    // Leave out sections that hippod itself inserted into the prompt.
    let content = without_sections(put.content);
    let short = tokens::of(&content) <= SHORT && !content.trim().is_empty();
    let (mut summary, data) = if short {
        (clean::clean_summary(&content), Map::new())
    } else {
        let usual = extract::default_tokens(tokens::of(&content));
        let budget = if aggressive { usual / 2 } else { usual };
        // If sections were removed, scan again for secrets: two parts of a secret may have become adjacent.
        let clean = !secret && matches!(content, Cow::Borrowed(_));
        let hints = Hints {
            source_type: put.source_type,
            source_ref: put.source_ref,
        };
        let extract = extract::extract_from(content.as_bytes(), &hints, Some(budget.min(room)), clean);
        let said = (kind == ContextKind::Message).then(|| clean::find_instructions(&content, room * 2));
        let summary = said.filter(|said| !said.is_empty()).unwrap_or(extract.summary);
        (summary, extract.key_data)
    };
    if summary.is_empty() {
        summary = format!("{} tokens of content", tokens::of(put.content));
    }
    (given.unwrap_or(summary), given_data.unwrap_or(data))
}

/// Returns `source.ref` without secrets, shortened unless it is a path.
fn redact_reference(put: &CaptureInput<'_>) -> String {
    let shown = hippo_redact::redact(put.source_ref);
    if complete::source_path(put.source_type, put.source_ref).is_some() {
        return shown.into_owned();
    }
    text::clip(&shown, MOST_REFERENCE)
}

/// Returns true if a text contains a secret, see [`hippo_redact`].
#[must_use]
pub fn shows_secret(text: &str) -> bool {
    hippo_redact::redact(text) != text
}
