//! Reader for Claude Code sessions: one event per line, linked by `parentUuid`.

use super::{ContentBlocks, RecordLink, TranscriptRecord, hash_optional};
use crate::compaction::message::{Message, Role};
use crate::json::Json;
use hippo_types::transcript::TranscriptFormat;

/// Types of records that contain no messages.
#[rustfmt::skip] // keep the list compact
const SILENT_KINDS: [&str; 9] = [
    "system", "file-history-snapshot", "queue-operation", "progress", "attachment", "last-prompt",
    "custom-title", "ai-title", "agent-name",
];

/// Parses a record of Claude Code; `None` for another format.
pub fn parse<'a>(node: &'a Json<'_>) -> Option<TranscriptRecord<'a>> {
    let (tag, message) = (node.text("type"), node.object("message"));
    let (id, parent) = (node.find_text(&["uuid"]), node.find_text(&["parentUuid"]));
    let marked = id.is_some() || parent.is_some();
    let no_role = !node.has_text("role");
    let known = match tag {
        "user" | "assistant" => message.is_some() && no_role,
        "summary" => node.has_text("summary") && !node.has_text("id") && node.blocks(&["content"]).is_empty(),
        other => SILENT_KINDS.contains(&other) && (marked || other != "system") && no_role,
    };
    if !known {
        return None;
    }
    let mut record = TranscriptRecord::new(TranscriptFormat::ClaudeCode);
    // Skip the conversation of a subagent, because its outcome is repeated as a tool result.
    if node.flag(&["isSidechain"]) {
        return Some(record);
    }
    record.link = RecordLink {
        id: hash_optional(id),
        parent: hash_optional(parent),
        ..RecordLink::default()
    };
    if tag == "summary" {
        let title = Message::new(Role::Other, node.text("summary")).with_name("summary");
        record.messages.push(title);
    }
    if let ("user" | "assistant", Some(message)) = (tag, message) {
        let blocks = ContentBlocks::of_message(message);
        if node.flag(&["isCompactSummary"]) {
            record.prior = Some(blocks.text.into_owned());
            record.folds = true;
            record.link.compaction = true;
            return Some(record);
        }
        let (role, name) = match tag {
            "assistant" => (Role::Assistant, ""),
            _ if node.flag(&["isMeta"]) => (Role::Other, "meta"),
            _ => (Role::User, ""),
        };
        record.link.prompt = role == Role::User && blocks.results.is_empty();
        blocks.append_to(role, name, &mut record);
    }
    Some(record)
}
