//! Tests of `context fetch`: exact bytes, and missing content.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests, outside the functions that clippy knows as tests"
)]

mod scripted;

use std::path::Path;

use hippo_proto::*;
use hippo_types::context::{FetchOrigin, FetchOutcome};
use scripted::{Daemon, hippoctl, out};
use serde_json::Value;

/// Bytes that a careless client would change: no newline at the end, a carriage return, an escape character, a NUL.
const CONTENT: &str = " a\r\nb\u{1b}[31m\u{0}ü\u{2028}\n\n c";

fn fetched(outcome: FetchOutcome, content: Option<&str>) -> ContextFetchResponse {
    ContextFetchResponse {
        outcome,
        content: content.map(str::to_owned),
        summary: (outcome != FetchOutcome::Unavailable).then(|| "Two tests failed.".to_owned()),
        reason: (outcome != FetchOutcome::Full).then(|| "the content was removed".to_owned()),
        stale: outcome == FetchOutcome::Partial,
        stored_hash: None,
        source_hash: None,
        entry: None,
        from: content.map(|_| FetchOrigin::Store),
    }
}

fn answer(call: &Call) -> Vec<u8> {
    let id = &call.id;
    match &call.request {
        Request::ContextFetch(request) => match request.id.as_str() {
            "ctx_2" => encode_result(id, &fetched(FetchOutcome::Full, Some(CONTENT))),
            "changed" => {
                let mut answer = fetched(FetchOutcome::Full, Some("now"));
                answer.from = Some(FetchOrigin::Source);
                answer.stale = true;
                answer.reason = Some("the source has changed since".into());
                encode_result(id, &answer)
            }
            "summary" => encode_result(id, &fetched(FetchOutcome::Partial, None)),
            "gone" => encode_result(id, &fetched(FetchOutcome::Unavailable, None)),
            _ => encode_error(id, &RpcError::not_found("no entry has this id")),
        },
        other => encode_error(id, &RpcError::not_found(other.method())),
    }
}

/// Runs `context fetch`. Returns the exit code, standard output, standard error, and the request.
fn run(arguments: &[&str]) -> ((i32, String, String), Request) {
    let daemon = Daemon::start(answer);
    let arguments = [&["context"][..], arguments].concat();
    let ended = out(&daemon.run(Path::new("/"), &arguments));
    (ended, daemon.requests.recv().unwrap())
}

#[test]
fn fetch_prints_the_exact_content_and_notes_on_standard_error() {
    let (ended, asked) = run(&["fetch", "ctx_2", "--session", "s1"]);
    assert_eq!(ended, (0, CONTENT.to_owned(), String::new()));
    let request = ContextFetchRequest {
        session: Some("s1".into()),
        id: "ctx_2".into(),
    };
    assert_eq!(asked, request.into());

    let ((code, stdout, stderr), _) = run(&["fetch", "changed"]);
    assert_eq!((code, stdout.as_str()), (0, "now"));
    assert_eq!(stderr, "note: the source has changed since\n");

    let ((code, stdout, stderr), _) = run(&["fetch", "summary"]);
    assert_eq!((code, stdout.as_str()), (4, ""));
    assert!(
        stderr.starts_with("Two tests failed.\nhippoctl: could not get the content of summary: the content was removed\nhint: "),
        "{stderr}"
    );
    let ((code, stdout, stderr), _) = run(&["fetch", "gone"]);
    assert_eq!((code, stdout.as_str()), (4, ""));
    assert!(
        stderr.starts_with("hippoctl: could not get the content of gone: the content was removed\nhint: "),
        "{stderr}"
    );
    let ((code, stdout, _), _) = run(&["fetch", "nobody"]);
    assert_eq!((code, stdout.as_str()), (4, ""));

    for (id, expected) in [("ctx_2", 0), ("changed", 0), ("summary", 4), ("gone", 4)] {
        let ((code, stdout, stderr), _) = run(&["fetch", id, "--json"]);
        let answer: Value = serde_json::from_str(&stdout).unwrap();
        assert_eq!((code, stderr.as_str()), (expected, ""), "{id}");
        assert!(answer["outcome"].is_string(), "{stdout}");
    }
}

#[test]
fn fetch_without_a_daemon_exits_with_3() {
    let home = tempfile::tempdir().unwrap();
    let ended = hippoctl(home.path(), home.path(), &["context", "fetch", "x", "--no-start"]);
    let (code, stdout, _) = out(&ended);
    assert_eq!((code, stdout.as_str()), (3, ""));
}
