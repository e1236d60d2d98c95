//! Tests of the requests and the output of `context list` and `context close`.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests, outside the functions that clippy knows as tests"
)]

mod scripted;

use std::path::Path;

use hippo_proto::*;
use hippo_types::context::{
    ContextDecay, ContextEntry, ContextKind, ContextLifecycle, ContextModifiers, ContextSource, ContextState,
};
use scripted::{Daemon, hippoctl, out};

fn entry() -> ContextEntry {
    ContextEntry {
        id: "ctx_2".into(),
        kind: ContextKind::ToolResult,
        source: ContextSource {
            kind: "exec".into(),
            reference: "make test".into(),
            turn: 3,
            retrievable: true,
            stale: false,
        },
        summary: "Two tests failed.".into(),
        key_data: None,
        strength: 0.1,
        decay: ContextDecay::default(),
        modifiers: ContextModifiers::default(),
        lifecycle: ContextLifecycle::default(),
    }
}

fn answer(call: &Call) -> Vec<u8> {
    let id = &call.id;
    match &call.request {
        Request::ContextList(request) => {
            let listed = ContextListResponse {
                sessions: request.session.is_none().then(Vec::new),
                entries: request.session.is_some().then(|| {
                    vec![ContextListed {
                        entry: entry(),
                        state: ContextState::Dormant,
                    }]
                }),
                turn: request.session.is_some().then_some(4),
                total: 1,
            };
            encode_result(id, &listed)
        }
        Request::ContextClose(_) => {
            let error = RpcError::new(ErrorKind::Conflict, "another close is under way");
            encode_error(id, &error)
        }
        other => encode_error(id, &RpcError::not_found(other.method())),
    }
}

/// Runs a verb of `context`. Returns the exit code, standard output, standard error, and the request, if any.
fn run(arguments: &[&str]) -> ((i32, String, String), Option<Request>) {
    let daemon = Daemon::start(answer);
    let arguments = [&["context"][..], arguments].concat();
    let ended = out(&daemon.run(Path::new("/"), &arguments));
    (ended, daemon.requests.try_recv().ok())
}

#[test]
fn list_sends_its_arguments() {
    let all = ContextListRequest::default();
    for (arguments, request) in [
        (&["list", "--all"][..], all.clone()),
        (
            &["list", "--workspace", "/w", "-n", "3"],
            ContextListRequest {
                workspace: Some("/w".into()),
                limit: Some(3),
                ..all.clone()
            },
        ),
        (
            &["list", "--session", "s1", "--at-turn", "4"],
            ContextListRequest {
                session: Some("s1".into()),
                at_turn: Some(4),
                ..all.clone()
            },
        ),
    ] {
        let ((code, _, stderr), asked) = run(arguments);
        assert_eq!((code, asked), (0, Some(request.into())), "{stderr}");
    }
    // The daemon decides which entries are dormant. The client must not derive this from the strength.
    let ((_, stdout, stderr), _) = run(&["list", "--session", "s1"]);
    assert_eq!(
        stdout,
        "ctx_2  0.10  dormant  tool_result  exec:make test  Two tests failed.\n"
    );
    assert_eq!(stderr, "1 entry in turn 4\n");
}

#[test]
fn refusals_and_missing_daemons_have_the_documented_exit_codes() {
    let ((code, _, stderr), _) = run(&["close", "--session", "s1"]);
    assert_eq!(
        (code, stderr.as_str()),
        (5, "hippoctl: another close is under way\n")
    );
    let home = tempfile::tempdir().unwrap();
    let alone = ["context", "close", "--session", "s1", "--no-start"];
    assert_eq!(out(&hippoctl(home.path(), home.path(), &alone)).0, 3);
}
