//! Tests that the schema accepts exactly what the protocol accepts.
#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests, outside the functions that clippy knows as tests"
)]

mod schema;

use hippo_proto::{METHODS, parse_request};
use serde_json::{Value, json};

use schema::{conforms, wrong};

const DOCUMENT: &str = include_str!("../../../docs/protocol.md");

fn params(method: &str) -> String {
    format!("Methods/properties/{method}/properties/params")
}

fn result(method: &str) -> String {
    format!("Methods/properties/{method}/properties/result")
}

/// Returns the lines of all code blocks in the language `kind`.
fn lines(kind: &str) -> Vec<&'static str> {
    let fence = format!("```{kind}\n");
    let blocks = DOCUMENT.split(&fence).skip(1);
    blocks
        .flat_map(|rest| rest.split("```").next().unwrap().lines())
        .collect()
}

#[test]
fn the_schema_contains_exactly_the_methods() {
    let every: Value = METHODS
        .iter()
        .map(|name| ((*name).to_owned(), json!({})))
        .collect();
    let error = wrong("Methods", &every).unwrap();
    assert!(error.contains("params"), "each needs its parameters: {error}");
    let schema: Value =
        serde_json::from_str(include_str!("../../../docs/schema/protocol.schema.json")).unwrap();
    let known = schema["$defs"]["Methods"]["properties"].as_object().unwrap();
    let mut names: Vec<&str> = METHODS.to_vec();
    names.sort_unstable();
    assert_eq!(known.keys().collect::<Vec<_>>(), names);
}

#[test]
fn examples_in_the_protocol_documentation_match_the_schema() {
    let (mut method, mut seen) = (String::new(), 0);
    for line in lines("exchange").into_iter().chain(lines("transcript")) {
        if let Some(request) = line.strip_prefix("> ") {
            // The documentation also shows requests that the daemon refuses.
            let Ok(call) = parse_request(request.as_bytes()) else {
                method.clear();
                continue;
            };
            method = call.request.method().to_owned();
            let request: Value = serde_json::from_str(request).unwrap();
            let given = request.get("params").cloned().unwrap_or_else(|| json!({}));
            conforms(&params(&method), &given.to_string());
        } else if let Some(answer) = line.strip_prefix("< ") {
            let answer: Value = serde_json::from_str(answer).unwrap();
            if let Some(error) = answer
                .get("error")
                .filter(|error| !error.to_string().contains("<any>"))
            {
                conforms("RpcError", &error.to_string());
            }
            let whole = |value: &&Value| !value.to_string().contains("<any>");
            if let Some(answer) = answer.get("result").filter(whole) {
                conforms(&result(&method), &answer.to_string());
                seen += 1;
            }
        }
    }
    assert!(seen >= 10, "only {seen} answers were looked at");
    let events = lines("events");
    assert!(events.len() >= 5);
    for event in events {
        let event: Value = serde_json::from_str(event).unwrap();
        let name = event["method"].as_str().unwrap();
        conforms(
            &format!("Notifications/properties/{name}"),
            &event["params"].to_string(),
        );
    }
}

#[test]
fn the_schema_refuses_what_the_daemon_refuses() {
    let cases = [
        ("search", json!({"workspace": "/w"}), "\"query\""),
        (
            "search",
            json!({"workspace": "/w", "query": "q", "limt": 3}),
            "limt",
        ),
        (
            "search",
            json!({"workspace": "/w", "query": "q", "limit": 0}),
            "limit",
        ),
        (
            "search",
            json!({"workspace": "/w", "query": "q", "limit": 201}),
            "limit",
        ),
        (
            "search",
            json!({"workspace": "/w", "query": "q", "min_score": 1.5}),
            "min_score",
        ),
        (
            "search",
            json!({"workspace": "/w", "query": "q", "mode": "fuzzy"}),
            "mode",
        ),
        ("search", json!({"workspace": "/w", "query": 7}), "query"),
        (
            "search",
            json!({"workspace": "/w", "query": "q", "explain": null}),
            "explain",
        ),
        ("status", json!({"x": 1}), "'x'"),
        (
            "cycle.run",
            json!({"workspace": "/w", "cycle": "nightly"}),
            "cycle",
        ),
        (
            "remember",
            json!({"workspace": "/w", "text": "t", "type": "fact"}),
            "type",
        ),
        (
            "context.put",
            json!({"session": "s", "turn": 1, "type": "state", "source": {"type": "exec", "ref": "", "x": 1}, "content": ""}),
            "source",
        ),
    ];
    for (method, given, expected) in cases {
        let line = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": given}).to_string();
        assert!(parse_request(line.as_bytes()).is_err(), "{line}");
        let error = wrong(&params(method), &given).unwrap_or_else(|| panic!("{line}"));
        assert!(error.contains(expected), "{line}: {error}");
    }
    // An optional value may be null, and a value with a default may be omitted.
    for given in [
        json!({"workspace": "/w", "query": "q", "limit": null}),
        json!({"workspace": "/w", "query": "q"}),
    ] {
        conforms(&params("search"), &given.to_string());
    }
}

#[test]
fn answers_may_have_new_members_and_omit_optional_ones_instead_of_null() {
    let hit = json!({
        "id": "c1", "path": "a.md", "start_line": 1, "end_line": 2, "heading": [], "score": 0.5, "scores": null,
        "strength": null, "entry": null, "tokens": 3, "text": "t", "date": null, "of_tomorrow": 1,
    });
    assert_eq!(wrong("SearchHit", &hit), None);
    let with = |name: &str, value: Value| {
        let mut hit = hit.clone();
        hit[name] = value;
        hit
    };
    assert!(wrong("SearchHit", &with("explain", Value::Null)).is_some());
    assert!(wrong("SearchHit", &with("score", json!("high"))).is_some());
    let mut without = hit.clone();
    without.as_object_mut().unwrap().remove("entry");
    assert!(
        wrong("SearchHit", &without).is_some(),
        "null is written, not left out"
    );
}
