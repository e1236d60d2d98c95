//! Do sessions and entries look as they should?

use hippo_proto::{
    ContextDecay, ContextLifecycle, ContextModifiers, ContextMove, ContextOutcome, ContextPersisted,
    ContextSource, ContextType,
};
use serde_json::json;

use super::*;

const AT: &str = "2026-03-02T09:00:00Z";

fn entry() -> ContextEntry {
    ContextEntry {
        id: "ctx_2".into(),
        type_: ContextType::ToolResult,
        source: ContextSource {
            type_: "exec".into(),
            reference: "make test".into(),
            turn: 3,
            retrievable: true,
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

fn kept() -> ContextPutResponse {
    ContextPutResponse {
        entry: Some(entry()),
        outcome: ContextPutOutcome::Entry,
        rule: Some("errors expire after 50 turns".into()),
        content_id: Some("b3:00".into()),
        tokens: 11_840,
        entry_tokens: 62,
        notes: vec![],
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
fn what_became_of_content() {
    let of = |outcome, entry| ContextPutResponse {
        outcome,
        entry,
        rule: None,
        ..kept()
    };
    let all = [
        kept(),
        of(ContextPutOutcome::Known, Some(entry())),
        of(ContextPutOutcome::Passed, None),
        of(ContextPutOutcome::Dropped, None),
    ];
    let plain = all.map(|answer| put(&answer, Style::default()));
    insta::assert_snapshot!(plain.join("\n"));
    let colour = put(&kept(), Style { colour: true });
    insta::assert_snapshot!(colour.replace('\x1b', "^"));
}

#[test]
fn sessions_and_entries_one_a_line() {
    let sessions = ContextListResponse {
        sessions: Some(vec![
            session("s1", Some("scribe"), false),
            session("nightly-2", None, true),
        ]),
        total: 9,
        ..ContextListResponse::default()
    };
    let expired = ContextEntry {
        id: "ctx_10".into(),
        lifecycle: ContextLifecycle {
            expires: Some(12),
            ..ContextLifecycle::default()
        },
        ..entry()
    };
    let dormant = ContextEntry {
        id: "ctx_1".into(),
        strength: 0.09,
        source: ContextSource {
            type_: "agent".into(),
            ..ContextSource::default()
        },
        ..entry()
    };
    let entries = ContextListResponse {
        entries: Some(vec![entry(), expired, dormant]),
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
fn a_session_from_its_beginning_to_its_end() {
    let new = ContextOpenResponse {
        session: "s1".into(),
        turn: 12,
        entries: 3,
        resumed: false,
    };
    let turned = ContextTurnResponse {
        turn: 12,
        active: 3,
        dormant: 1,
        expired: 0,
        tokens: 640,
        cycle: CycleName::Deep,
        moved: vec![ContextMove {
            id: "ctx_1".into(),
            from: ContextState::Active,
            to: ContextState::Dormant,
        }],
        note: None,
    };
    let rendered = ContextRenderResponse {
        markdown: String::new(),
        entries: vec![],
        tokens: 0,
        left_out: 1,
        dormant: 2,
        retrievable_tokens: 19_200,
        notes: vec![],
    };
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
    let resumed = ContextOpenResponse {
        resumed: true,
        ..new.clone()
    };
    let texts = [
        opened(&new),
        opened(&resumed),
        turn(&turned, Style::default()),
        touched(&ContextTouchResponse { entry: entry() }, Style::default()),
        shown(&rendered),
        closed(&ended, Style::default()),
        closed(&again, Style::default()),
    ];
    insta::assert_snapshot!(texts.join("\n"));
}

#[test]
fn what_is_said_of_content_that_is_not_what_was_put() {
    let answer = ContextFetchResponse {
        outcome: ContextOutcome::Full,
        content: Some("c".into()),
        summary: None,
        reason: None,
        stale: false,
        stored_hash: None,
        source_hash: None,
        entry: None,
        from: Some(ContextOrigin::Store),
    };
    assert_eq!(fetched(&answer), [""; 0]);
    let stale = ContextFetchResponse {
        stale: true,
        ..answer
    };
    assert!(fetched(&stale)[0].contains("this is what was put"));
    let other = ContextFetchResponse {
        from: Some(ContextOrigin::Source),
        reason: Some("the content was\nremoved".into()),
        ..stale
    };
    let notes = fetched(&other);
    assert_eq!(notes[0], "note: the content was removed");
    assert!(notes[1].contains("as it is now"), "{notes:?}");
}
