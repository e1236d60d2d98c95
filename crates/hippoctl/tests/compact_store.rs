//! Tests of `compact` with a file and a pipe.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests, outside the functions that clippy knows as tests"
)]

mod scripted;

use std::fs::{self, File};
use std::path::Path;
use std::process::Stdio;

use hippo_proto::*;
use hippo_types::transcript::{CompactStats, TranscriptFormat, TranscriptProblem};
use scripted::{Daemon, command, hippoctl, out};

/// Returns an answer whose summary is the content of the file in the request. The tests can thus check that the client
/// copied its standard input to this file.
fn answer(call: &Call) -> Vec<u8> {
    let Request::SessionCompact(request) = &call.request else {
        return encode_error(&call.id, &RpcError::not_found(call.request.method()));
    };
    let held = fs::read_to_string(request.path.as_deref().unwrap()).unwrap();
    let answer = SessionCompactResponse {
        stats: CompactStats {
            messages: held.lines().count() as u64,
            malformed: 1,
            problems: vec![TranscriptProblem {
                line: 3,
                what: "no JSON object".into(),
            }],
            stored: Some(2),
            ..CompactStats::default()
        },
        summary: held,
        entries: vec![],
        notes: vec!["n".into()],
    };
    encode_result(&call.id, &answer)
}

#[test]
fn a_file_and_a_pipe_reach_the_daemon() {
    let folder = tempfile::tempdir().unwrap();
    let workspace = folder.path().canonicalize().unwrap();
    let path = workspace.join("session.jsonl");
    fs::write(&path, "one\ntwo").unwrap();
    let root = workspace.to_str().unwrap();
    let verb = [
        "--workspace",
        root,
        "compact",
        "--store",
        "--format",
        "pi",
        "--budget",
        "500",
    ];
    let request = SessionCompactRequest {
        workspace: Some(root.into()),
        path: Some(path.to_str().unwrap().into()),
        format: Some(TranscriptFormat::Pi),
        budget_tokens: Some(500),
        ..SessionCompactRequest::default()
    };
    let stderr = "warning: line 3: no JSON object; skipped\nnote: n\n2 new contents stored; fetch one with: hippoctl context fetch ID\n";

    let daemon = Daemon::start(answer);
    let ended = out(&daemon.run(&workspace, &[&verb[..], &["session.jsonl"]].concat()));
    assert_eq!(ended, (0, "one\ntwo\n".to_owned(), stderr.to_owned()));
    assert_eq!(daemon.requests.recv().unwrap(), request.clone().into());

    let piped = command(daemon.home.path(), Path::new("/"), &[&verb[..], &["-"]].concat())
        .stdin(Stdio::from(File::open(&path).unwrap()))
        .env("TMPDIR", root)
        .output()
        .unwrap();
    assert_eq!(out(&piped), (0, "one\ntwo\n".to_owned(), stderr.to_owned()));
    let Request::SessionCompact(asked) = daemon.requests.recv().unwrap() else {
        panic!("no compact")
    };
    let spooled = asked.path.clone().unwrap();
    assert!(
        spooled.starts_with(root) && !Path::new(&spooled).exists(),
        "{spooled}"
    );
    assert_eq!(
        SessionCompactRequest {
            path: request.path.clone(),
            ..asked
        },
        request
    );
}

#[test]
fn an_empty_transcript_fails_without_output() {
    let folder = tempfile::tempdir().unwrap();
    let daemon = Daemon::start(answer);
    fs::write(folder.path().join("empty"), "").unwrap();
    let empty = ["--workspace", "/w", "compact", "--store", "empty"];
    let (code, stdout, stderr) = out(&daemon.run(folder.path(), &empty));
    assert_eq!((code, stdout.as_str()), (1, ""));
    assert!(
        stderr.contains("the transcript contains no message: empty\nhint: "),
        "{stderr}"
    );
    // Without `--store`, the request names no workspace.
    let (code, ..) = out(&daemon.run(folder.path(), &["compact", "empty"]));
    assert_eq!(code, 1);
    let mut asked = daemon.requests.try_iter();
    assert!(matches!(asked.nth(1), Some(Request::SessionCompact(asked)) if asked.workspace.is_none()));
    let alone = ["--no-start", "compact", "empty"];
    assert_eq!(out(&hippoctl(folder.path(), folder.path(), &alone)).0, 3);
}
