//! Reader for Claude Code sessions: one event per line, linked by `parentUuid`.

use std::borrow::Cow;

use super::node::JsonNode;
use super::{ContentBlocks, RecordLink, TranscriptRecord, hash_optional};
use crate::compaction::message::{Message, Role};
use hippo_types::transcript::TranscriptFormat;

/// Kinds of lines that contain no messages.
#[rustfmt::skip] // keep the list compact
const SILENT_KINDS: [&str; 9] = [
    "system", "file-history-snapshot", "queue-operation", "progress", "attachment", "last-prompt",
    "custom-title", "ai-title", "agent-name",
];

/// Parses a record of Claude Code; `None` for another format.
pub fn parse<'a>(node: &'a JsonNode<'_>) -> Option<TranscriptRecord<'a>> {
    let marked = node.rare().uuid.0.is_some() || node.rare().parent_uuid.0.is_some();
    let tag = node.tag.get();
    let known = match tag {
        "user" | "assistant" => node.message.0.is_some() && node.role.0.is_none(),
        "summary" => node.rare().summary.0.is_some() && node.id.0.is_none() && node.content.0.is_empty(),
        other => SILENT_KINDS.contains(&other) && (marked || other != "system") && node.role.0.is_none(),
    };
    if !known {
        return None;
    }
    let mut record = TranscriptRecord {
        format: Some(TranscriptFormat::ClaudeCode),
        link: RecordLink {
            id: hash_optional(&node.rare().uuid),
            parent: hash_optional(&node.rare().parent_uuid),
            ..RecordLink::default()
        },
        ..TranscriptRecord::default()
    };
    // The conversation of a subagent; its outcome is repeated as a tool result.
    if node.rare().sidechain.is_set() {
        record.link = RecordLink::default();
        return Some(record);
    }
    if tag == "summary" {
        let title = Message::new(Role::Other, node.rare().summary.get()).with_name("summary");
        record.messages.push(title);
    }
    if let ("user" | "assistant", Some(message)) = (tag, &node.message.0) {
        let blocks = if message.content.0.is_empty() && !message.text.get().is_empty() {
            ContentBlocks {
                text: Cow::Borrowed(message.text.get()),
                said: true,
                ..ContentBlocks::default()
            }
        } else {
            ContentBlocks::parse(&message.content)
        };
        if node.rare().compact_summary.is_set() {
            record.prior = Some(blocks.text.into_owned());
            record.folds = true;
            record.link.compaction = true;
            return Some(record);
        }
        let role = match tag {
            "assistant" => Role::Assistant,
            _ if node.rare().meta.is_set() => Role::Other,
            _ => Role::User,
        };
        record.link.prompt = role == Role::User && blocks.results.is_empty();
        let name = if role == Role::Other { "meta" } else { "" };
        blocks.append_to(role, Cow::Borrowed(name), &mut record);
    }
    Some(record)
}
