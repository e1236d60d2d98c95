//! Tests of hooks in untrusted folders.
//!
//! No file outside the folder is read.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests, outside the functions that clippy knows as tests"
)]

#[allow(dead_code, reason = "only the client is run here, without a daemon")]
mod scripted;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use hippo_fs::WorkspaceDir;
use hippo_proto::{Paths, folder};
use scripted::{hippoctl, out};
use tempfile::TempDir;

const SECRET: &str = "the-key-under-the-mat";
const SESSION: &str = "{\"role\": \"user\", \"content\": \"look after the pump\"}\n";

/// A folder `w`, and beside `w` a folder `outside` and another workspace `other`.
struct Bed {
    folder: TempDir,
}

impl Bed {
    fn new() -> Self {
        let bed = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        bed.write("session.jsonl", SESSION);
        fs::create_dir(bed.at("w")).unwrap();
        bed
    }

    fn at(&self, path: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(path)
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.at(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Replaces a file in `w` by an object of the kind `what`. Some kinds are links to the same path in `outside`.
    fn plant(&self, what: &str, path: &str) {
        let planted = self.at("w").join(path);
        fs::create_dir_all(planted.parent().unwrap()).unwrap();
        match what {
            "a pipe" => assert!(Command::new("mkfifo").arg(planted).status().unwrap().success()),
            "a folder" => fs::create_dir(planted).unwrap(),
            "a link within" => symlink(self.at("w/inside"), planted).unwrap(),
            "a link to nothing" => symlink(self.at("absent"), planted).unwrap(),
            place => symlink(self.at(place).join(path), planted).unwrap(),
        }
    }

    /// Runs the client in `w`. Asserts that its output contains no text from outside `w`.
    fn run(&self, words: &[&str]) -> (i32, String, String) {
        let words: Vec<&str> = words.iter().copied().chain(["--no-start"]).collect();
        let (code, told, errors) = out(&hippoctl(&self.at("home"), &self.at("w"), &words));
        assert!(!format!("{told}{errors}").contains(SECRET), "{told}{errors}");
        (code, told, errors)
    }

    fn register(&self) {
        let registry = Paths::below(&self.at("home")).state.join(folder::REGISTRY);
        let json = serde_json::json!({ "version": 1, "workspaces": [self.at("w")] });
        folder::write(&registry, json.to_string().as_bytes()).unwrap();
    }

    fn hooks_log(&self) -> String {
        fs::read_to_string(Paths::below(&self.at("home")).state.join("hooks.log")).unwrap_or_default()
    }
}

const PLANTS: [&str; 6] = [
    "outside",
    "other",
    "a link to nothing",
    "a link within",
    "a pipe",
    "a folder",
];

#[test]
fn session_start_skips_a_planted_root_and_logs_it() {
    let start = ["hook", "session-start", "--pending"];
    for what in PLANTS {
        let bed = Bed::new();
        bed.register();
        for place in ["outside/memory/ROOT.md", "other/memory/ROOT.md", "w/inside"] {
            bed.write(place, &format!("- {SECRET}\n"));
        }
        bed.plant(what, "memory/ROOT.md");
        let (code, told, _) = bed.run(&start);
        assert_eq!((code, told.as_str()), (0, ""), "{what}");
        let log = bed.hooks_log();
        let named = format!("could not read {}: ", bed.at("w/memory/ROOT.md").display());
        assert!(log.contains(&named) && !log.contains(SECRET), "{what}: {log}");
    }
    // First, replace the folder of the file with a link. Then, replace the settings files beside the folder with pipes.
    let bed = Bed::new();
    bed.register();
    bed.write("outside/ROOT.md", &format!("- {SECRET}\n"));
    symlink(bed.at("outside"), bed.at("w/memory")).unwrap();
    assert_eq!(bed.run(&start).1, "");
    assert!(
        bed.hooks_log().contains(": memory is a link"),
        "{}",
        bed.hooks_log()
    );
    fs::remove_file(bed.at("w/memory")).unwrap();
    bed.write("w/memory/ROOT.md", "- the pump is blue\n");
    for path in ["hipocampus.config.json", "CLAUDE.md"] {
        bed.plant("a pipe", path);
    }
    assert!(bed.run(&start).1.contains("the pump is blue"));
}

/// A guard that stops the swaps when the guard is dropped, even if an assertion fails.
struct Finish<'a>(&'a AtomicBool);

impl Drop for Finish<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

#[test]
fn a_root_swapped_with_a_link_never_shows_a_foreign_file() {
    let bed = Bed::new();
    bed.register();
    bed.write("outside/ROOT.md", &format!("- {SECRET}\n"));
    bed.write("w/memory/ROOT.md", "- the pump is blue\n");
    symlink(bed.at("outside/ROOT.md"), bed.at("w/memory/link")).unwrap();
    symlink(bed.at("outside"), bed.at("w/link")).unwrap();
    let finished = AtomicBool::new(false);
    let swap = |folder: &str, one: &str, two: &str| {
        let dir = WorkspaceDir::open(&bed.at(folder)).unwrap();
        dir.folder("").unwrap().exchange(one, two).unwrap();
    };
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !finished.load(Ordering::Acquire) {
                swap("w", "memory", "link");
                swap("w", "memory", "link");
                swap("w/memory", "ROOT.md", "link");
                std::thread::yield_now();
            }
        });
        let _finish = Finish(&finished);
        for _ in 0..50 {
            let (code, told, _) = bed.run(&["hook", "session-start", "--pending"]);
            assert_eq!(code, 0);
            assert!(told.is_empty() || told.contains("the pump is blue"), "{told}");
        }
    });
    assert_eq!(
        fs::read_to_string(bed.at("outside/ROOT.md")).unwrap(),
        format!("- {SECRET}\n")
    );
}
