//! Tests of the answers of the `context.*` methods.
#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests, outside the functions that clippy knows as tests"
)]

mod schema;

use std::fmt::Debug;

use hippo_proto::*;
use hippo_types::context::{
    ContextDecay, ContextEncoding, ContextEntry, ContextKind, ContextLifecycle, ContextModifiers,
    ContextPriority, ContextShown, ContextSource, ContextState, FetchOrigin, FetchOutcome,
};
use hippo_types::cycle::Cycle;
use hippo_types::transcript::{CompactStats, MessageScore, TranscriptProblem};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;

/// Asserts that the answer is serialised as `golden`, that `golden` is parsed as the answer, and that a new field is
/// ignored.
fn answer<T: Serialize + DeserializeOwned + PartialEq + Debug>(golden: &str, answer: &T) {
    assert_eq!(serde_json::to_string(answer).unwrap(), golden);
    let name = std::any::type_name::<T>().rsplit("::").next().unwrap();
    // Types that are combined from several types have no definition in the schema.
    if !name.ends_with(')') {
        schema::conforms(name, golden);
    }
    assert_eq!(&serde_json::from_str::<T>(golden).unwrap(), answer);
    let newer = golden.replacen('{', r#"{"of_tomorrow":[1],"#, 1);
    assert_eq!(&serde_json::from_str::<T>(&newer).unwrap(), answer);
}

fn entry() -> ContextEntry {
    ContextEntry {
        id: "ctx_2".into(),
        kind: ContextKind::ToolResult,
        source: ContextSource {
            kind: "exec".into(),
            reference: "make test".into(),
            turn: 3,
            retrievable: true,
            stale: false,
        },
        summary: "Two tests failed.".into(),
        key_data: json!({"failed": 2}).as_object().cloned(),
        strength: 0.85,
        decay: ContextDecay {
            rate: 0.1,
            floor: 0.0,
            last_access: 3,
        },
        modifiers: ContextModifiers {
            priority: ContextPriority::Normal,
            encoding: ContextEncoding::Auto,
            associations: vec!["ctx_1".into()],
        },
        lifecycle: ContextLifecycle {
            created: 3,
            expires: Some(53),
            persist: false,
        },
    }
}

/// An entry with the fields that section 14.1 of the specification names (v2 §14.1).
const ENTRY: &str = r#"{"id":"ctx_2","type":"tool_result","source":{"type":"exec","ref":"make test","turn":3,"retrievable":true},"summary":"Two tests failed.","key_data":{"failed":2},"strength":0.85,"decay":{"rate":0.1,"floor":0.0,"last_access":3},"modifiers":{"priority":"normal","encoding":"auto","associations":["ctx_1"]},"lifecycle":{"created":3,"expires":53,"persist":false}}"#;

#[test]
fn entries_and_their_answers_keep_their_names() {
    answer(ENTRY, &entry());
    let bare = ContextEntry {
        key_data: None,
        lifecycle: ContextLifecycle::default(),
        ..entry()
    };
    let written = serde_json::to_string(&bare).unwrap();
    assert!(
        !written.contains("key_data") && !written.contains("expires"),
        "{written}"
    );
    let id = format!("b3:{}", "0a".repeat(32));
    let put = ContextPutResponse {
        entry: Some(entry()),
        outcome: ContextPutOutcome::Entry,
        reason: Some("policy at line 4: index: true".into()),
        rule: Some("line 4".into()),
        content_id: Some(id.clone()),
        tokens: 12_000,
        entry_tokens: 85,
        notes: vec!["n".into()],
    };
    let golden = format!(
        r#"{{"entry":{ENTRY},"outcome":"entry","reason":"policy at line 4: index: true","rule":"line 4","content_id":"{id}","tokens":12000,"entry_tokens":85,"notes":["n"]}}"#
    );
    answer(&golden, &put);
    for (outcome, name) in [
        (ContextPutOutcome::Passed, "passed"),
        (ContextPutOutcome::Known, "known"),
        (ContextPutOutcome::Dropped, "dropped"),
    ] {
        let none = ContextPutResponse {
            entry: None,
            outcome,
            reason: None,
            rule: None,
            content_id: None,
            tokens: 12,
            entry_tokens: 0,
            notes: vec![],
        };
        let golden = format!(r#"{{"entry":null,"outcome":"{name}","tokens":12,"entry_tokens":0}}"#);
        answer(&golden, &none);
    }
    answer(
        &format!(r#"{{"entry":{ENTRY}}}"#),
        &ContextTouchResponse { entry: entry() },
    );
    let full = ContextFetchResponse {
        outcome: FetchOutcome::Full,
        content: Some("all\nof it".into()),
        summary: Some("Two tests failed.".into()),
        reason: None,
        stale: true,
        stored_hash: Some("b3:0a".into()),
        source_hash: Some("b3:0b".into()),
        entry: Some(entry()),
        from: Some(FetchOrigin::Store),
    };
    let golden = format!(
        r#"{{"outcome":"full","content":"all\nof it","summary":"Two tests failed.","stale":true,"stored_hash":"b3:0a","source_hash":"b3:0b","entry":{ENTRY},"from":"store"}}"#
    );
    answer(&golden, &full);
    let none = ContextFetchResponse {
        outcome: FetchOutcome::Unavailable,
        content: None,
        summary: None,
        reason: Some("gone".into()),
        stale: false,
        stored_hash: None,
        source_hash: None,
        entry: None,
        from: None,
    };
    answer(
        r#"{"outcome":"unavailable","reason":"gone","stale":false,"from":null}"#,
        &none,
    );
    answer(
        r#"["partial","source","summary"]"#,
        &(FetchOutcome::Partial, FetchOrigin::Source, FetchOrigin::Summary),
    );
}

#[test]
fn session_answers_keep_their_names() {
    let at = || "2026-03-01T08:00:00Z".to_owned();
    answer(
        r#"{"session":"s1","turn":4,"entries":2,"resumed":true}"#,
        &ContextOpenResponse {
            session: "s1".into(),
            turn: 4,
            entries: 2,
            resumed: true,
        },
    );
    let turn = ContextTurnResponse {
        turn: 9,
        active: 3,
        dormant: 1,
        expired: 2,
        tokens: 640,
        cycle: Cycle::Deep,
        moved: vec![ContextMove {
            id: "ctx_1".into(),
            from: ContextState::Active,
            to: ContextState::Dormant,
        }],
        note: Some("n".into()),
    };
    let golden = r#"{"turn":9,"active":3,"dormant":1,"expired":2,"tokens":640,"cycle":"deep","moved":[{"id":"ctx_1","from":"active","to":"dormant"}],"note":"n"}"#;
    answer(golden, &turn);
    let render = ContextRenderResponse {
        markdown: "m".into(),
        entries: vec![ContextShown {
            id: "ctx_1".into(),
            kind: ContextKind::State,
            strength: 0.5,
            summary: "s".into(),
            key_data: None,
            source: ContextSource::default(),
            tokens: 20,
            earlier_session: None,
        }],
        tokens: 60,
        left_out: 1,
        dormant: 2,
        retrievable_tokens: 9_000,
        notes: vec![],
    };
    let golden = r#"{"markdown":"m","entries":[{"id":"ctx_1","type":"state","strength":0.5,"summary":"s","source":{"type":"","ref":"","turn":0,"retrievable":false},"tokens":20}],"tokens":60,"left_out":1,"dormant":2,"retrievable_tokens":9000}"#;
    answer(golden, &render);
    let sessions = ContextListResponse {
        sessions: Some(vec![ContextSession {
            session: "s1".into(),
            workspace: "/w".into(),
            agent: None,
            turn: 4,
            entries: 2,
            opened: at(),
            used: at(),
            closed: None,
        }]),
        total: 9,
        ..ContextListResponse::default()
    };
    let golden = r#"{"sessions":[{"session":"s1","workspace":"/w","turn":4,"entries":2,"opened":"2026-03-01T08:00:00Z","used":"2026-03-01T08:00:00Z","closed":null}],"total":9}"#;
    answer(golden, &sessions);
    let entries = ContextListResponse {
        sessions: None,
        entries: Some(vec![ContextListed {
            entry: entry(),
            state: ContextState::Dormant,
        }]),
        turn: Some(4),
        total: 1,
    };
    let listed = ENTRY.replace(r#""persist":false}}"#, r#""persist":false},"state":"dormant"}"#);
    answer(
        &format!(r#"{{"entries":[{listed}],"turn":4,"total":1}}"#),
        &entries,
    );
    let closed = ContextCloseResponse {
        session: "s1".into(),
        entries: 2,
        persisted: vec![ContextPersisted {
            id: "ctx_1".into(),
            path: "memory/2026-03-01.md".into(),
            line: Some(12),
        }],
        closed_at: at(),
        already: false,
        notes: vec![],
    };
    let golden = r#"{"session":"s1","entries":2,"persisted":[{"id":"ctx_1","path":"memory/2026-03-01.md","line":12}],"closed_at":"2026-03-01T08:00:00Z"}"#;
    answer(golden, &closed);
    let again = ContextCloseResponse {
        persisted: vec![],
        already: true,
        ..closed
    };
    answer(
        r#"{"session":"s1","entries":2,"persisted":[],"closed_at":"2026-03-01T08:00:00Z","already":true}"#,
        &again,
    );
}

#[test]
fn the_answer_of_compact_has_the_output_format_of_hippoctl() {
    let compacted = SessionCompactResponse {
        summary: "# S".into(),
        stats: CompactStats {
            format: Some(TranscriptFormat::Pi),
            messages: 2,
            tokens_before: 40,
            tokens_after: 10,
            ratio: 4.0,
            kept: 1,
            problems: vec![TranscriptProblem {
                line: 3,
                what: "no JSON object".into(),
            }],
            stored: Some(2),
            ..CompactStats::default()
        },
        entries: vec![MessageScore {
            index: 0,
            id: "m0123456ab".into(),
            kind: "decision".into(),
            importance: 0.9,
            retention: 0.87,
            tier: "keep".into(),
            tokens: 20,
        }],
        notes: vec![],
    };
    let golden = r##"{"summary":"# S","stats":{"format":"pi","messages":2,"tokens_before":40,"tokens_after":10,"ratio":4.0,"kept":1,"compressed":0,"sparse":0,"dropped":0,"rest":null,"folded":0,"malformed":0,"problems":[{"line":3,"what":"no JSON object"}],"stored":2},"entries":[{"index":0,"id":"m0123456ab","type":"decision","importance":0.9,"retention":0.87,"tier":"keep","tokens":20}]}"##;
    answer(golden, &compacted);
}
