//! Tests of the requests and the output of `context`.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests, outside the functions that clippy knows as tests"
)]

mod scripted;

use std::fs;
use std::path::Path;
use std::process::Stdio;

use hippo_proto::*;
use hippo_types::context::{
    ContextDecay, ContextEncoding, ContextEntry, ContextKind, ContextLifecycle, ContextModifiers,
    ContextPriority, ContextSource, ContextState,
};
use hippo_types::cycle::Cycle;
use scripted::{Daemon, command, hippoctl, out};

/// Bytes that a careless client would change: no newline at the end, a carriage return, an escape character, a NUL.
const CONTENT: &str = " a\r\nb\u{1b}[31m\u{0}ü\u{2028}\n\n c";

fn entry() -> ContextEntry {
    ContextEntry {
        id: "ctx_2".into(),
        kind: ContextKind::ToolResult,
        source: ContextSource {
            kind: "exec".into(),
            reference: "make test".into(),
            turn: 3,
            retrievable: true,
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
        Request::ContextOpen(request) => {
            let opened = ContextOpenResponse {
                session: request.session.clone().unwrap_or_else(|| "s1".into()),
                turn: 0,
                entries: 0,
                resumed: request.session.is_some(),
            };
            encode_result(id, &opened)
        }
        Request::ContextPut(request) if request.session == "full" => {
            let error = RpcError::new(ErrorKind::Budget, "no room").hint("close sessions");
            encode_error(id, &error)
        }
        Request::ContextPut(_) => {
            let put = ContextPutResponse {
                entry: Some(entry()),
                outcome: ContextPutOutcome::Entry,
                reason: None,
                rule: None,
                content_id: None,
                tokens: 12_000,
                entry_tokens: 85,
                notes: vec!["policies.yaml cannot be used".into()],
            };
            encode_result(id, &put)
        }
        Request::ContextTurn(request) => {
            let turned = ContextTurnResponse {
                turn: request.turn,
                active: 1,
                dormant: 0,
                expired: 0,
                tokens: 85,
                cycle: Cycle::Light,
                moved: vec![],
                note: Some("went back".into()),
            };
            encode_result(id, &turned)
        }
        Request::ContextRender(_) => {
            let rendered = ContextRenderResponse {
                markdown: "<!-- hippod: context -->\n<!-- /hippod -->\n".into(),
                entries: vec![],
                tokens: 9,
                left_out: 0,
                dormant: 0,
                retrievable_tokens: 12_000,
                notes: vec![],
            };
            encode_result(id, &rendered)
        }
        Request::ContextTouch(_) => encode_result(id, &ContextTouchResponse { entry: entry() }),
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

/// Runs the verb with this standard input. Returns the exit code, both outputs, and the request, if the client sent
/// one.
fn run_with(arguments: &[&str], input: &[u8]) -> ((i32, String, String), Option<Request>) {
    let daemon = Daemon::start(answer);
    let file = daemon.home.path().join("input");
    fs::write(&file, input).unwrap();
    let arguments = [&["context"][..], arguments].concat();
    let child = command(daemon.home.path(), Path::new("/"), &arguments)
        .stdin(Stdio::from(fs::File::open(file).unwrap()))
        .output()
        .unwrap();
    (out(&child), daemon.requests.try_recv().ok())
}

fn run(arguments: &[&str]) -> ((i32, String, String), Option<Request>) {
    run_with(arguments, b"")
}

#[test]
fn open_prints_only_the_session_id() {
    let ((code, stdout, stderr), asked) = run(&["open", "--workspace", "/w", "--agent", "scribe"]);
    assert_eq!((code, stdout.as_str()), (0, "s1\n"));
    assert!(stderr.starts_with("opened; "), "{stderr}");
    let request = ContextOpenRequest {
        workspace: "/w".into(),
        agent: Some("scribe".into()),
        session: None,
    };
    assert_eq!(asked, Some(request.into()));
    let ((_, stdout, stderr), _) = run(&["open", "--workspace", "/w", "--session", "s9"]);
    assert_eq!(
        (stdout.as_str(), stderr.as_str()),
        ("s9\n", "resumed, in turn 0, with 0 entries\n")
    );
    let ((_, stdout, stderr), _) = run(&["open", "--workspace", "/w", "--json"]);
    assert_eq!(
        stdout,
        "{\"session\":\"s1\",\"turn\":0,\"entries\":0,\"resumed\":false}\n"
    );
    assert_eq!(stderr, "");
}

#[test]
fn content_is_sent_to_the_daemon_unchanged() {
    let least = [
        "put",
        "--session",
        "s1",
        "--turn",
        "3",
        "--type",
        "tool_result",
        "--source",
        "exec:make test",
    ];
    let bare = ContextPutRequest {
        session: "s1".into(),
        turn: 3,
        type_: ContextKind::ToolResult,
        source: ContextPutSource {
            type_: "exec".into(),
            reference: "make test".into(),
        },
        content: CONTENT.into(),
        ..ContextPutRequest::default()
    };
    let ((code, stdout, stderr), asked) = run_with(&least, CONTENT.as_bytes());
    assert_eq!(
        (code, stderr.as_str()),
        (0, "note: policies.yaml cannot be used\n")
    );
    assert!(stdout.starts_with("entry ctx_2: Two tests failed.\n"), "{stdout}");
    assert_eq!(asked, Some(bare.clone().into()));

    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("c.txt");
    fs::write(&file, CONTENT).unwrap();
    let options = [
        "--file",
        file.to_str().unwrap(),
        "--summary",
        "S",
        "--priority",
        "high",
        "--manual",
        "--persist",
        "--error",
    ];
    let (_, asked) = run_with(&[&least[..], &options].concat(), b"not read");
    let whole = ContextPutRequest {
        summary: Some("S".into()),
        modifiers: Some(ContextPutModifiers {
            priority: Some(ContextPriority::High),
            encoding: Some(ContextEncoding::Manual),
            ..ContextPutModifiers::default()
        }),
        lifecycle: Some(ContextPutLifecycle {
            persist: Some(true),
            ..ContextPutLifecycle::default()
        }),
        error: true,
        ..bare
    };
    assert_eq!(asked, Some(whole.into()));
}

#[test]
fn invalid_content_is_refused_with_a_hint() {
    let put = |session| {
        [
            "put",
            "--session",
            session,
            "--turn",
            "3",
            "--type",
            "message",
            "--source",
            "user",
        ]
    };
    let ((code, stdout, stderr), asked) = run_with(&put("s1"), b"caf\xe9");
    assert_eq!((code, stdout.as_str(), asked), (2, "", None));
    assert!(stderr.contains("not valid UTF-8"), "{stderr}");
    let longer = "x".repeat(MAX_CONTENT_BYTES + 1);
    let ((code, _, stderr), asked) = run_with(&put("s1"), longer.as_bytes());
    assert_eq!((code, asked), (5, None));
    assert!(stderr.contains("longer than 8388608 bytes\nhint: "), "{stderr}");
    let ((code, _, stderr), _) = run_with(&put("full"), b"c");
    assert_eq!(
        (code, stderr.as_str()),
        (5, "hippoctl: no room\nhint: close sessions\n")
    );
    let missing = [&put("s1")[..], &["--file", "/nowhere/c"]].concat();
    let ((code, _, stderr), asked) = run_with(&missing, b"c");
    assert_eq!((code, asked), (1, None));
    assert!(stderr.contains("could not read the text: /nowhere/c"), "{stderr}");
    // Content that exceeds the daemon's limit must not be sent.
    let longest = "x".repeat(MAX_CONTENT_BYTES);
    let ((code, _, stderr), _) = run_with(&put("s1"), longest.as_bytes());
    assert_eq!(code, 0, "{stderr}");
}

#[test]
fn render_prints_only_the_section() {
    let ((code, stdout, stderr), asked) = run(&[
        "render",
        "--session",
        "s1",
        "--budget",
        "500",
        "--cue",
        "which tests?",
    ]);
    assert_eq!(
        (code, stdout.as_str()),
        (0, "<!-- hippod: context -->\n<!-- /hippod -->\n")
    );
    assert_eq!(
        stderr,
        "0 entries in 9 tokens; 0 omitted, 0 dormant; 12000 tokens can be fetched\n"
    );
    let request = ContextRenderRequest {
        session: "s1".into(),
        budget_tokens: Some(500),
        cue: Some("which tests?".into()),
    };
    assert_eq!(asked, Some(request.into()));
}

#[test]
fn turn_and_list_send_their_arguments() {
    let ((_, stdout, stderr), asked) = run(&[
        "turn",
        "--session",
        "s1",
        "--turn",
        "4",
        "--context-tokens",
        "9",
        "--context-limit",
        "10",
    ]);
    assert_eq!(
        stdout,
        "turn 4: 1 active, 0 dormant, 0 expired; 85 tokens; light consolidation\n"
    );
    assert_eq!(stderr, "note: went back\n");
    let request = ContextTurnRequest {
        session: "s1".into(),
        turn: 4,
        context_tokens: Some(9),
        context_limit: Some(10),
    };
    assert_eq!(asked, Some(request.into()));
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
    let (code, stdout, _) = out(&Daemon::start(answer).run(Path::new("/"), &["context", "--help"]));
    assert_eq!(code, 0);
    for verb in ["open", "put", "turn", "render", "fetch", "list", "close"] {
        assert!(stdout.contains(&format!("  {verb} ")), "{verb}: {stdout}");
    }
}
