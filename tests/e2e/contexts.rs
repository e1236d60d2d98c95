//! Contexts of a session: storage, rendering and retrieval byte for byte.

use std::path::Path;

use hippo_proto::{
    ClientError, ContextCloseRequest, ContextCloseResponse, ContextEntry, ContextFetchRequest,
    ContextFetchResponse, ContextListRequest, ContextListResponse, ContextListed, ContextOpenRequest,
    ContextOpenResponse, ContextPutLifecycle, ContextPutOutcome, ContextPutRequest, ContextPutResponse,
    ContextPutSource, ContextRenderRequest, ContextRenderResponse, ContextState, ContextTouchRequest,
    ContextTouchResponse, ContextTurnRequest, ContextTurnResponse, ErrorKind, FetchOrigin, FetchOutcome,
    SessionCompactRequest, SessionCompactResponse,
};
use hippod_tests::{Caller, begun};
use serde_json::json;

pub(super) fn open(client: &mut Caller, root: &Path, session: Option<&str>) -> ContextOpenResponse {
    let request = ContextOpenRequest {
        workspace: root.display().to_string(),
        agent: Some("The tester".to_owned()),
        session: session.map(str::to_owned),
    };
    client.raw().call(&request.into()).expect("opened")
}

pub(super) fn request(session: &str, turn: u64, source: (&str, &str), content: &str) -> ContextPutRequest {
    ContextPutRequest {
        session: session.to_owned(),
        turn,
        source: ContextPutSource {
            type_: source.0.to_owned(),
            reference: source.1.to_owned(),
        },
        content: content.to_owned(),
        ..ContextPutRequest::default()
    }
}

pub(super) fn put(client: &mut Caller, request: ContextPutRequest) -> ContextPutResponse {
    client.raw().call(&request.into()).expect("put")
}

pub(super) fn entry(client: &mut Caller, request: ContextPutRequest) -> ContextEntry {
    let answer = put(client, request);
    answer.entry.expect("an entry")
}

pub(super) fn fetch(client: &mut Caller, id: &str) -> ContextFetchResponse {
    let request = ContextFetchRequest {
        session: None,
        id: id.to_owned(),
    };
    client.raw().call(&request.into()).expect("fetched")
}

pub(super) fn turn(
    client: &mut Caller,
    session: &str,
    turn: u64,
    used: Option<(u64, u64)>,
) -> ContextTurnResponse {
    let request = ContextTurnRequest {
        session: session.to_owned(),
        turn,
        context_tokens: used.map(|used| used.0),
        context_limit: used.map(|used| used.1),
    };
    client.raw().call(&request.into()).expect("a turn")
}

pub(super) fn render(client: &mut Caller, session: &str, cue: Option<&str>) -> ContextRenderResponse {
    let request = ContextRenderRequest {
        session: session.to_owned(),
        cue: cue.map(str::to_owned),
        ..ContextRenderRequest::default()
    };
    client.raw().call(&request.into()).expect("rendered")
}

pub(super) fn list(client: &mut Caller, session: &str) -> Vec<ContextListed> {
    let request = ContextListRequest {
        session: Some(session.to_owned()),
        ..ContextListRequest::default()
    };
    let listed: ContextListResponse = client.raw().call(&request.into()).expect("listed");
    listed.entries.expect("entries")
}

pub(super) fn state(client: &mut Caller, session: &str, id: &str) -> ContextState {
    let mut entries = list(client, session).into_iter();
    entries
        .find(|listed| listed.entry.id == id)
        .expect("listed")
        .state
}

pub(super) fn close(client: &mut Caller, session: &str) -> ContextCloseResponse {
    let request = ContextCloseRequest {
        session: session.to_owned(),
    };
    client.raw().call(&request.into()).expect("closed")
}

pub(super) fn refusal<T: std::fmt::Debug>(answer: Result<T, ClientError>) -> ErrorKind {
    match answer {
        Err(ClientError::Refused(error)) => error.data.kind,
        other => panic!("no refusal: {other:?}"),
    }
}

/// Returns a listing of a few thousand tokens. Each line is different.
pub(super) fn listing(of: &str) -> String {
    let line = |number: u32| format!("drwxr-xr-x 2 {of} {of} 4096 Mar {number:>4} 10:00 {of}-{number}.txt\n");
    (0..200).map(line).collect()
}

#[test]
fn stored_content_is_returned_byte_for_byte_after_a_kill() {
    let (scratch, daemon, mut client) = begun();
    let root = scratch.workspace();
    let session = open(&mut client, &root, None).session;
    let other = open(&mut client, &root, Some("other")).session;
    let content = listing("anchor") + "a tab\tand ünïcode \u{1F980}\r\n\r\n";
    let first = entry(&mut client, request(&session, 1, ("exec", "ls"), &content));
    let small = put(
        &mut client,
        request(&session, 1, ("exec", "date"), "Mon Mar 2 10:00\n"),
    );
    assert_eq!((small.outcome, small.entry), (ContextPutOutcome::Passed, None));
    let again = put(&mut client, request(&session, 2, ("exec", "ls"), &content));
    assert_eq!(again.outcome, ContextPutOutcome::Known);
    assert_eq!(again.entry.expect("the same").id, first.id);
    let shared = put(&mut client, request(&other, 1, ("exec", "ls"), &content));
    let name = shared.content_id.expect("a name");
    assert_ne!(shared.entry.expect("another session's own").id, first.id);
    daemon.kill();

    let daemon = scratch.daemon();
    let mut client = daemon.client();
    for id in [&first.id, &name, &name[..15].to_owned()] {
        let back = fetch(&mut client, id);
        assert_eq!(
            (back.outcome, back.from),
            (FetchOutcome::Full, Some(FetchOrigin::Store))
        );
        assert_eq!(back.content.as_deref(), Some(content.as_str()), "{id}");
        assert_eq!(back.stored_hash.as_deref(), Some(name.as_str()));
    }
    let resumed = open(&mut client, &root, Some(&session));
    assert!(resumed.resumed && resumed.entries == 1, "{resumed:?}");
    let usage = client.status().workspaces.remove(0).contexts.expect("contexts");
    assert_eq!(
        (usage.sessions, usage.open, usage.entries, usage.contents),
        (2, 2, 2, 1)
    );
    assert!(usage.stored_bytes < usage.raw_bytes && usage.raw_bytes == content.len() as u64);
    // A session can access only its own entries.
    let strange = ContextFetchRequest {
        session: Some(other),
        id: first.id.clone(),
    };
    assert_eq!(
        refusal(client.raw().call::<ContextFetchResponse>(&strange.into())),
        ErrorKind::NotFound
    );
}

#[test]
fn entries_fade_with_turns_and_return_after_an_access_or_a_cue() {
    let (scratch, _daemon, mut client) = begun();
    let root = scratch.workspace();
    let session = open(&mut client, &root, None).session;
    let anchor = entry(
        &mut client,
        request(&session, 1, ("exec", "ls anchor"), &listing("anchor")),
    )
    .id;
    let compass = entry(
        &mut client,
        request(&session, 1, ("exec", "ls compass"), &listing("compass")),
    )
    .id;
    let shown = render(&mut client, &session, None);
    assert!(shown.markdown.contains(&anchor) && shown.markdown.contains(&compass));
    assert!(
        shown.tokens < 1_000 && shown.retrievable_tokens > 4_000,
        "{shown:?}"
    );

    let after = turn(&mut client, &session, 2_000, None);
    assert_eq!((after.active, after.dormant), (0, 2));
    assert!(!render(&mut client, &session, None).markdown.contains(&anchor));
    let back = turn(&mut client, &session, 7, None);
    assert_eq!((back.turn, back.active), (2_000, 0));
    assert!(back.note.is_some());
    let request_ = ContextTouchRequest {
        session: session.clone(),
        id: anchor.clone(),
        turn: None,
    };
    let touched: ContextTouchResponse = client.raw().call(&request_.into()).expect("touched");
    assert_eq!(touched.entry.strength, 1.0);
    assert_eq!(state(&mut client, &session, &anchor), ContextState::Active);
    assert_eq!(state(&mut client, &session, &compass), ContextState::Dormant);
    let cued = render(&mut client, &session, Some("compass"));
    assert!(cued.markdown.contains(&compass), "{cued:?}");
    // When a context is nearly full, its strong entries stay active.
    let full = turn(&mut client, &session, 2_040, Some((170_000, 200_000)));
    assert_eq!(full.dormant, 2, "{full:?}");
}

#[test]
fn damaged_content_is_unavailable_and_its_summary_is_returned() {
    let (scratch, daemon, mut client) = begun();
    let session = open(&mut client, &scratch.workspace(), None).session;
    let id = entry(
        &mut client,
        request(&session, 1, ("exec", "ls"), &listing("anchor")),
    )
    .id;
    daemon.terminate();
    let file = scratch.state("contexts.db");
    let connection = rusqlite::Connection::open(&file).unwrap();
    connection
        .execute_batch("UPDATE blobs SET bytes = x'00'")
        .unwrap();
    drop(connection);
    let daemon = scratch.daemon();
    let mut client = daemon.client();
    let answer = fetch(&mut client, &id);
    assert_eq!(answer.outcome, FetchOutcome::Partial);
    assert!(answer.content.is_none() && answer.reason.is_some());
    assert!(!answer.summary.expect("a summary").is_empty());
}

#[test]
fn closing_a_session_writes_persistent_entries_to_the_log() {
    let (scratch, _daemon, mut client) = begun();
    let root = scratch.workspace();
    let session = open(&mut client, &root, Some("s-1")).session;
    let mut kept = request(&session, 1, ("exec", "deploy"), &listing("anchor"));
    kept.summary = Some("The anchor was deployed to staging.".to_owned());
    kept.lifecycle = Some(ContextPutLifecycle {
        persist: Some(true),
        ..ContextPutLifecycle::default()
    });
    let kept = entry(&mut client, kept).id;
    entry(
        &mut client,
        request(&session, 1, ("exec", "ls"), &listing("compass")),
    );
    let closed = close(&mut client, &session);
    assert_eq!(closed.persisted.len(), 1, "{closed:?}");
    let told = &closed.persisted[0];
    assert_eq!(told.id, kept);
    let log = std::fs::read_to_string(root.join(&told.path)).unwrap();
    let line = log.lines().nth(told.line.unwrap() as usize - 1).unwrap();
    assert!(
        line.contains("The anchor was deployed to staging."),
        "{line}: {log}"
    );
    assert!(!log.contains("compass"), "{log}");
    assert!(close(&mut client, &session).already);
    assert_eq!(std::fs::read_to_string(root.join(&told.path)).unwrap(), log);
    // After a session is closed, its stored contents remain available, and new contents are refused.
    assert_eq!(fetch(&mut client, &kept).outcome, FetchOutcome::Full);
    let more = request(&session, 2, ("exec", "ls"), &listing("rope"));
    assert_eq!(
        refusal(client.raw().call::<ContextPutResponse>(&more.into())),
        ErrorKind::Conflict
    );
}

#[test]
fn every_message_of_a_compacted_session_can_be_fetched_by_its_id() {
    let (scratch, _daemon, mut client) = begun();
    let said = |number: u32| json!({"role": "user", "content": format!("The valve {number} is set to {number}0 bar.")});
    let messages: Vec<_> = (0..200).map(said).collect();
    let request = SessionCompactRequest {
        workspace: Some(scratch.workspace().display().to_string()),
        messages: Some(messages),
        budget_tokens: Some(300),
        ..SessionCompactRequest::default()
    };
    let answer: SessionCompactResponse = client.raw().call(&request.into()).expect("compacted");
    assert_eq!(answer.stats.messages, 200);
    assert!(
        answer.stats.tokens_after <= 300 && answer.stats.dropped > 0,
        "{:?}",
        answer.stats
    );
    for (number, scored) in answer.entries.iter().enumerate() {
        let back = fetch(&mut client, &scored.id);
        assert_eq!(
            back.content.as_deref(),
            Some(format!("The valve {number} is set to {number}0 bar.").as_str())
        );
    }
    let rest = fetch(&mut client, answer.stats.rest.as_deref().expect("a rest"));
    assert!(rest.content.expect("the list").lines().count() as u64 >= answer.stats.dropped);
}
