//! Text that the next session gets after `init`.

use std::fs;
use std::path::Path;
use std::process::Command;

use hippod_tests::{Daemon, Scratch, client_program};
use serde_json::Value;

/// Runs the command line in a folder, and returns its output.
fn hippoctl(daemon: &Daemon, folder: &Path, words: &[&str]) -> String {
    let output = Command::new(client_program())
        .args(words)
        .current_dir(folder)
        .env("HIPPOD_HOME", daemon.socket().parent().unwrap())
        .env_remove("CLAUDE_PROJECT_DIR")
        .output()
        .expect("hippoctl runs");
    assert!(output.status.success(), "{words:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn text_of(part: &Value) -> String {
    let lines = part["lines"].as_array().unwrap().iter();
    lines
        .map(|line| format!("{}\n", line["text"].as_str().unwrap()))
        .collect()
}

#[test]
fn the_session_of_each_harness_starts_with_the_name_of_the_index_file() {
    let scratch = Scratch::new();
    let daemon = scratch.daemon();
    for platform in ["claude-code", "openclaw", "opencode", "codex"] {
        let root = scratch.beside(platform);
        fs::create_dir_all(root.join("memory")).unwrap();
        fs::write(
            root.join("memory/2026-03-02.md"),
            "- Staging runs on port 8443.\n",
        )
        .unwrap();
        hippoctl(&daemon, &root, &["init", "--platform", platform]);
        assert!(
            root.join("HIPPOCAMPUS.md").is_file(),
            "init makes the file before it ends"
        );
        let index = fs::read(root.join("HIPPOCAMPUS.md")).unwrap();

        let answer: Value = serde_json::from_str(&hippoctl(&daemon, &root, &["prompt", "--json"])).unwrap();
        assert_eq!(answer["platforms"].as_array().unwrap().len(), 1, "{answer}");
        assert_eq!(answer["platforms"][0]["platform"], platform);
        let parts = answer["platforms"][0]["parts"].as_array().unwrap();
        assert!(
            text_of(&parts[0]).contains("`HIPPOCAMPUS.md`"),
            "{platform}: {answer}"
        );
        if platform == "codex" {
            let printed = hippoctl(&daemon, &root, &["hook", "session-start"]);
            assert_eq!(text_of(parts.last().unwrap()), printed);
            assert!(printed.contains("`HIPPOCAMPUS.md` lists"), "{printed}");
        }
        assert_eq!(
            fs::read(root.join("HIPPOCAMPUS.md")).unwrap(),
            index,
            "nothing is recorded"
        );
    }
}
