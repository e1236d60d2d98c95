//! One-line form of a message in the summary.

use super::classify::EntryType;
use super::ledger::{LineDetail, MessageCore, ScoredMessage};
use super::score::Tier;
use hippo_redact::without_secrets;
use hippo_text::text::{characters, start};

/// Maximum characters of the preview of a tool result, and of any other message without a limit of its own.
const TOOL: usize = 80;
/// Maximum characters of the preview of a request or a decision.
const SAID: usize = 100;
/// Maximum characters of the preview of a heartbeat or an acknowledgement.
const NOISE: usize = 40;

/// Formats a message as a line with its type, size, preview and id.
pub fn format_line(scored: ScoredMessage<'_>, detail: &LineDetail) -> String {
    let core = scored.core;
    let (most, quote) = match core.kind {
        EntryType::ToolResult => (TOOL, "\""),
        EntryType::UserIntent | EntryType::Decision => (SAID, "\""),
        EntryType::Ephemeral => (NOISE, ""),
        EntryType::Context | EntryType::Unknown => (TOOL, ""),
    };
    let shown = match scored.tier {
        Tier::Sparse => String::new(),
        _ => format!("• (r={:.2}) ", scored.retention),
    };
    let arrow = if core.kind == EntryType::ToolResult {
        " →"
    } else {
        ""
    };
    let preview = characters(&detail.preview, most);
    let (text, more) = match &detail.error {
        Some(error) => (&**error, ""),
        None if preview.len() < detail.preview.len() => (preview, "…"),
        None => (preview, ""),
    };
    let label = label(core, &detail.name);
    redact_and_add_id(&format!("{shown}{label}{arrow} {quote}{text}{more}{quote}"), core)
}

/// Formats a message as a pointer: its type and id, without a preview.
pub fn format_pointer(core: &MessageCore, detail: &LineDetail) -> String {
    redact_and_add_id(&label(core, start(&detail.name, 32)), core)
}

/// Returns the label of a message: its type, such as `[USER]`. The label of a tool result contains the tool, and the
/// label of a message of unknown type is its role.
fn label(core: &MessageCore, name: &str) -> String {
    match core.kind {
        EntryType::ToolResult => format!("[TOOL:{name}] {}tok", core.tokens()),
        EntryType::UserIntent => "[USER]".to_owned(),
        EntryType::Decision => "[DECISION]".to_owned(),
        EntryType::Ephemeral => "[EPHEMERAL]".to_owned(),
        EntryType::Context => "[ASSISTANT]".to_owned(),
        EntryType::Unknown if name.is_empty() => "[UNKNOWN]".to_owned(),
        EntryType::Unknown => format!("[{}]", name.to_uppercase()),
    }
}

/// Redacts the line and then appends the id. Redaction would remove an id after a label such as `password:`.
fn redact_and_add_id(line: &str, core: &MessageCore) -> String {
    format!("{} {}", without_secrets(line), core.id)
}
