//! Temporary files of backups and restores, and their removal.

use std::fs;
use std::time::Instant;

use hippo_proto::{BackupRequest, ErrorKind, Id, Request, RestoreRequest};
use hippod_tests::{PATIENCE, Scratch, begun};

use crate::backup::{backup, restore, shown};
use crate::backup_crash::{kill_in_the_middle, size};
use crate::backup_odd::made;

#[test]
fn leftovers_of_a_killed_backup_are_removed_at_the_next_start() {
    let (scratch, mut daemon, client) = begun();
    drop(client);
    let large = "an old line\n".repeat(2_000_000);
    scratch.write(".hippocampus/archive/large.md", large);
    let disk = scratch.beside("disk");
    fs::create_dir(&disk).unwrap();
    let mut was_left = false;
    for day in 0..20 {
        let file = disk.join(format!("{day}.tar.zst"));
        let partial = disk.join(format!(".{day}.tar.zst.partial"));
        let request = Request::from(BackupRequest {
            to: shown(&file),
            ..BackupRequest::default()
        });
        kill_in_the_middle(daemon, &request, || file.exists() || partial.join("out").exists());
        was_left |= partial.exists();
        daemon = scratch.quiet_daemon();
        // A starting daemon first listens and then cleans up. It answers only after that.
        daemon.client().status();
        assert!(!partial.exists(), "of day {day}");
        if was_left {
            return;
        }
    }
    panic!("no backup was killed in its middle");
}

#[test]
fn a_foreign_folder_with_a_temporary_name_is_kept() {
    let (scratch, _daemon, mut client, sound) = made();
    let names = [".into.restoring", ".b.tar.zst.partial"].map(|name| scratch.beside(name).join("diary.md"));
    for name in &names {
        fs::create_dir(name.parent().unwrap()).unwrap();
        fs::write(name, "mine").unwrap();
    }
    let refusal = restore(&mut client, &sound, Some(&scratch.beside("into"))).unwrap_err();
    assert_eq!(refusal.data.kind, ErrorKind::Conflict, "{refusal:?}");
    let refusal = backup(&mut client, &scratch.beside("b.tar.zst")).unwrap_err();
    assert_eq!(refusal.data.kind, ErrorKind::Conflict, "{refusal:?}");
    for name in &names {
        assert_eq!(fs::read(name).unwrap(), b"mine");
    }
}

/// Waits until the restore has ended. At its end, a restore removes the file `restoring.json`.
fn settled(scratch: &Scratch) -> bool {
    let note = scratch.home().join("state/restoring.json");
    let deadline = Instant::now() + PATIENCE;
    while note.exists() && Instant::now() < deadline {
        std::thread::yield_now();
    }
    !note.exists()
}

#[test]
fn a_restore_whose_client_disconnects_at_the_end_leaves_nothing() {
    let (scratch, daemon, mut client) = begun();
    scratch.write(".hippocampus/archive/large.md", "an old line\n".repeat(200_000));
    client.sync(&scratch.workspace());
    let sound = scratch.beside("sound.tar.zst");
    backup(&mut client, &sound).unwrap();
    let states = scratch.home().join("state/workspaces");
    for round in 0..12 {
        let into = scratch.beside(&format!("into-{round}"));
        let staged = scratch.beside(&format!(".into-{round}.restoring"));
        let request = Request::from(RestoreRequest {
            from: shown(&sound),
            into: Some(shown(&into)),
            ..RestoreRequest::default()
        });
        let mut raw = daemon.raw();
        assert!(raw.send(&request.to_line(&Id::from(1)).unwrap()));
        let deadline = Instant::now() + PATIENCE;
        // A restore writes the databases last, and checks them afterwards.
        let is_near_the_end = || {
            let folders = fs::read_dir(&states).unwrap().flatten();
            let ready = folders.filter(|folder| folder.file_name().to_string_lossy().ends_with(".restoring"));
            ready
                .map(|folder| folder.path().join("index.db"))
                .any(|file| size(&file) > 0)
        };
        while !into.exists() && !is_near_the_end() {
            assert!(Instant::now() < deadline, "never begun: {}", daemon.log());
            std::hint::spin_loop();
        }
        drop(raw);
        assert!(settled(&scratch), "round {round}: nobody clears it");
        assert!(!staged.exists(), "round {round}");
    }
}
