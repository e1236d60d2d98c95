//! Unusual names and kinds of files, and many renames between questions.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use hippod_tests::{Daemon, Dice, Scratch};
use serde_json::json;

use crate::scale::{Cases, attack};
use crate::wire::{Wire, roomy};

/// Parts that are combined into file names.
const PARTS: [&[u8]; 24] = [
    b"a",
    b"note",
    b" ",
    b"  x",
    b"\n",
    b"\t",
    b"#tag",
    b"\x1b[31m",
    "\u{202e}".as_bytes(),
    "日本".as_bytes(),
    "e\u{301}".as_bytes(),
    "é".as_bytes(),
    b"\xff",
    b"\xe2\x82",
    b"'",
    b"\"",
    b"$(id)",
    b"`id`",
    b"--flag",
    b"%41",
    b"A",
    b"CON",
    b"..a",
    b"2026-02-30",
];
/// Number of steps per case.
const STEPS: usize = 120;

/// Files with a unique word in each.
struct Zoo {
    scratch: Scratch,
    /// Word of each file, by path.
    files: BTreeMap<PathBuf, String>,
    words: usize,
}

impl Zoo {
    /// Returns a random path at which no file exists.
    fn name(&self, dice: &mut Dice) -> PathBuf {
        loop {
            let parts = (0..1 + dice.below(4)).flat_map(|_| dice.one_of(&PARTS).to_vec());
            let name = OsString::from_vec(parts.chain(*b".md").collect());
            let folder = ["memory", "memory/sub", "knowledge", "knowledge/deep/er"][dice.below(4)];
            let path = self.scratch.workspace().join(folder).join(&name);
            if name.as_bytes().starts_with(b".") {
                // A hidden file would not be a memory file.
                continue;
            }
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            if path.symlink_metadata().is_err() {
                return path;
            }
        }
    }

    fn text(&mut self) -> (String, String) {
        self.words += 1;
        let word = format!("beast{}x", self.words);
        (
            format!("# Zoo\n\n- the {word} sleeps in a cage of its own\n"),
            word,
        )
    }

    fn step(&mut self, dice: &mut Dice) {
        let paths: Vec<PathBuf> = self.files.keys().cloned().collect();
        let path = self.name(dice);
        match dice.below(12) {
            0..=3 => {
                let (text, word) = self.text();
                std::fs::write(&path, text).unwrap();
                self.files.insert(path, word);
            }
            4..=8 if !paths.is_empty() => {
                let from = dice.one_of(&paths);
                std::fs::rename(from, &path).unwrap();
                let word = self.files.remove(from).unwrap();
                self.files.insert(path, word);
            }
            9 if paths.len() > 8 => {
                let gone = dice.one_of(&paths);
                std::fs::remove_file(gone).unwrap();
                self.files.remove(gone);
            }
            10 if !paths.is_empty() => {
                let (text, word) = self.text();
                let path = dice.one_of(&paths).clone();
                std::fs::write(&path, text).unwrap();
                self.files.insert(path, word);
            }
            _ => self.odd(dice, &path),
        }
    }

    /// Creates something other than a regular file at this path.
    fn odd(&self, dice: &mut Dice, path: &Path) {
        match dice.below(6) {
            0 => {
                let made = Command::new("mkfifo").arg("--").arg(path).status();
                assert!(made.unwrap().success());
            }
            1 => std::fs::create_dir(path).unwrap(),
            2 => drop(std::os::unix::net::UnixListener::bind(path)),
            3 => symlink(path, path).unwrap(),
            4 => symlink("/dev/zero", path).unwrap(),
            _ => symlink("/proc/self/environ", path).unwrap(),
        }
    }
}

fn case(dice: &mut Dice) -> usize {
    let mut zoo = Zoo {
        scratch: Scratch::new(),
        files: BTreeMap::new(),
        words: 0,
    };
    let root = zoo.scratch.workspace();
    let mut daemon = Daemon::start(&zoo.scratch.home(), &roomy());
    let mut wire = Wire::new(&daemon);
    wire.expect("workspace.add", json!({"workspace": root}));
    for step in 0..STEPS {
        zoo.step(dice);
        if step % 10 == 0 {
            let query = format!("where does the beast{}x sleep", dice.below(zoo.words + 1));
            let answer = wire.expect("search", json!({"workspace": root, "query": query}));
            for hit in answer["results"].as_array().unwrap() {
                assert!(
                    hit["text"].as_str().unwrap().contains("sleeps in a cage"),
                    "{hit}"
                );
            }
        }
    }
    let mut client = daemon.client();
    client.accept_deletions(&root);
    for (path, word) in &zoo.files {
        // A search result cannot cite a name that is not UTF-8.
        let Some(path) = path.strip_prefix(&root).unwrap().to_str() else {
            continue;
        };
        let hits = client.search(&root, word).results;
        let paths: Vec<&str> = hits
            .iter()
            .filter(|hit| hit.text.contains(word))
            .map(|hit| hit.path.as_str())
            .collect();
        assert_eq!(paths, [path], "{word}: {hits:?}");
    }
    assert!(
        daemon.is_alive() && !daemon.log().contains("panicked"),
        "{}",
        daemon.log()
    );
    STEPS
}

#[test]
fn unusual_names_and_renames_hide_no_file() {
    attack("files", Cases::Drawn(4), |dice, _| case(dice));
}
