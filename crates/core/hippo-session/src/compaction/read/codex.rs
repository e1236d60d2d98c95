//! Reader for Codex sessions: rollouts, run events and screen logs.

use std::borrow::Cow;
use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::node::{JsonNode, NodeContent};
use super::{ContentBlocks, TranscriptRecord, blocks, hash_optional};
use crate::compaction::message::{Message, Role};
use hippo_types::transcript::TranscriptFormat;

/// Bytes after the kind that contain the type of an event.
const HEAD: usize = 160;
/// Kinds of lines without content: keys, redraws, screen lines.
const NOISE: [&[u8]; 4] = [b"app_event\"", b"key_event\"", b"insert_history\"", b"log_line\""];
/// Prefixes of user messages that a program wrote, not a person.
const INJECTED: [&str; 4] = [
    "<environment_context>",
    "<user_instructions>",
    "# AGENTS.md instructions",
    "<turn_aborted>",
];

/// Returns true for a screen log line without content. Most lines are of this kind, so they are recognised without
/// parsing. Deltas are skipped too, because the complete text follows later.
pub fn is_noise(bytes: &[u8]) -> bool {
    let kind = || {
        let rest = skip_string(bytes.strip_prefix(br#"{"ts":""#)?)?;
        let rest = skip_string(rest.strip_prefix(br#","dir":""#)?)?;
        rest.strip_prefix(br#","kind":""#)
    };
    let Some(kind) = kind().filter(|_| bytes.last() == Some(&b'}')) else {
        return false;
    };
    NOISE.iter().any(|noise| kind.starts_with(noise)) || DELTA.find(&kind[..kind.len().min(HEAD)]).is_some()
}

/// End of the type of an event that is a delta.
static DELTA: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new(b"_delta\""));

/// Returns the bytes after the string that starts here.
fn skip_string(bytes: &[u8]) -> Option<&[u8]> {
    let end = memchr::memchr(b'"', bytes)?;
    bytes.get(end + 1..)
}

/// Parses a record of Codex; `None` for another format.
pub fn parse<'a>(node: &'a JsonNode<'_>) -> Option<TranscriptRecord<'a>> {
    let mut record = TranscriptRecord {
        format: Some(TranscriptFormat::Codex),
        ..TranscriptRecord::default()
    };
    let payload = node.rare().payload.0.as_deref();
    match (node.tag.get(), payload) {
        ("response_item", Some(item)) => parse_response_item(item, &mut record),
        ("compacted", Some(folded)) => {
            let summary = folded
                .message
                .0
                .as_deref()
                .map_or("", |message| message.text.get());
            record.prior = Some(summary.to_owned());
            record.folds = true;
        }
        ("session_meta", Some(meta)) => record.forked = !meta.rare().forked_from.get().is_empty(),
        ("event_msg" | "turn_context", Some(_)) => {}
        ("item.completed" | "item.started" | "item.updated", _) => {
            if let ("item.completed", Some(item)) = (node.tag.get(), &node.rare().item.0) {
                parse_run_item(item, &mut record);
            }
        }
        ("thread.started" | "turn.started" | "turn.completed" | "turn.failed", _) => {}
        (
            "function_call"
            | "function_call_output"
            | "local_shell_call"
            | "custom_tool_call"
            | "custom_tool_call_output"
            | "reasoning"
            | "web_search_call",
            _,
        ) => parse_response_item(node, &mut record),
        ("message", _) if node.role.0.is_some() && has_typed_text(&node.content) => {
            parse_response_item(node, &mut record);
        }
        _ if node.rare().dir.0.is_some() && node.rare().kind.0.is_some() => {
            if let Some(payload) = payload {
                parse_screen_event(payload, &mut record);
            }
        }
        _ => return None,
    }
    Some(record)
}

fn has_typed_text(content: &NodeContent<'_>) -> bool {
    let typed = |block: &JsonNode<'_>| matches!(block.tag.get(), "input_text" | "output_text");
    content.0.first().is_some_and(typed)
}

fn parse_response_item<'a>(item: &'a JsonNode<'_>, record: &mut TranscriptRecord<'a>) {
    let mut found = ContentBlocks::default();
    match item.tag.get() {
        "message" => {
            let mut role = blocks::parse_role(item.role.get()).unwrap_or(Role::Other);
            found = ContentBlocks::parse(&item.content);
            let mut name = if role == Role::Other { item.role.get() } else { "" };
            if role == Role::User
                && INJECTED
                    .iter()
                    .any(|mark| found.text.trim_start().starts_with(mark))
            {
                (role, name) = (Role::Other, "context");
            }
            found.append_to(role, Cow::Borrowed(name), record);
            return;
        }
        "function_call" | "custom_tool_call" => {
            found.add_call(item);
            let name = if item.name.get().is_empty() {
                "tool"
            } else {
                item.name.get()
            };
            found.called = hash_optional(&item.call_id)
                .map(|id| (id, name.to_owned()))
                .into_iter()
                .collect();
        }
        "local_shell_call" | "web_search_call" => {
            let tool = if item.tag.get() == "local_shell_call" {
                "shell"
            } else {
                "web_search"
            };
            found.add_named_call(tool, &item.rare().action.to_text());
            found.called = hash_optional(&item.call_id)
                .map(|id| (id, tool.to_owned()))
                .into_iter()
                .collect();
        }
        "function_call_output" | "custom_tool_call_output" => {
            let text = unwrap_output(ContentBlocks::parse(&item.rare().output).text);
            let mut message = Message::new(Role::Tool, text).with_name(item.call_id.get());
            message.by_call = true;
            record.messages.push(message);
            return;
        }
        _ => return,
    }
    found.append_to(Role::Assistant, Cow::Borrowed(""), record);
}

/// Extracts the output from `{"output": "…", "metadata": …}`, which some versions write as a string.
fn unwrap_output(text: Cow<'_, str>) -> Cow<'_, str> {
    if text.starts_with('{')
        && let Ok(inner) = JsonNode::parse(text.as_bytes())
        && let Some(output) = inner.rare().output.0.first()
        && !output.text.get().is_empty()
    {
        return Cow::Owned(output.text.get().to_owned());
    }
    text
}

/// Parses an item of `codex exec --json`.
fn parse_run_item<'a>(item: &'a JsonNode<'_>, record: &mut TranscriptRecord<'a>) {
    let mut found = ContentBlocks::default();
    match item.tag.get() {
        "agent_message" => {
            record
                .messages
                .push(Message::new(Role::Assistant, item.text.get()));
        }
        "command_execution" => {
            found.add_named_call("shell", &item.rare().command.to_text());
            found.append_to(Role::Assistant, Cow::Borrowed(""), record);
            record.messages.push(build_tool_result(
                item,
                item.rare().aggregated_output.get(),
                "shell",
            ));
        }
        "file_change" => {
            found.add_named_call("apply_patch", &item.rare().changes.to_text());
            found.append_to(Role::Assistant, Cow::Borrowed(""), record);
        }
        "mcp_tool_call" => {
            let tool = if item.rare().tool.get().is_empty() {
                "mcp"
            } else {
                item.rare().tool.get()
            };
            found.add_named_call(tool, &item.rare().arguments.to_text());
            found.append_to(Role::Assistant, Cow::Borrowed(""), record);
            record.messages.extend(parse_tool_result(item, tool));
        }
        _ => {}
    }
}

/// Parses an event of the screen log, or a user operation.
fn parse_screen_event<'a>(payload: &'a JsonNode<'_>, record: &mut TranscriptRecord<'a>) {
    if let "user_input" | "user_turn" = payload.tag.get() {
        let mut found = ContentBlocks::parse(&payload.rare().items);
        found.said = true;
        found.append_to(Role::User, Cow::Borrowed(""), record);
        return;
    }
    let Some(event) = payload.rare().msg.0.as_deref() else {
        return;
    };
    let message = event
        .message
        .0
        .as_deref()
        .map_or("", |message| message.text.get());
    let mut call = |name: &str, args: &str| {
        let mut found = ContentBlocks::default();
        found.add_named_call(name, args);
        found.append_to(Role::Assistant, Cow::Borrowed(""), record);
    };
    match event.tag.get() {
        "agent_message" => record.messages.push(Message::new(Role::Assistant, message)),
        "error" => record
            .messages
            .push(Message::new(Role::Other, message).with_name("error")),
        "exec_command_begin" => call("exec", &event.rare().command.to_text()),
        "patch_apply_begin" => call("apply_patch", &event.rare().changes.to_text()),
        "mcp_tool_call_begin" => {
            if let Some(invocation) = &event.rare().invocation.0 {
                call(
                    invocation.rare().tool.get(),
                    &invocation.rare().arguments.to_text(),
                );
            }
        }
        "mcp_tool_call_end" => {
            let invocation = event.rare().invocation.0.as_deref();
            let tool = invocation.map_or("", |invocation| invocation.rare().tool.get());
            record.messages.extend(parse_tool_result(event, tool));
        }
        "exec_command_end" | "patch_apply_end" => {
            let name = if event.tag.get() == "exec_command_end" {
                "exec"
            } else {
                "apply_patch"
            };
            let both = [event.rare().stdout.get(), event.rare().stderr.get()];
            let text = both
                .into_iter()
                .filter(|text| !text.is_empty())
                .collect::<Vec<_>>()
                .join("\n");
            let text = if text.is_empty() {
                event.rare().aggregated_output.get().to_owned()
            } else {
                text
            };
            record.messages.push(build_tool_result(event, text, name));
        }
        _ => {}
    }
}

fn build_tool_result<'a>(node: &JsonNode<'_>, text: impl Into<Cow<'a, str>>, name: &'a str) -> Message<'a> {
    let mut message = Message::new(Role::Tool, text).with_name(name);
    message.error =
        node.rare().exit_code.0.is_some_and(|code| code != 0) || node.rare().success.0 == Some(false);
    message
}

/// Parses the result of an MCP tool: `{"content": […]}`, wrapped in `{"Ok": …}` in event logs, or an error.
fn parse_tool_result<'a>(node: &'a JsonNode<'_>, tool: &'a str) -> Option<Message<'a>> {
    let said = |node: &'a JsonNode<'_>| {
        let inner = node.message.0.as_deref().unwrap_or(node);
        Cow::Borrowed(inner.text.get())
    };
    let result = node.rare().result.0.as_deref();
    let failure = node.rare().failure.0.as_deref();
    let failure = failure.or_else(|| result?.rare().err.0.as_deref());
    let (text, error) = match (failure, result) {
        (Some(failure), _) => (said(failure), true),
        (None, Some(result)) => {
            let result = result.rare().ok.0.as_deref().unwrap_or(result);
            let text = ContentBlocks::parse(&result.content).text;
            let text = if text.is_empty() { said(result) } else { text };
            (text, result.error.is_set())
        }
        (None, None) => return None,
    };
    let mut message = Message::new(Role::Tool, text).with_name(tool);
    message.error = error;
    Some(message)
}
