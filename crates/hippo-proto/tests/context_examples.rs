//! The exchanges in docs/protocol.md match the types.
#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests, outside the functions that clippy knows as tests"
)]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use hippo_proto::*;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Asserts that the answer has all members of its type and no others.
fn same<T: DeserializeOwned + Serialize>(result: &Value) {
    let read = serde_json::from_value::<T>(result.clone()).unwrap();
    // Compare as text, because an `f32` becomes a different number in a `Value`.
    let written: Value = serde_json::from_str(&serde_json::to_string(&read).unwrap()).unwrap();
    assert_eq!(&written, result);
}

#[test]
fn every_exchange_in_the_documentation_matches_the_types() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/protocol.md");
    let text = fs::read_to_string(path).unwrap();
    let mut seen = BTreeSet::new();
    for block in text.split("\n```exchange\n").skip(1) {
        let mut lines = block.lines();
        let asked = lines.next().and_then(|line| line.strip_prefix("> ")).unwrap();
        let answered = lines.next().and_then(|line| line.strip_prefix("< ")).unwrap();
        assert_eq!(lines.next(), Some("```"), "{asked}");
        let call = parse_request(asked.as_bytes()).unwrap();
        let mut reply: Value = serde_json::from_str(answered).unwrap();
        assert_eq!(serde_json::to_value(&call.id).unwrap(), reply["id"], "{asked}");
        let result = reply["result"].take();
        match &call.request {
            Request::ContextOpen(_) => same::<ContextOpenResponse>(&result),
            Request::ContextPut(_) => same::<ContextPutResponse>(&result),
            Request::ContextTurn(_) => same::<ContextTurnResponse>(&result),
            Request::ContextRender(_) => same::<ContextRenderResponse>(&result),
            Request::ContextFetch(_) => same::<ContextFetchResponse>(&result),
            Request::ContextTouch(_) => same::<ContextTouchResponse>(&result),
            Request::ContextList(_) => same::<ContextListResponse>(&result),
            Request::ContextClose(_) => same::<ContextCloseResponse>(&result),
            Request::SessionCompact(_) => same::<SessionCompactResponse>(&result),
            Request::SessionFlush(_) => same::<SessionFlushResponse>(&result),
            other => panic!("no answer is known for {}", other.method()),
        }
        seen.insert(call.request.method());
    }
    let shown = METHODS
        .iter()
        .filter(|name| name.starts_with("context.") || name.starts_with("session."));
    assert_eq!(seen, shown.copied().collect::<BTreeSet<_>>());
}
