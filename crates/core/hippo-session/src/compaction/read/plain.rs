//! Reader for message lists of model APIs and simple event lists.

use std::borrow::Cow;

use super::node::JsonNode;
use super::{ContentBlocks, TranscriptRecord, blocks};
use crate::compaction::message::Role;
use hippo_types::transcript::TranscriptFormat;

/// Parses a record that has a role; `None` for any other.
pub fn parse<'a>(node: &'a JsonNode<'_>) -> Option<TranscriptRecord<'a>> {
    // A list may wrap its messages: {"message": {"role": …}}.
    let inner = node.message.0.as_deref().filter(|inner| inner.role.0.is_some());
    let node = if node.role.0.is_some() { node } else { inner? };
    let mut record = TranscriptRecord {
        format: Some(TranscriptFormat::Messages),
        ..TranscriptRecord::default()
    };
    let name = node.role.get();
    let mut role = blocks::parse_role(name).unwrap_or(Role::Other);
    let mut found = ContentBlocks::parse(&node.content);
    match node.rare().kind.get() {
        "thinking" | "reasoning" => return Some(record),
        "tool_call" => {
            found = ContentBlocks::default();
            let call = super::args::CallArguments(Some(Cow::Borrowed(node.text.get())));
            let tool = if node.name.get().is_empty() {
                "tool"
            } else {
                node.name.get()
            };
            found.add_named_call(tool, &call.to_text());
            if let Some(id) = super::hash_optional(&node.call_id) {
                found.called.push((id, tool.to_owned()));
            }
        }
        kind => {
            if node.content.0.is_empty() {
                found.text = Cow::Borrowed(node.text.get());
            }
            node.rare()
                .tool_calls
                .0
                .iter()
                .for_each(|call| found.add_call(call));
            if kind == "tool_result" {
                role = Role::Tool;
            }
        }
    }
    let label = match role {
        Role::Tool => [node.name.get(), node.rare().tool_name.get()]
            .into_iter()
            .find(|name| !name.is_empty()),
        Role::Other => Some(name),
        _ => None,
    };
    found.append_to(role, Cow::Borrowed(label.unwrap_or("")), &mut record);
    let by_call = role == Role::Tool && label.is_none();
    for message in &mut record.messages {
        message.error |= node.error.is_set();
        if by_call && message.role == Role::Tool && message.name.is_empty() {
            message.by_call = true;
            message.name = Cow::Borrowed(node.call_id.get());
        }
    }
    Some(record)
}
