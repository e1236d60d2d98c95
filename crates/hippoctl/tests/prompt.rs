//! Tests of `prompt` on real files, without a daemon.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests, outside the functions that clippy knows as tests"
)]

#[allow(dead_code, reason = "these tests need no scripted daemon")]
mod scripted;

use std::fs;
use std::path::PathBuf;

use hippo_proto::{Paths, folder};
use scripted::{hippoctl, out};
use serde_json::Value;
use tempfile::TempDir;

/// A workspace, and a home in which no daemon runs.
struct Bench {
    folder: TempDir,
}

impl Bench {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("w/src")).unwrap();
        Self { folder }
    }

    fn root(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join("w")
    }

    fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    fn write(&self, path: &str, text: &str) {
        fs::write(self.root().join(path), text).unwrap();
    }

    fn run(&self, words: &[&str]) -> (i32, String, String) {
        let words: Vec<&str> = words.iter().copied().chain(["--no-start"]).collect();
        out(&hippoctl(&self.home(), &self.root().join("src"), &words))
    }

    /// Sets up a harness and registers the folder, both without a daemon.
    fn set_up(&self, platform: &str) {
        let root = self.root().display().to_string();
        let (code, _, errors) = self.run(&["init", "--full", "--platform", platform, &root]);
        assert_eq!(code, 0, "{errors}");
        let json = serde_json::json!({"version": 1, "workspaces": [root]});
        let file = Paths::below(&self.home()).state.join(folder::REGISTRY);
        folder::write(&file, json.to_string().as_bytes()).unwrap();
    }

    fn json(&self, words: &[&str]) -> Value {
        let words: Vec<&str> = ["prompt", "--json"].iter().chain(words).copied().collect();
        let (code, told, errors) = self.run(&words);
        assert_eq!(code, 0, "{errors}");
        serde_json::from_str(&told).unwrap()
    }
}

const ROOT: &str = "---\ntype: root\n---\n## Topics Index\n- pump [project]: blue → 2026-03-02\n";

#[test]
fn a_folder_without_a_setup_names_the_command() {
    let bench = Bench::new();
    let (code, told, errors) = bench.run(&["prompt"]);
    assert_eq!((code, told.as_str()), (4, ""));
    assert!(
        errors.contains("no harness is set up in") && errors.contains(" --platform claude-code (or"),
        "{errors}"
    );
    let (code, _, errors) = bench.run(&["prompt", "--platform", "codex"]);
    assert_eq!(code, 4);
    assert!(
        errors.contains("codex is not set up") && errors.contains(" --platform codex"),
        "{errors}"
    );
}

#[test]
fn the_parts_of_a_session_are_listed_with_tokens_and_reasons() {
    let bench = Bench::new();
    bench.set_up("claude-code");
    bench.write(
        "memory/ROOT.md",
        &format!("{ROOT}- the password: hunter2-and-more\n"),
    );
    let before = fs::read_dir(bench.home().join("state")).unwrap().count();
    let (code, told, errors) = bench.run(&["prompt"]);
    assert_eq!((code, errors.as_str()), (0, ""));
    for what in [
        "claude-code: the next session in ",
        "\nCLAUDE.md:1-",
        "  why: the harness reads CLAUDE.md when a session starts; this block is hippod's\n",
        "  | @memory/ROOT.md\n",
        "  why: CLAUDE.md loads this file when a session starts\n",
        "  | - pump [project]: blue → 2026-03-02   <- log of 2026-03-02\n",
        "<- contains a secret, which is not shown here\n",
        ".claude/skills/*/SKILL.md, ",
        "session-start hook in .claude/settings.json, 0 tokens\n  why: the hook prints nothing: CLAUDE.md already imports",
        "\ntotal for claude-code: ",
    ] {
        assert!(told.contains(what), "{what}: {told}");
    }
    assert!(!told.contains("hunter2"), "{told}");
    assert_eq!(
        fs::read_dir(bench.home().join("state")).unwrap().count(),
        before,
        "prompt writes no file"
    );
}

#[test]
fn the_hook_part_is_the_output_of_the_hook() {
    let bench = Bench::new();
    bench.set_up("codex");
    bench.write("memory/ROOT.md", ROOT);
    bench.write("HIPPOCAMPUS.md", "# Index\n");
    let answer = bench.json(&[]);
    let codex = &answer["platforms"][0];
    assert_eq!(codex["platform"], "codex");
    let parts = codex["parts"].as_array().unwrap();
    let hook = parts.last().unwrap();
    assert_eq!(hook["source"], "session-start hook in .codex/config.toml");
    let lines = hook["lines"].as_array().unwrap().iter();
    let shown: String = lines
        .map(|line| format!("{}\n", line["text"].as_str().unwrap()))
        .collect();
    let (_, printed, _) = bench.run(&["hook", "session-start"]);
    assert!(
        printed.contains("`HIPPOCAMPUS.md` lists") && printed.contains("- pump"),
        "{printed}"
    );
    assert_eq!(shown, printed);
    assert_eq!(hook["tokens"], printed.len().div_ceil(4));
    let bytes: u64 = parts.iter().map(|part| part["bytes"].as_u64().unwrap()).sum();
    assert_eq!(codex["tokens"], bytes.div_ceil(4));
}

#[test]
fn each_harness_that_is_set_up_is_printed() {
    let bench = Bench::new();
    for platform in ["openclaw", "opencode"] {
        bench.set_up(platform);
    }
    let answer = bench.json(&[]);
    let sources = |platform: &Value| -> Vec<String> {
        let parts = platform["parts"].as_array().unwrap().iter();
        parts
            .map(|part| part["source"].as_str().unwrap().to_owned())
            .collect()
    };
    let platforms = answer["platforms"].as_array().unwrap();
    let names: Vec<&str> = platforms
        .iter()
        .map(|of| of["platform"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["openclaw", "opencode"]);
    let openclaw = sources(&platforms[0]);
    for source in ["HEARTBEAT.md:1-", "USER.md", "MEMORY.md", "skills/*/SKILL.md"] {
        assert!(
            openclaw.iter().any(|has| has.starts_with(source)),
            "{source}: {openclaw:?}"
        );
    }
    // Both harnesses read both blocks, because AGENTS.md contains both.
    for of in platforms {
        assert_eq!(
            sources(of)
                .iter()
                .filter(|has| has.starts_with("AGENTS.md:"))
                .count(),
            2
        );
    }
    assert!(sources(&platforms[1]).contains(&"memory/ROOT.md".to_owned()));
    let one = bench.json(&["--platform", "opencode"]);
    assert_eq!(one["platforms"].as_array().unwrap().len(), 1);
}
