//! Tests of the requests and exit codes of `index`.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests, outside the functions that clippy knows as tests"
)]

mod scripted;

use std::path::Path;

use hippo_proto::{
    Call, EntryOrigin, EntryPlace, EntryPriority, IndexEditRequest, IndexEditResponse, IndexEntry,
    IndexForgetResponse, IndexListRequest, IndexListResponse, IndexRestoreResponse, IndexShowRequest,
    IndexShowResponse, Pointer, Request, RpcError, StrengthBand, encode_error, encode_result,
};
use scripted::{Daemon, command, hippoctl, out};

const WORKSPACE: &str = "/w";

fn entry(priority: EntryPriority) -> IndexEntry {
    IndexEntry {
        id: "acme".into(),
        topic: "Acme".into(),
        summary: "A customer.".into(),
        pointers: vec![Pointer {
            path: "MEMORY.md".into(),
            section: Some("Acme".into()),
        }],
        strength: 0.5,
        band: StrengthBand::Moderate,
        place: EntryPlace::Index,
        group: "Projects".into(),
        tags: vec![],
        related: vec![],
        priority,
        origin: EntryOrigin::Auto,
        created: "2026-01-01T00:00:00Z".into(),
        accessed: "2026-01-02T00:00:00Z".into(),
        hits: 1,
        version: 1,
        scope: hippo_proto::Scope::Shared,
    }
}

fn listed() -> IndexListResponse {
    IndexListResponse {
        entries: vec![entry(EntryPriority::Normal)],
        total: 2,
        tokens: 120,
        notes: vec![],
    }
}

fn shown() -> IndexShowResponse {
    IndexShowResponse {
        entry: entry(EntryPriority::Normal),
        base_strength: 0.6,
        curve: "0.60 · 0.83 = 0.50".into(),
        modifiers: vec![],
        priority_rule: None,
        forecast: vec![],
        stale: vec![],
        file: None,
        archived: None,
    }
}

fn answer(call: &Call) -> Vec<u8> {
    let id = &call.id;
    match &call.request {
        Request::IndexList(_) => encode_result(id, &listed()),
        Request::IndexShow(request) if request.id == "acme" => encode_result(id, &shown()),
        Request::IndexEdit(request) if request.id == "acme" => {
            let priority = match request.pinned {
                Some(true) => EntryPriority::Amygdala,
                _ => request.priority.unwrap_or(EntryPriority::Normal),
            };
            encode_result(
                id,
                &IndexEditResponse {
                    entry: entry(priority),
                },
            )
        }
        Request::IndexForget(request) if request.id == "acme" => {
            encode_result(id, &IndexForgetResponse { id: "acme".into() })
        }
        Request::IndexRestore(request) if request.id == "acme" => encode_result(
            id,
            &IndexRestoreResponse {
                entry: entry(EntryPriority::Normal),
            },
        ),
        _ => encode_error(
            id,
            &RpcError::not_found("no entry has this id").hint("look: hippoctl index list"),
        ),
    }
}

/// Runs a verb of `index` in a workspace. Returns the exit code, standard output, standard error, and the last request.
fn run(arguments: &[&str]) -> ((i32, String, String), Request) {
    let daemon = Daemon::start(answer);
    let arguments = [&["--workspace", WORKSPACE][..], arguments].concat();
    let ended = out(&daemon.run(Path::new("/"), &arguments));
    (ended, daemon.requests.try_iter().last().unwrap())
}

fn done(stdout: &str, stderr: &str) -> (i32, String, String) {
    (0, stdout.to_owned(), stderr.to_owned())
}

#[test]
fn entries_are_listed_and_one_is_shown() {
    let (ended, asked) = run(&["index", "list", "-n", "1", "--archived", "--at", "2026-03-01"]);
    assert_eq!(
        ended,
        done(
            "acme  0.50  moderate  Acme  MEMORY.md#Acme\n",
            "note: 1 of 2 entries; the index file has 120 tokens\n"
        )
    );
    let request = IndexListRequest {
        workspace: WORKSPACE.into(),
        at: Some("2026-03-01".into()),
        limit: Some(1),
        archived: true,
        ..IndexListRequest::default()
    };
    assert_eq!(asked, Request::from(request));

    let ((code, stdout, stderr), asked) = run(&["index", "show", "acme", "--at", "2026-03-01"]);
    assert_eq!((code, stderr.as_str()), (0, ""));
    assert!(stdout.contains("  strength 0.50, moderate\n"), "{stdout}");
    let request = IndexShowRequest {
        workspace: WORKSPACE.into(),
        id: "acme".into(),
        at: Some("2026-03-01".into()),
    };
    assert_eq!(asked, Request::from(request));
}

#[test]
fn json_answers_have_one_line() {
    let ((code, stdout, stderr), _) = run(&["--json", "index", "list"]);
    assert_eq!((code, stdout.lines().count(), stderr.as_str()), (0, 1, ""));
    assert_eq!(
        serde_json::from_str::<IndexListResponse>(&stdout).unwrap(),
        listed()
    );
    let ((_, stdout, _), _) = run(&["index", "show", "acme", "--json"]);
    assert_eq!(
        serde_json::from_str::<IndexShowResponse>(&stdout).unwrap(),
        shown()
    );
    let (ended, _) = run(&["index", "forget", "acme", "--json"]);
    assert_eq!(ended, done("{\"id\":\"acme\"}\n", ""));
}

#[test]
fn edits_send_only_the_given_fields() {
    let edit = IndexEditRequest {
        workspace: WORKSPACE.into(),
        id: "acme".into(),
        ..IndexEditRequest::default()
    };
    for (verb, said, pinned, priority) in [
        ("pin", "pinned", true, EntryPriority::Amygdala),
        ("unpin", "not pinned:", false, EntryPriority::Normal),
    ] {
        let (ended, asked) = run(&["index", verb, "acme"]);
        let name = priority.name();
        let stdout = format!("{said} acme: Acme\n   strength 0.50, moderate; priority {name}\n");
        assert_eq!(ended, done(&stdout, ""));
        let request = IndexEditRequest {
            pinned: Some(pinned),
            ..edit.clone()
        };
        assert_eq!(asked, Request::from(request));
    }
    let cases: [(&[&str], IndexEditRequest); 2] = [
        (
            &["--topic", "Acme Ltd", "--tags", "customer, ,late payer"],
            IndexEditRequest {
                topic: Some("Acme Ltd".into()),
                tags: Some(vec!["customer".into(), "late payer".into()]),
                ..edit.clone()
            },
        ),
        (
            &["--summary", "", "--tags", "", "--priority", "low"],
            IndexEditRequest {
                summary: Some(String::new()),
                tags: Some(vec![]),
                priority: Some(EntryPriority::Low),
                ..edit.clone()
            },
        ),
    ];
    for (options, request) in cases {
        let ((code, stdout, _), asked) = run(&[&["index", "edit", "acme"][..], options].concat());
        assert_eq!(code, 0);
        assert!(stdout.starts_with("changed acme: Acme\n"), "{stdout}");
        assert_eq!(asked, Request::from(request));
    }
}

#[test]
fn an_entry_is_forgotten_and_restored() {
    let (ended, _) = run(&["index", "forget", "acme"]);
    let said = "removed acme from the index file; its files stay unchanged; restore the entry \
                with: hippoctl index restore acme\n";
    assert_eq!(ended, done(said, ""));
    let ((code, stdout, _), _) = run(&["index", "restore", "acme"]);
    assert_eq!(code, 0);
    assert!(stdout.starts_with("restored acme: Acme\n"), "{stdout}");
}

#[test]
fn an_unknown_entry_exits_with_4() {
    for verb in ["show", "pin", "unpin", "forget", "restore"] {
        let (ended, _) = run(&["index", verb, "nobody"]);
        let stderr = "hippoctl: no entry has this id\nhint: look: hippoctl index list\n";
        assert_eq!(ended, (4, String::new(), stderr.to_owned()), "{verb}");
    }
}

#[test]
fn wrong_usage_exits_with_2_without_a_request() {
    let home = tempfile::tempdir().unwrap();
    for arguments in [
        &["index", "edit", "acme"][..],
        &["index", "edit", "acme", "--priority", "hihg"],
    ] {
        let (code, stdout, _) = out(&hippoctl(home.path(), home.path(), arguments));
        assert_eq!((code, stdout.as_str()), (2, ""), "{arguments:?}");
    }
    let help = command(home.path(), home.path(), &["index", "--help"])
        .output()
        .unwrap();
    let (code, stdout, _) = out(&help);
    assert_eq!(code, 0);
    for verb in ["list", "show", "edit", "pin", "unpin", "forget", "restore"] {
        assert!(stdout.contains(&format!("  {verb} ")), "{verb}: {stdout}");
    }
}
