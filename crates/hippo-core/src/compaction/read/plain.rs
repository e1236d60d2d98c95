//! How do plain lists write messages: those of OpenAI's and Anthropic's interfaces, and simple lists of events?

use std::borrow::Cow;

use super::node::Node;
use super::{Blocks, Format, Record, blocks};
use crate::compaction::message::Role;

/// Reads a record, if it has a role.
pub fn read<'a>(node: &'a Node<'_>) -> Option<Record<'a>> {
    // A list may wrap its messages: {"message": {"role": …}}.
    let inner = node.message.0.as_deref().filter(|inner| inner.role.0.is_some());
    let node = if node.role.0.is_some() { node } else { inner? };
    let mut record = Record {
        format: Some(Format::Messages),
        ..Record::default()
    };
    let name = node.role.get();
    let mut role = blocks::role(name).unwrap_or(Role::Other);
    let mut found = Blocks::read(&node.content);
    match node.rare().kind.get() {
        "thinking" | "reasoning" => return Some(record),
        "tool_call" => {
            found = Blocks::default();
            let call = super::args::Args(Some(Cow::Borrowed(node.text.get())));
            let tool = if node.name.get().is_empty() {
                "tool"
            } else {
                node.name.get()
            };
            found.call_of(tool, &call.shown());
            if let Some(id) = super::hashed(&node.call_id) {
                found.called.push((id, tool.to_owned()));
            }
        }
        kind => {
            if node.content.0.is_empty() {
                found.text = Cow::Borrowed(node.text.get());
            }
            node.rare().tool_calls.0.iter().for_each(|call| found.call(call));
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
    found.into(role, Cow::Borrowed(label.unwrap_or("")), &mut record);
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
