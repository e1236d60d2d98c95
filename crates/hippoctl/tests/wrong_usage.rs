//! Tests of wrong usage. Every error names a remedy.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests, outside the functions that clippy knows as tests"
)]

mod scripted;

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;

use hippo_proto::{Request, SessionFlushResponse, encode_result};
use scripted::{Daemon, command, hippoctl, out};

#[test]
fn an_unreadable_file_is_reported_with_a_hint() {
    let home = tempfile::tempdir().unwrap();
    let of_none = "give the path of an existing file";
    let cases: [(&[&str], &str); 2] = [
        (&["ingest", "none.jsonl"], of_none),
        (
            &["--workspace", "/w", "tree", "submit", "2026-01-10", "none.md"],
            of_none,
        ),
    ];
    for (words, hint) in cases {
        let words = [&["--no-start"], words].concat();
        let (code, told, errors) = out(&hippoctl(home.path(), home.path(), &words));
        assert_eq!((code, told.as_str()), (1, ""), "{words:?}: {errors}");
        assert!(
            errors.contains("could not read the ") && errors.contains(&format!("\nhint: {hint}")),
            "{errors}"
        );
    }
}

#[test]
fn a_submit_without_text_is_refused_without_a_request() {
    let home = tempfile::tempdir().unwrap();
    let words = ["--no-start", "--workspace", "/w", "tree", "submit", "2026-01-10"];
    let (code, _, errors) = out(&hippoctl(home.path(), home.path(), &words));
    assert_eq!(code, 2, "{errors}");
    assert!(
        errors.contains("the text for the node 2026-01-10 is empty")
            && errors.contains("hippoctl tree submit 2026-01-10 FILE"),
        "{errors}"
    );
}

#[test]
fn a_transcript_without_messages_is_reported() {
    let flushed = |messages: u64, from: u64| SessionFlushResponse {
        messages,
        from,
        ..SessionFlushResponse::default()
    };
    for (answer, expected) in [
        (flushed(0, 0), true),
        (flushed(2, 0), false),
        (flushed(0, 80), false),
    ] {
        let daemon = Daemon::start(move |call| encode_result(&call.id, &answer));
        let file = daemon.home.path().join("notes.md");
        fs::write(&file, "notes\n").unwrap();
        let words = ["--workspace", "/w", "ingest", file.to_str().unwrap()];
        let (code, told, errors) = out(&daemon.run(Path::new("/"), &words));
        assert_eq!(code, 0, "{errors}");
        let asked = daemon.requests.try_recv();
        assert!(matches!(asked, Ok(Request::SessionFlush(_))), "{asked:?}");
        let said = told.contains("it contains no message; supported formats: sessions of Claude Code");
        assert_eq!(said, expected, "{told}");
    }
}

#[test]
fn an_invalid_event_is_recorded_in_the_hook_log() {
    let home = tempfile::tempdir().unwrap();
    let log = home.path().join("state/hooks.log");
    for (event, expected) in [
        ("", ""),
        ("{\"cwd\": \"/\"}", ""),
        ("{torn", "session-start: the event is not valid JSON"),
    ] {
        let words = ["--no-start", "hook", "session-start"];
        let mut child = command(home.path(), home.path(), &words)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(event.as_bytes()).unwrap();
        let ended = out(&child.wait_with_output().unwrap());
        assert_eq!(ended, (0, String::new(), String::new()));
        let told = fs::read_to_string(&log).unwrap_or_default();
        assert!(
            told.trim_end().ends_with(expected) && told.is_empty() == expected.is_empty(),
            "{told}"
        );
    }
}
