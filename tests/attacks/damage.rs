//! Damaged databases, logs and vectors, and unknown schema versions.

use std::path::{Path, PathBuf};

use hippod_tests::{Daemon, Dice};
use serde_json::json;

use crate::scale::{Cases, attack};
use crate::stage::{Stage, WORDS};
use crate::wire::{Wire, logs, roomy};

/// Schema versions that no version of hippod writes.
const VERSIONS: [i32; 4] = [0, -1, 99, i32::MAX];

/// Damages one file, and returns a description of the damage.
fn damage(dice: &mut Dice, path: &Path) -> String {
    let name = path.file_name().unwrap().to_string_lossy().into_owned();
    if path.extension().is_some_and(|end| end == "db") && dice.below(6) == 0 {
        let version = *dice.one_of(&VERSIONS);
        let database = rusqlite::Connection::open(path).unwrap();
        database.pragma_update(None, "user_version", version).unwrap();
        return format!("{name}: version {version}");
    }
    let mut bytes = std::fs::read(path).unwrap();
    let at = dice.below(bytes.len().max(1));
    let what = match dice.below(5) {
        _ if bytes.is_empty() => return format!("{name}: empty already"),
        0 => {
            bytes.truncate(at);
            format!("cut to {at}")
        }
        1 => {
            let end = (at + 4096).min(bytes.len());
            bytes[at..end].fill(0);
            format!("zeros at {at}")
        }
        2 => {
            (0..64).for_each(|_| {
                let at = dice.below(bytes.len());
                bytes[at] = u8::try_from(dice.below(256)).unwrap();
            });
            "64 other bytes".to_owned()
        }
        3 => {
            bytes.extend((0..3000).map(|_| u8::try_from(dice.below(256)).unwrap()));
            "3000 bytes more".to_owned()
        }
        _ => {
            bytes[at] ^= 1 << dice.below(8);
            format!("a bit at {at}")
        }
    };
    std::fs::write(path, bytes).unwrap();
    format!("{name}: {what}")
}

fn case(stage: &Stage, files: &[PathBuf], dice: &mut Dice) -> usize {
    stage.reset();
    let damages: Vec<String> = (0..1 + dice.below(2))
        .map(|_| {
            let path = dice.one_of(files).clone();
            damage(dice, &path)
        })
        .collect();
    let what = damages.join(", ");
    let root = stage.scratch.workspace();
    let mut daemon = Daemon::start(&stage.scratch.home(), &roomy());
    let mut wire = Wire::new(&daemon);
    // The daemon may refuse any request, but it must not give a wrong answer.
    let _ = wire.call("workspace.sync", json!({"workspace": root, "wait": true}));
    for query in ["machine that leaks oil", "green lantern"] {
        let Ok(answer) = wire.call("search", json!({"workspace": root, "query": query})) else {
            continue;
        };
        for hit in answer["results"].as_array().unwrap() {
            let file = std::fs::read_to_string(root.join(hit["path"].as_str().unwrap())).unwrap();
            let line = hit["text"].as_str().unwrap().lines().next().unwrap_or_default();
            assert!(file.contains(line), "{what}: text that is not there: {hit}");
        }
    }
    let (id, content) = &stage.content;
    if let Ok(answer) = wire.call("context.fetch", json!({"id": id})) {
        let right = answer["outcome"] != "full" || answer["content"] == content.as_str();
        assert!(right, "{what}: other content than was put: {answer:.300}");
    }
    let _ = wire.call("doctor", json!({"rebuild": true}));
    let answer = wire.call(
        "remember",
        json!({"workspace": root, "text": "The hose is new.", "topic": "Hose"}),
    );
    assert!(daemon.is_alive(), "{what}: {}", daemon.log());
    let log = daemon.log();
    assert!(!log.contains("panicked"), "{what}: {log}");
    assert!(
        answer.is_ok(),
        "{what}: nothing can be remembered after a rebuild: {answer:?}\n{log}"
    );
    let text = logs(&root);
    assert!(
        text.contains("The lantern is green.") && text.contains("The hose is new."),
        "{what}"
    );
    assert!(
        stage.scratch.index_file().contains(WORDS),
        "{what}: the index file lost words"
    );
    damages.len()
}

#[test]
fn damaged_state_files_neither_stop_the_daemon_nor_falsify_answers() {
    let stage = Stage::set();
    let is_state = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy();
        path.is_file() && (name.contains(".db") || name.ends_with(".hvi") || name.ends_with(".json"))
    };
    let state = stage.scratch.home().join("state/workspaces");
    let mut files = stage.files();
    files.retain(|path| path.starts_with(&state) && is_state(path));
    assert!(files.len() >= 3, "{files:?}");
    attack("damage", Cases::Drawn(12), |dice, _| case(&stage, &files, dice));
}
