//! Reader for Pi and OpenClaw sessions.
//!
//! A session is a header followed by entries that form a tree by `id` and `parentId`. The active path ends at the
//! last entry.

use std::borrow::Cow;

use super::{ContentBlocks, RecordLink, TranscriptRecord, blocks, hash_optional};
use crate::compaction::message::{Message, Role};
use crate::json::Json;
use hippo_types::transcript::TranscriptFormat;

/// Types of records that contain no messages.
#[rustfmt::skip] // keep the list compact
const SILENT_KINDS: [&str; 7] = [
    "session", "model_change", "thinking_level_change", "label", "session_info", "custom", "leaf",
];

/// Parses a record of Pi; `None` for another format.
pub fn parse<'a>(node: &'a Json<'_>) -> Option<TranscriptRecord<'a>> {
    let (tag, message) = (node.text("type"), node.object("message"));
    let known = match tag {
        "message" => message.is_some(),
        "custom_message" => true,
        "compaction" | "branch_summary" => node.has_text("summary"),
        other => SILENT_KINDS.contains(&other) && !node.has_text("role"),
    };
    if !known {
        return None;
    }
    let mut record = TranscriptRecord::new(TranscriptFormat::Pi);
    // The id of the header identifies the session, not an entry.
    if tag != "session" {
        record.link = RecordLink {
            id: hash_optional(node.find_text(&["id"])),
            parent: hash_optional(node.find_text(&["parentId"])),
            first_kept: hash_optional(node.find_text(&["firstKeptEntryId"])),
            compaction: tag == "compaction",
            prompt: false,
        };
    }
    match (tag, message) {
        ("message", Some(inner)) => add_message(inner, &mut record),
        ("custom_message", _) => {
            ContentBlocks::parse(node.blocks(&["content"])).append_to(Role::Other, "custom", &mut record);
        }
        ("branch_summary", _) => {
            let summary = Message::new(Role::Other, node.text("summary")).with_name("branch");
            record.messages.push(summary);
        }
        // In version 1, entries form no tree, and a compaction replaces all earlier entries.
        ("compaction", _) => {
            record.prior = Some(node.text("summary").to_owned());
            record.folds = !node.has_text("id");
        }
        _ => {}
    }
    Some(record)
}

fn add_message<'a>(inner: &'a Json<'_>, record: &mut TranscriptRecord<'a>) {
    let name = inner.text("role");
    if name == "bashExecution" {
        let said = ContentBlocks::parse(inner.blocks(&["output"])).text;
        let command = inner.value(&["command"]).map(Json::to_arguments);
        let text = format!("$ {}\n{said}", command.unwrap_or_default());
        let mut message = Message::new(Role::Tool, text).with_name("bash");
        let code = inner.find_text(&["exitCode", "exit_code"]);
        message.error = code.is_some_and(|code| code.parse::<i64>().is_ok_and(|code| code != 0));
        record.messages.push(message);
        return;
    }
    let mut found = ContentBlocks::of_message(inner);
    let summary = inner.text("summary");
    if inner.blocks(&["content"]).is_empty() && !summary.is_empty() {
        found.text = Cow::Borrowed(summary);
    }
    found.append_message(blocks::parse_role(name), inner, record);
}
