//! Content blocks of a message: texts, tool calls, tool results.

use super::{TranscriptRecord, hash_text};
use crate::compaction::message::{Message, Role};
use crate::json::Json;
use hippo_text::text::start;
use std::borrow::Cow;

/// Maximum bytes of a call's arguments that are kept.
const ARGUMENTS: usize = 8 << 10;
/// Names of arguments that contain a file path.
#[rustfmt::skip] // keep the list compact
const PATHS: [&str; 8] = [
    "file_path", "path", "notebook_path", "filePath", "filename", "target_file", "file", "relative_path",
];

/// A tool call of a message.
#[derive(Debug)]
pub struct RecordedCall {
    /// Hashed id of the call.
    pub id: Option<u64>,
    /// Name of the tool.
    pub tool: String,
    /// Beginning of the arguments: `key=value, …`.
    pub args: String,
    /// Beginning of the command, if an argument contains one; otherwise empty.
    pub command: String,
    /// Path of a file, if an argument contains one; otherwise empty.
    pub path: String,
}

/// Parsed content blocks of one message.
#[derive(Debug, Default)]
pub struct ContentBlocks<'a> {
    /// The texts, joined by line breaks.
    pub text: Cow<'a, str>,
    /// The tool calls as text, one per line.
    pub calls: String,
    /// The tool calls as data.
    pub called: Vec<RecordedCall>,
    /// Tool results, each as a message.
    pub results: Vec<Message<'a>>,
    /// True unless all blocks are reasoning of the model.
    pub said: bool,
}

impl<'a> ContentBlocks<'a> {
    /// Parses the field `content` of a message, or else the field `text`.
    pub fn of_message(message: &'a Json<'_>) -> Self {
        let content = message.blocks(&["content"]);
        let mut blocks = Self::parse(content);
        if content.is_empty() {
            blocks.text = Cow::Borrowed(message.said());
        }
        blocks
    }

    /// Parses a list of content blocks.
    pub fn parse(content: &'a [Json<'_>]) -> Self {
        let mut blocks = Self {
            said: content.is_empty(),
            ..Self::default()
        };
        content
            .iter()
            .filter(|block| block.is_block())
            .for_each(|block| blocks.add_block(block));
        blocks
    }

    fn add_block(&mut self, block: &'a Json<'_>) {
        match block.text("type") {
            "thinking" | "redacted_thinking" | "reasoning" => return,
            "tool_use" | "toolCall" | "server_tool_use" | "mcp_tool_use" => self.add_call(block),
            "tool_result" | "web_search_tool_result" | "mcp_tool_result" => {
                let text = Self::parse(block.blocks(&["content"])).text;
                self.results
                    .push(Message::result_of(block.call_id(), text, block.is_error()));
            }
            "image" | "input_image" | "image_url" => self.add_text("[image]"),
            "document" | "file" | "input_file" => self.add_text("[document]"),
            _ => self.add_text(block.said()),
        }
        self.said = true;
    }

    fn add_text(&mut self, text: &'a str) {
        if self.text.is_empty() {
            self.text = Cow::Borrowed(text);
        } else if !text.is_empty() {
            let so_far = self.text.to_mut();
            so_far.push('\n');
            so_far.push_str(text);
        }
    }

    /// Adds a tool call, in any of its JSON forms.
    pub fn add_call(&mut self, call: &Json<'_>) {
        let function = call.object("function").unwrap_or(call);
        let names = [function.text("name"), call.text("name")];
        let name = names
            .into_iter()
            .find(|name| !name.is_empty())
            .unwrap_or_default();
        let args = function.value(&["arguments"]).or(function.value(&["input"]));
        let id = Some(call.text("id")).filter(|id| !id.is_empty());
        self.add_named_call(name, args, id.or(call.call_id()));
    }

    /// Adds a tool call with this name, these arguments and this id.
    pub fn add_named_call(&mut self, name: &str, args: Option<&Json<'_>>, id: Option<&str>) {
        let name = if name.is_empty() { "tool" } else { name };
        let between = if self.calls.is_empty() { "" } else { "\n" };
        let inner = args.and_then(Json::parse_inner);
        let json = inner.as_ref().or(args);
        let args = json.map(Json::to_arguments).unwrap_or_default();
        self.calls.push_str(&format!("{between}{name}({args})"));
        self.said = true;
        let value = |names: &[&str]| {
            let value = json.and_then(|json| json.find_text(names)).unwrap_or_default();
            start(value, ARGUMENTS).trim().to_owned()
        };
        self.called.push(RecordedCall {
            id: id.filter(|id| !id.is_empty()).map(hash_text),
            tool: name.to_owned(),
            args: start(&args, ARGUMENTS).to_owned(),
            command: value(&["command", "cmd"]),
            path: value(&PATHS),
        });
    }

    /// Appends the contents of this message to the record. A tool result without a name gets the id of its call
    /// instead.
    pub fn append_message(self, role: Role, message: &'a Json<'_>, record: &mut TranscriptRecord<'a>) {
        let name = match role {
            Role::Tool => message.find_text(&["name", "toolName"]).unwrap_or_default(),
            Role::Other => message.text("role"),
            _ => "",
        };
        self.append_to(role, name, record);
        for appended in &mut record.messages {
            appended.error |= message.is_error();
            if role == Role::Tool && appended.role == role && appended.name.is_empty() {
                appended.by_call = true;
                appended.name = Cow::Borrowed(message.call_id().unwrap_or_default());
            }
        }
    }

    /// Appends a message with this role, and the tool results, to the record. Results inside a user message precede it,
    /// because they answer earlier calls.
    pub fn append_to(self, role: Role, name: &'a str, record: &mut TranscriptRecord<'a>) {
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

/// Parses the name of a role.
pub fn parse_role(name: &str) -> Role {
    match name {
        "user" | "human" => Role::User,
        "assistant" | "model" | "ai" => Role::Assistant,
        "tool" | "toolResult" | "function" | "ipython" => Role::Tool,
        _ => Role::Other,
    }
}
