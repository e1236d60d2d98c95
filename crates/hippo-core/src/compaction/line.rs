//! How is one message shown as a line: what it is, how large, how it begins, and by which id it is fetched?

use std::borrow::Cow;
use std::fmt::Write as _;

use super::classify::EntryType;
use super::ledger::{Core, Detail, Scored};
use super::score::Tier;
use crate::redact::without_secrets;
use crate::text::start;

/// Characters of the beginning of an answer of a tool, of what was said, and of noise.
const TOOL: usize = 80;
const SAID: usize = 100;
const NOISE: usize = 40;

/// The line of a message, with its id, without words that are added.
pub fn line(core: &Core, detail: &Detail, scored: Scored) -> String {
    let mut out = String::new();
    if scored.tier != Tier::Sparse {
        // A `String` takes everything.
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
    with_id(out, core)
}

/// Secrets are looked for before the id is there, as it may follow `password:`.
fn with_id(line: String, core: &Core) -> String {
    match without_secrets(&line) {
        Cow::Borrowed(line) => format!("{line} {}", core.id()),
        Cow::Owned(shown) => format!("{shown} {}", core.id()),
    }
}

/// The line of a message of which only its words matter.
pub fn pointer(core: &Core, detail: &Detail) -> String {
    let what = match core.kind() {
        EntryType::ToolResult => format!("[TOOL:{}] {}tok", start(&detail.name, 32), core.tokens()),
        EntryType::UserIntent => "[USER]".to_owned(),
        EntryType::Decision => "[DECISION]".to_owned(),
        EntryType::Ephemeral => "[EPHEMERAL]".to_owned(),
        EntryType::Context => "[ASSISTANT]".to_owned(),
        EntryType::Unknown => format!("[{}]", detail.name.to_uppercase()),
    };
    with_id(what, core)
}
