//! Damaged or lost derived files, and a full disk.
//! The daemon reports the problem and rebuilds the derived files from memory.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use hippo_proto::{ErrorKind, SearchRequest, Severity};
use hippod_tests::{Answer, Caller, Daemon, PATIENCE, Scratch, assert_same, program};
use serde_json::json;

pub const QUERIES: [&str; 8] = [
    "blue pump",
    "valve17",
    "who repairs the lantern",
    "harbour ledger",
    "note about the kettle",
    "copper",
    "compass and anchor",
    "decision about hoses",
];

pub fn fill(scratch: &Scratch, files: usize) {
    let things = ["pump", "lantern", "ledger", "kettle", "compass", "hose", "anchor"];
    for number in 0..files {
        let (one, two) = (things[number % 7], things[(number / 7) % 7]);
        scratch.write(
            &format!("memory/{number:03}.md"),
            format!(
                "# Day {number}\n\n- note about the {one} and valve{number}\n- decision: the {two} is blue copper\n\n\
                 ## Harbour\n\nSomebody repairs the {one} beside the {two} in hall {number}.\n"
            ),
        );
    }
}

/// Creates an indexed workspace, stops its daemon normally, and returns the answers of the workspace.
pub fn indexed() -> (Scratch, Vec<Answer>) {
    let scratch = Scratch::new();
    fill(&scratch, 60);
    let daemon = scratch.daemon();
    let mut client = daemon.client();
    client.index(&scratch.workspace());
    let answers = client.answers(&scratch.workspace(), &QUERIES);
    daemon.terminate();
    (scratch, answers)
}

/// Asserts that a search is refused with a hint. The command in the hint must restore the earlier answers.
fn assert_recovers(what: &str, client: &mut Caller, root: &Path, before: &[Answer]) {
    let refusal = client.refusal(SearchRequest::new(root.display().to_string(), "kettle in hall 3"));
    assert_eq!(refusal.data.kind, ErrorKind::Internal, "{what}: {refusal:?}");
    assert!(
        refusal.data.hint.contains("doctor --rebuild"),
        "{what}: {refusal:?}"
    );
    // The refused search reports the damage to the engine, so `status` may show it a moment later.
    let deadline = Instant::now() + PATIENCE;
    let told = loop {
        let told = client.status().workspaces.remove(0);
        if matches!(told.degraded.as_deref(), Some("not-open" | "database-damaged")) {
            break told;
        }
        assert!(Instant::now() < deadline, "{what}: {told:?}");
        std::thread::yield_now();
    };
    assert!(
        told.why.is_some_and(|why| why.contains("doctor --rebuild")),
        "{what}"
    );
    let problems = client.doctor(false).problems;
    assert!(
        problems
            .iter()
            .any(|problem| problem.severity == Severity::Error && problem.fix.contains("doctor --rebuild")),
        "{what}: {problems:?}"
    );
    let rebuilt = client.doctor(true);
    assert!(
        rebuilt
            .checks
            .iter()
            .any(|check| check.id == "rebuild" && check.ok),
        "{what}: {rebuilt:?}"
    );
    client.sync(root);
    assert_same(what, &client.answers(root, &QUERIES), before);
    let problems = client.doctor(false).problems;
    assert!(problems.is_empty(), "{what}: {problems:?}");
}

#[test]
fn a_damaged_database_is_reported_and_rebuilt_from_the_files() {
    let (scratch, before) = indexed();
    let database = scratch.state("index.db");
    for (what, damage) in [
        (
            "half of it",
            (|bytes| bytes.truncate(bytes.len() / 2)) as fn(&mut Vec<u8>),
        ),
        ("the first page", |bytes| bytes.truncate(4096)),
        ("an odd length", |bytes| bytes.truncate(5001)),
        ("a part of the header", |bytes| bytes.truncate(60)),
        ("junk at the beginning", |bytes| bytes[..4096].fill(0xa5)),
        ("junk in the middle", |bytes| {
            let (from, to) = (bytes.len() / 8, bytes.len() * 7 / 8);
            bytes[from..to].fill(0xa5);
        }),
        ("junk", |bytes| *bytes = b"no database at all\n".repeat(2000)),
    ] {
        let mut bytes = std::fs::read(&database).unwrap();
        damage(&mut bytes);
        std::fs::write(&database, bytes).unwrap();
        for log in ["index.db-wal", "index.db-shm"] {
            let _ = std::fs::remove_file(scratch.state(log));
        }
        let daemon = scratch.daemon();
        assert_recovers(what, &mut daemon.client(), &scratch.workspace(), &before);
        daemon.terminate();
        let daemon = scratch.daemon();
        assert_same(
            what,
            &daemon.client().answers(&scratch.workspace(), &QUERIES),
            &before,
        );
        daemon.terminate();
    }
}

#[test]
fn a_database_damaged_under_a_running_daemon_is_rebuilt() {
    let (scratch, before) = indexed();
    let daemon = scratch.daemon();
    let mut client = daemon.client();
    client.sync(&scratch.workspace());
    let database = scratch.state("index.db");
    std::fs::write(&database, b"no database at all\n".repeat(2000)).unwrap();
    assert_recovers("while it runs", &mut client, &scratch.workspace(), &before);
}

#[test]
fn a_damaged_database_wal_loses_nothing() {
    let (scratch, _) = indexed();
    let root = scratch.workspace();
    let log = scratch.state("index.db-wal");
    for (round, (what, damage)) in [
        (
            "truncated",
            (|bytes| bytes.truncate(bytes.len() / 2)) as fn(&mut Vec<u8>),
        ),
        ("a bit flipped", |bytes| {
            let place = bytes.len() / 3;
            bytes[place] ^= 1;
        }),
        ("junk at the beginning", |bytes| bytes[..64].fill(0xa5)),
        ("empty", Vec::clear),
    ]
    .into_iter()
    .enumerate()
    {
        let daemon = scratch.daemon();
        let mut client = daemon.client();
        for file in 0..10 {
            let text = format!("- round {round}: the periscope of hall {file} is copper\n");
            scratch.write(&format!("memory/{:03}.md", round * 10 + file), text);
        }
        client.sync(&root);
        let before = client.answers(&root, &QUERIES);
        daemon.kill();
        let mut bytes = std::fs::read(&log).unwrap();
        assert!(bytes.len() > 4096, "{what}: the log holds the last changes");
        damage(&mut bytes);
        std::fs::write(&log, bytes).unwrap();

        let daemon = scratch.daemon();
        let mut client = daemon.client();
        client.sync(&root);
        assert_same(what, &client.answers(&root, &QUERIES), &before);
        daemon.terminate();
    }
}

#[test]
fn an_empty_or_missing_database_is_rebuilt_and_reported() {
    let (scratch, before) = indexed();
    for missing in [false, true] {
        let database = scratch.state("index.db");
        if missing {
            std::fs::remove_file(&database).unwrap();
        } else {
            std::fs::write(&database, b"").unwrap();
        }
        let daemon = scratch.daemon();
        let mut client = daemon.client();
        client.sync(&scratch.workspace());
        assert_same(
            "made again",
            &client.answers(&scratch.workspace(), &QUERIES),
            &before,
        );
        assert_eq!(
            client.status().workspaces[0].degraded.as_deref(),
            Some("repaired")
        );
        let problems = client.doctor(false).problems;
        let lost = problems.iter().find(|problem| problem.id == "database-lost");
        let lost = lost.unwrap_or_else(|| panic!("missing: {missing}: {problems:?}"));
        assert_eq!(lost.severity, Severity::Warning);
        daemon.terminate();
    }
}

#[test]
fn waiting_clients_are_answered_during_a_rebuild_and_a_removal() {
    let (scratch, before) = indexed();
    let root = scratch.workspace();
    let daemon = scratch.daemon();
    let line = |method: &str, params: serde_json::Value| {
        format!(
            "{}\n",
            json!({"jsonrpc": "2.0", "id": method, "method": method, "params": params})
        )
    };
    let mut raw = daemon.raw();
    for _ in 0..8 {
        let both = line("workspace.sync", json!({"workspace": root, "wait": true}))
            + &line("doctor", json!({"workspace": root, "rebuild": true}));
        assert!(raw.send(both.as_bytes()));
        for _ in 0..2 {
            let answer = raw.line().expect("an answer");
            if answer["id"] == "workspace.sync" {
                assert_eq!(answer["result"]["documents"], 60, "{answer}");
            } else {
                assert!(answer["result"]["checks"].is_array(), "{answer}");
            }
        }
    }
    let mut client = daemon.client();
    client.sync(&root);
    assert_same("rebuilt", &client.answers(&root, &QUERIES), &before);

    scratch.write("memory/new.md", "- something to wait for\n");
    let both = line("workspace.sync", json!({"workspace": root, "wait": true}))
        + &line("workspace.remove", json!({"workspace": root}));
    assert!(raw.send(both.as_bytes()));
    for _ in 0..2 {
        let answer = raw.line().expect("an answer");
        if answer["id"] == "workspace.sync" && answer["result"].is_null() {
            assert_eq!(answer["error"]["data"]["kind"], "no-workspace", "{answer}");
        }
    }
    let error = client.refusal(SearchRequest::new(root.display().to_string(), "pump"));
    assert_eq!(error.data.kind, ErrorKind::NoWorkspace);
}

/// Starts a daemon whose files cannot grow beyond `blocks` blocks of 512 bytes.
fn daemon_without_room(scratch: &Scratch, blocks: u32) -> Daemon {
    let mut command = Command::new("sh");
    command
        .arg("-c")
        .arg(format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" run"))
        .arg(program());
    Daemon::start_as(command, &scratch.home(), &[])
}

#[test]
fn a_daemon_on_a_full_disk_stays_alive_and_answers() {
    let scratch = Scratch::new();
    fill(&scratch, 400);
    // The log file is larger than the limit from the start, so the daemon cannot even write an error to it.
    std::fs::create_dir_all(scratch.home()).unwrap();
    std::fs::write(scratch.home().join("log"), b"an old line\n".repeat(100_000)).unwrap();
    let root = scratch.workspace();
    let mut daemon = daemon_without_room(&scratch, 700);
    let mut client = daemon.client();
    client.add(&root);
    let answer = client.search_until(&root, "valve0", |answer| {
        let word = answer.index.degraded.as_deref();
        matches!(word, Some("disk-full" | "store"))
    });
    assert!(answer.index.why.is_some_and(|why| why.contains("index.db")));
    let best = answer.results.first().expect("what is there answers");
    assert_eq!(best.path, "memory/000.md");
    // The answer to a query shows the problem first, and the status shows it a moment later.
    let deadline = Instant::now() + PATIENCE;
    let workspace = loop {
        let workspace = client.status().workspaces.remove(0);
        if workspace.degraded.is_some() && workspace.why.is_some() {
            break workspace;
        }
        assert!(Instant::now() < deadline, "{workspace:?}");
    };
    assert!(
        workspace.pending > 0 || workspace.documents < 400,
        "{workspace:?}"
    );
    let problems = client.doctor(false).problems;
    assert!(
        problems
            .iter()
            .any(|problem| problem.id == "store" && problem.fix.contains("disk")),
        "{problems:?}"
    );
    assert!(daemon.is_alive());
    daemon.terminate();

    let daemon = scratch.daemon();
    let mut client = daemon.client();
    client.sync(&root);
    let fresh = scratch.fresh_daemon("fresh");
    let mut fresh_client = fresh.client();
    fresh_client.index(&root);
    let statuses = [client.status(), fresh_client.status()];
    let [kept, made] = statuses.map(|status| (status.workspaces[0].documents, status.workspaces[0].embedded));
    assert_eq!(kept, made);
    assert_same(
        "with room again",
        &client.answers(&root, &QUERIES),
        &fresh_client.answers(&root, &QUERIES),
    );
}
