//! Changes while the daemon runs: edits, renames, deletions and an absent disk.

use hippod_tests::{Daemon, Scratch};

use std::io::Write;

use hippo_proto::{StatusRequest, StatusResponse, WorkspaceSyncRequest, WorkspaceSyncResponse};

#[test]
fn a_saved_edit_becomes_searchable_and_replaces_the_old_text() {
    let scratch = Scratch::new();
    scratch.write("memory/2026-03-02.md", "- the pump is blue\n- the hose is long\n");
    let daemon = scratch.daemon();
    let mut client = daemon.client();
    client.index(&scratch.workspace());
    scratch.write(
        "memory/2026-03-02.md",
        "# New\n\n- the valve is red\n- the hose is long\n",
    );
    let found = client.search_until(&scratch.workspace(), "red valve", |answer| {
        answer
            .results
            .first()
            .is_some_and(|hit| hit.text.contains("valve") && hit.start_line == 3)
    });
    assert!(found.index.generation >= 2);
    let old = client.search(&scratch.workspace(), "blue pump");
    assert!(old.results.iter().all(|hit| !hit.text.contains("pump")));
    let moved = client.search(&scratch.workspace(), "long hose");
    assert_eq!(moved.results[0].start_line, 4);
}

#[test]
fn no_answer_cites_text_that_is_not_on_disk() {
    let scratch = Scratch::new();
    scratch.write("memory/a.md", "- the pump is blue\n");
    // Neither the watcher nor a reconciliation runs during the test. Only the check of each result can keep outdated
    // text out of the answer.
    let settings = [("HIPPOD_WATCH_QUIET_MS", "60000")];
    let daemon = Daemon::start(&scratch.home(), &settings);
    let mut client = daemon.client();
    client.index(&scratch.workspace());
    scratch.write("memory/a.md", "a new first line\n\n- the pump is blue\n");
    assert_eq!(
        client.best(&scratch.workspace(), "blue pump").as_deref(),
        Some("memory/a.md:3")
    );
    scratch.write("memory/a.md", "- the pump is gray\n");
    // The first question may have made the daemon read the file again. In this case, the answer contains the new
    // text. Otherwise, it is empty.
    let answer = client.search(&scratch.workspace(), "blue");
    let texts: Vec<&str> = answer.results.iter().map(|hit| hit.text.as_str()).collect();
    assert!(texts.is_empty() || texts == ["- the pump is gray"], "{texts:?}");
    std::fs::remove_file(scratch.workspace().join("memory/a.md")).unwrap();
    assert_eq!(client.best(&scratch.workspace(), "pump"), None);
}

#[test]
fn a_thousand_renames_keep_every_vector() {
    let scratch = Scratch::new();
    for number in 0..1000 {
        scratch.write(
            &format!("memory/old/{number}.md"),
            format!("- note {number} about valve{number}\n"),
        );
    }
    let daemon = scratch.daemon();
    let mut client = daemon.client();
    client.index(&scratch.workspace());
    let pieces = |client: &mut hippod_tests::Caller| {
        let status: StatusResponse = client.raw().call(&StatusRequest {}.into()).unwrap();
        (
            status.model.word_pieces,
            status.workspaces[0].documents,
            status.workspaces[0].held_deletions,
        )
    };
    let (embedded, ..) = pieces(&mut client);
    let memory = scratch.workspace().join("memory");
    std::fs::create_dir(memory.join("new")).unwrap();
    for number in 0..1000 {
        let (from, to) = (
            memory.join(format!("old/{number}.md")),
            memory.join(format!("new/{number}.md")),
        );
        std::fs::rename(from, to).unwrap();
    }
    client.sync(&scratch.workspace());
    assert_eq!(
        pieces(&mut client),
        (embedded, 1000, 0),
        "nothing is embedded again, nothing is held"
    );
    for number in [0, 499, 999] {
        let best = client.best(&scratch.workspace(), &format!("valve{number}"));
        assert_eq!(best, Some(format!("memory/new/{number}.md:1")));
    }
}

#[test]
fn one_deleted_file_is_removed_and_mass_deletions_are_held() {
    let scratch = Scratch::new();
    for number in 0..40 {
        scratch.write(
            &format!("memory/{number}.md"),
            format!("- note about valve{number}\n"),
        );
    }
    let daemon = scratch.daemon();
    let mut client = daemon.client();
    client.index(&scratch.workspace());
    std::fs::remove_file(scratch.workspace().join("memory/0.md")).unwrap();
    let synced = client.sync(&scratch.workspace());
    assert_eq!((synced.documents, synced.removed), (39, 1));

    for number in 1..30 {
        std::fs::remove_file(scratch.workspace().join(format!("memory/{number}.md"))).unwrap();
    }
    let synced = client.sync(&scratch.workspace());
    assert_eq!(synced.documents, 39, "held");
    assert!(
        synced.notes[0].starts_with("29 files disappeared") && synced.notes[0].contains("--accept-deletions"),
        "{synced:?}"
    );
    let status: StatusResponse = client.raw().call(&StatusRequest {}.into()).unwrap();
    assert_eq!(status.workspaces[0].held_deletions, 29);
    assert!(
        client
            .search(&scratch.workspace(), "valve7")
            .results
            .iter()
            .all(|hit| !hit.text.contains("valve7"))
    );

    scratch.write("memory/5.md", "- note about valve5\n");
    client.sync(&scratch.workspace());
    assert_eq!(
        client.best(&scratch.workspace(), "valve5").as_deref(),
        Some("memory/5.md:1")
    );
    let request = WorkspaceSyncRequest {
        workspace: scratch.workspace().display().to_string(),
        wait: true,
        accept_deletions: true,
    };
    let accepted: WorkspaceSyncResponse = client.raw().call(&request.into()).unwrap();
    assert_eq!((accepted.documents, accepted.removed), (11, 28));
    assert!(accepted.notes.is_empty(), "{accepted:?}");
}

#[test]
fn an_unmounted_workspace_keeps_its_index() {
    let scratch = Scratch::new();
    for number in 0..20 {
        scratch.write(
            &format!("memory/{number}.md"),
            format!("- note about valve{number}\n"),
        );
    }
    let daemon = scratch.daemon();
    let mut client = daemon.client();
    client.index(&scratch.workspace());
    let root = scratch.workspace().canonicalize().unwrap();
    let away = scratch.beside("away");
    std::fs::rename(&root, &away).unwrap();
    let answer = client.search_until(&root, "valve3", |answer| answer.index.degraded.is_some());
    assert_eq!(answer.index.degraded.as_deref(), Some("root-missing"));
    assert!(answer.results.is_empty());
    let status: StatusResponse = client.raw().call(&StatusRequest {}.into()).unwrap();
    assert_eq!(
        (status.workspaces[0].documents, status.workspaces[0].root_present),
        (20, false)
    );
    let synced = client.sync(&root);
    assert_eq!(synced.documents, 20);
    assert!(synced.notes[0].contains("is missing or empty"), "{synced:?}");
    std::fs::rename(&away, &root).unwrap();
    assert!(client.sync(&root).notes.is_empty());
    assert_eq!(client.best(&root, "valve3").as_deref(), Some("memory/3.md:1"));
}

#[test]
fn a_constantly_written_file_is_indexed_without_loss() {
    let scratch = Scratch::new();
    scratch.write("memory/log.md", "- line0 begins\n");
    let settings = [("HIPPOD_WATCH_QUIET_MS", "200")];
    let daemon = Daemon::start(&scratch.home(), &settings);
    let mut client = daemon.client();
    client.index(&scratch.workspace());
    let file = scratch.workspace().join("memory/log.md");
    let log = std::fs::File::options().append(true).open(file).unwrap();
    let lines = std::cell::Cell::new(1_u32);
    // Searches follow each other faster than the quiet time, so the file is never quiet.
    client.search_until(&scratch.workspace(), "line5", |answer| {
        for number in lines.get()..lines.get() + 20 {
            writeln!(&log, "- line{number} goes on").unwrap();
        }
        lines.set(lines.get() + 20);
        answer
            .results
            .first()
            .is_some_and(|hit| hit.text.contains("line5 "))
    });
    let lines = lines.get();
    client.sync(&scratch.workspace());
    let last = format!("line{}", lines - 1);
    let answer = client.search(&scratch.workspace(), &last);
    assert!(
        answer.results.iter().any(|hit| hit.text.contains(&last)),
        "{last}: {answer:?}"
    );
}

#[test]
fn a_stop_is_quick_and_the_next_start_resumes_indexing() {
    let scratch = Scratch::new();
    for number in 0..300 {
        scratch.write(
            &format!("memory/{number}.md"),
            format!(
                "- note about valve{number}\n{}",
                "\nsomething else that fills the file\n".repeat(20)
            ),
        );
    }
    let daemon = scratch.daemon();
    daemon.client().add(&scratch.workspace());
    let took = daemon.terminate();
    assert!(took.as_secs_f64() < 2.0, "{took:?}");
    let daemon = scratch.daemon();
    let mut client = daemon.client();
    client.sync(&scratch.workspace());
    assert_eq!(
        client.best(&scratch.workspace(), "valve299").as_deref(),
        Some("memory/299.md:1")
    );
    assert!(daemon.terminate().as_secs_f64() < 2.0);
}
