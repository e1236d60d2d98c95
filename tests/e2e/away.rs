//! Folders that disappear and return: a workspace root, and many files at once.

use std::path::{Path, PathBuf};
use std::time::Instant;

use hippo_proto::{
    ErrorKind, IndexForgetRequest, IndexForgetResponse, RememberRequest, RememberResponse, RpcError,
    WorkspaceStatus,
};
use hippod_tests::{Caller, Daemon, PATIENCE, QUIET, Scratch};

use super::model::{REAL, with_model};

/// Starts a daemon that reconciles the disk once a day.
fn daemon(scratch: &Scratch) -> Daemon {
    let settings = [&QUIET[..], &[("HIPPOD_WATCH_RECONCILE_SECS", "86400")]].concat();
    Daemon::start(&scratch.home(), &settings)
}

fn fill(scratch: &Scratch, files: usize) -> Vec<PathBuf> {
    let paths = (0..files).map(|number| {
        let name = format!("knowledge/{number}.md");
        scratch.write(
            &name,
            format!("# Valve {number}\n\nThe valve{number} is in hall {number}.\n"),
        );
        scratch.workspace().join(name)
    });
    paths.collect()
}

fn remember(client: &mut Caller, root: &Path, text: &str) -> Result<RememberResponse, RpcError> {
    let request = RememberRequest {
        workspace: root.display().to_string(),
        text: text.to_owned(),
        ..RememberRequest::default()
    };
    match client.raw().call(&request.into()) {
        Ok(answer) => Ok(answer),
        Err(hippo_proto::ClientError::Refused(error)) => Err(error),
        Err(error) => panic!("{error}"),
    }
}

/// Moves the root away, and waits until the daemon notices that the root is missing.
fn take_away(client: &mut Caller, root: &Path, away: &Path) {
    std::fs::rename(root, away).unwrap();
    assert!(client.sync(root).notes[0].contains("is missing or empty"));
    assert!(!client.status().workspaces[0].root_present);
    let refused = remember(client, root, "Nobody reads this.").unwrap_err();
    assert_eq!(refused.data.kind, ErrorKind::Warming, "{refused:?}");
}

#[test]
fn a_returned_root_is_used_by_the_next_request() {
    let scratch = Scratch::new();
    fill(&scratch, 20);
    let daemon = daemon(&scratch);
    let mut client = daemon.client();
    client.index(&scratch.workspace());
    let (root, away) = (
        scratch.workspace().canonicalize().unwrap(),
        scratch.beside("away"),
    );
    for round in 0..3 {
        take_away(&mut client, &root, &away);
        std::fs::rename(&away, &root).unwrap();
        remember(&mut client, &root, &format!("The lantern {round} is green.")).unwrap();

        take_away(&mut client, &root, &away);
        std::fs::rename(&away, &root).unwrap();
        assert_eq!(client.best(&root, "valve3").as_deref(), Some("knowledge/3.md:3"));

        take_away(&mut client, &root, &away);
        std::fs::rename(&away, &root).unwrap();
        assert!(client.sync(&root).notes.is_empty());

        let id = client.listed(&root, false, None).entries[0].id.clone();
        take_away(&mut client, &root, &away);
        std::fs::rename(&away, &root).unwrap();
        let request = IndexForgetRequest {
            workspace: root.display().to_string(),
            id,
        };
        let _: IndexForgetResponse = client.raw().call(&request.into()).unwrap();
    }
    let status = client.status();
    assert_eq!(
        (
            status.workspaces[0].documents,
            status.workspaces[0].held_deletions
        ),
        (21, 0)
    );
}

#[test]
fn an_empty_mount_point_counts_as_a_missing_root() {
    let scratch = Scratch::new();
    fill(&scratch, 3);
    let daemon = daemon(&scratch);
    let mut client = daemon.client();
    client.index(&scratch.workspace());
    let (root, away) = (
        scratch.workspace().canonicalize().unwrap(),
        scratch.beside("away"),
    );
    take_away(&mut client, &root, &away);
    std::fs::create_dir(&root).unwrap();
    let refused = remember(&mut client, &root, "Nobody reads this.").unwrap_err();
    assert_eq!(refused.data.kind, ErrorKind::Warming, "{refused:?}");
    assert_eq!(std::fs::read_dir(&root).unwrap().count(), 0);
    std::fs::remove_dir(&root).unwrap();
    std::fs::rename(&away, &root).unwrap();
    remember(&mut client, &root, "The lantern is green.").unwrap();
    client.sync(&root);
    assert_eq!(client.status().workspaces[0].documents, 4);
}

/// Renames all files. Searches between the renames, so that the daemon reads some of the files.
fn rename(client: &mut Caller, root: &Path, files: &[(PathBuf, PathBuf)]) {
    for (number, (from, to)) in files.iter().enumerate() {
        std::fs::rename(from, to).unwrap();
        if number % 50 == 0 {
            client.search(root, &format!("valve{number}"));
        }
    }
}

#[test]
fn files_renamed_back_and_forth_leave_no_held_deletion() {
    let scratch = Scratch::new();
    let paths = fill(&scratch, 200);
    let settings = [
        ("HIPPOD_WATCH_DELETE_CONFIRM_MS", "0"),
        ("HIPPOD_WATCH_QUIET_MS", "1"),
    ];
    let daemon = Daemon::start(&scratch.home(), &[&QUIET[..], &settings].concat());
    let mut client = daemon.client();
    let root = scratch.workspace();
    client.index(&root);
    let outside = scratch.beside("outside");
    std::fs::create_dir(&outside).unwrap();
    // The third round of renames uses names that no indexed document has.
    let beside = |path: &PathBuf| path.with_file_name(format!("other-{}", name(path)));
    let again = |path: &PathBuf| path.with_file_name(format!("again-{}", name(path)));
    let out = |path: &PathBuf| outside.join(name(path));
    for _ in 0..5 {
        let all = |from: &dyn Fn(&PathBuf) -> PathBuf, to: &dyn Fn(&PathBuf) -> PathBuf| {
            let moves = paths.iter().map(|path| (from(path), to(path)));
            moves.collect::<Vec<(PathBuf, PathBuf)>>()
        };
        let moves = [
            all(&PathBuf::clone, &beside),
            all(&beside, &out),
            all(&out, &again),
            all(&again, &PathBuf::clone),
        ];
        for (step, files) in moves.iter().enumerate() {
            rename(&mut client, &root, files);
            // After the first round, rename the files again immediately, as a program does that renames many files
            // repeatedly.
            if step == 0 {
                continue;
            }
            let synced = client.sync(&root);
            let held = client.status().workspaces[0].held_deletions;
            assert_eq!(
                held > 0,
                step == 1,
                "step {step}: {held} held: {:?}",
                synced.notes
            );
        }
    }
    assert_eq!(client.status().workspaces[0].documents, 200);
    for number in 0..200 {
        let best = client.best(&root, &format!("valve{number}"));
        assert_eq!(best, Some(format!("knowledge/{number}.md:3")));
    }
}

fn name(path: &Path) -> String {
    path.file_name().unwrap().to_string_lossy().into_owned()
}

#[test]
fn files_that_return_unchanged_get_their_vectors() {
    let scratch = with_model();
    for number in 0..60 {
        let paragraphs = (0..8)
            .map(|line| format!("Valve {number} in hall {line} was checked by team {number}{line}.\n\n"));
        let text = format!("# Valve {number}\n\n{}", paragraphs.collect::<String>());
        scratch.write(&format!("valves/{number}.md"), text);
    }
    let daemon = Daemon::start(&scratch.home(), &[REAL]);
    let mut client = daemon.client();
    client.add(&scratch.workspace());
    let folder = scratch.workspace().join("valves");
    let away = scratch.beside("valves");
    let deadline = Instant::now() + PATIENCE;
    let mut wait_until = |is_so: &dyn Fn(&WorkspaceStatus) -> bool| loop {
        let status = client.status().workspaces.remove(0);
        if is_so(&status) {
            break;
        }
        assert!(Instant::now() < deadline, "{status:?}");
    };
    wait_until(&|status| status.documents >= 62 && status.embedded > 0);
    std::fs::rename(&folder, &away).unwrap();
    // The daemon cannot read the waiting passages.
    wait_until(&|status| status.pending == 0);
    std::fs::rename(&away, &folder).unwrap();
    client.sync(&scratch.workspace());
    let status = client.status().workspaces.remove(0);
    assert_eq!(
        (status.embedded, status.pending),
        (status.chunks, 0),
        "{status:?}"
    );
}
