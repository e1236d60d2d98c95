//! What do the blocks of a message's content say: texts, calls of tools, answers of tools?

use std::borrow::Cow;
use std::fmt::Write as _;

use super::node::{Content, Node};
use super::{Record, hash};
use crate::compaction::message::{Message, Role};

/// What was found in blocks, in a shape for one message and those that it carries.
#[derive(Debug, Default)]
pub struct Blocks<'a> {
    /// Texts, joined.
    pub text: Cow<'a, str>,
    /// Calls, one a line.
    pub calls: String,
    /// Ids of calls, and their tools.
    pub called: Vec<(u64, String)>,
    /// Answers of tools, each a message.
    pub results: Vec<Message<'a>>,
    /// There was something else than thoughts.
    pub said: bool,
}

impl<'a> Blocks<'a> {
    /// Reads a content.
    pub fn read(content: &'a Content<'_>) -> Self {
        let mut blocks = Self::default();
        content.0.iter().for_each(|block| blocks.take(block));
        blocks.said |= content.0.is_empty();
        blocks
    }

    fn take(&mut self, block: &'a Node<'_>) {
        match block.tag.get() {
            "thinking" | "redacted_thinking" | "reasoning" => return,
            "tool_use" | "toolCall" | "server_tool_use" | "mcp_tool_use" => self.call(block),
            "tool_result" | "web_search_tool_result" | "mcp_tool_result" => self.results.push(result(block)),
            "image" | "input_image" | "image_url" => self.say(Cow::Borrowed("[image]")),
            "document" | "file" | "input_file" => self.say(Cow::Borrowed("[document]")),
            _ => self.say(Cow::Borrowed(block.text.get())),
        }
        self.said = true;
    }

    fn say(&mut self, text: Cow<'a, str>) {
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

    /// Notes a call of a tool, in any of the shapes in which one is written.
    pub fn call(&mut self, call: &Node<'_>) {
        let function = call.rare().function.0.as_deref().unwrap_or(call);
        let name = [function.name.get(), call.name.get(), "tool"];
        let name = name.into_iter().find(|name| !name.is_empty()).unwrap_or("tool");
        let args = if function.rare().arguments.is_some() {
            &function.rare().arguments
        } else {
            &function.input
        };
        self.call_of(name, &args.shown());
        let id = if call.id.get().is_empty() {
            call.call_id.get()
        } else {
            call.id.get()
        };
        if !id.is_empty() {
            self.called.push((hash(id), name.to_owned()));
        }
    }

    /// Notes a call by name and arguments.
    pub fn call_of(&mut self, name: &str, args: &str) {
        let between = if self.calls.is_empty() { "" } else { "\n" };
        // A `String` takes everything.
        let _ = write!(self.calls, "{between}{name}({args})");
        self.said = true;
    }

    /// As messages of a record: what was said by `role`, and the answers of tools that came with it. Those that a user's message carries
    /// answer what was before it.
    pub fn into(self, role: Role, name: Cow<'a, str>, record: &mut Record<'a>) {
        record.called.extend(self.called);
        let only_results = self.text.is_empty() && self.calls.is_empty() && !self.results.is_empty();
        let mut message = Message::new(role, self.text).named(name);
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

/// The answer of a tool as a block.
fn result<'a>(block: &'a Node<'_>) -> Message<'a> {
    let text = Blocks::read(&block.content).text;
    let mut message = Message::new(Role::Tool, text).named(block.call_id.get());
    message.by_call = true;
    message.error = block.error.is_set();
    message
}

/// A role by its name; none for one that is not known.
pub fn role(name: &str) -> Option<Role> {
    Some(match name {
        "user" | "human" => Role::User,
        "assistant" | "model" | "ai" => Role::Assistant,
        "tool" | "toolResult" | "function" | "ipython" => Role::Tool,
        "system" | "developer" => Role::Other,
        _ => return None,
    })
}
