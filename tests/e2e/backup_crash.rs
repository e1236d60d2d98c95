//! Kills during backups and restores, and writes during backups.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use hippo_proto::{BackupRequest, Id, Request, RestoreRequest};
use hippod_tests::{Daemon, PATIENCE, QUIET, Scratch, begun};

use crate::backup::{assert_knows, backup, known, restore, used, verify};

/// Sends a request, waits until `begun` returns `true`, and kills the daemon.
pub(super) fn kill_in_the_middle(daemon: Daemon, request: &Request, begun: impl Fn() -> bool) {
    let mut raw = daemon.raw();
    assert!(raw.send(&request.to_line(&Id::from(1)).unwrap()));
    let deadline = Instant::now() + PATIENCE;
    while !begun() {
        assert!(Instant::now() < deadline, "never begun: {}", daemon.log());
        std::hint::spin_loop();
    }
    daemon.kill();
}

pub(super) fn size(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |metadata| metadata.len())
}

#[test]
fn a_killed_backup_or_restore_leaves_no_partial_result() {
    let (scratch, daemon, mut client, ids, forgotten) = used();
    let root = scratch.workspace();
    let before = known(&mut client, &root, &ids, &forgotten);
    drop(client);
    let mut daemon = daemon;
    let file = scratch.beside("memory.tar.zst");
    let partial = scratch.beside(".memory.tar.zst.partial");
    let request = Request::from(BackupRequest {
        to: file.display().to_string(),
        ..BackupRequest::default()
    });
    for step in 0..4 {
        let begun = || match step {
            // The backup may already be complete when this check runs.
            _ if file.exists() => true,
            0 => partial.exists(),
            1 => partial.join("out").exists(),
            2 => size(&partial.join("index")) > 0,
            _ => size(&partial.join("out")) > 1000,
        };
        kill_in_the_middle(daemon, &request, begun);
        daemon = scratch.quiet_daemon();
        let mut client = daemon.client();
        if file.exists() {
            verify(&mut client, &file).unwrap();
            std::fs::remove_file(&file).unwrap();
        }
        backup(&mut client, &file).unwrap();
        verify(&mut client, &file).unwrap();
        assert!(!partial.exists(), "step {step}");
        std::fs::remove_file(&file).unwrap();
    }
    backup(&mut daemon.client(), &file).unwrap();

    let into = scratch.beside("into");
    let staged = scratch.beside(".into.restoring");
    let other = scratch.beside("other");
    let request = Request::from(RestoreRequest {
        from: file.display().to_string(),
        into: Some(into.display().to_string()),
        ..RestoreRequest::default()
    });
    for step in 0..4 {
        let daemon = Daemon::start(&other, &QUIET);
        let states = other.join("state/workspaces");
        let index_is_there = || {
            let folders = std::fs::read_dir(&states).into_iter().flatten().flatten();
            folders
                .map(|folder| folder.path().join("index.db"))
                .any(|index| size(&index) > 0)
        };
        kill_in_the_middle(daemon, &request, || match step {
            _ if into.exists() => true,
            0 => other.join("state/restoring.json").exists(),
            1 => staged.exists(),
            2 => index_is_there(),
            _ => false,
        });
        let daemon = Daemon::start(&other, &QUIET);
        let mut client = daemon.client();
        // The daemon cleans up at its start, and answers only after that.
        let registered = client.status().workspaces.len();
        assert!(
            !staged.exists() && !other.join("state/restoring.json").exists(),
            "step {step}"
        );
        assert_eq!(
            registered,
            usize::from(into.exists()),
            "step {step}: whole or not at all"
        );
        if !into.exists() {
            restore(&mut client, &file, Some(&into)).unwrap();
        }
        assert_knows(&format!("step {step}"), &mut client, &into, &before);
        daemon.kill();
        std::fs::remove_dir_all(&other).unwrap();
        std::fs::remove_dir_all(&into).unwrap();
    }
}

#[test]
fn a_backup_contains_every_write_acknowledged_before_it() {
    let (scratch, daemon, mut client) = begun();
    let root = scratch.workspace();
    let stop = Arc::new(AtomicBool::new(false));
    let writer = {
        let (stop, mut client, root) = (Arc::clone(&stop), daemon.client(), root.clone());
        std::thread::spawn(move || {
            let mut number = 0;
            while !stop.load(Ordering::Relaxed) {
                number += 1;
                client.remember(&root, &format!("the written{number} lantern"), "Lanterns");
                client.search(&root, "lantern");
            }
            number
        })
    };
    for round in 0..5 {
        let text = format!("the acknowledged{round} anchor of the harbour");
        client.remember(&root, &text, "Anchors");
        let file = scratch.beside(&format!("{round}.tar.zst"));
        backup(&mut client, &file).unwrap();
        let other = Daemon::start(&scratch.beside(&format!("other-{round}")), &QUIET);
        let mut there = other.client();
        let into = scratch.beside(&format!("into-{round}"));
        restore(&mut there, &file, Some(&into)).unwrap();
        there.sync(&into);
        for earlier in 0..=round {
            let found = there
                .ask(&into, &format!("acknowledged{earlier} anchor"), false)
                .results;
            assert!(
                found[0].text.contains(&format!("acknowledged{earlier}")),
                "{found:?}"
            );
        }
        let log = |root: &Path| {
            let logs = std::fs::read_dir(root.join("memory")).unwrap().flatten();
            let logs = logs.map(|log| std::fs::read_to_string(log.path()).unwrap());
            logs.collect::<String>()
        };
        // The backup may lack a text that was written during the backup. Its entries must still match its log.
        assert!(there.doctor(false).problems.is_empty());
        assert!(log(&into).contains(&text));
    }
    stop.store(true, Ordering::Relaxed);
    assert!(writer.join().unwrap() > 1, "it was written all the while");
}

#[test]
fn a_second_concurrent_backup_waits() {
    let scratch = Scratch::new();
    scratch.write("memory/2026-03-02.md", "- the lantern is green\n");
    scratch.write(".hippocampus/archive/large.md", "an old line\n".repeat(2_000_000));
    let daemon = scratch.daemon();
    let mut client = daemon.client();
    client.index(&scratch.workspace());
    let line = |id: u64, name: &str| {
        let request = Request::from(BackupRequest {
            to: scratch.beside(name).display().to_string(),
            ..BackupRequest::default()
        });
        request.to_line(&Id::from(id)).unwrap()
    };
    let mut raw = daemon.raw();
    assert!(raw.send(&[line(1, "a.tar.zst"), line(2, "b.tar.zst")].concat()));
    let mut answers = Vec::new();
    while answers.len() < 2 {
        answers.extend(raw.line().filter(|line| line["method"].is_null()));
    }
    for answer in &answers {
        assert!(answer["result"].is_object(), "the second waits: {answer}");
    }
    for name in ["a.tar.zst", "b.tar.zst"] {
        verify(&mut client, &scratch.beside(name)).unwrap();
    }
}
