//! Event of a harness, read from standard input.
//!
//! The JSON may be truncated, foreign or huge, and the input may never end.

use std::io::{self, IsTerminal, Read};
use std::path::PathBuf;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

/// Maximum size of an event in bytes.
const LONGEST: usize = 4 << 20;
/// Maximum time for reading an event.
const PATIENCE: Duration = Duration::from_millis(500);
/// Number of bytes per read.
const PIECE: usize = 64 << 10;

/// The session that an event describes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HookEvent {
    /// The id of the session.
    pub session: Option<String>,
    /// The path of the transcript of the session.
    pub transcript: Option<PathBuf>,
    /// The folder in which the session runs.
    pub cwd: Option<PathBuf>,
    /// The reason why the event could not be used.
    pub trouble: Option<&'static str>,
}

/// Reads the event from standard input until the deadline. The event ends with a complete JSON object, even if the
/// input stays open.
pub fn read() -> HookEvent {
    let input = io::stdin();
    if input.is_terminal() {
        return HookEvent {
            trouble: Some("standard input is a terminal"),
            ..HookEvent::default()
        };
    }
    let (pieces, heard) = mpsc::channel();
    // If the input is never closed, the thread is abandoned.
    let reader = thread::Builder::new().name("stdin".into()).spawn(move || {
        let mut input = input.lock();
        let mut piece = vec![0; PIECE];
        while let Ok(size) = input.read(&mut piece) {
            if size == 0 || pieces.send(piece[..size].to_vec()).is_err() {
                return;
            }
        }
    });
    if reader.is_err() {
        return of(b"");
    }
    let until = Instant::now() + PATIENCE;
    let mut bytes = Vec::new();
    while let Ok(piece) = heard.recv_timeout(until.saturating_duration_since(Instant::now())) {
        bytes.extend_from_slice(&piece);
        if bytes.len() > LONGEST {
            return HookEvent {
                trouble: Some("the event is longer than 4 MiB"),
                ..HookEvent::default()
            };
        }
        let complete = bytes.trim_ascii_end().ends_with(b"}");
        if complete && serde_json::from_slice::<serde::de::IgnoredAny>(&bytes).is_ok() {
            break;
        }
    }
    of(&bytes)
}

/// The problem if the input is empty, which is normal if the hook is called by hand.
pub const NO_EVENT: &str = "standard input has no event";

/// Parses an event.
fn of(bytes: &[u8]) -> HookEvent {
    let text = String::from_utf8_lossy(bytes);
    let trouble = match serde_json::from_str::<Value>(text.trim_start_matches('\u{feff}')) {
        Ok(Value::Object(event)) => {
            let said = |names: &[&str]| {
                let value = names.iter().find_map(|name| event.get(*name)?.as_str())?;
                (!value.trim().is_empty()).then(|| value.to_owned())
            };
            return HookEvent {
                session: said(&["session_id", "sessionId"]),
                transcript: said(&["transcript_path", "transcriptPath"]).map(home),
                cwd: said(&["cwd"]).map(home),
                trouble: None,
            };
        }
        Ok(_) => "the event is not a JSON object",
        Err(_) if bytes.trim_ascii().is_empty() => NO_EVENT,
        Err(_) => "the event is not valid JSON",
    };
    HookEvent {
        trouble: Some(trouble),
        ..HookEvent::default()
    }
}

/// Expands a path that begins with `~/`.
fn home(path: String) -> PathBuf {
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
        let whole = of(br#"{"session_id":"s1","transcript_path":"/t.jsonl","cwd":"/w","hook_event_name":"PreCompact","trigger":"auto"}"#);
        assert_eq!(whole.session.as_deref(), Some("s1"));
        assert_eq!(
            (whole.transcript, whole.cwd),
            (Some("/t.jsonl".into()), Some("/w".into()))
        );
        let odd = of(br#"{"session_id":7,"transcript_path":"","cwd":null}"#);
        assert_eq!(odd, HookEvent::default());
        for junk in [&b""[..], b"[]", b"{", b"\xff\xfe", b"null", b"{\"cwd\":\"/w\"} {"] {
            assert!(of(junk).trouble.is_some(), "{junk:?}");
        }
    }
}
