//! Tests of the rendering of sessions and entries.

use hippo_proto::{
    ContextDecay, ContextEntry, ContextKind, ContextLifecycle, ContextListed, ContextModifiers,
    ContextPersisted, ContextSource, ContextState, FetchOrigin, FetchOutcome,
};
use serde_json::json;

use super::*;

const AT: &str = "2026-03-02T09:00:00Z";

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
        summary: "2 of 212 tests failed,\nthe first: \x1b[31mlimits::zero".into(),
        key_data: json!({"failed": 2, "first": "limits::zero"}).as_object().cloned(),
        strength: 0.851,
        decay: ContextDecay {
            rate: 0.1,
            floor: 0.0,
            last_access: 4,
        },
        modifiers: ContextModifiers::default(),
        lifecycle: ContextLifecycle::default(),
    }
}

fn session(id: &str, agent: Option<&str>, closed: bool) -> ContextSession {
    ContextSession {
        session: id.into(),
        workspace: "/home/u/agent".into(),
        agent: agent.map(Into::into),
        turn: 12,
        entries: 1,
        opened: AT.into(),
        used: AT.into(),
        closed: closed.then(|| AT.into()),
    }
}

#[test]
fn sessions_and_entries_are_listed_one_per_line() {
    let sessions = ContextListResponse {
        sessions: Some(vec![
            session("s1", Some("scribe"), false),
            session("nightly-2", None, true),
        ]),
        total: 9,
        ..ContextListResponse::default()
    };
    let listed = |id: &str, state| ContextListed {
        entry: ContextEntry {
            id: id.into(),
            ..entry()
        },
        state,
    };
    let mut dormant = listed("ctx_1", ContextState::Dormant);
    dormant.entry.strength = 0.09;
    dormant.entry.source = ContextSource {
        kind: "agent".into(),
        ..ContextSource::default()
    };
    let active = listed("ctx_2", ContextState::Active);
    let expired = listed("ctx_10", ContextState::Expired);
    let entries = ContextListResponse {
        entries: Some(vec![active, expired, dormant]),
        turn: Some(12),
        total: 3,
        ..ContextListResponse::default()
    };
    let texts = [
        list(&sessions, false, Style::default()),
        list(&sessions, true, Style::default()),
        list(&entries, false, Style::default()),
        count(&sessions),
        count(&entries),
    ];
    insta::assert_snapshot!(texts.join("\n"));
}

#[test]
fn a_closed_session_is_rendered_with_its_lasting_entries() {
    let ended = ContextCloseResponse {
        session: "s1".into(),
        entries: 4,
        persisted: vec![
            ContextPersisted {
                id: "ctx_1".into(),
                path: "memory/2026-03-02.md".into(),
                line: Some(14),
            },
            ContextPersisted {
                id: "ctx_4".into(),
                path: "MEMORY.md".into(),
                line: None,
            },
        ],
        closed_at: AT.into(),
        already: false,
        notes: vec![],
    };
    let again = ContextCloseResponse {
        already: true,
        ..ended.clone()
    };
    let texts = [ended, again].map(|answer| closed(&answer, Style::default()));
    insta::assert_snapshot!(texts.join("\n"));
}

#[test]
fn notes_mark_content_that_differs_from_the_stored_one() {
    let answer = ContextFetchResponse {
        outcome: FetchOutcome::Full,
        content: Some("c".into()),
        summary: None,
        reason: None,
        stale: false,
        stored_hash: None,
        source_hash: None,
        entry: None,
        from: Some(FetchOrigin::Store),
    };
    assert_eq!((fetched(&answer), render_without_content(&answer)), (None, None));
    let stale = ContextFetchResponse {
        stale: true,
        ..answer
    };
    assert_eq!(
        fetched(&stale).unwrap(),
        "note: the source has changed since the content was stored"
    );
    let other = ContextFetchResponse {
        reason: Some("this is the source\nas it is now".into()),
        ..stale
    };
    assert_eq!(fetched(&other).unwrap(), "note: this is the source as it is now");
    let partial = ContextFetchResponse {
        summary: Some("Two\ntests".into()),
        entry: Some(entry()),
        ..other
    };
    assert_eq!(
        render_without_content(&partial).unwrap(),
        "Two\ntests\n   failed: 2; first: limits::zero"
    );
}
