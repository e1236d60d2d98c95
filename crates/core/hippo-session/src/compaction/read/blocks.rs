//! Content blocks of a message: texts, tool calls, tool results.

use std::borrow::Cow;
use std::fmt::Write as _;

use super::node::{JsonNode, NodeContent};
use super::{TranscriptRecord, hash_text};
use crate::compaction::message::{Message, Role};

/// Parsed content blocks of one message.
#[derive(Debug, Default)]
pub struct ContentBlocks<'a> {
    /// The texts, joined by line breaks.
    pub text: Cow<'a, str>,
    /// The calls, one per line.
    pub calls: String,
    /// Hashed ids of the calls, and their tools.
    pub called: Vec<(u64, String)>,
    /// Tool results, each as a message.
    pub results: Vec<Message<'a>>,
    /// There was a block other than reasoning.
    pub said: bool,
}

impl<'a> ContentBlocks<'a> {
    /// Parses the blocks of a message.
    pub fn parse(content: &'a NodeContent<'_>) -> Self {
        let mut blocks = Self::default();
        content.0.iter().for_each(|block| blocks.add_block(block));
        blocks.said |= content.0.is_empty();
        blocks
    }

    fn add_block(&mut self, block: &'a JsonNode<'_>) {
        match block.tag.get() {
            "thinking" | "redacted_thinking" | "reasoning" => return,
            "tool_use" | "toolCall" | "server_tool_use" | "mcp_tool_use" => self.add_call(block),
            "tool_result" | "web_search_tool_result" | "mcp_tool_result" => {
                self.results.push(parse_result(block))
            }
            "image" | "input_image" | "image_url" => self.add_text(Cow::Borrowed("[image]")),
            "document" | "file" | "input_file" => self.add_text(Cow::Borrowed("[document]")),
            _ => self.add_text(Cow::Borrowed(block.text.get())),
        }
        self.said = true;
    }

    fn add_text(&mut self, text: Cow<'a, str>) {
        if text.is_empty() {
            return;
        }
        if self.text.is_empty() {
            self.text = text;
        } else {
            let so_far = self.text.to_mut();
            so_far.push('\n');
            so_far.push_str(&text);
        }
    }

    /// Adds a tool call, in any of its JSON forms.
    pub fn add_call(&mut self, call: &JsonNode<'_>) {
        let function = call.rare().function.0.as_deref().unwrap_or(call);
        let name = [function.name.get(), call.name.get(), "tool"];
        let name = name.into_iter().find(|name| !name.is_empty()).unwrap_or("tool");
        let args = if function.rare().arguments.is_some() {
            &function.rare().arguments
        } else {
            &function.input
        };
        self.add_named_call(name, &args.to_text());
        let id = if call.id.get().is_empty() {
            call.call_id.get()
        } else {
            call.id.get()
        };
        if !id.is_empty() {
            self.called.push((hash_text(id), name.to_owned()));
        }
    }

    /// Adds a call by name and arguments.
    pub fn add_named_call(&mut self, name: &str, args: &str) {
        let between = if self.calls.is_empty() { "" } else { "\n" };
        // Writing to a `String` cannot fail.
        let _ = write!(self.calls, "{between}{name}({args})");
        self.said = true;
    }

    /// Appends a message by `role` and the tool results to the record. Results inside a user message come first,
    /// because they answer earlier calls.
    pub fn append_to(self, role: Role, name: Cow<'a, str>, record: &mut TranscriptRecord<'a>) {
        record.called.extend(self.called);
        let only_results = self.text.is_empty() && self.calls.is_empty() && !self.results.is_empty();
        let mut message = Message::new(role, self.text).with_name(name);
        message.calls = self.calls;
        let message = Some(message).filter(|_| self.said && !only_results);
        if role == Role::User {
            record.messages.extend(self.results);
            record.messages.extend(message);
        } else {
            record.messages.extend(message);
            record.messages.extend(self.results);
        }
    }
}

/// Parses a tool result block.
fn parse_result<'a>(block: &'a JsonNode<'_>) -> Message<'a> {
    let text = ContentBlocks::parse(&block.content).text;
    let mut message = Message::new(Role::Tool, text).with_name(block.call_id.get());
    message.by_call = true;
    message.error = block.error.is_set();
    message
}

/// Parses the name of a role; `None` for an unknown one.
pub fn parse_role(name: &str) -> Option<Role> {
    Some(match name {
        "user" | "human" => Role::User,
        "assistant" | "model" | "ai" => Role::Assistant,
        "tool" | "toolResult" | "function" | "ipython" => Role::Tool,
        "system" | "developer" => Role::Other,
        _ => return None,
    })
}
