//! How do Pi and OpenClaw write a session? A header, then entries that form a tree by `id` and `parentId`; the active path ends in
//! the last one.

use std::borrow::Cow;

use super::node::Node;
use super::{Blocks, Format, Link, Record, blocks, hashed};
use crate::compaction::message::{Message, Role};

/// Kinds of lines that are no messages.
const OTHERS: [&str; 7] = [
    "session",
    "model_change",
    "thinking_level_change",
    "label",
    "session_info",
    "custom",
    "leaf",
];

/// Reads a record, if it is one of Pi.
pub fn read<'a>(node: &'a Node<'_>) -> Option<Record<'a>> {
    let tag = node.tag.get();
    let known = match tag {
        "message" => node.message.0.is_some(),
        "custom_message" => true,
        "compaction" | "branch_summary" => node.rare().summary.0.is_some(),
        other => OTHERS.contains(&other) && node.role.0.is_none(),
    };
    if !known {
        return None;
    }
    let mut record = Record {
        format: Some(Format::Pi),
        ..Record::default()
    };
    // The header's id is the session's.
    if tag != "session" {
        record.link = Link {
            id: hashed(&node.id),
            parent: hashed(&node.rare().parent_id),
            first_kept: hashed(&node.rare().first_kept),
            compaction: tag == "compaction",
            prompt: false,
        };
    }
    match (tag, &node.message.0) {
        ("message", Some(inner)) => message(inner, &mut record),
        ("custom_message", _) => {
            Blocks::read(&node.content).into(Role::Other, Cow::Borrowed("custom"), &mut record);
        }
        ("branch_summary", _) => {
            let summary = Message::new(Role::Other, node.rare().summary.get()).named("branch");
            record.messages.push(summary);
        }
        // Without a tree, as the first version wrote it, everything before is folded.
        ("compaction", _) => {
            record.prior = Some(node.rare().summary.get().to_owned());
            record.folds = node.id.0.is_none();
        }
        _ => {}
    }
    Some(record)
}

fn message<'a>(inner: &'a Node<'_>, record: &mut Record<'a>) {
    let name = inner.role.get();
    if name == "bashExecution" {
        let said = Blocks::read(&inner.rare().output).text;
        let text = format!("$ {}\n{said}", inner.rare().command.shown());
        let mut message = Message::new(Role::Tool, text).named("bash");
        message.error = inner.rare().exit_code.0.is_some_and(|code| code != 0);
        record.messages.push(message);
        return;
    }
    let role = blocks::role(name).unwrap_or(Role::Other);
    let label = match role {
        Role::Tool => inner.rare().tool_name.get(),
        Role::Other => name,
        _ => "",
    };
    let before = record.messages.len();
    let mut found = Blocks::read(&inner.content);
    if found.text.is_empty() && inner.content.0.is_empty() {
        let other = [inner.rare().summary.get(), inner.text.get()];
        found.text = Cow::Borrowed(other.into_iter().find(|text| !text.is_empty()).unwrap_or(""));
    }
    found.into(role, Cow::Borrowed(label), record);
    let by_call = role == Role::Tool && label.is_empty();
    for message in &mut record.messages[before..] {
        message.error |= inner.error.is_set();
        if by_call {
            message.by_call = true;
            message.name = Cow::Borrowed(inner.call_id.get());
        }
    }
}
