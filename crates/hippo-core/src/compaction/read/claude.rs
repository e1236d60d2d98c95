//! How does Claude Code write a session? One event a line, one block of a message at a time, linked by `parentUuid`.

use std::borrow::Cow;

use super::node::Node;
use super::{Blocks, Format, Link, Record, hashed};
use crate::compaction::message::{Message, Role};

/// Kinds of lines that are no messages.
const OTHERS: [&str; 9] = [
    "system",
    "file-history-snapshot",
    "queue-operation",
    "progress",
    "attachment",
    "last-prompt",
    "custom-title",
    "ai-title",
    "agent-name",
];

/// Reads a record, if it is one of Claude Code.
pub fn read<'a>(node: &'a Node<'_>) -> Option<Record<'a>> {
    let marked = node.rare().uuid.0.is_some() || node.rare().parent_uuid.0.is_some();
    let tag = node.tag.get();
    let known = match tag {
        "user" | "assistant" => node.message.0.is_some() && node.role.0.is_none(),
        "summary" => node.rare().summary.0.is_some() && node.id.0.is_none() && node.content.0.is_empty(),
        other => OTHERS.contains(&other) && (marked || other != "system") && node.role.0.is_none(),
    };
    if !known {
        return None;
    }
    let mut record = Record {
        format: Some(Format::ClaudeCode),
        link: Link {
            id: hashed(&node.rare().uuid),
            parent: hashed(&node.rare().parent_uuid),
            ..Link::default()
        },
        ..Record::default()
    };
    // Another agent's conversation; what it found comes back as the answer of a tool.
    if node.rare().sidechain.is_set() {
        record.link = Link::default();
        return Some(record);
    }
    if tag == "summary" {
        let title = Message::new(Role::Other, node.rare().summary.get()).named("summary");
        record.messages.push(title);
    }
    if let ("user" | "assistant", Some(message)) = (tag, &node.message.0) {
        let blocks = if message.content.0.is_empty() && !message.text.get().is_empty() {
            Blocks {
                text: Cow::Borrowed(message.text.get()),
                said: true,
                ..Blocks::default()
            }
        } else {
            Blocks::read(&message.content)
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
        blocks.into(role, Cow::Borrowed(name), &mut record);
    }
    Some(record)
}
