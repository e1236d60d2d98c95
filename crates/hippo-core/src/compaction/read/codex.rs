//! How does Codex write a session? As a rollout of response items, as the events of a run, or as the log of its screen.

use std::borrow::Cow;
use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::node::{Content, Node};
use super::{Blocks, Format, Record, blocks, hashed};
use crate::compaction::message::{Message, Role};

/// Bytes after its kind in which the type of an event stands.
const HEAD: usize = 160;
/// Kinds that say nothing: keys, redraws, lines on the screen.
const NOISE: [&[u8]; 4] = [b"app_event\"", b"key_event\"", b"insert_history\"", b"log_line\""];
/// What a program, not a person, writes in the name of the user.
const INJECTED: [&str; 4] = [
    "<environment_context>",
    "<user_instructions>",
    "# AGENTS.md instructions",
    "<turn_aborted>",
];

/// Whether it is a line of a screen log that says nothing: most of them do not, and are not worth parsing. Pieces of what
/// comes as a whole later say nothing either.
pub fn is_noise(bytes: &[u8]) -> bool {
    let kind = || {
        let rest = past_value(bytes.strip_prefix(br#"{"ts":""#)?)?;
        let rest = past_value(rest.strip_prefix(br#","dir":""#)?)?;
        rest.strip_prefix(br#","kind":""#)
    };
    let Some(kind) = kind().filter(|_| bytes.last() == Some(&b'}')) else {
        return false;
    };
    NOISE.iter().any(|noise| kind.starts_with(noise)) || DELTA.find(&kind[..kind.len().min(HEAD)]).is_some()
}

/// The end of the type of an event that is a piece.
static DELTA: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new(b"_delta\""));

/// What follows the text that begins here.
fn past_value(bytes: &[u8]) -> Option<&[u8]> {
    let end = memchr::memchr(b'"', bytes)?;
    bytes.get(end + 1..)
}

/// Reads a record, if it is one of Codex.
pub fn read<'a>(node: &'a Node<'_>) -> Option<Record<'a>> {
    let mut record = Record {
        format: Some(Format::Codex),
        ..Record::default()
    };
    let payload = node.rare().payload.0.as_deref();
    match (node.tag.get(), payload) {
        ("response_item", Some(item)) => response_item(item, &mut record),
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
                run_item(item, &mut record);
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
        ) => response_item(node, &mut record),
        ("message", _) if node.role.0.is_some() && has_typed_text(&node.content) => {
            response_item(node, &mut record);
        }
        _ if node.rare().dir.0.is_some() && node.rare().kind.0.is_some() => {
            if let Some(payload) = payload {
                screen_event(payload, &mut record);
            }
        }
        _ => return None,
    }
    Some(record)
}

fn has_typed_text(content: &Content<'_>) -> bool {
    let typed = |block: &Node<'_>| matches!(block.tag.get(), "input_text" | "output_text");
    content.0.first().is_some_and(typed)
}

fn response_item<'a>(item: &'a Node<'_>, record: &mut Record<'a>) {
    let mut found = Blocks::default();
    match item.tag.get() {
        "message" => {
            let mut role = blocks::role(item.role.get()).unwrap_or(Role::Other);
            found = Blocks::read(&item.content);
            let mut name = if role == Role::Other { item.role.get() } else { "" };
            if role == Role::User
                && INJECTED
                    .iter()
                    .any(|mark| found.text.trim_start().starts_with(mark))
            {
                (role, name) = (Role::Other, "context");
            }
            found.into(role, Cow::Borrowed(name), record);
            return;
        }
        "function_call" | "custom_tool_call" => {
            found.call(item);
            let name = if item.name.get().is_empty() {
                "tool"
            } else {
                item.name.get()
            };
            found.called = hashed(&item.call_id)
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
            found.call_of(tool, &item.rare().action.shown());
            found.called = hashed(&item.call_id)
                .map(|id| (id, tool.to_owned()))
                .into_iter()
                .collect();
        }
        "function_call_output" | "custom_tool_call_output" => {
            let text = unwrapped(Blocks::read(&item.rare().output).text);
            let mut message = Message::new(Role::Tool, text).named(item.call_id.get());
            message.by_call = true;
            record.messages.push(message);
            return;
        }
        _ => return,
    }
    found.into(Role::Assistant, Cow::Borrowed(""), record);
}

/// The output within `{"output": "…", "metadata": …}`, which some versions write as a text.
fn unwrapped(text: Cow<'_, str>) -> Cow<'_, str> {
    if text.starts_with('{')
        && let Ok(inner) = Node::read(text.as_bytes())
        && let Some(output) = inner.rare().output.0.first()
        && !output.text.get().is_empty()
    {
        return Cow::Owned(output.text.get().to_owned());
    }
    text
}

/// An item of `codex exec --json`.
fn run_item<'a>(item: &'a Node<'_>, record: &mut Record<'a>) {
    let mut found = Blocks::default();
    match item.tag.get() {
        "agent_message" => {
            record
                .messages
                .push(Message::new(Role::Assistant, item.text.get()));
        }
        "command_execution" => {
            found.call_of("shell", &item.rare().command.shown());
            found.into(Role::Assistant, Cow::Borrowed(""), record);
            record
                .messages
                .push(answer(item, item.rare().aggregated_output.get(), "shell"));
        }
        "file_change" => {
            found.call_of("apply_patch", &item.rare().changes.shown());
            found.into(Role::Assistant, Cow::Borrowed(""), record);
        }
        "mcp_tool_call" => {
            let tool = if item.rare().tool.get().is_empty() {
                "mcp"
            } else {
                item.rare().tool.get()
            };
            found.call_of(tool, &item.rare().arguments.shown());
            found.into(Role::Assistant, Cow::Borrowed(""), record);
            record.messages.extend(result(item, tool));
        }
        _ => {}
    }
}

/// An event of the screen log, or an operation of the user.
fn screen_event<'a>(payload: &'a Node<'_>, record: &mut Record<'a>) {
    if let "user_input" | "user_turn" = payload.tag.get() {
        let mut found = Blocks::read(&payload.rare().items);
        found.said = true;
        found.into(Role::User, Cow::Borrowed(""), record);
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
        let mut found = Blocks::default();
        found.call_of(name, args);
        found.into(Role::Assistant, Cow::Borrowed(""), record);
    };
    match event.tag.get() {
        "agent_message" => record.messages.push(Message::new(Role::Assistant, message)),
        "error" => record
            .messages
            .push(Message::new(Role::Other, message).named("error")),
        "exec_command_begin" => call("exec", &event.rare().command.shown()),
        "patch_apply_begin" => call("apply_patch", &event.rare().changes.shown()),
        "mcp_tool_call_begin" => {
            if let Some(invocation) = &event.rare().invocation.0 {
                call(invocation.rare().tool.get(), &invocation.rare().arguments.shown());
            }
        }
        "mcp_tool_call_end" => {
            let invocation = event.rare().invocation.0.as_deref();
            let tool = invocation.map_or("", |invocation| invocation.rare().tool.get());
            record.messages.extend(result(event, tool));
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
            record.messages.push(answer(event, text, name));
        }
        _ => {}
    }
}

fn answer<'a>(node: &Node<'_>, text: impl Into<Cow<'a, str>>, name: &'a str) -> Message<'a> {
    let mut message = Message::new(Role::Tool, text).named(name);
    message.error =
        node.rare().exit_code.0.is_some_and(|code| code != 0) || node.rare().success.0 == Some(false);
    message
}

/// What the tool of a server answered: `{"content": […]}`, which stands in `{"Ok": …}` or beside `{"Err": "…"}` in event logs.
fn result<'a>(node: &'a Node<'_>, tool: &'a str) -> Option<Message<'a>> {
    let said = |node: &'a Node<'_>| {
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
            let text = Blocks::read(&result.content).text;
            let text = if text.is_empty() { said(result) } else { text };
            (text, result.error.is_set())
        }
        (None, None) => return None,
    };
    let mut message = Message::new(Role::Tool, text).named(tool);
    message.error = error;
    Some(message)
}
