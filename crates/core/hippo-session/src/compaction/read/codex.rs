//! Reader for sessions of Codex, which are called rollouts.

use std::borrow::Cow;

use super::{ContentBlocks, TranscriptRecord, blocks};
use crate::compaction::message::{Message, Role};
use crate::json::Json;
use hippo_types::transcript::TranscriptFormat;

/// Prefixes of user messages that a program wrote, not a person.
const INJECTED: [&str; 4] = [
    "<environment_context>",
    "<user_instructions>",
    "# AGENTS.md instructions",
    "<turn_aborted>",
];

/// Parses a record of Codex; `None` for another format.
pub fn parse<'a>(node: &'a Json<'_>) -> Option<TranscriptRecord<'a>> {
    let mut record = TranscriptRecord::new(TranscriptFormat::Codex);
    match (node.text("type"), node.object("payload")) {
        ("response_item", Some(item)) => parse_item(item, &mut record),
        ("compacted", Some(folded)) => {
            let summary = folded.object("message").map_or("", Json::said);
            record.prior = Some(summary.to_owned());
            record.folds = true;
        }
        ("session_meta", Some(meta)) => record.forked = !meta.text("forked_from_id").is_empty(),
        ("event_msg" | "turn_context", Some(_)) => {}
        _ => return None,
    }
    Some(record)
}

fn parse_item<'a>(item: &'a Json<'_>, record: &mut TranscriptRecord<'a>) {
    let mut found = ContentBlocks::default();
    match item.text("type") {
        "message" => {
            let role = blocks::parse_role(item.text("role"));
            found = ContentBlocks::parse(item.blocks(&["content"]));
            let injected = |mark: &&str| found.text.trim_start().starts_with(mark);
            return if role == Role::User && INJECTED.iter().any(injected) {
                found.append_to(Role::Other, "context", record);
            } else {
                found.append_message(role, item, record);
            };
        }
        "function_call" | "custom_tool_call" => {
            let args = item.value(&["arguments"]).or(item.value(&["input"]));
            found.add_named_call(item.text("name"), args, item.call_id());
        }
        "local_shell_call" => found.add_named_call("shell", item.value(&["action"]), item.call_id()),
        "web_search_call" => found.add_named_call("web_search", item.value(&["action"]), item.call_id()),
        "function_call_output" | "custom_tool_call_output" => {
            let text = unwrap_output(ContentBlocks::parse(item.blocks(&["output"])).text);
            return record
                .messages
                .push(Message::result_of(item.call_id(), text, false));
        }
        _ => return,
    }
    found.append_to(Role::Assistant, "", record);
}

/// Extracts the output from `{"output": "…", "metadata": …}`, which some versions write as a string.
fn unwrap_output(text: Cow<'_, str>) -> Cow<'_, str> {
    if text.starts_with('{')
        && let Ok(inner) = Json::parse(text.as_bytes())
        && let Some(output) = inner.blocks(&["output"]).first()
        && !output.said().is_empty()
    {
        return Cow::Owned(output.said().to_owned());
    }
    text
}
