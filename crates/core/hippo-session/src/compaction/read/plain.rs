//! Reader for message lists of model APIs and simple event lists.

use std::borrow::Cow;

use super::{ContentBlocks, TranscriptRecord, blocks};
use crate::compaction::message::Role;
use crate::json::Json;
use hippo_types::transcript::TranscriptFormat;

/// Parses a record that has a role; `None` for any other.
pub fn parse<'a>(node: &'a Json<'_>) -> Option<TranscriptRecord<'a>> {
    // A list may wrap its messages: {"message": {"role": …}}.
    let inner = node.object("message").filter(|inner| inner.has_text("role"));
    let node = if node.has_text("role") { node } else { inner? };
    let mut record = TranscriptRecord {
        format: Some(TranscriptFormat::Messages),
        ..TranscriptRecord::default()
    };
    let name = node.text("role");
    let named = |name: &str| Some(node.text(name)).filter(|name| !name.is_empty());
    let mut role = blocks::parse_role(name).unwrap_or(Role::Other);
    let mut found = ContentBlocks::of_message(node);
    match node.text("kind") {
        "thinking" | "reasoning" => return Some(record),
        "tool_call" => {
            found = ContentBlocks::default();
            found.add_named_call(
                named("name").unwrap_or("tool"),
                node.value(&["text"]),
                node.call_id(),
            );
        }
        kind => {
            node.blocks(&["toolCalls", "tool_calls"])
                .iter()
                .for_each(|call| found.add_call(call));
            if kind == "tool_result" {
                role = Role::Tool;
            }
        }
    }
    let label = match role {
        Role::Tool => named("name").or_else(|| named("toolName")),
        Role::Other => Some(name),
        _ => None,
    };
    found.append_to(role, label.unwrap_or_default(), &mut record);
    let by_call = role == Role::Tool && label.is_none();
    for message in &mut record.messages {
        message.error |= node.is_error();
        if by_call && message.role == Role::Tool && message.name.is_empty() {
            message.by_call = true;
            message.name = Cow::Borrowed(node.call_id().unwrap_or_default());
        }
    }
    Some(record)
}
