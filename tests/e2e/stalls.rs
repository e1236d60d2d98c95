//! A file or a client that keeps one workspace busy holds up no other one.

use std::fs;
use std::path::Path;
use std::time::Instant;

use hippo_proto::{
    MetricsRequest, MetricsResponse, WorkspaceRemoveRequest, WorkspaceRemoveResponse, WorkspaceSyncRequest,
    WorkspaceSyncResponse,
};
use hippod_tests::{Caller, Daemon, PATIENCE, Scratch};

/// Paragraphs of one text each.
const EQUAL: usize = 6_000;

fn metric(client: &mut Caller, name: &str) -> f64 {
    let answer: MetricsResponse = client.raw().call(&MetricsRequest {}.into()).expect("metrics");
    let line = answer
        .text
        .lines()
        .find_map(|line| line.strip_prefix(&format!("{name} ")).map(str::to_owned));
    line.and_then(|value| value.parse().ok()).expect("a sample")
}

fn look(client: &mut Caller, workspace: &Path) {
    let request = WorkspaceSyncRequest {
        workspace: workspace.display().to_string(),
        wait: false,
        accept_deletions: false,
    };
    let _: WorkspaceSyncResponse = client.raw().call(&request.into()).expect("looked");
}

fn pending(client: &mut Caller, root: &Path) -> u64 {
    let root = root.display().to_string();
    let status = client.status();
    status
        .workspaces
        .iter()
        .find(|one| one.root == root)
        .expect("there")
        .pending
}

#[test]
fn a_file_of_equal_paragraphs_holds_up_no_other_workspace() {
    let scratch = Scratch::new();
    let daemon: Daemon = scratch.daemon();
    let mut client = daemon.client();
    let (busy, other) = (scratch.beside("busy"), scratch.beside("other"));
    for folder in [&busy, &other] {
        fs::create_dir_all(folder.join("memory")).unwrap();
    }
    client.index(&other);
    client.add(&busy);
    fs::write(busy.join("memory/x.md"), "# h\n\nx\n\n".repeat(EQUAL)).unwrap();
    look(&mut client, &busy);
    // While that file is read, cut, stored and embedded, each of these is answered.
    let mut answered = 0;
    let begun = Instant::now();
    loop {
        client.remember(
            &other,
            &format!("The valve of hall {answered} is open."),
            "valves",
        );
        answered += 1;
        let indexed = client
            .status()
            .workspaces
            .iter()
            .any(|one| one.chunks >= EQUAL as u64);
        if indexed && pending(&mut client, &busy) == 0 {
            break;
        }
        assert!(begun.elapsed() < PATIENCE, "after {answered} answers");
    }
    let found = client.search(&other, "valve of hall 0").results;
    assert!(found.iter().any(|hit| hit.text.contains("hall 0")), "{found:?}");
    let longest = metric(&mut client, "hippod_engine_longest_slice_seconds");
    // A slice is a few milliseconds; the bound is for a machine on which much else runs.
    assert!(longest < 2.0, "the engine heard nothing else for {longest} s");
}

#[test]
fn a_workspace_is_removed_while_a_large_file_of_it_is_indexed() {
    let scratch = Scratch::new();
    let daemon = scratch.daemon();
    let mut client = daemon.client();
    let root = scratch.workspace();
    scratch.write("memory/x.md", "# h\n\nx\n\n".repeat(EQUAL));
    client.add(&root);
    look(&mut client, &root);
    let database = scratch.state("index.db");
    let request = WorkspaceRemoveRequest {
        workspace: root.display().to_string(),
        purge: false,
        restore_carried: false,
        dry_run: false,
    };
    let _: WorkspaceRemoveResponse = client.raw().call(&request.into()).expect("removed");
    assert!(client.status().workspaces.is_empty());
    assert!(!database.exists());
    client.index(&root);
}
