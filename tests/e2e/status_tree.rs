//! Reports of `status` and `doctor` on a compaction tree.
//!
//! If a check fails, `doctor` must also list a problem.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Instant;

use hippo_proto::{
    Check, DoctorResponse, Problem, SearchMode, SearchRequest, SearchResponse, Severity, TreeCompactRequest,
    TreeCompactResponse, TreePendingRequest, TreePendingResponse, TreeStatus,
};
use hippod_tests::{Caller, Clocked, PATIENCE, QUIET, Scratch};

use super::index_odd::daemon_without_privilege;
use super::tree::{NOW, compact, day, fill, log, nodes};

fn begun(settings: &[(&str, &str)]) -> (Scratch, Clocked, Caller) {
    let scratch = Scratch::new();
    fill(&scratch);
    let daemon = Clocked::start(&scratch, NOW, &[&QUIET, settings].concat());
    let mut client = daemon.client();
    client.index(&scratch.workspace());
    compact(&mut client, &scratch.workspace());
    client.sync(&scratch.workspace());
    (scratch, daemon, client)
}

fn tree(client: &mut Caller) -> TreeStatus {
    let deadline = Instant::now() + PATIENCE;
    loop {
        // `status` omits a tree if the daemon needs too long to inspect it.
        if let Some(tree) = client.status().workspaces.remove(0).tree {
            return tree;
        }
        assert!(Instant::now() < deadline, "no tree");
    }
}

fn named<'a>(told: &'a DoctorResponse, id: &str) -> &'a Problem {
    let found = told.problems.iter().find(|problem| problem.id == id);
    found.unwrap_or_else(|| panic!("no {id}: {:?}", told.problems))
}

/// Returns the ids of the failed checks, and asserts that each problem has a fix.
fn bad(told: &DoctorResponse) -> Vec<&str> {
    assert!(told.problems.iter().all(|problem| !problem.fix.is_empty()));
    let bad: Vec<&Check> = told.checks.iter().filter(|check| !check.ok).collect();
    for check in &bad {
        let is_of_it = |problem: &&Problem| match check.id.as_str() {
            "disk" => problem.id == "skipped",
            id => problem.id.starts_with(id),
        };
        let mut problems = told.problems.iter().filter(is_of_it);
        assert!(
            problems.any(|problem| problem.severity != Severity::Info),
            "{check:?}: {told:?}"
        );
    }
    bad.iter().map(|check| check.id.as_str()).collect()
}

#[test]
fn doctor_finds_no_backlog_after_a_sync() {
    let (scratch, _daemon, mut client) = begun(&[]);
    let root = scratch.workspace();
    for round in 0..20 {
        scratch.write(
            &format!("knowledge/{round}.md"),
            format!("- round {round} of the crane\n"),
        );
        scratch.write(
            "knowledge/crane.md",
            format!("- the crane turned {round} times\n"),
        );
        client.sync(&root);
        let told = client.doctor(false);
        let late = told.problems.iter().find(|problem| problem.id == "index-missing");
        assert_eq!(late, None, "round {round}: {told:?}");
        let check = |id: &str| told.checks.iter().find(|check| check.id == id).expect(id);
        assert!(check("disk").detail.ends_with("all indexed"), "{told:?}");
        assert!(check("index-file").ok, "{told:?}");
    }
}

/// Repeats `doctor` until the text of the disk check ends with `told`. Asserts that no answer contains a failed
/// check.
fn disk_until(client: &mut Caller, told: &str) {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let answer = client.doctor(false);
        assert_eq!(bad(&answer), Vec::<&str>::new());
        let disk = answer.checks.iter().find(|check| check.id == "disk").unwrap();
        if disk.detail.ends_with(told) {
            return;
        }
        assert!(Instant::now() < deadline, "{disk:?}");
    }
}

#[test]
fn recently_created_and_deleted_files_fail_no_check() {
    let scratch = Scratch::new();
    scratch.write("memory/2026-03-18.md", log(day(2), 3));
    let daemon = scratch.quiet_daemon();
    let mut client = daemon.client();
    let root = scratch.workspace();
    client.index(&root);
    scratch.write(
        "knowledge/crane.md",
        "- the crane of the harbour is oiled in May\n",
    );
    disk_until(&mut client, ": 2 files, all indexed");
    scratch.write(
        "knowledge/winch.md",
        "- the winch of the harbour is oiled in June\n",
    );
    client.search_until(&root, "when is the winch oiled", |answer| {
        answer.results.iter().any(|hit| hit.path == "knowledge/winch.md")
    });
    let deadline = Instant::now() + PATIENCE;
    loop {
        let disk = client.status().workspaces.remove(0).disk;
        if (disk.files, disk.indexed_files) == (3, 3) {
            break;
        }
        assert!(Instant::now() < deadline, "{disk:?}");
    }
    assert_eq!(bad(&client.doctor(false)), Vec::<&str>::new());
    std::fs::remove_file(root.join("knowledge/crane.md")).unwrap();
    disk_until(&mut client, ": 2 files, all indexed");
    let disk = client.status().workspaces.remove(0).disk;
    assert_eq!((disk.files, disk.indexed_files), (2, 2));
}

#[test]
fn waiting_and_unreadable_nodes_are_reported() {
    let (scratch, _daemon, mut client) = begun(&[("HIPPOD_TREE_SUMMARIES", "agent")]);
    let root = scratch.workspace();
    let request = TreePendingRequest {
        workspace: root.display().to_string(),
        limit: None,
    };
    let pending: TreePendingResponse = client.raw().call(&request.into()).unwrap();
    assert!(tree(&mut client).nodes > pending.total && pending.total > 0);
    assert_eq!(bad(&client.doctor(false)), Vec::<&str>::new());

    std::fs::remove_file(root.join("memory/daily/2026-03-18.md")).unwrap();
    std::fs::create_dir(root.join("memory/daily/2026-03-18.md")).unwrap();
    client.sync(&root);
    let told = client.doctor(false);
    assert_eq!(bad(&told), ["tree"]);
    let of_nodes = told.problems.iter().filter(|problem| problem.id == "tree-node");
    let of_nodes: Vec<(&str, Severity)> = of_nodes
        .map(|problem| (problem.where_.rsplit('/').next().unwrap(), problem.severity))
        .collect();
    assert_eq!(of_nodes, [("2026-03-18.md", Severity::Error)]);
}

/// Waits until all checks pass. The daemon reads a changed configuration soon after the change.
fn wait_until_well(client: &mut Caller, root: &Path) {
    let deadline = Instant::now() + PATIENCE;
    loop {
        client.sync(root);
        let report = client.doctor(false);
        if bad(&report).is_empty() {
            return;
        }
        assert!(Instant::now() < deadline, "{report:?}");
    }
}

#[test]
fn an_unwritable_memory_folder_is_reported_with_a_fix() {
    let scratch = Scratch::new();
    fill(&scratch);
    let root = scratch.workspace();
    let daemon = daemon_without_privilege(&scratch);
    let mut client = daemon.client();
    client.index(&root);
    compact(&mut client, &root);
    client.sync(&root);
    for folder in ["memory", "memory/daily"] {
        let folder = root.join(folder);
        std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o555)).unwrap();
        let told = client.doctor(false);
        let problem = named(&told, "tree-folder");
        assert_eq!(Path::new(&problem.where_), folder.canonicalize().unwrap());
        assert!(
            problem.what.contains("ermission denied") && problem.fix.contains("writable"),
            "{problem:?}"
        );
        assert_eq!(bad(&told), ["tree"]);
        // If a workspace has no tree, the folders of the tree need not be writable.
        scratch.write(".hippocampus/config.toml", "[tree]\nkeep = \"never\"\n");
        wait_until_well(&mut client, &root);
        std::fs::remove_file(root.join(".hippocampus/config.toml")).unwrap();
        std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o755)).unwrap();
        wait_until_well(&mut client, &root);
    }
    // A file that was searchable but can no longer be read is also a problem.
    let folder = root.join("memory");
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o0)).unwrap();
    let told = client.doctor(false);
    assert!(bad(&told).contains(&"disk"), "{told:?}");
    assert_eq!(named(&told, "skipped").severity, Severity::Warning);
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn logs_with_unexpected_names_dates_or_encodings_stay_searchable() {
    let (scratch, _daemon, mut client) = begun(&[]);
    let root = scratch.workspace();
    let latin: &[u8] = b"# 2026-03-18\n\n- decision: the caf\xe9 beside the sundial is closed from May on\n";
    scratch.write("memory/2026-03-18.md", latin);
    scratch.write(
        "memory/2026-13-45.md",
        "# A day\n\n- decision: the gimlet lies in the drawer of the workshop by now\n",
    );
    scratch.write(
        "memory/2062-01-01.md",
        "# 2062-01-01\n\n- decision: the telescope is sold to the observatory of Lund\n",
    );
    compact(&mut client, &root);
    client.sync(&root);
    let nodes = nodes(&root);
    assert!(nodes["memory/daily/2026-03-18.md"].contains("the café beside"));
    assert_eq!(std::fs::read(root.join("memory/2026-03-18.md")).unwrap(), latin);
    assert!(!nodes.values().any(|text| text.contains("gimlet")));
    assert_eq!(
        client.best(&root, "where is the gimlet"),
        Some("memory/2026-13-45.md:3".to_owned())
    );
    assert!(nodes["memory/daily/2062-01-01.md"].contains("status: tentative"));
}

fn hybrid(client: &mut Caller, root: &Path, question: &str) -> SearchResponse {
    let mut request = SearchRequest::new(root.display().to_string(), question);
    request.mode = Some(SearchMode::Hybrid);
    request.record = false;
    client.raw().call(&request.into()).expect("an answer")
}

#[test]
fn disabling_vectors_in_the_harness_takes_effect_at_once() {
    let (scratch, daemon, mut client) = begun(&[]);
    let root = scratch.workspace();
    let question = "which crate goes to warehouse 7";
    let says_so = |answer: &SearchResponse| {
        assert!(!answer.results.is_empty());
        answer.notes.iter().any(|note| note.contains("search.vector"))
    };
    assert!(!says_so(&hybrid(&mut client, &root, question)));
    for wanted in [false, true, false] {
        let text = format!("{{\n  // of the harness\n  \"search\": {{ \"vector\": {wanted} }}\n}}\n");
        scratch.write("hipocampus.config.json", text);
        let deadline = Instant::now() + PATIENCE;
        let answer = loop {
            let answer = hybrid(&mut client, &root, question);
            if says_so(&answer) != wanted {
                break answer;
            }
            assert!(Instant::now() < deadline, "{answer:?}");
        };
        let scores = answer.results.iter().filter_map(|hit| hit.scores.as_ref());
        let by_meaning = scores.into_iter().any(|scores| scores.vector.is_some());
        assert_eq!(by_meaning, wanted, "{answer:?}");
    }
    drop((client, daemon));
    let daemon = Clocked::start(&scratch, NOW, &QUIET);
    let mut client = daemon.client();
    client.sync(&root);
    assert!(
        says_so(&hybrid(&mut client, &root, question)),
        "from the start on"
    );
}

#[test]
fn edited_nodes_are_found_beside_the_logs() {
    let (scratch, daemon, mut client) = begun(&[]);
    let root = scratch.workspace();
    let week = "memory/weekly/2026-W11.md";
    let question = "when does the harbour master Ingrid retire?";
    let found = |client: &mut Caller| -> Vec<String> {
        let answer = hybrid(client, &root, question);
        answer.results.into_iter().map(|hit| hit.path).collect()
    };
    assert!(
        !found(&mut client).contains(&week.to_owned()),
        "it repeats its days"
    );
    let mine = "---\ntype: weekly\nstatus: fixed\nperiod: 2026-W11\n---\n\n## What I think of it\n- the harbour master Ingrid retires in June, and her deputy does not know yet\n";
    scratch.write(week, mine);
    client.sync(&root);
    assert_eq!(found(&mut client).first().map(String::as_str), Some(week));
    // The node of a day changes, and later the daemon is restarted.
    scratch.write("memory/2026-03-12.md", log(day(8), 270));
    let request = TreeCompactRequest {
        workspace: root.display().to_string(),
        ..TreeCompactRequest::default()
    };
    for _ in 0..2 {
        let _: TreeCompactResponse = client.raw().call(&request.clone().into()).unwrap();
    }
    drop((client, daemon));
    let daemon = Clocked::start(&scratch, NOW, &QUIET);
    let mut client = daemon.client();
    client.sync(&root);
    let paths = found(&mut client);
    assert_eq!(paths.first().map(String::as_str), Some(week));
    assert!(
        !paths
            .iter()
            .any(|path| path.starts_with("memory/daily/") || path.starts_with("memory/monthly/")),
        "{paths:?}"
    );
}
