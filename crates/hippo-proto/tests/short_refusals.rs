//! Errors are short, and ids are returned.
#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests, outside the functions that clippy knows as tests"
)]

use hippo_proto::{METHODS, parse_request};
use serde_json::{Value, json};

const SCHEMA: &str = include_str!("../../../docs/schema/protocol.schema.json");

/// Returns the fields of a method and of its nested objects.
fn fields(schema: &Value, method: &str) -> Vec<String> {
    let mut params = &schema["$defs"]["Methods"]["properties"][method]["properties"]["params"];
    if params.is_null() {
        params = &schema["properties"][method]["properties"]["params"];
    }
    let reference = params["$ref"].as_str().unwrap_or_default();
    let found = reference.rsplit('/').next().map(|name| &schema["$defs"][name]);
    let object = found.filter(|found| !found.is_null()).unwrap_or(params);
    let properties = object["properties"].as_object();
    properties
        .into_iter()
        .flatten()
        .map(|(name, _)| name.clone())
        .collect()
}

#[test]
fn a_wrong_value_is_refused_with_a_short_excerpt() {
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    let long = "x".repeat(300_000);
    let values = [
        json!(long),
        json!([long]),
        json!({ "a": long }),
        json!([[[long]]]),
        json!({ long.clone(): 1 }),
        json!(-1),
        json!(1e300),
    ];
    let mut refused = 0;
    for method in METHODS {
        for field in fields(&schema, method) {
            for value in &values {
                let line =
                    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": {field.clone(): value}});
                let Err(reply) = parse_request(line.to_string().as_bytes()) else {
                    continue;
                };
                refused += 1;
                let error = reply.outcome.unwrap_err();
                assert!(
                    error.message.len() <= 400 && error.data.hint.len() <= 400,
                    "{method} {field}: {} bytes: {:.300}",
                    error.message.len(),
                    error.message
                );
            }
        }
    }
    assert!(
        refused > 300,
        "{refused} refusals: the fields were not found in the schema"
    );
}

#[test]
fn every_id_is_returned() {
    for id in [
        "1",
        "-7",
        "0",
        "1.5",
        "18446744073709551615",
        "\"a\\u0041\"",
        "null",
    ] {
        for line in [
            format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"no-such\"}}"),
            format!(
                "{{ \"params\" : {{\"id\":7}}, \"method\":\"no-such\",\"jsonrpc\":\"2.0\" , \"id\" : {id} }}"
            ),
            format!("{{\"id\":5,\"method\":\"\\\"id\\\":6\",\"jsonrpc\":\"2.0\",\"i\\u0064\":{id}}}"),
        ] {
            let reply = parse_request(line.as_bytes()).unwrap_err();
            let answer = String::from_utf8(reply.to_line()).unwrap();
            let wanted = match id {
                // The daemon returns the same string, but may write its characters without escapes.
                "\"a\\u0041\"" => "\"aA\"",
                id => id,
            };
            assert!(
                answer.starts_with(&format!("{{\"jsonrpc\":\"2.0\",\"id\":{wanted},\"error\"")),
                "{line}: {answer}"
            );
        }
        let line = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"status\"}}");
        let call = parse_request(line.as_bytes()).unwrap();
        let answer = String::from_utf8(hippo_proto::encode_result(&call.id, &json!({}))).unwrap();
        if !id.starts_with('"') {
            assert_eq!(
                answer,
                format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{}}}}\n")
            );
        }
    }
}

#[test]
fn a_nul_character_in_a_path_is_a_bad_request() {
    for (method, field) in [
        ("workspace.add", "workspace"),
        ("get", "path"),
        ("model.import", "from"),
        ("backup", "to"),
        ("restore", "into"),
    ] {
        let line = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": {field: "/tmp/a\u{0}b"}});
        let reply = parse_request(line.to_string().as_bytes()).unwrap_err();
        let error = reply.outcome.unwrap_err();
        assert_eq!(error.data.kind, hippo_proto::ErrorKind::BadRequest, "{method}");
        assert!(error.message.contains("NUL"), "{method}: {}", error.message);
    }
}
