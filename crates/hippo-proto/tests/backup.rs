//! Tests of backup requests and answers.
#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests, outside the functions that clippy knows as tests"
)]

use std::fmt::Debug;

use hippo_proto::*;
use serde::Serialize;
use serde::de::DeserializeOwned;

fn same<T: Serialize + DeserializeOwned + PartialEq + Debug>(line: &str, answer: &T) {
    assert_eq!(serde_json::to_string(answer).unwrap(), line);
    assert_eq!(&serde_json::from_str::<T>(line).unwrap(), answer);
}

#[test]
fn backup_requests_have_defaults() {
    let asked = |method: &str, params: &str| {
        let line = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#);
        parse_request(line.as_bytes()).map(|call| call.request)
    };
    let to = || "/b".to_owned();
    let backup = BackupRequest {
        to: to(),
        ..BackupRequest::default()
    };
    assert_eq!(asked("backup", r#"{"to":"/b"}"#).unwrap(), backup.into());
    let restore = RestoreRequest {
        from: to(),
        ..RestoreRequest::default()
    };
    assert_eq!(asked("restore", r#"{"from":"/b"}"#).unwrap(), restore.into());
    for (method, params) in [
        ("backup", "{}"),
        ("backup", r#"{"to":" "}"#),
        ("backup", r#"{"to":"/b","workspace":""}"#),
        ("backup.verify", r#"{"from":""}"#),
        ("restore", r#"{"from":"/b","into":""}"#),
        ("backup", r#"{"to":"/b","force":true}"#),
        ("restore", r#"{"from":"/b","aside":true}"#),
    ] {
        assert!(asked(method, params).is_err(), "{method} {params}");
    }
}

#[test]
fn backup_answers_keep_their_names() {
    let workspace = BackedUp {
        root: "/w".into(),
        files: 3,
        bytes: 4096,
        left_out: vec![LeftOut {
            path: "memory/pipe.md".into(),
            reason: "no regular file".into(),
        }],
    };
    let answer = BackupResponse {
        file: "/b.tar.zst".into(),
        hippod: "0.1.0".into(),
        at: "2026-03-02T10:00:00Z".into(),
        workspaces: vec![workspace.clone()],
        left_out: vec![LeftOut {
            path: "/away".into(),
            reason: "its folder is not there".into(),
        }],
        bytes: 1024,
        took_ms: 12.5,
    };
    same(
        r#"{"file":"/b.tar.zst","hippod":"0.1.0","at":"2026-03-02T10:00:00Z","workspaces":[{"root":"/w","files":3,"bytes":4096,"left_out":[{"path":"memory/pipe.md","reason":"no regular file"}]}],"left_out":[{"path":"/away","reason":"its folder is not there"}],"bytes":1024,"took_ms":12.5}"#,
        &answer,
    );
    same(
        r#"{"file":"/b","hippod":"0.1.0","at":"2026-03-02T10:00:00Z","workspaces":[{"root":"/w","files":3,"bytes":4096}],"bytes":1024,"took_ms":12.5}"#,
        &BackupResponse {
            file: "/b".into(),
            workspaces: vec![BackedUp {
                left_out: vec![],
                ..workspace
            }],
            left_out: vec![],
            ..answer
        },
    );
    let restored = Restored {
        root: "/new".into(),
        was: "/w".into(),
        files: 3,
    };
    same(
        r#"{"workspaces":[{"root":"/new","was":"/w","files":3}],"took_ms":9.0}"#,
        &RestoreResponse {
            workspaces: vec![restored],
            took_ms: 9.0,
        },
    );
}
