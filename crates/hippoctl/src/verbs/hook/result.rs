//! Entries in place of large tool results.
//!
//! The daemon stores a large result, and the model receives the context entry of the result. Earlier messages never
//! change, so the prompt cache of the provider stays valid.

use hippo_proto::{
    ContextOpenRequest, ContextOpenResponse, ContextPutOutcome, ContextPutRequest, ContextPutSource,
    ContextRenderRequest, ContextTurnRequest, ErrorKind,
};
use hippo_text::text::start;
use serde_json::{Value, json};

use super::event::HookEvent;
use super::{Failure, HookWork, claude_project, text};

/// A smaller result is never replaced, in bytes. For larger results, the daemon's policy decides.
const SMALLEST: usize = 1_024;
/// A file that an agent reads stays whole up to this size in bytes. Agents read files to edit them.
const WHOLE_READ: usize = 16 * 1_024;
/// Maximum length in bytes of the reference to the source of a result.
const LONGEST_REF: usize = 1_000;
/// Budget of the section that contains the new entry, in tokens. The section is large, so that it contains all entries.
const SECTION: u32 = 100_000;
/// Number of context sessions for one session of the harness. A session that continues after its end gets a new one.
const SESSIONS: usize = 9;
/// Tools whose results the model receives as they are in the event.
const TOOLS: [&str; 6] = ["bash", "exec", "glob", "grep", "list", "read"];

/// The text of a tool result that is replaced.
pub struct LargeResult {
    /// JSON pointer to the text in the response of the tool.
    place: String,
    content: String,
    source: ContextPutSource,
}

impl LargeResult {
    /// Returns the text of a tool result that is large enough to be replaced.
    pub fn of(event: &HookEvent) -> Option<Self> {
        let (name, input) = (event.tool.as_deref()?.to_lowercase(), event.input.as_ref());
        let (place, content) = longest(event.response.as_ref()?, String::new())?;
        let field = |names: &[&str]| names.iter().find_map(|name| input?.get(name)?.as_str());
        let is_part = ["offset", "limit"]
            .iter()
            .any(|name| input.is_some_and(|input| input.get(name).is_some()));
        let is_read = name == "read";
        let least = if is_read { WHOLE_READ } else { SMALLEST };
        let is_foreign = name.starts_with("mcp__") && !name.contains("hippod");
        if content.len() < least || is_read && is_part || !is_foreign && !TOOLS.contains(&name.as_str()) {
            return None;
        }
        let type_ = match name.as_str() {
            "bash" => "exec".to_owned(),
            _ => name,
        };
        let reference =
            field(&["command", "cmd", "file_path", "filePath", "path", "pattern"]).map(str::to_owned);
        let reference = reference
            .or_else(|| input.map(Value::to_string))
            .unwrap_or_default();
        // The agent reads stored content with hippoctl, so the output of hippoctl stays whole.
        if type_ == "exec" && reference.contains("hippoctl ") {
            return None;
        }
        Some(Self {
            place,
            content: content.to_owned(),
            source: ContextPutSource {
                type_,
                reference: start(&reference, LONGEST_REF).to_owned(),
            },
        })
    }

    /// Returns the answer of the hook that replaces the text by a note. Claude Code expects a response with the same
    /// fields. Codex and the plugin for OpenCode send the response as a string, and expect the note as `stopReason`;
    /// Codex continues nevertheless.
    fn replaced_by(&self, response: &Value, note: String, is_claude: bool) -> Value {
        let mut output = response.clone();
        match output.pointer_mut(&self.place) {
            Some(text) if is_claude || !self.place.is_empty() => *text = note.into(),
            _ => return json!({"continue": false, "stopReason": note}),
        }
        json!({"hookSpecificOutput": {"hookEventName": "PostToolUse", "updatedToolOutput": output}})
    }
}

/// Returns the longest text in a JSON value, and the JSON pointer to it. A string without white space, such as the bytes
/// of an image in base64, is no text.
fn longest(value: &Value, place: String) -> Option<(String, &str)> {
    match value {
        Value::String(text) => text.contains(char::is_whitespace).then_some((place, text)),
        Value::Array(items) => (items.iter().enumerate())
            .filter_map(|(at, item)| longest(item, format!("{place}/{at}")))
            .max_by_key(|(_, text)| text.len()),
        Value::Object(fields) => (fields.iter())
            .filter_map(|(name, field)| {
                let name = name.replace('~', "~0").replace('/', "~1");
                longest(field, format!("{place}/{name}"))
            })
            .max_by_key(|(_, text)| text.len()),
        _ => None,
    }
}

impl HookWork {
    /// Stores a large tool result, and prints the entry that the model receives in its place. Prints nothing if the
    /// result stays whole.
    pub(super) fn tool_result(&self, event: &HookEvent) -> Result<(), Failure> {
        let (Some(large), Some(response)) = (LargeResult::of(event), &event.response) else {
            return Ok(());
        };
        let opened = self.open_session(event)?;
        let (session, turn) = (opened.session, opened.turn + 1);
        let put = self.ask(ContextPutRequest {
            session: session.clone(),
            turn,
            source: large.source.clone(),
            content: large.content.clone(),
            ..ContextPutRequest::default()
        })?;
        // The result of a repeated call is known, and stays whole, because the agent needs it.
        let Some(entry) = put.entry.filter(|_| put.outcome == ContextPutOutcome::Entry) else {
            return Ok(());
        };
        let section = self.ask(ContextRenderRequest {
            session: session.clone(),
            budget_tokens: Some(SECTION),
            cue: None,
        })?;
        let Some(lines) = lines_of(&section.markdown, &entry.id) else {
            return Ok(());
        };
        let note = format!(
            "hippod stored this result ({} bytes, as the tool returned it). Its entry:\n{lines}\nTo read the result, run: hippoctl context fetch {}\n",
            large.content.len(),
            entry.id
        );
        self.say(Ok(large
            .replaced_by(response, note, claude_project().is_some())
            .to_string()));
        self.ask(ContextTurnRequest {
            session,
            turn,
            ..ContextTurnRequest::default()
        })?;
        Ok(())
    }

    fn open_session(&self, event: &HookEvent) -> Result<ContextOpenResponse, Failure> {
        let workspace = text(&self.folder(event)?)?;
        let mut answer = None;
        for number in 1..=SESSIONS {
            let session = event.session.as_ref().map(|session| match number {
                1 => session.clone(),
                number => format!("{session}.{number}"),
            });
            let opened = self.ask(ContextOpenRequest {
                workspace: workspace.clone(),
                agent: None,
                session,
            });
            let is_closed = |failure: &Failure| failure.kind == Some(ErrorKind::Conflict);
            let is_last = !opened.as_ref().is_err_and(is_closed);
            answer = Some(opened);
            if is_last {
                break;
            }
        }
        answer.unwrap_or_else(|| {
            Err(Failure::new(
                crate::failure::Exit::Failed,
                "could not open a session",
            ))
        })
    }
}

/// Returns the lines of an entry in a rendered section.
fn lines_of(markdown: &str, id: &str) -> Option<String> {
    let head = format!("- [{id}] ");
    let mut lines = markdown.lines().skip_while(|line| !line.starts_with(&head));
    let first = lines.next()?;
    let rest = lines.take_while(|line| line.starts_with("  "));
    Some([first].into_iter().chain(rest).collect::<Vec<_>>().join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(tool: &str, input: Value, response: Value) -> HookEvent {
        HookEvent {
            tool: Some(tool.to_owned()),
            input: Some(input),
            response: Some(response),
            ..HookEvent::default()
        }
    }

    #[test]
    fn large_results_are_replaced_and_files_to_edit_stay_whole() {
        let long = |bytes: usize| "x ".repeat(bytes / 2);
        let bash = json!({"stdout": long(5_000), "stderr": "", "interrupted": false});
        let read = |bytes| json!({"type": "text", "file": {"filePath": "a/b.rs", "content": long(bytes)}});
        let path = json!({"file_path": "a/b.rs"});
        for (tool, input, response, source) in [
            (
                "Bash",
                json!({"command": "make"}),
                bash.clone(),
                Some(("exec", "make")),
            ),
            (
                "Bash",
                json!({"command": "make"}),
                json!({"stdout": long(900)}),
                None,
            ),
            (
                "Bash",
                json!({"command": "hippoctl context fetch a-1"}),
                bash.clone(),
                None,
            ),
            (
                "bash",
                json!({"command": "make"}),
                json!(long(5_000)),
                Some(("exec", "make")),
            ),
            ("Read", path.clone(), read(12_000), None),
            ("Read", path.clone(), read(20_000), Some(("read", "a/b.rs"))),
            (
                "Read",
                json!({"file_path": "a/b.rs", "offset": 7}),
                read(20_000),
                None,
            ),
            ("Edit", path, json!({"originalFile": long(20_000)}), None),
            (
                "mcp__web__get",
                json!({"n": 1}),
                json!([{"type": "text", "text": long(5_000)}]),
                Some(("mcp__web__get", "{\"n\":1}")),
            ),
            (
                "mcp__hippod__memory_get",
                json!({}),
                json!([{"text": long(5_000)}]),
                None,
            ),
        ] {
            let large = LargeResult::of(&event(tool, input, response));
            let found = large
                .as_ref()
                .map(|large| (large.source.type_.as_str(), large.source.reference.as_str()));
            assert_eq!(found, source, "{tool}");
        }
    }

    #[test]
    fn images_stay_whole() {
        let bytes = "iVBORw0KGgo".repeat(4_000);
        let image = json!({"type": "image", "file": {"base64": bytes, "type": "image/png"}});
        assert!(LargeResult::of(&event("Read", json!({"file_path": "a.png"}), image)).is_none());
        let blocks = json!([{"type": "image", "data": bytes}, {"type": "text", "text": "a shot"}]);
        assert!(LargeResult::of(&event("mcp__web__shot", json!({}), blocks)).is_none());
    }

    #[test]
    fn the_answer_has_the_form_that_the_harness_expects() {
        let response = json!({"stdout": "y ".repeat(1_000), "a/b": "z"});
        let large = LargeResult::of(&event("Bash", json!({}), response.clone())).unwrap();
        assert_eq!(
            large.replaced_by(&response, "note".to_owned(), false),
            json!({"hookSpecificOutput": {"hookEventName": "PostToolUse", "updatedToolOutput": {"stdout": "note", "a/b": "z"}}})
        );
        let response = json!("y ".repeat(1_000));
        let large = LargeResult::of(&event("Bash", json!({}), response.clone())).unwrap();
        assert_eq!(
            large.replaced_by(&response, "note".to_owned(), false),
            json!({"continue": false, "stopReason": "note"})
        );
        // `continue: false` would stop Claude Code.
        assert_eq!(
            large.replaced_by(&response, "note".to_owned(), true),
            json!({"hookSpecificOutput": {"hookEventName": "PostToolUse", "updatedToolOutput": "note"}})
        );
        let section = "<!-- x -->\n- [a-1] one\n- [a-12] two\n  {k: v}\n(not shown)\n";
        assert_eq!(lines_of(section, "a-1").unwrap(), "- [a-1] one");
        assert_eq!(lines_of(section, "a-12").unwrap(), "- [a-12] two\n  {k: v}");
    }
}
