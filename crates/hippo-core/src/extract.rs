//! What does a large tool result say in a few tokens, and which of its values will be asked for again (v2 §6)?
//!
//! No model: the kind of content is recognised, and each kind knows what is asked for again. Nothing here fails: what is
//! not understood is told as plain text. Any content takes time linear in its length. docs/extraction.md says what is
//! kept of each kind.

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
mod words;

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;

use serde_json::{Map, Value};

use draft::Draft;
use lines::Text;

use crate::tokens;

/// Tokens of an entry at most, whatever is asked for.
pub const MOST_TOKENS: usize = 500;
/// Tokens of an entry at least; a caller who asks for less gets this.
pub const LEAST_TOKENS: usize = 16;

/// What is known of a content besides its bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Hints<'h> {
    /// `source.type`: the tool that gave it, such as `browser.snapshot`, `exec`, `read`; may be empty.
    pub source_type: &'h str,
    /// `source.ref`: a path, an address, a command, or the arguments of the call as JSON; may be empty.
    pub source_ref: &'h str,
    /// A media type, where one is known.
    pub content_type: Option<&'h str>,
}

/// What a content was taken for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// Nothing but white space.
    Empty,
    /// Bytes that are no text.
    Binary,
    /// A JSON value, or one per line.
    Json,
    /// A JSON Schema.
    JsonSchema,
    /// The accessibility tree of a page.
    Snapshot,
    /// What a build or a test run printed.
    Log,
    /// A stack trace.
    Trace,
    /// A unified diff.
    Diff,
    /// Anything else.
    Text,
}

impl Kind {
    /// Its name on the wire.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::Binary => "binary",
            Self::Json => "json",
            Self::JsonSchema => "json-schema",
            Self::Snapshot => "snapshot",
            Self::Log => "log",
            Self::Trace => "trace",
            Self::Diff => "diff",
            Self::Text => "text",
        }
    }
}

/// What stays of a content in the context.
#[derive(Debug, Clone, PartialEq)]
pub struct Extract {
    /// What it was taken for.
    pub kind: Kind,
    /// What it is, in one or a few sentences; one line.
    pub summary: String,
    /// Values that may be asked for again, by name.
    pub key_data: Map<String, Value>,
    /// Tokens of the content, estimated.
    pub content_tokens: usize,
    /// Tokens of summary and key data as [`Extract::rendered`] shows them, estimated; at most what was asked for.
    pub entry_tokens: usize,
}

impl Extract {
    /// Summary and key data as they stand in a prompt: a line of text, and a line of JSON unless there is none.
    #[must_use]
    pub fn rendered(&self) -> String {
        draft::rendered(&self.summary, &self.key_data)
    }
}

/// Tokens that an entry for so large a content has by default, 24 to [`MOST_TOKENS`].
///
/// It grows with the cube root of the content, so that a small result is not made longer by what stands for it, and a
/// large one is told in more than a line: 27 tokens for 1,000, 58 for 10,000, 250 for 50,000.
#[must_use]
pub fn default_tokens(content_tokens: usize) -> usize {
    let grown = 27.0 * (content_tokens as f64 / 1_000.0).cbrt();
    let share = content_tokens / 200;
    (grown.round() as usize).max(share).clamp(24, MOST_TOKENS)
}

/// Summary and key data of a content within `budget` tokens, or within [`default_tokens`]; secrets are redacted.
///
/// The same bytes and hints give the same extract. What does not look like what the hints say is taken for what it is.
#[must_use]
pub fn extract(content: &[u8], hints: &Hints<'_>, budget: Option<usize>) -> Extract {
    extract_from(content, hints, budget, false)
}

/// The same. `clean`: the content is known to show no secret, see [`crate::redact::redact`], and is not looked through for
/// one again.
pub(crate) fn extract_from(content: &[u8], hints: &Hints<'_>, budget: Option<usize>, clean: bool) -> Extract {
    let content_tokens = tokens::of_bytes(content.len());
    let budget = budget
        .unwrap_or_else(|| default_tokens(content_tokens))
        .clamp(LEAST_TOKENS, MOST_TOKENS);
    let draft = if clean::is_binary(content) {
        clean::binary(content)
    } else {
        let shown = clean::shown(content, clean);
        let text = Text::new(&shown);
        draft_of(&text, hints)
    };
    draft.within(budget, content_tokens)
}

/// The first kind that fits and finds something to tell.
fn draft_of(text: &Text<'_>, hints: &Hints<'_>) -> Draft {
    if text.all.trim().is_empty() {
        return Draft::new(Kind::Empty, "nothing but white space");
    }
    detect::kinds(text, hints)
        .into_iter()
        .find_map(|kind| drafted(kind, text))
        .unwrap_or_else(|| text::draft(text))
}

fn drafted(kind: Kind, text: &Text<'_>) -> Option<Draft> {
    match kind {
        Kind::Json | Kind::JsonSchema => json::draft(text),
        Kind::Snapshot => snapshot::draft(text),
        Kind::Log => log::draft(text),
        Kind::Trace => trace::draft(text),
        Kind::Diff => diff::draft(text),
        Kind::Empty | Kind::Binary | Kind::Text => None,
    }
}
