//! Hooks of a harness: their exit codes, run times and effects.

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use hippo_proto::{ContextOpenRequest, ContextOpenResponse};
use hippod_tests::{Clocked, Daemon, PATIENCE, Scratch, client_program};
use serde_json::{Value, json};

use crate::flush_again::wait_until_closed;
use crate::tree::{NOW, compact, fill};

/// Maximum run time of a hook on a machine that also runs other work.
const SOON: Duration = Duration::from_secs(8);

fn hook(home: &Path, cwd: &Path, words: &[&str]) -> Child {
    Command::new(client_program())
        .arg("hook")
        .args(words)
        .env("HIPPOD_HOME", home)
        .env("HIPPOD_EMBED_MODEL", "hash")
        .env_remove("CLAUDE_PROJECT_DIR")
        .current_dir(cwd)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("hippoctl runs")
}

/// Runs a hook with this event. Asserts that the hook exits with code 0 within [`SOON`].
pub(super) fn run(home: &Path, cwd: &Path, words: &[&str], event: &[u8]) -> Output {
    let begun = Instant::now();
    let mut child = hook(home, cwd, words);
    // The write fails if the hook closes its input before it has read the whole event.
    let _ = child.stdin.take().unwrap().write_all(event);
    let output = child.wait_with_output().unwrap();
    let took = begun.elapsed();
    assert_eq!(output.status.code(), Some(0), "{words:?}: {output:?}");
    assert!(took < SOON, "{words:?}: {took:?}");
    output
}

fn event(session: &str, transcript: &Path, cwd: &Path) -> Value {
    json!({"session_id": session, "transcript_path": transcript, "cwd": cwd, "hook_event_name": "PreCompact", "trigger": "auto"})
}

fn session(marker: &str) -> String {
    let user = json!({"type": "user", "uuid": "1", "timestamp": "2026-03-02T09:00:00Z",
        "message": {"role": "user", "content": format!("Please look after the {marker} of the greenhouse")}});
    let agent = json!({"type": "assistant", "uuid": "2", "timestamp": "2026-03-02T09:01:00Z",
        "message": {"role": "assistant", "content": format!("The {marker} is fixed, and all tests pass.")}});
    format!("{user}\n{agent}\n")
}

/// Waits until the log of the transcript's day contains the text.
fn told(root: &Path, text: &str) {
    let log = root.join("memory/2026-03-02.md");
    let deadline = Instant::now() + PATIENCE;
    while !std::fs::read_to_string(&log).unwrap_or_default().contains(text) {
        assert!(Instant::now() < deadline, "{text} is not in the log");
        std::thread::yield_now();
    }
}

pub(super) fn begun() -> (Scratch, Daemon) {
    let scratch = Scratch::new();
    scratch.write(
        "memory/ROOT.md",
        "---\ntype: root\n---\n# Root\n\n- pumps [project, 3d]: blue\n",
    );
    let daemon = scratch.daemon();
    daemon.client().index(&scratch.workspace());
    (scratch, daemon)
}

#[test]
fn session_start_shows_the_root_and_session_end_writes_the_log() {
    let (scratch, daemon) = begun();
    let (home, root) = (scratch.home(), scratch.workspace());
    let path = scratch.beside("session.jsonl");
    std::fs::write(&path, session("valve")).unwrap();
    let event = |session: &str| event(session, &path, &root).to_string();
    let start = run(&home, Path::new("/"), &["session-start"], event("s").as_bytes());
    let shown = String::from_utf8(start.stdout).unwrap();
    assert!(shown.starts_with("<!-- hippod: context -->\n"), "{shown}");
    assert!(
        shown.contains("- pumps [project, 3d]: blue\n") && shown.ends_with("<!-- /hippod -->\n"),
        "{shown}"
    );
    let small = run(&home, &root, &["session-start", "--budget", "20"], b"");
    assert_eq!(small.stdout, b"");

    let none = run(&home, Path::new("/"), &["pre-compact"], event("s").as_bytes());
    assert_eq!((none.stdout, none.stderr), (vec![], vec![]));
    told(&root, "- request: Please look after the valve of the greenhouse");
    std::fs::write(&path, session("valve") + &session("window")).unwrap();
    run(&home, &root, &["task-completed"], event("s").as_bytes());
    told(&root, "- request: Please look after the window of the greenhouse");

    let mut client = daemon.client();
    let open = ContextOpenRequest {
        workspace: root.display().to_string(),
        agent: None,
        session: Some("s-of-harness".to_owned()),
    };
    let _: ContextOpenResponse = client.raw().call(&open.into()).unwrap();
    std::fs::write(&path, session("valve") + &session("window") + &session("hose")).unwrap();
    run(&home, &root, &["session-end"], event("s-of-harness").as_bytes());
    told(&root, "- request: Please look after the hose of the greenhouse");
    wait_until_closed(&mut client, "s-of-harness");
    run(&home, &root, &["session-end"], event("never-opened").as_bytes());
    assert!(!home.join("state/hooks.log").exists(), "nothing went wrong");
}

#[test]
fn the_installed_hook_shows_work_pending_for_the_agent() {
    let scratch = Scratch::new();
    fill(&scratch);
    let (home, root) = (scratch.home(), scratch.workspace());
    let daemon = Clocked::start(&scratch, NOW, &[("HIPPOD_TREE_SUMMARIES", "agent")]);
    let mut client = daemon.client();
    client.index(&root);
    compact(&mut client, &root);
    let init = Command::new(client_program())
        .args(["init", "--platform", "claude-code"])
        .env("HIPPOD_HOME", &home)
        .current_dir(&root)
        .output()
        .unwrap();
    assert!(init.status.success(), "{init:?}");
    let settings = std::fs::read(root.join(".claude/settings.json")).unwrap();
    let settings: Value = serde_json::from_slice(&settings).unwrap();
    let command = &settings["hooks"]["SessionStart"][0]["hooks"][0]["command"];
    let words: Vec<&str> = command.as_str().unwrap().split(' ').skip(2).collect();
    // Repeat the hook, because the daemon may be busy for longer than the hook waits.
    let deadline = Instant::now() + PATIENCE;
    loop {
        let shown = String::from_utf8(run(&home, &root, &words, b"").stdout).unwrap();
        if shown.contains("- pending (summaries-wanted): ") {
            return;
        }
        assert!(Instant::now() < deadline, "{words:?}: {shown}");
    }
}

#[test]
fn a_daemon_that_cannot_start_delays_only_the_first_hook() {
    let scratch = Scratch::new();
    let (home, root) = (scratch.home(), scratch.workspace());
    std::fs::create_dir_all(&home).unwrap();
    std::fs::write(home.join("config.toml"), "this is no setting").unwrap();
    let event = event("s", &scratch.beside("nowhere.jsonl"), &root).to_string();
    // Determine the path of the client now, because this runs cargo and takes time.
    client_program();
    let took = |name: &str| {
        let begun = Instant::now();
        run(&home, &root, &[name], event.as_bytes());
        begun.elapsed()
    };
    let words = || {
        std::fs::read(home.join("state/hippod.log"))
            .unwrap_or_default()
            .len()
    };
    let first = took("pre-compact");
    assert!(first < Duration::from_millis(1_500), "{first:?}");
    let (said, log) = (
        words(),
        std::fs::read_to_string(home.join("state/hooks.log")).unwrap(),
    );
    assert!(log.contains("ended early") && !log.contains("timed out"), "{log}");
    let second = took("session-end");
    assert!(
        second < first && words() == said,
        "{second:?}: it was started again"
    );
}

#[test]
fn a_hook_exits_with_0_for_any_input() {
    let (scratch, _daemon) = begun();
    let (home, root) = (scratch.home(), scratch.workspace());
    let missing = event("s", &scratch.beside("nowhere.jsonl"), &root).to_string();
    let huge = format!("{{\"session_id\":\"{}\"", "x".repeat(6 << 20));
    let junk: [&[u8]; 8] = [
        b"",
        b"{",
        b"[1,2]",
        b"null",
        b"\xff\x00\xfe{{{",
        b"{\"transcript_path\":7}",
        missing.as_bytes(),
        huge.as_bytes(),
    ];
    for event in junk {
        for name in ["session-start", "pre-compact", "task-completed", "session-end"] {
            run(&home, &root, &[name], event);
        }
    }
    for words in [
        &["pre-compcat"][..],
        &[],
        &["pre-compact", "--bogus"],
        &["session-start", "--budget", "0"],
    ] {
        run(&home, &root, words, b"{}");
    }
    let log = std::fs::read_to_string(home.join("state/hooks.log")).unwrap();
    assert!(
        log.contains(" pre-compact: there is no transcript: the event is not valid JSON\n"),
        "{log}"
    );
    assert!(log.contains("longer than 1 MiB"), "{log}");
    let shown = Command::new(client_program())
        .args(["service", "logs", "--hooks"])
        .env("HIPPOD_HOME", &home)
        .output()
        .unwrap();
    let shown = String::from_utf8(shown.stdout).unwrap();
    for line in shown.lines() {
        let (at, rest) = line.split_once(' ').unwrap();
        assert!(at.parse::<jiff::Timestamp>().is_ok(), "{line}");
        assert!(rest.starts_with(" WARN ") && log.contains(rest), "{line}");
    }
    assert!(shown.contains("longer than 1 MiB"), "{shown}");
    // The first folder is not registered, and the second folder does not exist.
    let other = scratch.beside("other");
    std::fs::create_dir(&other).unwrap();
    let path = scratch.beside("session.jsonl");
    std::fs::write(&path, session("secretplan")).unwrap();
    for folder in [&other, &scratch.beside("gone")] {
        run(
            &home,
            &other,
            &["pre-compact"],
            event("s", &path, folder).to_string().as_bytes(),
        );
    }
    let log = std::fs::read_to_string(home.join("state/hooks.log")).unwrap();
    assert!(log.contains("could not find a workspace"), "{log}");
    assert!(!log.contains("secretplan"), "{log}");
    std::fs::remove_file(&path).unwrap();
    let gone = event("s", &path, &other).to_string();
    run(&home, &other, &["pre-compact"], gone.as_bytes());
    let log = std::fs::read_to_string(home.join("state/hooks.log")).unwrap();
    let named = format!(
        " pre-compact: the transcript does not exist: {}\n",
        path.display()
    );
    assert!(log.contains(&named), "{log}");
}

#[test]
fn a_hook_does_not_wait_for_an_input_that_stays_open() {
    let (scratch, _daemon) = begun();
    let (home, root) = (scratch.home(), scratch.workspace());
    let path = scratch.beside("session.jsonl");
    std::fs::write(&path, session("gate")).unwrap();
    for (name, event) in [
        ("pre-compact", event("s", &path, &root).to_string()),
        ("session-start", String::new()),
        ("session-end", "{\"session_id\":".to_owned()),
    ] {
        let begun = Instant::now();
        let mut child = hook(&home, &root, &[name]);
        let mut input = child.stdin.take().unwrap();
        input.write_all(event.as_bytes()).unwrap();
        let mut shown = String::new();
        child.stdout.take().unwrap().read_to_string(&mut shown).unwrap();
        assert!(child.wait().unwrap().success());
        assert!(begun.elapsed() < SOON, "{name}: {:?}", begun.elapsed());
        drop(input);
    }
    told(&root, "- request: Please look after the gate of the greenhouse");
}

#[test]
fn a_hook_starts_a_missing_daemon_and_leaves_a_hanging_one() {
    let (scratch, daemon) = begun();
    let (home, root) = (scratch.home(), scratch.workspace());
    let path = scratch.beside("session.jsonl");
    std::fs::write(&path, session("lamp")).unwrap();
    daemon.kill();
    let event = event("s", &path, &root).to_string();
    run(&home, &root, &["--no-start", "pre-compact"], event.as_bytes());
    let log = std::fs::read_to_string(home.join("state/hooks.log")).unwrap();
    assert!(log.contains("could not connect"), "{log}");
    run(&home, &root, &["pre-compact"], event.as_bytes());
    told(&root, "- request: Please look after the lamp of the greenhouse");
    let stop = Command::new(client_program())
        .args(["service", "stop"])
        .env("HIPPOD_HOME", &home)
        .output()
        .unwrap();
    assert!(stop.status.success(), "{stop:?}");

    // This process listens on the socket but never answers.
    let socket = scratch.beside("deaf.sock");
    let _deaf = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    let words = ["--socket", socket.to_str().unwrap(), "pre-compact"];
    run(&home, &root, &words, event.as_bytes());
    let log = std::fs::read_to_string(home.join("state/hooks.log")).unwrap();
    assert!(
        log.contains("timed out after") || log.contains("did not answer"),
        "{log}"
    );
    let words = ["--socket", socket.to_str().unwrap(), "session-start"];
    let shown = run(&home, &root, &words, event.as_bytes());
    assert!(!shown.stdout.is_empty(), "the root needs no daemon");
}

#[test]
fn transcripts_that_no_hook_saw_are_ingested_once() {
    let (scratch, _daemon) = begun();
    let (home, root) = (scratch.home(), scratch.workspace());
    let folder = scratch.beside("sessions");
    std::fs::create_dir_all(folder.join("below")).unwrap();
    std::fs::write(folder.join("one.jsonl"), session("chair")).unwrap();
    std::fs::write(
        folder.join("below/two.jsonl"),
        session("table") + "no json\n" + &session("shelf"),
    )
    .unwrap();
    std::fs::write(folder.join("notes.txt"), "no transcript").unwrap();
    let ingest = |arguments: &[&Path]| {
        Command::new(client_program())
            .args(["--json", "--workspace"])
            .arg(&root)
            .arg("ingest")
            .args(arguments)
            .env("HIPPOD_HOME", &home)
            .output()
            .unwrap()
    };
    let first = ingest(&[&folder]);
    assert!(first.status.success(), "{first:?}");
    let done: Value = serde_json::from_slice(&first.stdout).unwrap();
    assert_eq!(done.as_array().unwrap().len(), 2);
    assert_eq!(done[0]["messages"], 2);
    assert_eq!(
        (&done[1]["messages"], &done[1]["malformed"]),
        (&json!(4), &json!(1))
    );
    let log = root.join("memory/2026-03-02.md");
    let text = std::fs::read_to_string(&log).unwrap();
    for what in ["chair", "table", "shelf"] {
        assert_eq!(
            text.matches(&format!("- request: Please look after the {what} "))
                .count(),
            1,
            "{text}"
        );
    }
    let again = ingest(&[&folder, &folder.join("one.jsonl")]);
    let done: Value = serde_json::from_slice(&again.stdout).unwrap();
    assert!(
        done.as_array().unwrap().iter().all(|one| one["messages"] == 0),
        "{done}"
    );
    assert_eq!(std::fs::read_to_string(&log).unwrap(), text);
    let failed = ingest(&[&folder.join("one.jsonl"), &scratch.beside("nowhere.jsonl")]);
    assert_eq!(failed.status.code(), Some(1), "{failed:?}");
}

#[test]
fn a_killed_hook_loses_nothing_and_the_next_one_completes_its_work() {
    let (scratch, _daemon) = begun();
    let (home, root) = (scratch.home(), scratch.workspace());
    let path = scratch.beside("session.jsonl");
    std::fs::write(&path, session("valve")).unwrap();
    let event = event("s", &path, &root).to_string();
    for round in 0..8 {
        let mut child = hook(&home, &root, &["pre-compact"]);
        let mut input = child.stdin.take().unwrap();
        // The kills are spread from before the first byte of the event until after the last byte.
        let _ = input.write_all(&event.as_bytes()[..event.len() * round / 7]);
        child.kill().unwrap();
        child.wait().unwrap();
    }
    run(&home, &root, &["pre-compact"], event.as_bytes());
    told(&root, "- request: Please look after the valve of the greenhouse");
    std::fs::write(&path, session("valve") + &session("window")).unwrap();
    run(&home, &root, &["session-end"], event.as_bytes());
    told(&root, "- request: Please look after the window of the greenhouse");
    let log = std::fs::read_to_string(root.join("memory/2026-03-02.md")).unwrap();
    for marker in ["valve", "window"] {
        let request = format!("- request: Please look after the {marker} of the greenhouse");
        assert_eq!(log.matches(&request).count(), 1, "{log}");
    }
}
