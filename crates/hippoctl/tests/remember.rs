//! Tests of the texts that `remember` sends.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests, outside the functions that clippy knows as tests"
)]

mod scripted;

use std::io::Write;
use std::path::Path;
use std::process::Stdio;

use hippo_proto::{
    Call, EntryPriority, ErrorKind, MAX_TEXT_BYTES, MemoryType, RememberRequest, RememberResponse, Request,
    RpcError, encode_error, encode_result,
};
use scripted::{Daemon, command, hippoctl, out};

const WORKSPACE: &str = "/w";

fn remembered() -> RememberResponse {
    RememberResponse {
        path: "memory/2026-03-01.md".into(),
        start_line: 12,
        end_line: 14,
        entry: None,
        secrets: vec!["password".into()],
        notes: vec!["the index file is off".into()],
    }
}

fn answer(call: &Call) -> Vec<u8> {
    match &call.request {
        Request::Remember(request) if request.text == "read-only" => encode_error(
            &call.id,
            &RpcError::new(ErrorKind::ReadOnly, "could not append: /w/memory"),
        ),
        _ => encode_result(&call.id, &remembered()),
    }
}

/// Runs `remember` with this standard input. Returns the exit code, standard output, standard error, and the request,
/// if any.
fn run(arguments: &[&str], input: &[u8]) -> ((i32, String, String), Option<Request>) {
    let daemon = Daemon::start(answer);
    let arguments = [&["--workspace", WORKSPACE, "remember"][..], arguments].concat();
    let mut child = command(daemon.home.path(), Path::new("/"), &arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The write fails if the client has closed the pipe.
    let _ = child.stdin.take().unwrap().write_all(input);
    let ended = out(&child.wait_with_output().unwrap());
    (ended, daemon.requests.try_recv().ok())
}

fn request(text: &str) -> RememberRequest {
    RememberRequest {
        workspace: WORKSPACE.into(),
        text: text.into(),
        ..RememberRequest::default()
    }
}

#[test]
fn words_are_joined_and_sent_with_all_options() {
    let said = "remembered in memory/2026-03-01.md:12-14\n";
    let (ended, asked) = run(&["never", "on", "Fridays"], b"");
    assert_eq!(
        ended,
        (0, said.to_owned(), "note: the index file is off\n".to_owned())
    );
    assert_eq!(asked, Some(request("never on Fridays").into()));

    let options = [
        "- never on Fridays",
        "--topic",
        "Deploys",
        "--type",
        "feedback",
        "--tags",
        "deploy, ,acme",
        "--pri",
        "high",
    ];
    let (_, asked) = run(&[&options[1..], &["--", options[0]]].concat(), b"");
    let whole = RememberRequest {
        topic: Some("Deploys".into()),
        type_: Some(MemoryType::Feedback),
        tags: Some(vec!["deploy".into(), "acme".into()]),
        priority: Some(EntryPriority::High),
        ..request("- never on Fridays")
    };
    assert_eq!(asked, Some(whole.into()));
}

#[test]
fn words_that_look_like_unknown_options_are_refused_without_a_request() {
    for words in [
        &["x", "--decision", "T"][..],
        &["x", "--topci", "T"],
        &["- buy milk"],
        &["-v"],
    ] {
        let (ended, asked) = run(words, b"");
        assert_eq!((ended.0, asked), (2, None), "{words:?}: {ended:?}");
    }
}

#[test]
fn standard_input_is_sent_without_surrounding_blank_lines() {
    for arguments in [&[][..], &["-"]] {
        let (ended, asked) = run(arguments, "\n\r\n  - übers\n\n  - Wochenende \n\n".as_bytes());
        assert_eq!(ended.0, 0, "{}", ended.2);
        assert_eq!(asked, Some(request("  - übers\n\n  - Wochenende").into()));
    }
    let longest = "x".repeat(MAX_TEXT_BYTES);
    let (ended, asked) = run(&[], longest.as_bytes());
    assert_eq!(ended.0, 0, "{}", ended.2);
    assert_eq!(asked, Some(request(&longest).into()));
}

#[test]
fn empty_invalid_and_oversized_text_is_refused_without_a_request() {
    let longer = "x".repeat(MAX_TEXT_BYTES + 1);
    let cases: [(&[&str], &[u8], i32, &str); 5] = [
        (&[], b"", 2, "the text to remember is empty"),
        (&["-"], b" \n\t\n", 2, "the text to remember is empty"),
        (&[""], b"not read", 2, "the text to remember is empty"),
        (&[], b"caf\xe9", 2, "not valid UTF-8"),
        (&[], longer.as_bytes(), 5, "longer than 65536 bytes"),
    ];
    for (arguments, input, code, message) in cases {
        let ((ended, stdout, stderr), asked) = run(arguments, input);
        assert_eq!((ended, stdout.as_str(), asked), (code, "", None), "{stderr}");
        assert!(
            stderr.contains(message) && stderr.contains("\nhint: "),
            "{stderr}"
        );
    }
}

#[test]
fn an_unwritable_log_exits_with_5() {
    let daemon = Daemon::start(answer);
    let arguments = ["--workspace", WORKSPACE, "remember", "read-only"];
    let ended = out(&daemon.run(Path::new("/"), &arguments));
    let stderr = "hippoctl: could not append: /w/memory\n";
    assert_eq!(ended, (5, String::new(), stderr.to_owned()));
}

#[test]
fn wrong_usage_exits_with_2_and_a_missing_daemon_with_3() {
    let home = tempfile::tempdir().unwrap();
    for (word, expected) in [("--type=rule", 2), ("--pri=urgent", 2), ("--no-start", 3)] {
        let arguments = ["--workspace", WORKSPACE, "remember", "x", word];
        let (code, stdout, _) = out(&hippoctl(home.path(), home.path(), &arguments));
        assert_eq!((code, stdout.as_str()), (expected, ""), "{word}");
    }
}

#[test]
fn the_json_answer_has_one_line() {
    let ((code, stdout, stderr), _) = run(&["x", "--json"], b"");
    assert_eq!((code, stdout.lines().count(), stderr.as_str()), (0, 1, ""));
    assert_eq!(
        serde_json::from_str::<RememberResponse>(&stdout).unwrap(),
        remembered()
    );
}
