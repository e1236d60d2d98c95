//! Flush of transcripts into the daily log.
//! Each message is in the log once, whatever happens to the transcript and the daemon.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use hippo_proto::{ClientError, ErrorKind, SessionFlushRequest, SessionFlushResponse};
use hippod_tests::{Caller, Dice, PATIENCE, begun};

/// Returns turn `number` of a session: a request, a tool call, its result, and a reply.
fn turn(number: usize) -> String {
    let at = |second: usize| {
        let minutes = number % 720;
        format!(
            "2026-03-{:02}T{:02}:{:02}:{second:02}Z",
            2 + number / 720,
            minutes / 60 + 6,
            minutes % 60
        )
    };
    let mut text = String::new();
    for (second, role, content) in [
        (
            0,
            "user",
            format!("Please find out about device{number}marker and write it down"),
        ),
        (
            1,
            "assistant",
            format!("It was decided that device{number}chosen is blue instead of red."),
        ),
        (
            2,
            "assistant",
            format!("All tests pass, device{number}done is completed."),
        ),
    ] {
        let record = serde_json::json!({"type": role, "uuid": format!("{number}-{second}"), "timestamp": at(second),
            "message": {"role": role, "content": content}});
        writeln!(text, "{record}").unwrap();
    }
    text
}

fn transcript(turns: std::ops::Range<usize>) -> String {
    turns.map(turn).collect()
}

fn request(root: &Path, path: &Path) -> SessionFlushRequest {
    SessionFlushRequest {
        workspace: root.display().to_string(),
        path: path.display().to_string(),
        session: Some("s1".to_owned()),
        ..SessionFlushRequest::default()
    }
}

fn flush(client: &mut Caller, root: &Path, path: &Path) -> Result<SessionFlushResponse, ClientError> {
    client.raw().call(&request(root, path).into())
}

/// Returns the concatenated text of all logs.
fn logs(root: &Path) -> String {
    let mut files: Vec<PathBuf> = std::fs::read_dir(root.join("memory"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_file())
        .collect();
    files.sort();
    files
        .iter()
        .map(|path| String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned())
        .collect()
}

/// Returns how many times the logs contain the request of a turn.
fn told(logs: &str, number: usize) -> usize {
    logs.matches(&format!("- request: Please find out about device{number}marker "))
        .count()
}

fn kind(error: ClientError) -> ErrorKind {
    match error {
        ClientError::Refused(error) => error.data.kind,
        other => panic!("no refusal: {other}"),
    }
}

#[test]
fn a_growing_session_is_flushed_without_repetition() {
    let (scratch, _daemon, mut client) = begun();
    let (root, path) = (scratch.workspace(), scratch.beside("session.jsonl"));
    std::fs::write(&path, transcript(0..2)).unwrap();
    let first = flush(&mut client, &root, &path).unwrap();
    assert!(first.done);
    assert_eq!((first.messages, first.known, first.malformed), (6, 0, 0));
    assert_eq!(first.format.as_deref(), Some("claude-code"));
    let log = &first.appended[0];
    let text = std::fs::read_to_string(root.join(&log.path)).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines[log.start_line as usize - 1],
        format!("## {} [project]", log.topics[0])
    );
    assert!(
        lines[log.end_line as usize - 1].starts_with("<!-- flush "),
        "{text}"
    );
    assert!(
        lines[log.end_line as usize - 1].ends_with(" session s1 -->"),
        "{text}"
    );
    let again = flush(&mut client, &root, &path).unwrap();
    assert_eq!((again.messages, again.appended.len()), (0, 0));
    assert_eq!(again.from, std::fs::metadata(&path).unwrap().len());
    assert_eq!(std::fs::read_to_string(root.join(&log.path)).unwrap(), text);

    // The transcript has grown, and its last line is not complete yet.
    let half = turn(3);
    std::fs::write(&path, transcript(0..3) + &half[..half.len() - 30]).unwrap();
    let third = flush(&mut client, &root, &path).unwrap();
    assert_eq!((third.messages, third.malformed), (5, 0));
    std::fs::write(&path, transcript(0..4)).unwrap();
    let fourth = flush(&mut client, &root, &path).unwrap();
    assert_eq!(fourth.messages, 1);
    let all = logs(&root);
    for number in 0..4 {
        assert_eq!(told(&all, number), 1, "{number}: {all}");
    }
    assert!(
        std::fs::read_to_string(root.join(&log.path))
            .unwrap()
            .starts_with(&text)
    );
}

#[test]
fn a_replaced_transcript_is_reread_without_known_messages() {
    let (scratch, _daemon, mut client) = begun();
    let (root, path) = (scratch.workspace(), scratch.beside("session.jsonl"));
    std::fs::write(&path, transcript(0..4)).unwrap();
    flush(&mut client, &root, &path).unwrap();
    // The transcript was rotated: its beginning was removed, and new messages were appended.
    std::fs::write(&path, transcript(2..6)).unwrap();
    let rotated = flush(&mut client, &root, &path).unwrap();
    assert_eq!((rotated.from, rotated.messages, rotated.known), (0, 6, 6));
    assert!(rotated.notes[0].contains("not the transcript"), "{rotated:?}");
    // Truncate the transcript. Later, insert a new beginning before messages that are already logged.
    std::fs::write(&path, transcript(2..3)).unwrap();
    assert_eq!(flush(&mut client, &root, &path).unwrap().messages, 0);
    std::fs::write(&path, transcript(90..91) + &transcript(0..6)).unwrap();
    assert_eq!(flush(&mut client, &root, &path).unwrap().messages, 3);
    // A harness writes a copy of the transcript when it resumes a session.
    let copy = scratch.beside("copy.jsonl");
    std::fs::write(&copy, transcript(0..7)).unwrap();
    let copied = flush(&mut client, &root, &copy).unwrap();
    assert_eq!((copied.messages, copied.known), (3, 18));
    let all = logs(&root);
    for number in (0..7).chain([90]) {
        assert_eq!(told(&all, number), 1, "{number}: {all}");
    }
}

#[test]
fn each_message_is_logged_once_despite_kills_at_any_moment() {
    const TURNS: usize = 60;
    let (scratch, mut daemon, _) = begun();
    let (root, path) = (scratch.workspace(), scratch.beside("session.jsonl"));
    let mut dice = Dice::new();
    let mut done = 0;
    let mut kills = 0;
    while done < TURNS {
        done += 1;
        std::fs::write(&path, transcript(0..done)).unwrap();
        let mut client = daemon.client();
        // Every eighth request waits until its flush is complete. Without this pause, one flush would get more topics
        // than a log can have sections.
        let asked = SessionFlushRequest {
            wait: done % 8 == 0,
            ..request(&root, &path)
        };
        let _: SessionFlushResponse = client.raw().call(&asked.into()).unwrap();
        // The kills are distributed over the time from before the flush until after its end.
        let until = Instant::now() + Duration::from_micros(dice.below(60_000) as u64);
        while Instant::now() < until {
            std::hint::spin_loop();
        }
        daemon.kill();
        kills += 1;
        daemon = scratch.daemon();
    }
    flush(&mut daemon.client(), &root, &path).unwrap();
    let all = logs(&root);
    for number in 0..done {
        assert_eq!(told(&all, number), 1, "turn {number} after {kills} kills: {all}");
    }
}

#[test]
fn concurrent_flushes_log_each_message_once() {
    let (scratch, daemon, _) = begun();
    let (root, path) = (scratch.workspace(), scratch.beside("session.jsonl"));
    std::fs::write(&path, transcript(0..5)).unwrap();
    let copy = scratch.beside("copy.jsonl");
    std::fs::write(&copy, transcript(0..5)).unwrap();
    let messages: u64 = std::thread::scope(|scope| {
        let asking: Vec<_> = (0..8)
            .map(|number| {
                let (mut client, root) = (daemon.client(), root.clone());
                let path = if number % 2 == 0 { &path } else { &copy };
                scope.spawn(move || flush(&mut client, &root, path).unwrap().messages)
            })
            .collect();
        asking.into_iter().map(|one| one.join().unwrap()).sum()
    });
    assert_eq!(messages, 15);
    let all = logs(&root);
    assert!((0..5).all(|number| told(&all, number) == 1), "{all}");
}

#[test]
fn non_transcripts_are_refused_and_damaged_records_skipped() {
    let (scratch, _daemon, mut client) = begun();
    let root = scratch.workspace();
    let mut refused = |path: &Path| kind(flush(&mut client, &root, path).unwrap_err());
    assert_eq!(refused(&scratch.beside("nowhere.jsonl")), ErrorKind::NotFound);
    assert_eq!(refused(&root), ErrorKind::BadRequest);
    assert_eq!(refused(Path::new("session.jsonl")), ErrorKind::BadRequest);
    let pipe = scratch.beside("pipe.jsonl");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    assert_eq!(refused(&pipe), ErrorKind::BadRequest);
    let elsewhere = request(&scratch.beside("home"), &pipe);
    let error = client
        .raw()
        .call::<SessionFlushResponse>(&elsewhere.into())
        .unwrap_err();
    assert_eq!(kind(error), ErrorKind::NoWorkspace);

    let path = scratch.beside("odd.jsonl");
    let mut bytes = b"\xff\xfe junk\n{\"type\":\n\n".to_vec();
    bytes.extend(turn(0).into_bytes());
    let broken = turn(1).replace("decided", "dec\u{1}ided");
    bytes.extend(broken.replace('\u{1}', "\\ud800").into_bytes());
    let invalid = turn(2).into_bytes();
    let at = invalid.windows(4).position(|four| four == b"blue").unwrap();
    bytes.extend([&invalid[..at], &b"\xff\xff"[..], &invalid[at..]].concat());
    std::fs::write(&path, &bytes).unwrap();
    let answer = flush(&mut client, &root, &path).unwrap();
    assert_eq!((answer.messages, answer.malformed), (9, 2), "{answer:?}");
    assert_eq!(answer.problems[0].line, 1);
    std::fs::write(&path, b"").unwrap();
    assert_eq!(flush(&mut client, &root, &path).unwrap().messages, 0);
}

#[test]
fn a_log_that_cannot_be_written_is_written_later() {
    let (scratch, _daemon, mut client) = begun();
    let (root, path) = (scratch.workspace(), scratch.beside("session.jsonl"));
    std::fs::write(&path, transcript(0..2)).unwrap();
    let log = root.join("memory/2026-03-02.md");
    let away = scratch.beside("away.md");
    std::fs::write(&away, "untouched").unwrap();
    std::os::unix::fs::symlink(&away, &log).unwrap();
    let error = kind(flush(&mut client, &root, &path).unwrap_err());
    assert_eq!(error, ErrorKind::BadRequest);
    assert_eq!(std::fs::read_to_string(&away).unwrap(), "untouched");
    // A transcript of another day can still be flushed.
    let other = scratch.beside("other.jsonl");
    std::fs::write(&other, transcript(720..721)).unwrap();
    let answer = flush(&mut client, &root, &other).unwrap();
    assert_eq!(answer.appended[0].path, "memory/2026-03-03.md");
    assert!(answer.notes[0].contains("waiting"), "{answer:?}");
    std::fs::remove_file(&log).unwrap();
    std::fs::create_dir(&log).unwrap();
    flush(&mut client, &root, &path).unwrap_err();
    std::fs::remove_dir(&log).unwrap();
    let later = flush(&mut client, &root, &path).unwrap();
    assert_eq!((later.messages, later.appended.len()), (0, 1));
    let all = logs(&root);
    assert!([0, 1, 720].iter().all(|number| told(&all, *number) == 1), "{all}");
}

#[test]
fn a_flush_without_wait_answers_at_once_and_can_store_messages() {
    let (scratch, daemon, mut client) = begun();
    let (root, path) = (scratch.workspace(), scratch.beside("session.jsonl"));
    // The transcript has 50 MB: a few messages, with many results of tools between them.
    let filler = serde_json::json!({"type": "user", "uuid": "t", "timestamp": "2026-03-02T06:00:00Z",
        "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": "x".repeat(1 << 20)}]}});
    let mut text = transcript(0..1);
    for _ in 0..50 {
        writeln!(text, "{filler}").unwrap();
    }
    text.push_str(&transcript(1..2));
    std::fs::write(&path, &text).unwrap();
    let asked = SessionFlushRequest {
        wait: false,
        compact: true,
        tree: true,
        ..request(&root, &path)
    };
    let begun = Instant::now();
    let answer: SessionFlushResponse = client.raw().call(&asked.into()).unwrap();
    let took = begun.elapsed();
    assert!(!answer.done && answer.appended.is_empty());
    assert!(took < Duration::from_millis(500), "{took:?}");
    let deadline = Instant::now() + PATIENCE;
    while told(&logs(&root), 1) == 0 {
        assert!(Instant::now() < deadline, "{}", daemon.log());
        std::thread::yield_now();
    }
    // This flush must wait for the flush that is in progress.
    let waited = SessionFlushRequest {
        compact: true,
        ..request(&root, &path)
    };
    let answer: SessionFlushResponse = client.raw().call(&waited.into()).unwrap();
    assert_eq!(answer.messages, 0);
    assert!(!daemon.log().contains("device1"), "memory is not logged");
    assert!(daemon.most_memory() < 400 << 10, "{} KiB", daemon.most_memory());
}

#[test]
fn a_flush_of_a_killed_daemon_is_compared_with_the_log_before_writing() {
    let (scratch, daemon, mut client) = begun();
    let (root, path) = (scratch.workspace(), scratch.beside("session.jsonl"));
    std::fs::write(&path, transcript(0..1)).unwrap();
    flush(&mut client, &root, &path).unwrap();
    daemon.kill();
    let log = root.join("memory/2026-03-02.md");
    let text = std::fs::read_to_string(&log).unwrap();
    let mark = text.lines().last().unwrap().to_owned();
    // Recreate the state after a kill: the daemon has appended a section without recording it, and has not appended
    // to the log of the next day.
    let name = path.canonicalize().unwrap().display().to_string();
    let store = rusqlite::Connection::open(scratch.state("contexts.db")).unwrap();
    store
        .execute(
            "INSERT INTO flushes (row, transcript, begun_ms) VALUES (77, ?1, 0)",
            [&name],
        )
        .unwrap();
    let missing = "## Left over [project]\n\n- request: find me\n\n<!-- flush 00 -->\n";
    for (part, day, text, mark) in [
        (0, "2026-03-02", text.as_str(), mark.as_str()),
        (1, "2026-03-03", missing, "<!-- flush 00 -->"),
    ] {
        store
            .execute(
                "INSERT INTO flush_parts (flush, part, day, text, mark) VALUES (77, ?1, ?2, ?3, ?4)",
                (part, day, text, mark),
            )
            .unwrap();
    }
    drop(store);
    let daemon = scratch.daemon();
    let answer = flush(&mut daemon.client(), &root, &path).unwrap();
    assert_eq!(answer.appended.len(), 1, "{answer:?}");
    assert_eq!(
        (answer.appended[0].topics.as_slice(), answer.messages),
        (&["Left over".to_owned()][..], 0)
    );
    assert_eq!(std::fs::read_to_string(&log).unwrap(), text);
    let other = std::fs::read_to_string(root.join("memory/2026-03-03.md")).unwrap();
    assert_eq!(other, format!("# 2026-03-03\n\n{missing}"));
    assert_eq!(
        flush(&mut daemon.client(), &root, &path).unwrap().appended.len(),
        0
    );
}
