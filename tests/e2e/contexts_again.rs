//! Contexts whose state changes: dormant entries, closed sessions, damage.
//!
//! The tests also cover repeated content and a full context.

use hippo_proto::{
    ContextListRequest, ContextListResponse, ContextPutLifecycle, ContextPutOutcome, ContextState, ErrorKind,
    FetchOutcome, SessionCompactRequest, SessionCompactResponse,
};
use hippod_tests::{Caller, Daemon, Dice, QUIET, Scratch, begun};
use serde_json::json;

use super::contexts::{close, entry, fetch, listing, open, put, refusal, render, request, state, turn};
use super::contexts_odd::noise;

#[test]
fn a_cue_finds_dormant_entries_beside_active_ones() {
    let (scratch, _daemon, mut client) = begun();
    let session = open(&mut client, &scratch.workspace(), None).session;
    let told = |number: u64, client: &mut Caller| {
        let content = format!("{number}\n{}", listing("anchor"));
        let mut asked = request(&session, number, ("exec", "ls"), &content);
        asked.summary = Some("The anchor of the harbour.".to_owned());
        entry(client, asked).id
    };
    let old = told(1, &mut client);
    turn(&mut client, &session, 2_000, None);
    let new: Vec<String> = (2_000..2_010).map(|number| told(number, &mut client)).collect();
    let shown = render(&mut client, &session, Some("anchor of the harbour"));
    let ids: Vec<&String> = shown.entries.iter().map(|entry| &entry.id).collect();
    assert!(ids.contains(&&old), "{:?}", shown.notes);
    assert!(new.iter().all(|id| ids.contains(&id)));
}

#[test]
fn a_repeated_error_is_shown_again_after_the_first_one_faded() {
    let (scratch, _daemon, mut client) = begun();
    let session = open(&mut client, &scratch.workspace(), None).session;
    let failed = |turn: u64, client: &mut Caller| {
        let mut asked = request(
            &session,
            turn,
            ("exec", "make"),
            "error: no rule to make target 'all'",
        );
        asked.error = true;
        put(client, asked)
    };
    let first = failed(1, &mut client);
    turn(&mut client, &session, 60, None);
    assert_eq!(render(&mut client, &session, None).entries.len(), 0);
    let again = failed(60, &mut client);
    assert_eq!(again.outcome, ContextPutOutcome::Known);
    assert_eq!(again.entry.unwrap().id, first.entry.unwrap().id);
    assert_eq!(render(&mut client, &session, None).entries.len(), 1);
    turn(&mut client, &session, 100, None);
    assert_eq!(render(&mut client, &session, None).entries.len(), 1);
}

#[test]
fn later_settings_of_the_same_content_take_effect() {
    let (scratch, _daemon, mut client) = begun();
    let root = scratch.workspace();
    let session = open(&mut client, &root, None).session;
    let first = entry(
        &mut client,
        request(&session, 1, ("exec", "ls"), &listing("anchor")),
    );
    let mut asked = request(&session, 3, ("exec", "ls"), &listing("anchor"));
    asked.summary = Some("The anchors of March.".to_owned());
    asked.lifecycle = Some(ContextPutLifecycle {
        persist: Some(true),
        ..ContextPutLifecycle::default()
    });
    let later = put(&mut client, asked).entry.expect("the same");
    assert_eq!((&later.id, later.source.turn), (&first.id, 1));
    assert_eq!(later.summary, "The anchors of March.");
    let closed = close(&mut client, &session);
    assert_eq!(closed.persisted.len(), 1);
    let log = std::fs::read_to_string(root.join(&closed.persisted[0].path)).unwrap();
    assert!(log.contains("The anchors of March."), "{log}");
}

#[test]
fn closing_a_session_keeps_only_strong_entries_active() {
    let (scratch, _daemon, mut client) = begun();
    let session = open(&mut client, &scratch.workspace(), None).session;
    let weak = entry(
        &mut client,
        request(&session, 1, ("exec", "ls"), &listing("anchor")),
    )
    .id;
    turn(&mut client, &session, 60, None);
    let strong = entry(
        &mut client,
        request(&session, 60, ("exec", "ls"), &listing("rope")),
    )
    .id;
    assert_eq!(state(&mut client, &session, &weak), ContextState::Active);
    close(&mut client, &session);
    assert_eq!(state(&mut client, &session, &weak), ContextState::Dormant);
    assert_eq!(state(&mut client, &session, &strong), ContextState::Active);
}

#[test]
fn a_damaged_database_affects_no_other_workspace() {
    let (scratch, daemon, mut client) = begun();
    let root = scratch.workspace();
    open(&mut client, &root, Some("bad"));
    // Find the state folder now, while there is only one workspace.
    let state = scratch.state("");
    let other = scratch.beside("other");
    std::fs::create_dir_all(&other).unwrap();
    std::fs::write(other.join("MEMORY.md"), "# Memory\n").unwrap();
    let other = other.canonicalize().unwrap();
    client.index(&other);
    let good = open(&mut client, &other, Some("good")).session;
    let id = entry(&mut client, request(&good, 1, ("exec", "ls"), &listing("anchor"))).id;
    daemon.terminate();
    for name in ["contexts.db-wal", "contexts.db-shm"] {
        let _ = std::fs::remove_file(state.join(name));
    }
    std::fs::write(state.join("contexts.db"), [0xAB; 8_192]).unwrap();
    let daemon = scratch.daemon();
    let mut client = daemon.client();
    client.sync(&root);
    client.sync(&other);
    assert_eq!(turn(&mut client, &good, 2, None).active, 1);
    assert_eq!(fetch(&mut client, &id).outcome, FetchOutcome::Full);
    entry(&mut client, request(&good, 2, ("exec", "ls"), &listing("rope")));
    let listed: ContextListResponse = client.raw().call(&ContextListRequest::default().into()).unwrap();
    assert_eq!(listed.sessions.unwrap().len(), 1);
}

#[test]
fn a_compaction_without_space_is_refused_and_keeps_its_beginning() {
    let scratch = Scratch::new();
    scratch.write("MEMORY.md", "# Memory\n");
    let settings = [
        &QUIET[..],
        &[
            ("HIPPOD_CONTEXT_BUDGET_MB", "1"),
            ("HIPPOD_CONTEXT_STORE_SECRETS", "false"),
        ],
    ]
    .concat();
    let daemon = Daemon::start(&scratch.home(), &settings);
    let mut client = daemon.client();
    let root = scratch.workspace();
    client.index(&root);
    let mut dice = Dice::new();
    let mut compact = |messages: Vec<serde_json::Value>| {
        client.raw().call::<SessionCompactResponse>(
            &SessionCompactRequest {
                workspace: Some(root.display().to_string()),
                messages: Some(messages),
                ..SessionCompactRequest::default()
            }
            .into(),
        )
    };
    let long: Vec<_> = (0..60)
        .map(|_| json!({"role": "user", "content": noise(&mut dice, 100_000)}))
        .collect();
    assert_eq!(refusal(compact(long)), ErrorKind::Budget);
    let said = [
        "The valve is set to 30 bar.",
        "The key is AKIAIOSFODNN7EXAMPLE and aws_secret_access_key=wJalrXUtnFEMI/K7MDENG/bPxRfiCY1234567890",
    ];
    let said = said.map(|text| json!({"role": "user", "content": text})).to_vec();
    let answer = compact(said).unwrap();
    assert!(
        answer.notes.iter().any(|note| note.contains("store_secrets")),
        "{:?}",
        answer.notes
    );
    assert_eq!(
        fetch(&mut client, &answer.entries[0].id).outcome,
        FetchOutcome::Full
    );
    let hidden = hippo_proto::ContextFetchRequest {
        session: None,
        id: answer.entries[1].id.clone(),
    };
    let hidden = client
        .raw()
        .call::<hippo_proto::ContextFetchResponse>(&hidden.into());
    assert_eq!(refusal(hidden), ErrorKind::NotFound);
}
