//! One-line form of a message in the summary.

use std::borrow::Cow;
use std::fmt::Write as _;

use super::classify::EntryType;
use super::ledger::{LineDetail, MessageCore, ScoredMessage};
use super::score::Tier;
use hippo_redact::without_secrets;
use hippo_text::text::start;

/// Maximum characters of a preview, for tool results, spoken messages and noise.
const TOOL: usize = 80;
const SAID: usize = 100;
const NOISE: usize = 40;

/// Formats a message as a line with its type, size, preview and id.
pub fn format_line(core: &MessageCore, detail: &LineDetail, scored: ScoredMessage) -> String {
    let mut out = String::new();
    if scored.tier != Tier::Sparse {
        // Writing to a `String` cannot fail.
        let _ = write!(out, "• (r={:.2}) ", scored.retention);
    }
    let preview = |most: usize| {
        let end = detail
            .preview
            .char_indices()
            .nth(most)
            .map_or(detail.preview.len(), |(at, _)| at);
        let more = if end < detail.preview.len() { "…" } else { "" };
        (&detail.preview[..end], more)
    };
    let _ = match core.kind() {
        EntryType::ToolResult => {
            let (text, more) = match &detail.error {
                Some(error) => (&**error, ""),
                None => preview(TOOL),
            };
            write!(
                out,
                "[TOOL:{}] {}tok → \"{text}{more}\"",
                detail.name,
                core.tokens()
            )
        }
        EntryType::UserIntent => {
            let (text, more) = preview(SAID);
            write!(out, "[USER] \"{text}{more}\"")
        }
        EntryType::Decision => {
            let (text, more) = preview(SAID);
            write!(out, "[DECISION] \"{text}{more}\"")
        }
        EntryType::Ephemeral => {
            let (text, more) = preview(NOISE);
            write!(out, "[EPHEMERAL] {text}{more}")
        }
        EntryType::Context => {
            let (text, more) = preview(TOOL);
            write!(out, "[ASSISTANT] {text}{more}")
        }
        EntryType::Unknown => {
            let (text, more) = preview(TOOL);
            let role = if detail.name.is_empty() {
                "unknown"
            } else {
                &detail.name
            };
            write!(out, "[{}] {text}{more}", role.to_uppercase())
        }
    };
    redact_and_add_id(out, core)
}

/// Redacts the line and appends the id. The id is appended last, because redaction would remove it after `password:`.
fn redact_and_add_id(line: String, core: &MessageCore) -> String {
    match without_secrets(&line) {
        Cow::Borrowed(line) => format!("{line} {}", core.id()),
        Cow::Owned(shown) => format!("{shown} {}", core.id()),
    }
}

/// Formats a message as a pointer, to which only words are added.
pub fn format_pointer(core: &MessageCore, detail: &LineDetail) -> String {
    let what = match core.kind() {
        EntryType::ToolResult => format!("[TOOL:{}] {}tok", start(&detail.name, 32), core.tokens()),
        EntryType::UserIntent => "[USER]".to_owned(),
        EntryType::Decision => "[DECISION]".to_owned(),
        EntryType::Ephemeral => "[EPHEMERAL]".to_owned(),
        EntryType::Context => "[ASSISTANT]".to_owned(),
        EntryType::Unknown => format!("[{}]", detail.name.to_uppercase()),
    };
    redact_and_add_id(what, core)
}
