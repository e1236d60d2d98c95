//! Reader for message lists of model APIs and simple event lists.

use super::{ContentBlocks, TranscriptRecord, blocks};
use crate::compaction::message::Role;
use crate::json::Json;
use hippo_types::transcript::TranscriptFormat;

/// Parses a record that has a role; `None` for any other.
pub fn parse<'a>(node: &'a Json<'_>) -> Option<TranscriptRecord<'a>> {
    // A list may wrap its messages: {"message": {"role": …}}.
    let inner = node.object("message").filter(|inner| inner.has_text("role"));
    let node = if node.has_text("role") { node } else { inner? };
    let mut record = TranscriptRecord::new(TranscriptFormat::Messages);
    let mut role = blocks::parse_role(node.text("role"));
    let mut found = ContentBlocks::of_message(node);
    match node.text("kind") {
        "thinking" | "reasoning" => return Some(record),
        "tool_call" => {
            found = ContentBlocks::default();
            found.add_named_call(node.text("name"), node.value(&["text"]), node.call_id());
        }
        kind => {
            let calls = node.blocks(&["toolCalls", "tool_calls"]);
            calls.iter().for_each(|call| found.add_call(call));
            if kind == "tool_result" {
                role = Role::Tool;
            }
        }
    }
    found.append_message(role, node, &mut record);
    Some(record)
}
