//! Repeated messages and accepted flushes.
//! A message that a person repeats is logged again, and every accepted flush is completed.

use std::path::Path;
use std::time::Instant;

use hippo_proto::{
    ContextListRequest, ContextListResponse, ContextOpenRequest, ContextOpenResponse, SessionFlushRequest,
    SessionFlushResponse,
};
use hippod_tests::{Caller, Daemon, PATIENCE, begun};

fn request(root: &Path, path: &Path, session: Option<&str>) -> SessionFlushRequest {
    SessionFlushRequest {
        workspace: root.display().to_string(),
        path: path.display().to_string(),
        session: session.map(str::to_owned),
        ..SessionFlushRequest::default()
    }
}

fn flush(client: &mut Caller, request: SessionFlushRequest) -> SessionFlushResponse {
    client.raw().call(&request.into()).unwrap()
}

/// Returns the concatenated text of all logs.
fn logs(root: &Path) -> String {
    let files = std::fs::read_dir(root.join("memory")).into_iter().flatten();
    let files = files.map(|entry| entry.unwrap().path());
    files
        .filter(|path| path.is_file())
        .map(|path| std::fs::read_to_string(path).unwrap())
        .collect()
}

/// Returns a question and its answer without timestamps, repeated `times` times.
fn words(times: usize) -> Vec<String> {
    let turn = [
        r#"{"role":"user","content":"Please run the tests of the pump and fix what fails"}"#,
        r#"{"role":"assistant","content":"All tests pass, the pump is completed."}"#,
    ];
    turn.iter()
        .cycle()
        .take(2 * times)
        .map(|line| (*line).to_owned())
        .collect()
}

#[test]
fn the_same_messages_in_another_session_are_logged_again() {
    let (scratch, _daemon, mut client) = begun();
    let root = scratch.workspace();
    let asked = |text: &str| {
        text.matches("- request: Please run the tests of the pump and fix what fails")
            .count()
    };
    // Each transcript is one JSON document with a list of messages. Some harnesses write this format without
    // timestamps.
    for (session, path) in [("monday", "monday.json"), ("tuesday", "tuesday.json")] {
        let path = scratch.beside(path);
        std::fs::write(&path, format!("[{}]", words(1).join(","))).unwrap();
        let first = flush(&mut client, request(&root, &path, Some(session)));
        assert_eq!((first.messages, first.known), (2, 0), "{session}");
        let again = flush(&mut client, request(&root, &path, Some(session)));
        assert_eq!((again.messages, again.known), (0, 2), "{session}");
        // `ingest` sends no session id.
        let ingested = flush(&mut client, request(&root, &path, None));
        assert_eq!((ingested.messages, ingested.known), (0, 2), "{session}");
    }
    assert_eq!(asked(&logs(&root)), 2);
    // The same lines are appended to this transcript again and again.
    let path = scratch.beside("lines.jsonl");
    for times in 1..=3 {
        let lines: String = words(times).iter().map(|line| format!("{line}\n")).collect();
        std::fs::write(&path, lines).unwrap();
        let answer = flush(&mut client, request(&root, &path, None));
        assert_eq!((answer.messages, answer.known), (2, 0), "{times}");
    }
}

/// Returns one turn of a session, with a timestamp.
fn turn(number: usize) -> String {
    let record = serde_json::json!({"type": "user", "uuid": format!("u{number}"), "timestamp": format!("2026-03-02T09:00:{number:02}Z"),
        "message": {"role": "user", "content": format!("Please find out about device{number}marker and write it down")}});
    format!("{record}\n")
}

fn wait_until(daemon: &Daemon, root: &Path, what: &str) {
    let deadline = Instant::now() + PATIENCE;
    while !logs(root).contains(what) {
        assert!(Instant::now() < deadline, "{}", daemon.log());
        std::thread::yield_now();
    }
}

/// Waits until a context session is closed.
pub fn wait_until_closed(client: &mut Caller, id: &str) {
    let deadline = Instant::now() + PATIENCE;
    let is_open = |client: &mut Caller| {
        let list: ContextListResponse = client.raw().call(&ContextListRequest::default().into()).unwrap();
        let mut sessions = list.sessions.unwrap_or_default().into_iter();
        let session = sessions.find(|session| session.session == id);
        session.expect("it is listed").closed.is_none()
    };
    while is_open(client) {
        assert!(Instant::now() < deadline, "{id} stays open");
    }
}

#[test]
fn accepted_flushes_are_completed_by_the_next_daemon() {
    let (scratch, mut daemon, mut client) = begun();
    let root = scratch.workspace();
    let open = ContextOpenRequest {
        workspace: root.display().to_string(),
        agent: None,
        session: Some("s".to_owned()),
    };
    let _: ContextOpenResponse = client.raw().call(&open.into()).unwrap();
    // The daemon needs a moment to read this many messages, and is stopped right after its answer.
    let filler = "{\"role\":\"tool\",\"name\":\"t\",\"content\":\"x\"}\n".repeat(60_000);
    for number in 1..=2 {
        let path = scratch.beside(&format!("{number}.jsonl"));
        std::fs::write(&path, filler.clone() + &turn(number)).unwrap();
        let asked = SessionFlushRequest {
            wait: false,
            close: number == 2,
            ..request(&root, &path, Some("s"))
        };
        assert!(!flush(&mut client, asked).done);
        daemon.kill();
        assert!(!logs(&root).contains(&format!("device{number}marker")));
        daemon = scratch.daemon();
        wait_until(&daemon, &root, &format!("device{number}marker"));
        client = daemon.client();
    }
    for number in 1..=2 {
        let asked = format!("- request: Please find out about device{number}marker ");
        assert_eq!(logs(&root).matches(&asked).count(), 1, "{number}");
    }
    wait_until_closed(&mut client, "s");
    // A transcript that cannot be read is not retried forever, and it does not block other flushes.
    let asked = SessionFlushRequest {
        wait: false,
        ..request(&root, &scratch.beside("nowhere.jsonl"), None)
    };
    flush(&mut client, asked);
    let path = scratch.beside("last.jsonl");
    std::fs::write(&path, turn(9)).unwrap();
    flush(&mut client, request(&root, &path, None));
    wait_until(&daemon, &root, "device9marker");
    let left = || -> i64 {
        let store = rusqlite::Connection::open(scratch.state("contexts.db")).unwrap();
        store
            .query_row("SELECT count(*) FROM accepted", [], |row| row.get(0))
            .unwrap()
    };
    let deadline = Instant::now() + PATIENCE;
    while left() > 0 {
        assert!(Instant::now() < deadline, "{}", daemon.log());
        std::thread::yield_now();
    }
}

#[test]
fn messages_are_stored_on_request_even_if_already_logged() {
    let (scratch, _daemon, mut client) = begun();
    let (root, path) = (scratch.workspace(), scratch.beside("session.jsonl"));
    std::fs::write(&path, turn(1) + &turn(2)).unwrap();
    let first = flush(&mut client, request(&root, &path, Some("s")));
    assert_eq!((first.messages, first.stored), (2, None));
    let whole = SessionFlushRequest {
        compact: true,
        ..request(&root, &path, Some("s"))
    };
    let kept = flush(&mut client, whole.clone());
    assert_eq!((kept.messages, kept.stored), (0, Some(2)), "{kept:?}");
    assert_eq!(flush(&mut client, whole).stored, Some(0));
}

#[test]
fn waiting_flushes_block_no_other_request() {
    let (scratch, _daemon, mut client) = begun();
    let root = scratch.workspace();
    // The daemon needs a moment to read each transcript.
    let filler = "{\"role\":\"tool\",\"name\":\"t\",\"content\":\"x\"}\n".repeat(60_000);
    for number in 0..24 {
        let path = scratch.beside(&format!("{number}.jsonl"));
        std::fs::write(&path, filler.clone() + &turn(number)).unwrap();
        let asked = SessionFlushRequest {
            wait: false,
            ..request(&root, &path, None)
        };
        assert!(!flush(&mut client, asked).done);
    }
    // Assert that more flushes are waiting than the daemon has threads for flushes.
    let store = rusqlite::Connection::open(scratch.state("contexts.db")).unwrap();
    let waiting = store.query_row("SELECT count(*) FROM accepted", [], |row| row.get::<_, i64>(0));
    assert!(waiting.unwrap() > 16);
}
