//! Defaults and errors of the `context.*` methods.
#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests, outside the functions that clippy knows as tests"
)]

use hippo_proto::*;
use hippo_types::context::ContextKind;
use serde_json::{Value, json};

fn read(method: &str, params: &str) -> Result<Request, RpcError> {
    let line = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#);
    let call = parse_request(line.as_bytes()).map_err(|reply| reply.outcome.unwrap_err())?;
    Ok(call.request)
}

#[test]
fn a_put_needs_few_fields() {
    let params =
        r#"{"session":"s1","turn":0,"type":"message","source":{"type":"user","ref":""},"content":""}"#;
    let put = ContextPutRequest {
        session: "s1".into(),
        type_: ContextKind::Message,
        source: ContextPutSource {
            type_: "user".into(),
            reference: String::new(),
        },
        ..ContextPutRequest::default()
    };
    assert_eq!(read("context.put", params), Ok(Request::ContextPut(put)));
    assert!(read("context.list", "{}").is_ok());
    assert!(read("context.fetch", r#"{"id":"b3:0123456789aB"}"#).is_ok());
    assert!(
        read(
            "context.turn",
            r#"{"session":"s1","turn":0,"context_tokens":0,"context_limit":1}"#
        )
        .is_ok()
    );
}

/// Returns a `context.put` request in which some members are replaced or added.
fn put(members: &Value) -> Result<Request, RpcError> {
    let mut params = json!({
        "session": "s1", "turn": 3, "type": "message", "source": {"type": "user", "ref": ""}, "content": "c"
    });
    let object = params.as_object_mut().unwrap();
    object.extend(members.as_object().unwrap().clone());
    read("context.put", &params.to_string())
}

#[test]
fn errors_of_put_name_the_problem_and_have_a_hint() {
    let many: Vec<String> = (0..17).map(|at| format!("ctx_{at}")).collect();
    let cases = [
        (json!({"sesion": "s"}), "unknown field \"sesion\"", "\"session\""),
        (json!({"session": "a b"}), "is not a valid session id", "1 to 128"),
        (json!({"turn": -1}), "field \"turn\"", "protocol.md"),
        (
            json!({"type": "tool-result"}),
            "unknown variant `tool-result`",
            "\"tool_result\"",
        ),
        (
            json!({"type": "zzz"}),
            "expected one of `tool_result`, `message`, `state`, `memory`",
            "protocol.md",
        ),
        (json!({"source": {"type": "x"}}), "missing field `ref`", ""),
        (
            json!({"source": {"type": " ", "ref": ""}}),
            "\"source.type\" is empty",
            "",
        ),
        (
            json!({"source": {"type": "x", "rev": ""}}),
            "unknown field `rev`",
            "\"ref\"",
        ),
        (json!({"source": "exec"}), "field \"source\"", "protocol.md"),
        (
            json!({"source": {"type": "x".repeat(129), "ref": ""}}),
            "longer than 128",
            "content",
        ),
        (
            json!({"source": {"type": "x", "ref": "r".repeat(4_097)}}),
            "longer than 4096",
            "content",
        ),
        (json!({"summary": ""}), "\"summary\" is empty", ""),
        (
            json!({"summary": "s".repeat(4_001)}),
            "longer than 4000",
            "content",
        ),
        (json!({"key_data": [1]}), "field \"key_data\"", "protocol.md"),
        (
            json!({"modifiers": {"prio": "low"}}),
            "unknown field `prio`",
            "\"priority\"",
        ),
        (
            json!({"modifiers": {"priority": "hihg"}}),
            "unknown variant `hihg`",
            "\"high\"",
        ),
        (
            json!({"modifiers": {"encoding": "hand"}}),
            "unknown variant `hand`, expected `manual` or `auto`",
            "protocol.md",
        ),
        (
            json!({"modifiers": {"associations": [""]}}),
            "\"associations\" is empty",
            "",
        ),
        (
            json!({"modifiers": {"associations": many}}),
            "number of associations 17",
            "0 to 16",
        ),
        (
            json!({"lifecycle": {"expire": 9}}),
            "unknown field `expire`",
            "\"expires\"",
        ),
        (
            json!({"lifecycle": {"expires": 3}}),
            "in turn 3, before it is created",
            "greater than 3",
        ),
    ];
    for (members, message, hint) in cases {
        let error = put(&members).unwrap_err();
        assert_eq!(error.data.kind, ErrorKind::BadRequest, "{members}");
        assert!(error.message.contains(message), "{members}: {error}");
        assert!(error.data.hint.contains(hint), "{members}: {}", error.data.hint);
    }
    put(&json!({"lifecycle": {"expires": 4}, "modifiers": {}})).unwrap();
    for members in [
        json!({"content": "c".repeat(MAX_CONTENT_BYTES + 1)}),
        json!({"key_data": {"k": "v".repeat(16 * 1024)}}),
    ] {
        assert_eq!(put(&members).unwrap_err().data.kind, ErrorKind::TooLarge);
    }
}

#[test]
fn errors_of_other_methods_name_the_problem_and_have_a_hint() {
    let cases = [
        ("context.open", "", "missing field `workspace`", "protocol.md"),
        ("context.open", r#""workspace":" ""#, "\"workspace\" is empty", ""),
        (
            "context.open",
            r#""workspace":"/w","session":"a/b""#,
            "valid session id",
            "A-Z a-z 0-9",
        ),
        (
            "context.open",
            r#""workspace":"/w","agent":"""#,
            "\"agent\" is empty",
            "",
        ),
        (
            "context.turn",
            r#""session":"s""#,
            "missing field `turn`",
            "protocol.md",
        ),
        (
            "context.turn",
            r#""session":"s","turn":1,"context_tokens":9"#,
            "only one",
            "both",
        ),
        (
            "context.turn",
            r#""session":"s","turn":1,"context_limit":0"#,
            "\"context_limit\" is 0",
            "1 or more",
        ),
        (
            "context.render",
            r#""session":"s","budget_tokens":0"#,
            "\"budget_tokens\" is 0",
            "1 or more",
        ),
        (
            "context.render",
            r#""session":"s","cue":" ""#,
            "\"cue\" is empty",
            "",
        ),
        ("context.fetch", r#""id":"""#, "\"id\" is empty", ""),
        (
            "context.touch",
            r#""id":"a""#,
            "missing field `session`",
            "protocol.md",
        ),
        ("context.list", r#""at_turn":1"#, "requires", "give the id"),
        ("context.list", r#""limit":0"#, "limit 0", "1 to 10000"),
        ("context.close", r#""session":"""#, "\"session\" is empty", ""),
        ("session.flush", r#""workspace":"/w""#, "path", "protocol.md"),
        (
            "session.flush",
            r#""workspace":"/w","path":" ""#,
            "\"path\" is empty",
            "",
        ),
        (
            "session.flush",
            r#""workspace":"/w","path":"/t","format":"cladue-code""#,
            "unknown variant",
            "\"claude-code\"",
        ),
        (
            "session.flush",
            r#""workspace":"/w","path":"/t","wiat":true"#,
            "unknown field",
            "\"wait\"",
        ),
        ("remember", r#""workspace":"/w""#, "\"text\" is empty", ""),
        ("session.compact", "", "neither", "give one"),
        (
            "session.compact",
            r#""path":"/t","messages":[]"#,
            "both",
            "give one",
        ),
        (
            "session.compact",
            r#""path":"/t","format":"claude""#,
            "unknown variant",
            "\"claude-code\"",
        ),
        (
            "session.compact",
            r#""path":"/t","budget_tokens":0"#,
            "is 0",
            "1 or more",
        ),
        (
            "session.compact",
            r#""path":"/t","config":"c.json""#,
            "field \"config\"",
            "protocol.md",
        ),
    ];
    for (method, params, message, hint) in cases {
        let error = read(method, &format!("{{{params}}}")).unwrap_err();
        assert_eq!(error.data.kind, ErrorKind::BadRequest, "{method} {params}");
        assert!(error.message.contains(message), "{method} {params}: {error}");
        assert!(error.data.hint.contains(hint), "{params}: {}", error.data.hint);
    }
}
