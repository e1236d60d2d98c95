//! Indexed workspace that each case restores from a copy.

use std::path::{Path, PathBuf};
use std::process::Command;

use hippod_tests::{Daemon, Scratch};
use serde_json::json;

use crate::wire::{Wire, furnish, roomy};

/// Text that a person wrote into the index file.
pub const WORDS: &str = "The words of a person stay.";

/// A workspace and its state, with a copy of both.
pub struct Stage {
    /// Folder that contains the workspace and the home.
    pub scratch: Scratch,
    /// Id of an entry in a session, and the stored content of the entry.
    pub content: (String, String),
}

impl Stage {
    /// Indexes a workspace with a daemon, stops the daemon, and copies the workspace and its state.
    pub fn set() -> Self {
        let scratch = Scratch::new();
        furnish(&scratch, 6);
        let daemon = Daemon::start(&scratch.home(), &roomy());
        let mut wire = Wire::new(&daemon);
        let root = scratch.workspace();
        wire.expect("workspace.add", json!({"workspace": root}));
        wire.expect("workspace.sync", json!({"workspace": root, "wait": true}));
        let fact = json!({"workspace": root, "text": "The lantern is green.", "topic": "Lantern"});
        wire.expect("remember", fact);
        let end = "\n## By Time\n";
        scratch.edit_index(end, &format!("\n{WORDS}\n{end}"));
        wire.expect("context.open", json!({"workspace": root, "session": "stage"}));
        let content: String = (0..500)
            .map(|line| format!("line {line} of the tool\n"))
            .collect();
        let put = json!({
            "session": "stage", "turn": 1, "type": "tool_result", "content": content,
            "source": {"type": "exec", "ref": "ls"},
        });
        let id = wire.expect("context.put", put)["entry"]["id"]
            .as_str()
            .unwrap()
            .to_owned();
        wire.expect("workspace.sync", json!({"workspace": root, "wait": true}));
        daemon.terminate();
        let stage = scratch.beside("stage");
        std::fs::create_dir(&stage).unwrap();
        copy(&[scratch.workspace(), scratch.home()], &stage);
        Self {
            scratch,
            content: (id, content),
        }
    }

    /// Restores the workspace and its state from the copy.
    pub fn reset(&self) {
        for folder in [self.scratch.workspace(), self.scratch.home()] {
            std::fs::remove_dir_all(&folder).unwrap();
            let from = self.scratch.beside("stage").join(folder.file_name().unwrap());
            copy(&[from], &folder);
        }
    }

    /// Returns all files and folders of the workspace and the home.
    pub fn files(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        walk(&self.scratch.workspace(), &mut found);
        walk(&self.scratch.home(), &mut found);
        found
    }
}

fn copy(from: &[PathBuf], to: &Path) {
    let copied = Command::new("cp").arg("-a").args(from).arg(to).status();
    assert!(copied.unwrap().success());
}

/// Adds a folder and everything below it to `found`.
fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
    found.push(folder.to_path_buf());
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            walk(&entry.path(), found);
        } else if kind.is_file() && entry.file_name() != "log" {
            found.push(entry.path());
        }
    }
}
