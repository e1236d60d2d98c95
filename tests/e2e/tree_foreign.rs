//! Compaction trees of other programs.
//!
//! hippod does not change such a tree until a person confirms the takeover. After that, hippod can restore every
//! byte.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use hippo_proto::{
    ClientError, Cycle, TreeCompactRequest, TreeCompactResponse, WorkspaceRemoveRequest,
    WorkspaceRemoveResponse,
};
use hippod_tests::{Caller, Clocked, Daemon, Scratch, client_program};

use super::tree::{NOW, day, log};

/// Returns the path and the bytes of every file below a folder, except hippod's own files beside memory.
fn files(root: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            let name = path.strip_prefix(root).unwrap().display().to_string();
            if path.is_dir() {
                found.insert(format!("{name}/"), Vec::new());
                folders.push(path);
            } else {
                found.insert(name, std::fs::read(path).unwrap());
            }
        }
    }
    found.retain(|path, _| !path.contains("HIPPOCAMPUS.md") && !path.starts_with(".hippocampus"));
    found
}

/// Writes the logs of a week, and some nodes that another program made from older logs.
fn another_programs() -> Scratch {
    let scratch = Scratch::new();
    for before in 1..8 {
        scratch.write(&format!("memory/{}.md", day(before)), log(day(before), 12));
        let node = format!(
            "---\ntype: daily\nstatus: fixed\nperiod: {}\n---\n\n- day {before}: the crane was greased\n",
            day(before)
        );
        scratch.write(&format!("memory/daily/{}.md", day(before)), node);
        scratch.write(
            &format!("memory/weekly/2026-W0{before}.md"),
            format!("## Topics\nwarehouse, week {before}\r\n"),
        );
    }
    scratch.write("memory/monthly/2026-01.md", "- pier 4, because it is deep");
    let root = "# Root\n\n## Historical Summary\n- 2025-11: the old depot burnt down\n\n## Topics Index\n- depot [project]: fire → knowledge/depot.md\n";
    scratch.write("memory/ROOT.md", root);
    scratch.write("MEMORY.md", "# Memory\n\nThe crane is yellow.\n");
    scratch.write("AGENTS.md", "# Agents\n\nBe brief.\n");
    scratch
}

fn compact(client: &mut Caller, root: &Path, take_over: bool) -> TreeCompactResponse {
    let request = TreeCompactRequest {
        workspace: root.display().to_string(),
        take_over,
        ..TreeCompactRequest::default()
    };
    client.raw().call(&request.into()).expect("compacted")
}

fn remove(client: &mut Caller, root: &Path) -> Result<WorkspaceRemoveResponse, ClientError> {
    let request = WorkspaceRemoveRequest {
        workspace: root.display().to_string(),
        ..WorkspaceRemoveRequest::default()
    };
    client.raw().call(&request.into())
}

#[test]
fn every_cycle_leaves_a_foreign_tree_unchanged() {
    let scratch = another_programs();
    let root = scratch.workspace();
    let before = files(&root);
    let daemon = Clocked::start(&scratch, NOW, &[]);
    let mut client = daemon.client();
    client.index(&root);
    for cycle in [Cycle::Light, Cycle::Deep, Cycle::Archival] {
        client.run(&root, cycle);
    }
    client.heartbeat(&root);
    let made = compact(&mut client, &root, false);
    assert!(!made.ran && made.nodes.is_empty(), "{made:?}");
    assert_eq!(made.foreign.len(), 16, "{made:?}");
    assert!(
        made.notes.iter().any(|note| note.contains("--take-over")),
        "{made:?}"
    );
    assert_eq!(files(&root), before);
    let problems = client.doctor(false).problems;
    assert!(
        problems.iter().any(|problem| problem.id == "tree-foreign"),
        "{problems:?}"
    );
    let tree = client.status().workspaces.remove(0).tree.expect("a tree");
    assert_eq!(tree.foreign, 16);
    remove(&mut client, &root).expect("removed");
    assert_eq!(files(&root), before);
}

#[test]
fn removing_a_workspace_restores_a_taken_over_tree_byte_for_byte() {
    let scratch = another_programs();
    let root = scratch.workspace();
    let before = files(&root);
    let daemon = Clocked::start(&scratch, NOW, &[]);
    let mut client = daemon.client();
    client.index(&root);
    let made = compact(&mut client, &root, true);
    assert!(made.ran && made.foreign.is_empty(), "{made:?}");
    scratch.write(&format!("memory/{}.md", day(1)), log(day(1), 40));
    let mut expected = before.clone();
    let path = format!("memory/{}.md", day(1));
    expected.insert(path.clone(), std::fs::read(root.join(&path)).unwrap());
    client.index(&root);
    assert!(!compact(&mut client, &root, false).nodes.is_empty());
    let now = files(&root);
    assert_ne!(now, expected);
    let told = String::from_utf8(now["memory/ROOT.md"].clone()).unwrap();
    assert!(
        told.contains("old depot burnt down"),
        "its history goes on: {told}"
    );
    let removed = remove(&mut client, &root).expect("removed");
    assert!(
        removed.restored.contains(&"memory/ROOT.md".to_owned()),
        "{removed:?}"
    );
    assert_eq!(files(&root), expected);
}

#[test]
fn an_edited_node_is_kept_and_the_original_saved_beside_it() {
    let scratch = another_programs();
    let root = scratch.workspace();
    let original = std::fs::read(root.join("memory/ROOT.md")).unwrap();
    let daemon = Clocked::start(&scratch, NOW, &[]);
    let mut client = daemon.client();
    client.index(&root);
    compact(&mut client, &root, true);
    scratch.write(&format!("memory/{}.md", day(2)), log(day(2), 40));
    client.index(&root);
    compact(&mut client, &root, false);
    let mut edited = std::fs::read_to_string(root.join("memory/ROOT.md")).unwrap();
    edited.push_str("- a person's line\n");
    scratch.write("memory/ROOT.md", &edited);
    let removed = remove(&mut client, &root).expect("removed");
    assert!(
        removed.notes.iter().any(|note| note.contains("memory/ROOT.md")),
        "{removed:?}"
    );
    assert_eq!(
        std::fs::read_to_string(root.join("memory/ROOT.md")).unwrap(),
        edited
    );
    let beside = std::fs::read(root.join("memory/ROOT.md.before-hippod")).unwrap();
    assert_eq!(beside, original);
}

#[test]
fn a_planted_record_or_copy_in_a_folder_restores_nothing() {
    let scratch = another_programs();
    let root = scratch.workspace();
    scratch.write(".hippocampus/carried/ROOT.md", "planted\n");
    scratch.write(
        ".hippocampus/tree-taken-over.json",
        r#"{"taken_over":true,"made":{"MEMORY.md":[]},"originals":{"MEMORY.md":"0"}}"#,
    );
    let before = files(&root);
    let daemon = Clocked::start(&scratch, NOW, &[]);
    let mut client = daemon.client();
    client.index(&root);
    client.run(&root, Cycle::Deep);
    remove(&mut client, &root).expect("removed");
    assert_eq!(files(&root), before);
}

/// Runs the client in the workspace without a terminal.
fn hippoctl(scratch: &Scratch, arguments: &[&str]) -> Output {
    let output = Command::new(client_program())
        .args(arguments)
        .current_dir(scratch.workspace())
        .env("HIPPOD_HOME", scratch.home())
        .stdin(Stdio::null())
        .output()
        .expect("hippoctl ran");
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    output
}

#[test]
fn init_takes_over_a_foreign_tree_only_if_confirmed() {
    let scratch = another_programs();
    let root = scratch.workspace();
    let before = files(&root);
    let _daemon: Daemon = scratch.daemon();
    let dry = hippoctl(&scratch, &["init", "--dry-run", "--platform", "claude-code"]);
    let told = String::from_utf8(dry.stdout).unwrap();
    assert!(
        told.contains("memory/ROOT.md: another program wrote this file"),
        "{told}"
    );
    assert_eq!(files(&root), before);

    let plain = hippoctl(&scratch, &["init", "--platform", "claude-code"]);
    let told = String::from_utf8(plain.stdout).unwrap();
    assert!(told.contains("kept          memory/ROOT.md"), "{told}");
    let again = hippoctl(&scratch, &["init", "--dry-run", "--platform", "claude-code"]);
    let told = String::from_utf8(again.stdout).unwrap();
    assert!(told.contains("nothing to change"), "{told}");
    let now = files(&root);
    for (path, bytes) in &before {
        assert!(
            path.starts_with("AGENTS") || now.get(path) == Some(bytes),
            "{path}"
        );
    }
    hippoctl(&scratch, &["init", "--undo"]);
    assert_eq!(files(&root), before);

    hippoctl(&scratch, &["init", "--platform", "claude-code", "--take-over"]);
    hippoctl(&scratch, &["tree", "compact"]);
    let taken = hippoctl(&scratch, &["init", "--undo"]);
    assert_eq!(files(&root), before, "{taken:?}");
    let left: Vec<_> = std::fs::read_dir(&root)
        .unwrap()
        .flatten()
        .map(|entry| entry.file_name())
        .collect();
    assert!(!left.iter().any(|name| name == "HIPPOCAMPUS.md"), "{left:?}");
}

#[test]
fn deinit_lists_and_then_restores_the_same_files() {
    let scratch = another_programs();
    let root = scratch.workspace();
    let before = files(&root);
    let _daemon: Daemon = scratch.daemon();
    hippoctl(&scratch, &["init", "--platform", "claude-code", "--take-over"]);
    hippoctl(&scratch, &["tree", "compact"]);
    let taken_over = files(&root);
    let restored = |words: &[&str]| -> serde_json::Value {
        let told: serde_json::Value = serde_json::from_slice(&hippoctl(&scratch, words).stdout).unwrap();
        let changes = told["changes"].as_array().unwrap().iter();
        let restored = changes.filter(|change| change["action"] == "restore");
        restored.map(|change| change["path"].clone()).collect()
    };
    let would = restored(&["init", "--undo", "--dry-run", "--json"]);
    assert!(
        would.as_array().unwrap().contains(&"memory/ROOT.md".into()),
        "{would}"
    );
    let told = String::from_utf8(hippoctl(&scratch, &["init", "--undo", "--dry-run"]).stdout).unwrap();
    assert!(
        told.contains("  would restore memory/ROOT.md: another program"),
        "{told}"
    );
    assert_eq!(files(&root), taken_over, "a dry run changes nothing");
    assert_eq!(restored(&["init", "--undo", "--json"]), would);
    assert_eq!(files(&root), before);
}

#[test]
fn init_of_an_empty_folder_creates_the_index_file() {
    let scratch = Scratch::new();
    let _daemon: Daemon = scratch.daemon();
    for platform in ["claude-code", "openclaw", "opencode", "codex", "none"] {
        let folder = scratch.workspace().join(platform);
        std::fs::create_dir_all(&folder).unwrap();
        hippoctl(&scratch, &["init", platform, "--platform", platform]);
        assert!(folder.join("HIPPOCAMPUS.md").is_file(), "{platform}");
    }
}

#[test]
fn undo_reports_an_empty_or_already_undone_run() {
    let scratch = Scratch::new();
    scratch.write(
        "memory/2026-03-02.md",
        "# Log\n\n## Pumps\n\nThe pump of hall 3 is blue and hums.\n",
    );
    let daemon: Daemon = scratch.daemon();
    let mut client = daemon.client();
    let root = scratch.workspace();
    client.index(&root);
    let first = client.run(&root, Cycle::Light).run.expect("a run");
    let idle = client.run(&root, Cycle::Light).run.expect("a run");
    let undo = |run: i64| {
        let output = hippoctl(&scratch, &["consolidate", "undo", &run.to_string()]);
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!(
        undo(idle),
        format!("run {idle} made no changes; there is nothing to undo\n")
    );
    let runs = client.history(&root, None).runs;
    let changed = runs
        .iter()
        .map(|run| run.run)
        .find(|id| *id <= first && undo(*id).starts_with("undid"));
    let changed = changed.expect("a run that made entries");
    assert_eq!(
        undo(changed),
        format!("run {changed} was already undone; nothing was changed\n")
    );
}
