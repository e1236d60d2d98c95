//! Event of a harness, read from standard input.
//!
//! The input is not trusted: it can be truncated, huge or no JSON at all, and may never end.

use std::io::{self, IsTerminal, Read};
use std::path::PathBuf;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use serde::Deserialize as _;
use serde_json::{Deserializer, Value};

/// Maximum size of an event in bytes.
const LONGEST: u64 = 1 << 20;
/// Maximum time for reading an event.
const PATIENCE: Duration = Duration::from_millis(500);
/// The problem of an empty input, which is normal if a person runs the hook by hand.
pub const NO_EVENT: &str = "standard input has no event";

/// The session that an event describes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HookEvent {
    /// The id of the session.
    pub session: Option<String>,
    /// The path of the transcript of the session.
    pub transcript: Option<PathBuf>,
    /// The folder in which the session runs.
    pub cwd: Option<PathBuf>,
    /// The user's prompt.
    pub prompt: Option<String>,
    /// The name of the tool that the agent has called.
    pub tool: Option<String>,
    /// The input of the tool.
    pub input: Option<Value>,
    /// The result of the tool.
    pub response: Option<Value>,
    /// The reason why the event could not be used.
    pub trouble: Option<&'static str>,
}

impl HookEvent {
    fn unusable(trouble: &'static str) -> Self {
        Self {
            trouble: Some(trouble),
            ..Self::default()
        }
    }

    /// Reads the event from standard input. Gives up after [`PATIENCE`].
    pub fn read() -> Self {
        if io::stdin().is_terminal() {
            return Self::unusable("standard input is a terminal");
        }
        let (sender, receiver) = mpsc::channel();
        // If the input is never closed, this thread is abandoned.
        let reader = thread::Builder::new().name("stdin".into()).spawn(move || {
            // The send fails after the deadline, when the receiver is dropped.
            let _ = sender.send(Self::parse(io::stdin().lock()));
        });
        let event = reader.ok().and_then(|_| receiver.recv_timeout(PATIENCE).ok());
        event.unwrap_or_else(|| Self::unusable("the event is not complete"))
    }

    /// Returns whether the event is one of Claude Code, by the path of the transcript.
    pub fn is_of_claude_code(&self) -> bool {
        let path = self.transcript.as_deref();
        path.is_some_and(|path| path.components().any(|part| part.as_os_str() == ".claude"))
    }

    /// Parses an event. The event ends with the first complete JSON value, even if the input stays open.
    fn parse(input: impl Read) -> Self {
        let mut input = input.take(LONGEST);
        let event = match Value::deserialize(&mut Deserializer::from_reader(&mut input)) {
            Ok(Value::Object(event)) => event,
            Ok(_) => return Self::unusable("the event is not a JSON object"),
            Err(_) if input.limit() == LONGEST => return Self::unusable(NO_EVENT),
            Err(_) if input.limit() == 0 => return Self::unusable("the event is longer than 1 MiB"),
            Err(_) => return Self::unusable("the event is not valid JSON"),
        };
        let said = |names: &[&str]| {
            let value = names.iter().find_map(|name| event.get(*name)?.as_str())?;
            (!value.trim().is_empty()).then(|| value.to_owned())
        };
        Self {
            session: said(&["session_id", "sessionId"]),
            transcript: said(&["transcript_path", "transcriptPath"]).map(expand_home),
            cwd: said(&["cwd"]).map(expand_home),
            prompt: said(&["prompt"]),
            tool: said(&["tool_name"]),
            input: event.get("tool_input").cloned(),
            response: event.get("tool_response").cloned(),
            trouble: None,
        }
    }
}

/// Expands a path that begins with `~/`.
fn expand_home(path: String) -> PathBuf {
    let home = std::env::var_os("HOME").filter(|home| !home.is_empty());
    match (path.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => PathBuf::from(home).join(rest),
        _ => PathBuf::from(path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn valid_fields_of_an_event_are_used_and_the_rest_ignored() {
        let whole = HookEvent::parse(&br#"{"session_id":"s1","transcript_path":"/t.jsonl","cwd":"/w","hook_event_name":"PreCompact","trigger":"auto"}"#[..]);
        assert_eq!(whole.session.as_deref(), Some("s1"));
        assert_eq!(
            (whole.transcript, whole.cwd),
            (Some("/t.jsonl".into()), Some("/w".into()))
        );
        assert!(
            !HookEvent::parse(&b"{\"transcript_path\":\"/h/.codex/sessions/s.jsonl\"}"[..])
                .is_of_claude_code()
        );
        let of_claude = b"{\"transcript_path\":\"/h/.claude/projects/w/s.jsonl\"}";
        assert!(HookEvent::parse(&of_claude[..]).is_of_claude_code());
        let odd = HookEvent::parse(&br#"{"session_id":7,"transcript_path":"","cwd":null}"#[..]);
        assert_eq!(odd, HookEvent::default());
        for junk in [&b""[..], b"[]", b"{", b"\xff\xfe", b"null", b"{\"cwd\":\"/w\" {"] {
            assert!(HookEvent::parse(junk).trouble.is_some(), "{junk:?}");
        }
    }
}
