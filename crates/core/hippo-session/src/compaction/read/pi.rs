//! Reader for Pi and OpenClaw sessions.
//!
//! A session is a header followed by entries that form a tree by `id` and `parentId`. The active path ends at the
//! last entry.

use std::borrow::Cow;

use super::node::JsonNode;
use super::{ContentBlocks, RecordLink, TranscriptRecord, blocks, hash_optional};
use crate::compaction::message::{Message, Role};
use hippo_types::transcript::TranscriptFormat;

/// Kinds of lines that contain no messages.
#[rustfmt::skip] // keep the list compact
const SILENT_KINDS: [&str; 7] = [
    "session", "model_change", "thinking_level_change", "label", "session_info", "custom", "leaf",
];

/// Parses a record of Pi; `None` for another format.
pub fn parse<'a>(node: &'a JsonNode<'_>) -> Option<TranscriptRecord<'a>> {
    let tag = node.tag.get();
    let known = match tag {
        "message" => node.message.0.is_some(),
        "custom_message" => true,
        "compaction" | "branch_summary" => node.rare().summary.0.is_some(),
        other => SILENT_KINDS.contains(&other) && node.role.0.is_none(),
    };
    if !known {
        return None;
    }
    let mut record = TranscriptRecord {
        format: Some(TranscriptFormat::Pi),
        ..TranscriptRecord::default()
    };
    // The header's id is the id of the session.
    if tag != "session" {
        record.link = RecordLink {
            id: hash_optional(&node.id),
            parent: hash_optional(&node.rare().parent_id),
            first_kept: hash_optional(&node.rare().first_kept),
            compaction: tag == "compaction",
            prompt: false,
        };
    }
    match (tag, &node.message.0) {
        ("message", Some(inner)) => add_message(inner, &mut record),
        ("custom_message", _) => {
            ContentBlocks::parse(&node.content).append_to(Role::Other, Cow::Borrowed("custom"), &mut record);
        }
        ("branch_summary", _) => {
            let summary = Message::new(Role::Other, node.rare().summary.get()).with_name("branch");
            record.messages.push(summary);
        }
        // In version 1 without a tree, a compaction folds everything before it.
        ("compaction", _) => {
            record.prior = Some(node.rare().summary.get().to_owned());
            record.folds = node.id.0.is_none();
        }
        _ => {}
    }
    Some(record)
}

fn add_message<'a>(inner: &'a JsonNode<'_>, record: &mut TranscriptRecord<'a>) {
    let name = inner.role.get();
    if name == "bashExecution" {
        let said = ContentBlocks::parse(&inner.rare().output).text;
        let text = format!("$ {}\n{said}", inner.rare().command.to_text());
        let mut message = Message::new(Role::Tool, text).with_name("bash");
        message.error = inner.rare().exit_code.0.is_some_and(|code| code != 0);
        record.messages.push(message);
        return;
    }
    let role = blocks::parse_role(name).unwrap_or(Role::Other);
    let label = match role {
        Role::Tool => inner.rare().tool_name.get(),
        Role::Other => name,
        _ => "",
    };
    let before = record.messages.len();
    let mut found = ContentBlocks::parse(&inner.content);
    if found.text.is_empty() && inner.content.0.is_empty() {
        let other = [inner.rare().summary.get(), inner.text.get()];
        found.text = Cow::Borrowed(other.into_iter().find(|text| !text.is_empty()).unwrap_or(""));
    }
    found.append_to(role, Cow::Borrowed(label), record);
    let by_call = role == Role::Tool && label.is_empty();
    for message in &mut record.messages[before..] {
        message.error |= inner.error.is_set();
        if by_call {
            message.by_call = true;
            message.name = Cow::Borrowed(inner.call_id.get());
        }
    }
}
