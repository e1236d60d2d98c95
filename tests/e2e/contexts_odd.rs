//! Safety of session contents under faults.
//!
//! The tests cover kills, a full disk, other clients, and unusual requests and transcripts.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use hippo_proto::{
    ClientError, ContextCloseRequest, ContextCloseResponse, ContextListRequest, ContextListResponse,
    ContextPutLifecycle, ContextPutOutcome, ContextPutResponse, ContextTurnRequest, ContextTurnResponse,
    ErrorKind, FetchOutcome, SessionCompactRequest, SessionCompactResponse,
};
use hippod_tests::{Caller, Daemon, Dice, QUIET, Scratch, begun};
use serde_json::json;

use super::contexts::{close, entry, fetch, listing, open, put, refusal, render, request, turn};
use super::index_room::daemon_without_room;

/// Number of times that a daemon with sessions is killed.
const KILLS: usize = 12;

/// Returns printable text that compresses badly.
pub(super) fn noise(dice: &mut Dice, bytes: usize) -> String {
    let letter = |dice: &mut Dice| char::from(b'!' + u8::try_from(dice.below(90)).unwrap_or(0));
    let line = |dice: &mut Dice| -> String { (0..79).map(|_| letter(dice)).chain(['\n']).collect() };
    (0..bytes / 80).map(|_| line(dice)).collect()
}

/// Everything that the daemon acknowledged before it was killed.
#[derive(Default)]
struct Acknowledged {
    contents: BTreeMap<String, String>,
    sessions: Vec<(String, bool)>,
    turns: u64,
    persisted: Vec<String>,
}

/// Sends requests until the daemon stops answering.
fn work(client: &mut Caller, root: &Path, dice: &mut Dice, known: &mut Acknowledged) -> Option<()> {
    let number = known.sessions.len();
    let session = format!("s-{number}");
    client
        .raw()
        .call::<hippo_proto::ContextOpenResponse>(
            &hippo_proto::ContextOpenRequest {
                workspace: root.display().to_string(),
                session: Some(session.clone()),
                ..hippo_proto::ContextOpenRequest::default()
            }
            .into(),
        )
        .ok()?;
    known.sessions.push((session.clone(), false));
    for step in 1..=6 {
        known.turns += 1;
        let content = format!(
            "{}\n{}",
            known.turns,
            listing(["anchor", "compass", "rope"][dice.below(3)])
        );
        let mut asked = request(&session, step, ("exec", "ls"), &content);
        asked.summary = Some(format!("Told {} of {session}.", known.turns));
        asked.lifecycle = Some(ContextPutLifecycle {
            persist: Some(step == 3),
            ..ContextPutLifecycle::default()
        });
        let answer: ContextPutResponse = client.raw().call(&asked.into()).ok()?;
        let id = answer.entry.expect("an entry").id;
        if step == 3 {
            known.persisted.push(id.clone());
        }
        known.contents.insert(id, content);
        let ended = ContextTurnRequest {
            session: session.clone(),
            turn: step,
            ..ContextTurnRequest::default()
        };
        client.raw().call::<ContextTurnResponse>(&ended.into()).ok()?;
    }
    let said = |line: &str| json!({"role": "user", "content": format!("{session}: {line}")});
    let compact = SessionCompactRequest {
        workspace: Some(root.display().to_string()),
        messages: Some(listing(&session).lines().map(said).collect()),
        ..SessionCompactRequest::default()
    };
    let compacted: SessionCompactResponse = client.raw().call(&compact.into()).ok()?;
    for (line, scored) in listing(&session).lines().zip(&compacted.entries) {
        known
            .contents
            .insert(scored.id.clone(), format!("{session}: {line}"));
    }
    let closing = ContextCloseRequest { session };
    client.raw().call::<ContextCloseResponse>(&closing.into()).ok()?;
    known.sessions.last_mut()?.1 = true;
    Some(())
}

#[test]
fn repeated_kills_lose_no_acknowledged_session_data() {
    let (scratch, mut daemon, mut client) = begun();
    let root = scratch.workspace();
    let mut dice = Dice::new();
    let mut known = Acknowledged::default();
    for _ in 0..KILLS {
        // Requests of another client take a random time before the kill.
        let (mut timer, lives) = (daemon.client(), dice.below(400));
        let over = AtomicBool::new(false);
        thread::scope(|scope| {
            let killer = scope.spawn(|| {
                for _ in 0..lives {
                    timer.status();
                }
                daemon.kill();
                over.store(true, Ordering::Relaxed);
            });
            loop {
                let worked = work(&mut client, &root, &mut dice, &mut known);
                if worked.is_none() || over.load(Ordering::Relaxed) {
                    break;
                }
            }
            killer.join().unwrap();
        });
        daemon = scratch.daemon();
        client = daemon.client();
        client.sync(&root);
        for (id, content) in &known.contents {
            let back = fetch(&mut client, id);
            assert_eq!(back.content.as_deref(), Some(content.as_str()), "{id}");
        }
    }
    assert!(
        known.contents.len() > KILLS,
        "the daemon lived too short to mean anything"
    );
    for (session, closed) in known.sessions {
        let already = close(&mut client, &session).already;
        // The daemon may have closed a session without acknowledging it.
        assert!(already || !closed, "{session}");
    }
    let log: String = std::fs::read_dir(root.join("memory"))
        .into_iter()
        .flatten()
        .map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap())
        .collect();
    for id in known.persisted {
        let told = log.matches(&format!("{id})")).count();
        assert!(told >= 1, "{id} is told nowhere: {log}");
    }
    let problems = client.doctor(false).problems;
    assert!(problems.is_empty(), "{problems:?}");
}

#[test]
fn two_clients_share_a_session() {
    let (scratch, daemon, mut client) = begun();
    let session = open(&mut client, &scratch.workspace(), None).session;
    let ids: Vec<Vec<String>> = thread::scope(|scope| {
        let workers: Vec<_> = (0..3)
            .map(|who: u64| {
                let (mut client, session) = (daemon.client(), session.clone());
                scope.spawn(move || -> Vec<String> {
                    (1..=20)
                        .map(|number| {
                            let content = format!("{who} {number}\n{}", listing("anchor"));
                            let id =
                                entry(&mut client, request(&session, number, ("exec", "ls"), &content)).id;
                            turn(&mut client, &session, number, None);
                            assert_eq!(fetch(&mut client, &id).content, Some(content));
                            id
                        })
                        .collect()
                })
            })
            .collect();
        workers.into_iter().map(|worker| worker.join().unwrap()).collect()
    });
    let mut all: Vec<String> = ids.into_iter().flatten().collect();
    let listed: ContextListResponse = client
        .raw()
        .call(
            &ContextListRequest {
                session: Some(session),
                ..ContextListRequest::default()
            }
            .into(),
        )
        .unwrap();
    assert_eq!((listed.total, listed.turn), (60, Some(20)));
    all.sort();
    all.dedup();
    assert_eq!(all.len(), 60);
}

#[test]
fn a_full_store_refuses_content_until_a_session_ends() {
    let scratch = Scratch::new();
    scratch.write("MEMORY.md", "# Memory\n");
    let settings = [&QUIET[..], &[("HIPPOD_CONTEXT_BUDGET_MB", "1")]].concat();
    let daemon = Daemon::start(&scratch.home(), &settings);
    let mut client = daemon.client();
    let root = scratch.workspace();
    client.index(&root);
    let mut dice = Dice::new();
    let first = open(&mut client, &root, Some("first")).session;
    let mut kept = Vec::new();
    let refused = loop {
        let content = noise(&mut dice, 200_000);
        let asked = request(&first, 1, ("exec", "dump"), &content);
        match client.raw().call::<ContextPutResponse>(&asked.into()) {
            Ok(answer) => kept.push((answer.entry.expect("an entry").id, content)),
            other => break refusal(other),
        }
    };
    assert_eq!(refused, ErrorKind::Budget);
    assert!(kept.len() > 2, "{}", kept.len());
    for (id, content) in &kept {
        assert_eq!(fetch(&mut client, id).content.as_ref(), Some(content));
    }
    close(&mut client, &first);
    let second = open(&mut client, &root, Some("second")).session;
    let content = noise(&mut dice, 200_000);
    let id = entry(&mut client, request(&second, 1, ("exec", "dump"), &content)).id;
    assert_eq!(fetch(&mut client, &id).content, Some(content));
    let gone = kept
        .iter()
        .filter(|(id, _)| fetch(&mut client, id).outcome != FetchOutcome::Full);
    assert_eq!(gone.count(), 1);
}

#[test]
fn a_put_on_a_full_disk_is_refused_without_loss() {
    let (scratch, daemon, client) = begun();
    drop(client);
    daemon.terminate();
    let daemon = daemon_without_room(&scratch, 4_000);
    let mut client = daemon.client();
    let root = scratch.workspace();
    let session = open(&mut client, &root, Some("s-1")).session;
    let mut dice = Dice::new();
    let mut kept = Vec::new();
    let refused = loop {
        let content = noise(&mut dice, 200_000);
        let asked = request(&session, 1, ("exec", "dump"), &content);
        match client.raw().call::<ContextPutResponse>(&asked.into()) {
            Ok(answer) => kept.push((answer.entry.expect("an entry").id, content)),
            Err(ClientError::Refused(error)) => break error,
            Err(error) => panic!("no answer: {error}"),
        }
        assert!(kept.len() < 100, "there is always room");
    };
    assert!(!refused.data.hint.is_empty(), "{refused:?}");
    turn(&mut client, &session, 2, None);
    for (id, content) in &kept {
        assert_eq!(fetch(&mut client, id).content.as_ref(), Some(content));
    }
    drop(client);
    daemon.kill();
    let daemon = scratch.daemon();
    let mut client = daemon.client();
    client.sync(&root);
    for (id, content) in &kept {
        assert_eq!(fetch(&mut client, id).content.as_ref(), Some(content));
    }
    let content = noise(&mut dice, 200_000);
    let id = entry(&mut client, request(&session, 3, ("exec", "dump"), &content)).id;
    assert_eq!(fetch(&mut client, &id).content, Some(content));
}

#[test]
fn unusual_requests_are_answered_and_change_nothing() {
    let (scratch, _daemon, mut client) = begun();
    let session = open(&mut client, &scratch.workspace(), None).session;
    let id = entry(
        &mut client,
        request(&session, 5, ("exec", "ls"), &listing("anchor")),
    )
    .id;
    turn(&mut client, &session, 7, None);
    let back = turn(&mut client, &session, 3, None);
    assert_eq!(back.turn, 7);
    assert!(back.note.expect("it is told").contains('3'));
    // An entry that is stored in an earlier turn is recorded in the highest turn so far.
    let late = entry(
        &mut client,
        request(&session, 2, ("exec", "ls"), &listing("rope")),
    );
    assert_eq!(late.lifecycle.created, 7);
    let far = turn(&mut client, &session, u64::from(u32::MAX), None);
    assert_eq!((far.active, far.dormant), (0, 2));
    assert_eq!(render(&mut client, &session, None).tokens, 0);
    let unknown: Result<ContextTurnResponse, _> = client.raw().call(
        &ContextTurnRequest {
            session: "nobody".to_owned(),
            turn: 1,
            ..ContextTurnRequest::default()
        }
        .into(),
    );
    assert_eq!(refusal(unknown), ErrorKind::NotFound);
    for id in [
        "ctx-0000000000",
        "b3:000000000000",
        "m00000000z",
        "",
        "../../etc/passwd",
    ] {
        let asked = hippo_proto::ContextFetchRequest {
            session: None,
            id: id.to_owned(),
        };
        let answer = client
            .raw()
            .call::<hippo_proto::ContextFetchResponse>(&asked.into());
        assert!(
            matches!(refusal(answer), ErrorKind::NotFound | ErrorKind::BadRequest),
            "{id}"
        );
    }
    assert_eq!(fetch(&mut client, &id).outcome, FetchOutcome::Full);
    let empty = put(&mut client, request(&session, 9, ("exec", "true"), ""));
    assert_eq!(empty.outcome, ContextPutOutcome::Passed);
    let nul = format!("\0\u{1b}[31m{}", listing("nul"));
    let id = entry(&mut client, request(&session, 9, ("exec", "cat"), &nul)).id;
    assert_eq!(fetch(&mut client, &id).content, Some(nul));
}

#[test]
fn damaged_transcripts_are_compacted_and_reported() {
    let (scratch, _daemon, mut client) = begun();
    let root = scratch.workspace();
    let mut compact = |name: &str, bytes: &[u8]| -> Result<SessionCompactResponse, ClientError> {
        let path = scratch.beside(name);
        std::fs::write(&path, bytes).unwrap();
        client.raw().call(
            &SessionCompactRequest {
                workspace: Some(root.display().to_string()),
                path: Some(path.display().to_string()),
                ..SessionCompactRequest::default()
            }
            .into(),
        )
    };
    let line = |text: &str| format!("{{\"role\":\"user\",\"content\":\"{text}\"}}\n");
    let whole = line("The valve is set to 30 bar.");
    let cut = compact("cut.jsonl", format!("{whole}{}", &whole[..30]).as_bytes()).unwrap();
    assert_eq!((cut.stats.messages, cut.stats.malformed), (1, 1));
    assert_eq!(cut.stats.problems[0].line, 2);
    let nul = compact("nul.jsonl", format!("{whole}\0\0\0\n{whole}").as_bytes()).unwrap();
    assert_eq!((nul.stats.messages, nul.stats.malformed), (2, 1));
    let crlf = compact("crlf.jsonl", whole.repeat(2).replace('\n', "\r\n").as_bytes()).unwrap();
    assert_eq!((crlf.stats.messages, crlf.stats.malformed), (2, 0));
    let circle = concat!(
        r#"{"type":"session","version":3,"id":"s","timestamp":"2026-03-02T09:00:00Z","cwd":"/"}"#,
        "\n",
        r#"{"type":"message","id":"a","parentId":"b","message":{"role":"user","content":"The valve is open."}}"#,
        "\n",
        r#"{"type":"message","id":"b","parentId":"a","message":{"role":"user","content":"The pump runs."}}"#,
        "\n",
    );
    let circle = compact("circle.jsonl", circle.as_bytes()).unwrap();
    assert!(circle.stats.messages >= 1, "{:?}", circle.stats);
    let long = format!("{whole}{}{whole}", line(&"a".repeat(100 << 20)));
    let long = compact("long.jsonl", long.as_bytes()).unwrap();
    assert_eq!((long.stats.messages, long.stats.malformed), (2, 1));
    let folder = client.raw().call::<SessionCompactResponse>(
        &SessionCompactRequest {
            path: Some(root.display().to_string()),
            ..SessionCompactRequest::default()
        }
        .into(),
    );
    refusal(folder);
}
