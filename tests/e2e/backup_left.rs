//! What do backups and restores leave, and who removes it?

use std::fs;
use std::path::Path;
use std::time::Instant;

use hippo_proto::{
    BackupRequest, DoctorRequest, DoctorResponse, ErrorKind, Id, Request, RestoreRequest, RestoreResponse,
    WorkspaceRemoveRequest, WorkspaceRemoveResponse,
};
use hippod_tests::{Caller, PATIENCE, Scratch, begun};
use serde_json::json;

use crate::backup::{backup, refused, restore, shown};
use crate::backup_crash::{kill_in_the_middle, size};
use crate::backup_odd::made;

fn examined(client: &mut Caller, fix: bool) -> DoctorResponse {
    let request = DoctorRequest {
        fix,
        ..DoctorRequest::default()
    };
    client.raw().call(&request.into()).unwrap()
}

/// Where problems of this kind are.
fn places(client: &mut Caller, id: &str) -> Vec<String> {
    let problems = examined(client, false).problems;
    let of = problems.into_iter().filter(|problem| problem.id == id);
    of.map(|problem| problem.where_).collect()
}

#[test]
fn what_a_kill_left_of_a_dated_backup_goes_with_the_next_start() {
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
        // It listens first, then clears, and answers after that.
        daemon.client().status();
        assert!(!partial.exists(), "of day {day}");
        if was_left {
            return;
        }
    }
    panic!("no backup was killed in its middle");
}

#[test]
fn doctor_tells_of_what_is_half_done_and_removes_it() {
    let (scratch, _daemon, mut client, sound) = made();
    let state = scratch.home().join("state");
    let partial = scratch.beside(".b.tar.zst.partial");
    fs::create_dir(&partial).unwrap();
    fs::write(partial.join("out"), "half").unwrap();
    fs::write(state.join("backing-up.json"), json!([partial]).to_string()).unwrap();
    let (root, home) = (scratch.beside("into"), state.join("workspaces/0123456789abcdef"));
    let staged = scratch.beside(".into.restoring");
    fs::create_dir(&staged).unwrap();
    let note = json!([{
        "root": root, "was": "/w", "home": home, "files": staged,
        "state": state.join("workspaces/0123456789abcdef.restoring"),
        "files_aside": scratch.beside("x"), "state_aside": scratch.beside("y"),
        "files_in_it": 0, "is_aside": false, "is_sealed": false,
    }]);
    fs::write(state.join("restoring.json"), note.to_string()).unwrap();
    assert_eq!(places(&mut client, "partial-backup"), [shown(&partial)]);
    assert_eq!(
        places(&mut client, "restore-left"),
        [shown(&state.join("restoring.json"))]
    );
    let done = examined(&mut client, true);
    assert!(
        done.fixed.iter().all(|fixed| fixed.failed.is_none()),
        "{:?}",
        done.fixed
    );
    assert!(!partial.exists() && !staged.exists() && !state.join("restoring.json").exists());
    assert!(
        places(&mut client, "partial-backup").is_empty() && places(&mut client, "restore-left").is_empty()
    );
    // A note that nobody can read is in the way of each restore.
    fs::write(state.join("restoring.json"), "{").unwrap();
    let told = examined(&mut client, true).problems;
    let told = told.iter().find(|problem| problem.id == "restore-left").unwrap();
    assert!(told.fix.contains("move it away") && !told.fixable, "{told:?}");
    restore(&mut client, &sound, Some(&root)).unwrap_err();
}

#[test]
fn what_stood_there_before_is_told_of_and_goes_when_it_is_asked_for() {
    let (scratch, _daemon, mut client, sound) = made();
    let root = scratch.workspace();
    scratch.write("main.c", "mine");
    let request = RestoreRequest {
        from: shown(&sound),
        aside: true,
        ..RestoreRequest::default()
    };
    let answer: RestoreResponse = refused(&mut client, request.into()).unwrap();
    let mut aside = answer.workspaces[0].aside.clone();
    let mut told = places(&mut client, "before-restore");
    aside.sort();
    told.sort();
    assert_eq!(told, aside);
    let problems = examined(&mut client, false).problems;
    let told: Vec<_> = problems
        .iter()
        .filter(|problem| problem.id == "before-restore")
        .collect();
    assert!(
        told.iter()
            .all(|told| told.what.contains(" kB") && told.fix.contains("rm -r")),
        "{told:?}"
    );
    let removed = |client: &mut Caller, purge| -> WorkspaceRemoveResponse {
        let workspace = shown(&root);
        client
            .raw()
            .call(
                &WorkspaceRemoveRequest {
                    workspace,
                    purge,
                    ..WorkspaceRemoveRequest::default()
                }
                .into(),
            )
            .unwrap()
    };
    removed(&mut client, false);
    assert!(aside.iter().all(|aside| Path::new(aside).is_dir()));
    removed(&mut client, true);
    let state = scratch.home().join("state");
    for aside in &aside {
        assert_eq!(
            Path::new(aside).exists(),
            !Path::new(aside).starts_with(&state),
            "{aside}"
        );
    }
    let mine = aside
        .iter()
        .map(|aside| Path::new(aside).join("main.c"))
        .find(|file| file.exists());
    assert!(mine.is_some(), "what people have stays");
}

#[test]
fn a_folder_that_has_the_name_of_ours_by_chance_stays() {
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

/// Waits until a note of a restore is gone: whoever is at it has ended.
fn settled(scratch: &Scratch) -> bool {
    let note = scratch.home().join("state/restoring.json");
    let deadline = Instant::now() + PATIENCE;
    while note.exists() && Instant::now() < deadline {
        std::thread::yield_now();
    }
    !note.exists()
}

#[test]
fn a_client_that_goes_at_the_end_of_a_restore_leaves_nothing() {
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
        // The databases are the last of it that is written, and looked at after that.
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
