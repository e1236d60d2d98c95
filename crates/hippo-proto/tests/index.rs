//! Defaults, errors and answers of the `index.*` methods.
#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests, outside the functions that clippy knows as tests"
)]

mod schema;

use std::fmt::Debug;

use hippo_proto::*;
use hippo_types::entry::{EntryOrigin, EntryPlace, EntryPriority, StrengthBand};
use serde::Serialize;
use serde::de::DeserializeOwned;

fn read(method: &str, params: &str) -> Result<Request, RpcError> {
    let line = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#);
    let call = parse_request(line.as_bytes()).map_err(|reply| reply.outcome.unwrap_err())?;
    Ok(call.request)
}

/// Asserts that the answer is serialised as `golden`, and that `golden` is parsed as the answer. New fields at the top
/// level and in the entry are ignored.
fn answer<T: Serialize + DeserializeOwned + PartialEq + Debug>(golden: &str, answer: &T) {
    assert_eq!(serde_json::to_string(answer).unwrap(), golden);
    let name = std::any::type_name::<T>().rsplit("::").next().unwrap();
    schema::conforms(name, golden);
    assert_eq!(&serde_json::from_str::<T>(golden).unwrap(), answer);
    let newer = golden.replace('{', r#"{"of_tomorrow":[1],"#);
    assert_eq!(&serde_json::from_str::<T>(&newer).unwrap(), answer);
}

fn entry() -> IndexEntry {
    IndexEntry {
        id: "acme-deploy".into(),
        topic: "Acme deploys".into(),
        summary: "When and how Acme deploys.".into(),
        pointers: vec![
            Pointer {
                path: "memory/2026-01-10.md".into(),
                section: Some("Deploy".into()),
            },
            Pointer {
                path: "RUNBOOK.md".into(),
                section: None,
            },
        ],
        strength: 0.73,
        band: StrengthBand::Moderate,
        place: EntryPlace::Index,
        group: "Projects".into(),
        tags: vec!["deploy".into()],
        related: vec!["acme".into()],
        priority: EntryPriority::High,
        origin: EntryOrigin::Manual,
        created: "2026-01-01T00:00:00Z".into(),
        accessed: "2026-01-10T09:30:00Z".into(),
        hits: 3,
        version: 2,
        scope: Scope::Shared,
    }
}

const ENTRY: &str = r#"{"id":"acme-deploy","topic":"Acme deploys","summary":"When and how Acme deploys.","pointers":[{"path":"memory/2026-01-10.md","section":"Deploy"},{"path":"RUNBOOK.md"}],"strength":0.73,"band":"moderate","place":"index","group":"Projects","tags":["deploy"],"related":["acme"],"priority":"high","origin":"manual","created":"2026-01-01T00:00:00Z","accessed":"2026-01-10T09:30:00Z","hits":3,"version":2}"#;

#[test]
fn index_answers_keep_their_names() {
    answer(ENTRY, &entry());
    answer(
        &format!(r#"{{"entries":[{ENTRY}],"total":9,"tokens":1200}}"#),
        &IndexListResponse {
            entries: vec![entry()],
            total: 9,
            tokens: 1200,
            notes: vec![],
        },
    );
    answer(
        r#"{"entries":[],"total":0,"tokens":0,"notes":["tokens are bytes/4"]}"#,
        &IndexListResponse {
            entries: vec![],
            total: 0,
            tokens: 0,
            notes: vec!["tokens are bytes/4".into()],
        },
    );
    answer(
        &format!(
            r#"{{"entry":{ENTRY},"base_strength":0.92,"curve":"0.92 · (1 + 0.1 · 36)^(−0.15) = 0.73","modifiers":["made by hand: 0.5"],"priority_rule":null,"forecast":[{{"event":"weak","at":"2026-03-01T00:00:00Z"}},{{"event":"silent","at":null}}],"stale":["RUNBOOK.md"],"file":".hippocampus/topics/acme.md"}}"#
        ),
        &IndexShowResponse {
            entry: entry(),
            base_strength: 0.92,
            curve: "0.92 · (1 + 0.1 · 36)^(−0.15) = 0.73".into(),
            modifiers: vec!["made by hand: 0.5".into()],
            priority_rule: None,
            forecast: vec![
                IndexForecast {
                    event: "weak".into(),
                    at: Some("2026-03-01T00:00:00Z".into()),
                },
                IndexForecast {
                    event: "silent".into(),
                    at: None,
                },
            ],
            stale: vec!["RUNBOOK.md".into()],
            file: Some(".hippocampus/topics/acme.md".into()),
            archived: None,
        },
    );
    let changed = format!(r#"{{"entry":{ENTRY}}}"#);
    answer(&changed, &IndexEditResponse { entry: entry() });
    answer(&changed, &IndexRestoreResponse { entry: entry() });
    answer(r#"{"id":"a"}"#, &IndexForgetResponse { id: "a".into() });
}

#[test]
fn index_enums_keep_their_names() {
    fn words<T: Serialize>(values: &[T]) -> String {
        serde_json::to_string(values).unwrap()
    }
    let bands = [
        StrengthBand::Strong,
        StrengthBand::Moderate,
        StrengthBand::Weak,
        StrengthBand::Decaying,
        StrengthBand::Silent,
    ];
    assert_eq!(
        words(&bands),
        r#"["strong","moderate","weak","decaying","silent"]"#
    );
    assert_eq!(
        words(&[EntryPlace::Index, EntryPlace::Queue, EntryPlace::Archive]),
        r#"["index","queue","archive"]"#
    );
    let origins = [
        EntryOrigin::Defrag,
        EntryOrigin::Manual,
        EntryOrigin::Retrieval,
        EntryOrigin::Auto,
    ];
    assert_eq!(words(&origins), r#"["defrag","manual","retrieval","auto"]"#);
    assert_eq!(
        words(&EntryPriority::ALL),
        r#"["amygdala","high","normal","low"]"#
    );
}

#[test]
fn index_requests_have_defaults() {
    assert_eq!(
        read("index.list", r#"{"workspace":"/w"}"#),
        Ok(Request::IndexList(IndexListRequest {
            workspace: "/w".into(),
            ..IndexListRequest::default()
        }))
    );
    assert_eq!(
        read("index.show", r#"{"workspace":"/w","id":"a"}"#),
        Ok(Request::IndexShow(IndexShowRequest {
            workspace: "/w".into(),
            id: "a".into(),
            at: None
        }))
    );
    let edit = IndexEditRequest {
        workspace: "/w".into(),
        id: "a".into(),
        ..IndexEditRequest::default()
    };
    let emptied = IndexEditRequest {
        summary: Some(String::new()),
        tags: Some(vec![]),
        pointers: Some(vec![]),
        ..edit.clone()
    };
    let params = r#"{"workspace":"/w","id":"a","summary":"","tags":[],"pointers":[]}"#;
    assert_eq!(read("index.edit", params), Ok(Request::IndexEdit(emptied)));
    let low = IndexEditRequest {
        priority: Some(EntryPriority::Low),
        ..edit
    };
    let params = r#"{"workspace":"/w","id":"a","priority":"low"}"#;
    assert_eq!(read("index.edit", params), Ok(Request::IndexEdit(low)));
}

#[test]
fn index_errors_name_the_problem_and_have_a_hint() {
    let cases = [
        ("index.list", "", "missing field `workspace`", "protocol.md"),
        (
            "index.list",
            r#""workspace":"/w","limit":0"#,
            "limit 0",
            "1 to 10000",
        ),
        (
            "index.list",
            r#""workspace":"/w","limit":10001"#,
            "limit 10001",
            "1 to 10000",
        ),
        (
            "index.list",
            r#""workspace":"/w","archive":true"#,
            "unknown field \"archive\"",
            "\"archived\"",
        ),
        ("index.list", r#""workspace":" ""#, "\"workspace\" is empty", ""),
        (
            "index.show",
            r#""workspace":"/w""#,
            "missing field `id`",
            "protocol.md",
        ),
        ("index.show", r#""workspace":"/w","id":"""#, "\"id\" is empty", ""),
        (
            "index.edit",
            r#""workspace":"/w","id":"a""#,
            "no field to change is given",
            "topic, summary, tags, pointers, priority and pinned",
        ),
        (
            "index.edit",
            r#""workspace":"/w","id":"a","topic":" ""#,
            "\"topic\" is empty",
            "",
        ),
        (
            "index.edit",
            r#""workspace":"/w","id":"a","tags":["x",""]"#,
            "\"tags\" is empty",
            "",
        ),
        (
            "index.edit",
            r#""workspace":"/w","id":"a","tags":"x""#,
            "field \"tags\": invalid type",
            "protocol.md",
        ),
        (
            "index.edit",
            r#""workspace":"/w","id":"a","pointers":[{"path":""}]"#,
            "\"path\" is empty",
            "",
        ),
        (
            "index.edit",
            r#""workspace":"/w","id":"a","pointers":[{"path":"a.md","heading":"H"}]"#,
            "unknown field `heading`, expected `path` or `section`",
            "",
        ),
        (
            "index.edit",
            r#""workspace":"/w","id":"a","priority":"Amigdala""#,
            "unknown variant `Amigdala`",
            "did you mean \"amygdala\"?",
        ),
        (
            "index.edit",
            r#""workspace":"/w","id":"a","priority":"zzz""#,
            "unknown variant `zzz`, expected one of `amygdala`, `high`, `normal`, `low`",
            "protocol.md",
        ),
        (
            "index.edit",
            r#""workspace":"/w","id":"a","priority":3"#,
            "field \"priority\"",
            "protocol.md",
        ),
        (
            "index.forget",
            r#""workspace":"/w","id":" ""#,
            "\"id\" is empty",
            "",
        ),
        (
            "index.restore",
            r#""workspace":"","id":"a""#,
            "\"workspace\" is empty",
            "",
        ),
    ];
    for (method, params, message, hint) in cases {
        let error = read(method, &format!("{{{params}}}")).unwrap_err();
        assert_eq!(error.data.kind, ErrorKind::BadRequest, "{params}");
        assert!(error.message.contains(message), "{method} {params}: {error}");
        assert!(error.data.hint.contains(hint), "{params}: {}", error.data.hint);
    }
}

#[test]
fn an_edit_is_limited_to_the_maximum_length_of_an_entry() {
    let limits = [
        ("topic", 200, false),
        ("summary", 1_000, false),
        ("tags", 64, true),
    ];
    for (field, most, listed) in limits {
        let params = |length: usize| {
            // The limit is a number of characters, not of bytes.
            let text = "é".repeat(length);
            let text = if listed {
                format!("[\"{text}\"]")
            } else {
                format!("\"{text}\"")
            };
            format!(r#"{{"workspace":"/w","id":"a","{field}":{text}}}"#)
        };
        read("index.edit", &params(most)).unwrap();
        let refused = read("index.edit", &params(most + 1)).unwrap_err();
        assert_eq!(refused.data.kind, ErrorKind::BadRequest);
        let what = format!("\"{field}\" is longer than {most} characters");
        assert!(refused.message.contains(&what), "{refused:?}");
    }
    let tags = |count: usize| {
        let tags = vec!["\"t\""; count].join(",");
        read(
            "index.edit",
            &format!(r#"{{"workspace":"/w","id":"a","tags":[{tags}]}}"#),
        )
    };
    tags(32).unwrap();
    assert!(tags(33).unwrap_err().message.contains("number of tags 33"));
    let both = r#"{"workspace":"/w","id":"a","priority":"high","pinned":true}"#;
    assert!(
        read("index.edit", both)
            .unwrap_err()
            .message
            .contains("cannot be combined")
    );
    read("index.edit", r#"{"workspace":"/w","id":"a","pinned":false}"#).unwrap();
}
