//! Summaries and key values of large tool results.
//!
//! Extraction uses no model. It detects the kind of the content. The rules for this kind then select the values that an
//! agent is likely to need again. Extraction never fails: content of an unknown kind is treated as plain text. The
//! running time is linear in the length of the content. docs/extraction.md lists the values for each kind.

mod clean;
mod detect;
mod diff;
mod draft;
mod json;
mod lines;
mod log;
mod snapshot;
mod text;
mod trace;
mod values;

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;

use serde_json::{Map, Value};

use draft::Draft;
use lines::NumberedText;
pub(crate) use lines::parse_numbered;

use hippo_types::tokens;

/// Maximum tokens of an entry; larger requested budgets are lowered to this value.
pub const MOST_TOKENS: usize = 500;
/// Minimum tokens of an entry; smaller requested budgets are raised to this value.
pub const LEAST_TOKENS: usize = 16;

/// Metadata of the content.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Hints<'h> {
    /// `source.type`: the tool that produced the content, such as `browser.snapshot`, `exec`, `read`; may be empty.
    pub source_type: &'h str,
    /// `source.ref`: a path, an address, a command, or the arguments of the call as JSON; may be empty.
    pub source_ref: &'h str,
}

/// Detected kind of content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ContentKind {
    /// Only white space.
    Empty,
    /// Bytes that are not text.
    Binary,
    /// A JSON value, or one value per line.
    Json,
    /// The accessibility tree of a page.
    Snapshot,
    /// Output of a build or a test run.
    Log,
    /// A stack trace.
    Trace,
    /// A unified diff.
    Diff,
    /// Any other text.
    Text,
}

impl ContentKind {
    /// Returns the name of the kind in responses.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::Binary => "binary",
            Self::Json => "json",
            Self::Snapshot => "snapshot",
            Self::Log => "log",
            Self::Trace => "trace",
            Self::Diff => "diff",
            Self::Text => "text",
        }
    }
}

/// The extract that replaces the content in the context.
#[derive(Debug, Clone, PartialEq)]
pub struct Extract {
    /// Detected kind of the content.
    pub kind: ContentKind,
    /// Summary in one or a few sentences, on one line.
    pub summary: String,
    /// Values that are likely to be needed again, by name.
    pub key_data: Map<String, Value>,
    /// Estimated tokens of the content.
    pub content_tokens: usize,
    /// Estimated tokens of summary and key data as rendered by [`Extract::rendered`]; at most the requested budget.
    pub entry_tokens: usize,
}

impl Extract {
    /// Returns the summary and the key data as they appear in a prompt: a line of text, then a line of JSON if there is
    /// key data.
    #[must_use]
    pub fn rendered(&self) -> String {
        draft::rendered(&self.summary, &self.key_data)
    }
}

/// Returns the default maximum number of tokens of an entry for content of this size, 24 to 450.
///
/// The number is a 20th of the content's size, and at least 100, but at most a quarter of the content's size. An entry
/// has fewer tokens if its content has few values that are likely to be needed again.
#[must_use]
pub fn default_tokens(content_tokens: usize) -> usize {
    let share = (content_tokens / 20).clamp(100, 450);
    share.min(content_tokens / 4).max(24)
}

/// Returns the summary and the key data of the content, in at most `budget` tokens. Without a budget, the maximum is
/// [`default_tokens`]. Secrets are redacted.
///
/// The same bytes and hints give the same extract. Hints that contradict the content are ignored.
#[must_use]
pub fn extract(content: &[u8], hints: &Hints<'_>, budget: Option<usize>) -> Extract {
    extract_from(content, hints, budget, false)
}

/// Works like [`extract`]. If `clean` is true, the content is known to contain no secrets (see
/// [`hippo_redact::redact`]) and is not scanned again.
pub(crate) fn extract_from(content: &[u8], hints: &Hints<'_>, budget: Option<usize>, clean: bool) -> Extract {
    let content_tokens = tokens::of_bytes(content.len());
    let budget = budget.unwrap_or_else(|| default_tokens(content_tokens));
    let budget = budget.clamp(LEAST_TOKENS, MOST_TOKENS);
    let draft = if clean::is_binary(content) {
        clean::binary(content)
    } else {
        draft_of(&NumberedText::new(&clean::shown(content, clean)), hints)
    };
    draft.within(budget, content_tokens)
}

/// Returns the draft for the most likely kind whose extractor finds values, or else for plain text.
fn draft_of(text: &NumberedText<'_>, hints: &Hints<'_>) -> Draft {
    if text.all.trim().is_empty() {
        return Draft::new(ContentKind::Empty, "nothing but white space");
    }
    let mut kinds = detect::kinds(text, hints).into_iter();
    let found = kinds.find_map(|kind| drafted(kind, text));
    found.unwrap_or_else(|| text::draft(text))
}

/// Returns a count with its noun: `1 file`, `3 files`.
fn counted(count: usize, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural}")
}

fn drafted(kind: ContentKind, text: &NumberedText<'_>) -> Option<Draft> {
    match kind {
        ContentKind::Json => json::draft(text),
        ContentKind::Snapshot => snapshot::draft(text),
        ContentKind::Log => log::draft(text),
        ContentKind::Trace => trace::draft(text),
        ContentKind::Diff => diff::draft(text),
        ContentKind::Empty | ContentKind::Binary | ContentKind::Text => None,
    }
}
