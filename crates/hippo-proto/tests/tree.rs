//! Defaults, errors and answers of the `tree.*` methods.
#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests, outside the functions that clippy knows as tests"
)]

mod schema;

use std::fmt::Debug;

use hippo_proto::*;
use serde::Serialize;
use serde::de::DeserializeOwned;

fn read(method: &str, params: &str) -> Result<Request, RpcError> {
    let line = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#);
    let call = parse_request(line.as_bytes()).map_err(|reply| reply.outcome.unwrap_err())?;
    Ok(call.request)
}

fn answer<T: Serialize + DeserializeOwned + PartialEq + Debug>(golden: &str, answer: &T) {
    assert_eq!(serde_json::to_string(answer).unwrap(), golden);
    let name = std::any::type_name::<T>().rsplit("::").next().unwrap();
    schema::conforms(name, golden);
    let newer = golden.replacen('{', r#"{"of_tomorrow":[1],"#, 1);
    assert_eq!(&serde_json::from_str::<T>(&newer).unwrap(), answer);
}

#[test]
fn tree_answers_keep_their_names() {
    answer(
        r#"{"today":"2026-03-20","ran":true,"nodes":[{"path":"memory/daily/2026-03-20.md","action":"made","cause":"new","status":"tentative","tokens":41}],"unchanged":3,"refused":[{"path":"memory/daily/2026-03-19.md","reason":"it is a folder"}],"took_ms":1.5}"#,
        &TreeCompactResponse {
            today: "2026-03-20".into(),
            ran: true,
            nodes: vec![TreeChange {
                path: "memory/daily/2026-03-20.md".into(),
                action: "made".into(),
                cause: "new".into(),
                status: "tentative".into(),
                tokens: 41,
            }],
            unchanged: 3,
            refused: vec![TreeRefusal {
                path: "memory/daily/2026-03-19.md".into(),
                reason: "it is a folder".into(),
            }],
            foreign: Vec::new(),
            notes: vec![],
            took_ms: 1.5,
        },
    );
    answer(
        r#"{"jobs":[{"path":"memory/daily/2026-03-19.md","level":"daily","period":"2026-03-19","sources":["memory/2026-03-19.md"],"source_digest":"00ff00ff00ff00ff","budget_tokens":900,"prompt":"Summarise"}],"total":4}"#,
        &TreePendingResponse {
            jobs: vec![TreeJob {
                path: "memory/daily/2026-03-19.md".into(),
                level: "daily".into(),
                period: "2026-03-19".into(),
                sources: vec!["memory/2026-03-19.md".into()],
                source_digest: "00ff00ff00ff00ff".into(),
                budget_tokens: 900,
                prompt: "Summarise".into(),
            }],
            total: 4,
        },
    );
    answer(
        r#"{"path":"memory/daily/2026-03-19.md","status":"fixed","tokens":80,"overlap_percent":93}"#,
        &TreeSubmitResponse {
            path: "memory/daily/2026-03-19.md".into(),
            status: "fixed".into(),
            tokens: 80,
            overlap_percent: 93,
        },
    );
    answer(
        r#"{"path":"memory/ROOT.md","level":"root","period":"ROOT","status":"tentative","written_by":"hippod","stale":false,"sources":["memory/monthly/2026-03.md"],"body":"x\n","tokens":1}"#,
        &TreeShowResponse {
            path: "memory/ROOT.md".into(),
            level: "root".into(),
            period: "ROOT".into(),
            status: Some("tentative".into()),
            written_by: Some("hippod".into()),
            stale: false,
            sources: vec!["memory/monthly/2026-03.md".into()],
            body: "x\n".into(),
            tokens: 1,
        },
    );
}

#[test]
fn tree_requests_have_defaults_and_invalid_ones_are_refused() {
    let Request::TreeCompact(compact) = read("tree.compact", r#"{"workspace":"/w"}"#).unwrap() else {
        panic!("another request");
    };
    assert!(!compact.dry_run && !compact.when_due && compact.at.is_none());
    let Request::TreeShow(show) = read("tree.show", r#"{"workspace":"/w"}"#).unwrap() else {
        panic!("another request");
    };
    assert_eq!(show.node, None);
    for (method, params, what) in [
        ("tree.compact", r#"{}"#, "workspace"),
        ("tree.compact", r#"{"workspace":"/w","at":"yesterday"}"#, "\"at\""),
        ("tree.pending", r#"{"workspace":"/w","limit":0}"#, "limit 0"),
        (
            "tree.submit",
            r#"{"workspace":"/w","node":"2026-01-10","body":""}"#,
            "body",
        ),
        (
            "tree.submit",
            r#"{"workspace":"/w","node":"","body":"x"}"#,
            "node",
        ),
        ("tree.show", r#"{"workspace":"/w","nod":"ROOT"}"#, "nod"),
    ] {
        let error = read(method, params).unwrap_err();
        assert_eq!(error.data.kind, ErrorKind::BadRequest, "{method} {params}");
        assert!(error.message.contains(what), "{}", error.message);
    }
    let long = "x".repeat(MAX_BODY_BYTES + 1);
    let error = read(
        "tree.submit",
        &format!(r#"{{"workspace":"/w","node":"2026-01-10","body":"{long}"}}"#),
    )
    .unwrap_err();
    assert_eq!(error.data.kind, ErrorKind::TooLarge);
}
