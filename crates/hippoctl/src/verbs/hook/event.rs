//! What does the harness say of the session, in JSON that may be cut, foreign, huge, or never end?

use std::io::{self, IsTerminal, Read};
use std::path::PathBuf;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

/// Bytes of an event that are read.
const LONGEST: usize = 4 << 20;
/// How long the harness may take to say it.
const PATIENCE: Duration = Duration::from_millis(500);
/// Bytes that are read at a time.
const PIECE: usize = 64 << 10;

/// What is known of the session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Event {
    /// Its id.
    pub session: Option<String>,
    /// Its transcript.
    pub transcript: Option<PathBuf>,
    /// Where it runs.
    pub cwd: Option<PathBuf>,
    /// Why nothing is known.
    pub trouble: Option<&'static str>,
}

/// Reads the event from standard input, as far as it comes in time. A complete object ends it, whether or not the input is closed.
pub fn read() -> Event {
    let input = io::stdin();
    if input.is_terminal() {
        return Event {
            trouble: Some("standard input is a terminal"),
            ..Event::default()
        };
    }
    let (pieces, heard) = mpsc::channel();
    // Nobody waits for it when the input is never closed.
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
            return Event {
                trouble: Some("the event is longer than 4 MiB"),
                ..Event::default()
            };
        }
        let complete = bytes.trim_ascii_end().ends_with(b"}");
        if complete && serde_json::from_slice::<serde::de::IgnoredAny>(&bytes).is_ok() {
            break;
        }
    }
    of(&bytes)
}

/// Nothing came: whoever calls a hook by hand gives none.
pub const NO_EVENT: &str = "there is no event on standard input";

/// What an event says.
fn of(bytes: &[u8]) -> Event {
    let text = String::from_utf8_lossy(bytes);
    let trouble = match serde_json::from_str::<Value>(text.trim_start_matches('\u{feff}')) {
        Ok(Value::Object(event)) => {
            let said = |names: &[&str]| {
                let value = names.iter().find_map(|name| event.get(*name)?.as_str())?;
                (!value.trim().is_empty()).then(|| value.to_owned())
            };
            return Event {
                session: said(&["session_id", "sessionId"]),
                transcript: said(&["transcript_path", "transcriptPath"]).map(home),
                cwd: said(&["cwd"]).map(home),
                trouble: None,
            };
        }
        Ok(_) => "the event is no JSON object",
        Err(_) if bytes.trim_ascii().is_empty() => NO_EVENT,
        Err(_) => "the event is no JSON",
    };
    Event {
        trouble: Some(trouble),
        ..Event::default()
    }
}

/// A path that may begin with `~/`.
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
    fn what_can_be_understood_is_and_the_rest_is_nothing() {
        let whole = of(br#"{"session_id":"s1","transcript_path":"/t.jsonl","cwd":"/w","hook_event_name":"PreCompact","trigger":"auto"}"#);
        assert_eq!(whole.session.as_deref(), Some("s1"));
        assert_eq!(
            (whole.transcript, whole.cwd),
            (Some("/t.jsonl".into()), Some("/w".into()))
        );
        let odd = of(br#"{"session_id":7,"transcript_path":"","cwd":null}"#);
        assert_eq!(odd, Event::default());
        for junk in [&b""[..], b"[]", b"{", b"\xff\xfe", b"null", b"{\"cwd\":\"/w\"} {"] {
            assert!(of(junk).trouble.is_some(), "{junk:?}");
        }
    }
}
