//! Setup of an agent's folder with `init`, and complete removal of the setup.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use hippod_tests::{Daemon, PATIENCE, Scratch, client_program};

/// Runs the command line in a folder, asserts that the command succeeds, and returns its output.
fn hippoctl(daemon: &Daemon, folder: &Path, words: &[&str]) -> String {
    let output = Command::new(client_program())
        .args(words)
        .current_dir(folder)
        .env("HIPPOD_HOME", daemon.socket().parent().unwrap())
        .output()
        .expect("hippoctl runs");
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{words:?}: {told}{errors}");
    told
}

/// Returns the path and the bytes of every file, and the path of every folder.
fn tree(root: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut tree = BTreeMap::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let bytes = if path.is_dir() {
                folders.push(path.clone());
                Vec::new()
            } else {
                fs::read(&path).unwrap()
            };
            tree.insert(path, bytes);
        }
    }
    tree
}

#[test]
fn init_creates_the_index_file_from_existing_memory() {
    let scratch = Scratch::new();
    let daemon = scratch.daemon();
    for number in 0..20 {
        scratch.write(
            &format!("knowledge/{number}.md"),
            format!("# Pump {number}\n\n- it is blue\n"),
        );
    }
    let told = hippoctl(&daemon, &scratch.workspace(), &["init", "--platform", "none"]);
    assert!(!told.contains("HIPPOCAMPUS.md was not created"), "{told}");
    // In a large folder or on a busy machine, init ends before the cycle does.
    let deadline = Instant::now() + PATIENCE;
    let index = || fs::read_to_string(scratch.workspace().join("HIPPOCAMPUS.md")).unwrap_or_default();
    while !index().contains("Pump 19") {
        assert!(Instant::now() < deadline, "{}", index());
        std::thread::yield_now();
    }
}

fn wait_for(path: &Path) {
    let deadline = Instant::now() + PATIENCE;
    while !path.exists() {
        assert!(Instant::now() < deadline, "never there: {}", path.display());
        std::thread::yield_now();
    }
}

#[test]
fn init_and_deinit_of_each_harness_leave_no_trace() {
    let scratch = Scratch::new();
    let daemon = scratch.daemon();
    let mut client = daemon.client();
    for platform in ["claude-code", "openclaw", "opencode", "codex", "pi"] {
        let root = scratch.beside(platform);
        fs::create_dir_all(root.join("memory")).unwrap();
        fs::create_dir_all(root.join(".claude")).unwrap();
        fs::write(
            root.join("memory/2026-03-02.md"),
            "- Staging runs on port 8443.\n",
        )
        .unwrap();
        fs::write(root.join("AGENTS.md"), "# Rules\r\n\r\n- mine").unwrap();
        fs::write(
            root.join(".claude/settings.json"),
            "{\n\t// mine\n\t\"model\": \"opus\",\n}\n",
        )
        .unwrap();
        let before = tree(&root);
        hippoctl(&daemon, &root, &["init", "--platform", platform]);
        client.sync(&root);
        wait_for(&root.join("HIPPOCAMPUS.md"));
        let found = hippoctl(&daemon, &root, &["search", "--mode", "lexical", "staging port"]);
        assert!(found.contains("memory/2026-03-02.md"), "{found}");
        let again = hippoctl(&daemon, &root, &["init", "--platform", platform]);
        assert!(
            again.contains("nothing to change") && again.contains("already"),
            "{again}"
        );
        let told = hippoctl(&daemon, &root, &["init", "--undo"]);
        assert_eq!(tree(&root), before, "{told}");
        assert!(hippoctl(&daemon, &root, &["workspace", "list", "--json"]).contains("\"workspaces\":[]"));
    }
}

#[test]
fn deinit_keeps_memory_and_files_of_the_user() {
    let scratch = Scratch::new();
    let daemon = scratch.daemon();
    let root = scratch.workspace();
    hippoctl(&daemon, &root, &["init", "--full", "--platform", "openclaw"]);
    let words = ["remember", "Staging runs on port 8443.", "--topic", "Staging"];
    hippoctl(&daemon, &root, &words);
    wait_for(&root.join("HIPPOCAMPUS.md"));
    let index = fs::read_to_string(root.join("HIPPOCAMPUS.md")).unwrap();
    scratch.write(
        "HIPPOCAMPUS.md",
        index + "\n## My own notes\n\nThe key is under the mat.\n",
    );
    scratch.write("SCRATCHPAD.md", "half done\n");
    let memory = fs::read_to_string(root.join("MEMORY.md")).unwrap();
    scratch.write(
        "MEMORY.md",
        memory.replace("## Core\n", "## Core\n\n- We are Acme.\n"),
    );
    let told = hippoctl(&daemon, &root, &["init", "--undo"]);
    let left: Vec<PathBuf> = tree(&root).into_keys().collect();
    let left: Vec<&str> = left
        .iter()
        .map(|path| path.strip_prefix(&root).unwrap().to_str().unwrap())
        .collect();
    assert_eq!(left.len(), 5, "{left:?}: {told}");
    let text = |path: &str| fs::read_to_string(root.join(path)).unwrap();
    assert!(text("HIPPOCAMPUS.md").contains("under the mat") && text("SCRATCHPAD.md") == "half done\n");
    assert!(text("MEMORY.md").contains("- We are Acme.") && !text("MEMORY.md").contains("hippod"));
    let log = left.iter().find(|path| path.starts_with("memory/")).unwrap();
    assert!(text(log).contains("port 8443"), "{left:?}");
}

#[test]
fn invalid_values_are_reported_and_affect_no_other_setting() {
    let scratch = Scratch::new();
    let daemon = scratch.daemon();
    let root = scratch.workspace();
    scratch.write(
        "memory/2026-03-02.md",
        "## Relay\n\n- decision: The relay is blue.\n",
    );
    hippoctl(&daemon, &root, &["init"]);
    scratch.write(
        "hipocampus.config.json",
        "{\n  \"search\": { \"vector\": \"no\" },\n  \"compaction\": { \"rootMaxTokens\": -5, \"cooldownHours\": 1 }\n}\n",
    );
    let mut client = daemon.client();
    client.sync(&root);
    let problems = client.doctor(false).problems;
    let told: Vec<&str> = problems
        .iter()
        .filter(|problem| problem.id == "tree-config")
        .map(|problem| problem.what.as_str())
        .collect();
    assert_eq!(told.len(), 2, "{problems:?}");
    assert!(told[0].contains("search.vector is \"no\""), "{told:?}");
    assert!(told[1].contains("compaction.rootMaxTokens is -5"), "{told:?}");
    // The invalid values are ignored.
    hippoctl(&daemon, &root, &["search", "--mode", "vector", "relay"]);
    let compacted = hippoctl(&daemon, &root, &["tree", "compact", "--json"]);
    assert!(compacted.contains("rootMaxTokens is -5"), "{compacted}");
}

#[test]
fn the_topics_of_a_second_platform_are_maintained() {
    let scratch = Scratch::new();
    let daemon = scratch.daemon();
    let root = scratch.workspace();
    scratch.write(
        "hipocampus.config.json",
        "{\n  // mine\n  \"platform\": \"claude-code\", \"index\": { \"inPrompt\": true },\n}\n",
    );
    scratch.write(
        "memory/2026-03-02.md",
        "## Relay [project]\n\n- decision: The relay of the greenhouse is blue.\n",
    );
    hippoctl(&daemon, &root, &["init"]);
    hippoctl(&daemon, &root, &["workspace", "trust"]);
    hippoctl(&daemon, &root, &["init", "--platform", "openclaw"]);
    hippoctl(&daemon, &root, &["tree", "compact"]);
    let memory = || fs::read_to_string(root.join("MEMORY.md")).unwrap();
    assert!(
        memory().contains("## Compaction Root") && memory().contains("Relay"),
        "{}",
        memory()
    );
    // The user removed the block, so `init` must not add it again.
    hippoctl(&daemon, &root, &["init", "--undo"]);
    assert!(!root.join("MEMORY.md").exists());
    scratch.write("MEMORY.md", "# Memory\n");
    hippoctl(&daemon, &root, &["workspace", "add", "."]);
    scratch.write(
        "memory/2026-03-03.md",
        "## Valve [project]\n\n- decision: The valve of the greenhouse is red.\n",
    );
    hippoctl(&daemon, &root, &["tree", "compact"]);
    assert_eq!(memory(), "# Memory\n");
}
