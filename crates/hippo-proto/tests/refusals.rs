//! Values out of range and invalid combinations.
#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests, outside the functions that clippy knows as tests"
)]

use hippo_proto::*;

fn refused(line: &str, kind: ErrorKind, message: &str) {
    let error = parse_request(line.as_bytes()).unwrap_err().outcome.unwrap_err();
    assert_eq!(error.data.kind, kind, "{line}");
    assert!(error.message.contains(message), "{line}: {error}");
}

fn line(method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#)
}

#[test]
fn values_out_of_range_and_invalid_combinations_are_refused() {
    use ErrorKind::{BadRequest, UnsupportedProtocol};
    let cases = [
        (
            "hello",
            r#"{"protocol":2,"client":"x"}"#,
            UnsupportedProtocol,
            "protocol 2",
        ),
        (
            "hello",
            r#"{"client":"x"}"#,
            BadRequest,
            "missing field `protocol`",
        ),
        (
            "search",
            r#"{"workspace":"/w","query":"q","limit":0}"#,
            BadRequest,
            "limit 0",
        ),
        (
            "search",
            r#"{"workspace":"/w","query":"q","limit":201}"#,
            BadRequest,
            "limit 201",
        ),
        (
            "search",
            r#"{"workspace":"/w","query":"q","limit":-1}"#,
            BadRequest,
            "\"limit\"",
        ),
        (
            "search",
            r#"{"workspace":"/w","query":"q","budget_tokens":0}"#,
            BadRequest,
            "budget_tokens",
        ),
        (
            "search",
            r#"{"workspace":"/w","query":"q","min_score":1.5}"#,
            BadRequest,
            "\"min_score\"",
        ),
        (
            "search",
            r#"{"workspace":"/w","query":" "}"#,
            BadRequest,
            "\"query\" is empty",
        ),
        (
            "search",
            r#"{"workspace":"","query":"q"}"#,
            BadRequest,
            "\"workspace\" is empty",
        ),
        ("get", "{}", BadRequest, "neither"),
        (
            "get",
            r#"{"workspace":"/w","path":"a","id":"c1"}"#,
            BadRequest,
            "both",
        ),
        (
            "get",
            r#"{"path":"a"}"#,
            BadRequest,
            "missing field \"workspace\"",
        ),
        (
            "get",
            r#"{"id":"c1","from":3}"#,
            BadRequest,
            "request with an id cannot have",
        ),
        (
            "get",
            r#"{"workspace":"/w","path":"a","from":0}"#,
            BadRequest,
            "is 0",
        ),
        (
            "get",
            r#"{"workspace":"/w","path":"a","count":0}"#,
            BadRequest,
            "is 0",
        ),
        (
            "workspace.add",
            r#"{"workspace":7}"#,
            BadRequest,
            "field \"workspace\": invalid type",
        ),
        (
            "subscribe",
            r#"{"events":["tick"]}"#,
            BadRequest,
            "unknown variant `tick`",
        ),
        ("model.import", "{}", BadRequest, "missing field `from`"),
        (
            "model.import",
            r#"{"from":"/w","model":"a","name":"b"}"#,
            BadRequest,
            "cannot be combined",
        ),
        (
            "model.import",
            r#"{"from":"/w","query_prefix":"query: "}"#,
            BadRequest,
            "only allowed with `name`",
        ),
        ("model.remove", r#"{"model":""}"#, BadRequest, "model"),
    ];
    for (method, params, kind, message) in cases {
        refused(&line(method, params), kind, message);
    }
}
