//! Requests, answers and errors of `import`.
#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests, outside the functions that clippy knows as tests"
)]

use hippo_proto::*;

fn read(params: &str) -> Result<Request, RpcError> {
    let line = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"import","params":{params}}}"#);
    parse_request(line.as_bytes())
        .map(|call| call.request)
        .map_err(|reply| reply.outcome.unwrap_err())
}

#[test]
fn an_import_is_a_dry_run_by_default() {
    let request = ImportRequest {
        workspace: "/w".into(),
        from: ImportFrom::Mem0,
        path: "/m.json".into(),
        into: None,
        apply: false,
    };
    assert_eq!(
        read(r#"{"workspace":"/w","from":"mem0","path":"/m.json"}"#).unwrap(),
        Request::Import(request)
    );
    for from in ImportFrom::ALL {
        assert_eq!(
            serde_json::to_string(&from).unwrap(),
            format!("{:?}", from.name())
        );
    }
}

#[test]
fn import_errors_name_the_problem_and_have_a_hint() {
    for (params, message, hint) in [
        (
            r#"{"workspace":"/w","from":"claude_mem","path":"/m"}"#,
            "unknown program \"claude_mem\"",
            "claude-mem",
        ),
        (
            r#"{"workspace":"/w","from":"letta","path":"/m"}"#,
            "unknown program \"letta\"",
            "hippo-memory, basic-memory",
        ),
        (
            r#"{"workspace":"/w","from":"mem0","path":" "}"#,
            "\"path\" is empty",
            "",
        ),
        (
            r#"{"workspace":"/w","from":"mem0","path":"/m","dry_run":true}"#,
            "unknown field \"dry_run\"",
            "apply",
        ),
        (
            r#"{"workspace":"/w","from":"mem0","path":"/m","into":""}"#,
            "\"into\" is empty",
            "",
        ),
    ] {
        let refused = read(params).unwrap_err();
        assert!(refused.message.contains(message), "{refused:?}");
        assert!(refused.data.hint.contains(hint), "{refused:?}");
    }
}

#[test]
fn import_answers_keep_their_names() {
    let golden = r#"{"applied":true,"memories":4,"known":1,"files":[{"path":"memory/2026-03-03.md","memories":3,"new":true,"start_line":3,"end_line":40}],"left_out":2,"redacted":1,"flagged":1,"malformed":1,"problems":[{"path":"/home/ada/m.json","line":12,"what":"the record has no text"}],"notes":["n"]}"#;
    let answer = ImportResponse {
        applied: true,
        memories: 4,
        known: 1,
        files: vec![ImportedFile {
            path: "memory/2026-03-03.md".into(),
            memories: 3,
            new: true,
            start_line: Some(3),
            end_line: Some(40),
        }],
        left_out: 2,
        redacted: 1,
        flagged: 1,
        malformed: 1,
        problems: vec![ImportProblem {
            path: "/home/ada/m.json".into(),
            line: Some(12),
            what: "the record has no text".into(),
        }],
        notes: vec!["n".into()],
    };
    assert_eq!(serde_json::to_string(&answer).unwrap(), golden);
    assert_eq!(serde_json::from_str::<ImportResponse>(golden).unwrap(), answer);
}
