//! Every command in cloned repositories with hostile links and settings.

use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use hippod_tests::{Daemon, Dice, Scratch, client_program};
use rusqlite::types::ValueRef;
use serde_json::json;

use crate::scale::{Cases, attack};
use crate::wire::{Wire, roomy};

/// Text that is in the environment and in every file outside the workspace.
const MARKER: &str = "outside-marker-4711";
/// A query that matches the text outside the workspace. It contains the marker neither literally nor as an entry id.
const QUESTION: &str = "4711 marker outside known to nobody";
/// Paths in a workspace that hippod or a harness reads or writes.
const PLACES: [&str; 40] = [
    "HIPPOCAMPUS.md",
    ".HIPPOCAMPUS.md.draft",
    ".HIPPOCAMPUS.md.new",
    ".HIPPOCAMPUS.md.replaced",
    ".HIPPOCAMPUS.md.replaced-1",
    "MEMORY.md",
    "USER.md",
    "SCRATCHPAD.md",
    "WORKING.md",
    "TASK-QUEUE.md",
    "CLAUDE.md",
    "AGENTS.md",
    ".gitignore",
    ".claude",
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".opencode",
    "opencode.json",
    "memory",
    "memory/ROOT.md",
    "memory/TODAY.md",
    "memory/2026-01-05.md",
    "memory/daily",
    "memory/weekly/2026-W02.md",
    "memory/monthly",
    "knowledge",
    "knowledge/deep/note.md",
    "plans",
    "hipocampus.config.json",
    ".hippocampus",
    ".hippocampus/canary",
    ".hippocampus/topics",
    ".hippocampus/temporal",
    ".hippocampus/archive",
    ".hippocampus/carried",
    ".hippocampus/carried/ROOT.md",
    ".hippocampus/config.toml",
    ".hippocampus/policies.yaml",
    ".hippocampus/meta.json",
    ".hippocampus/harness.json",
];
/// Hostile files and their contents.
const FILES: [(&str, &str); 8] = [
    (
        "hipocampus.config.json",
        r#"{"compaction":{"rootMaxTokens":1000000},"logFile":"../outside/notes/a.md","hippod":{"socket":"/nonexistent/$(id)"}}"#,
    ),
    (".hippocampus/config.toml", "[tree]\nsummaries = \"command\"\n"),
    (".hippocampus/config.toml", "[sources]\ninclude = [\"**/*\"]\n"),
    (".hippocampus/policies.yaml", "- - - - - - - - - - - - - - x\n"),
    (
        ".hippocampus/harness.json",
        r#"{"version":1,"platforms":["claude-code"],"registered":true,"index_is_new":true,"folders":["../outside/empty"],"files":{"../outside/notes/a.md":{"made":true,"hash":"00"},".git/config":{"made":false,"hash":"00","splice":{"at":0,"old":"x","new":""}}}}"#,
    ),
    (
        "HIPPOCAMPUS.md",
        "# HIPPOCAMPUS.md\n\n## Projects\n\n### Notes → ../outside/notes/a.md\n<!-- hx: id=abc s=0.8 a=2026-03-02 -->\nRead it.\n",
    ),
    ("memory/ROOT.md", "## Active Context\n- a stranger's line\n"),
    (
        "memory/2026-01-05.md",
        "# 2026-01-05\n\n## Pump\n\nThe pump of hall 3 is blue.\n",
    ),
];

/// Returns every path below a folder, with its mode and its bytes or link target.
fn snapshot(folder: &Path) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
    use std::os::unix::fs::MetadataExt;
    let mut all = BTreeMap::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            let (path, metadata) = (entry.path(), entry.metadata().unwrap());
            let bytes = if metadata.is_symlink() {
                std::fs::read_link(&path).unwrap().as_os_str().as_bytes().to_vec()
            } else if metadata.is_dir() {
                folders.push(path.clone());
                Vec::new()
            } else if metadata.is_file() {
                std::fs::read(&path).unwrap()
            } else {
                Vec::new()
            };
            all.insert(path, (metadata.mode(), bytes));
        }
    }
    all
}

/// Creates the folders outside the workspace, and a repository with links to them.
fn clone(scratch: &Scratch, dice: &mut Dice) -> Vec<String> {
    let outside = scratch.beside("outside");
    for folder in ["notes", "empty", "user/.aws", "user/.claude"] {
        std::fs::create_dir_all(outside.join(folder)).unwrap();
    }
    for file in [
        "notes/a.md",
        "notes/.b.md.new",
        "notes/2026-01-05.md",
        "user/.bashrc",
        "user/.aws/credentials",
    ] {
        let text = format!("# {MARKER}\n\n- the {MARKER} of {file} is known to nobody\n");
        std::fs::write(outside.join(file), text).unwrap();
    }
    std::fs::write(
        outside.join("user/.claude/settings.json"),
        format!("{{\"x\": \"{MARKER}\"}}"),
    )
    .unwrap();
    let root = scratch.workspace();
    std::fs::create_dir_all(root.join(".git")).unwrap();
    std::fs::write(root.join(".git/config"), "[core]\n\tbare = false\n").unwrap();
    let today = jiff::Zoned::now().date().to_string();
    let mut made = Vec::new();
    for _ in 0..1 + dice.below(7) {
        let place = dice.one_of(&PLACES).replace("TODAY", &today);
        if dice.below(4) == 0 {
            let (place, text) = dice.one_of(&FILES);
            if put(&root, place, |path| std::fs::write(path, text)) {
                made.push(format!("{place} = {text:.40}"));
            }
            continue;
        }
        let target = dice.one_of(&[
            "notes",
            "notes/a.md",
            "notes/new.md",
            "empty",
            "user",
            "user/.bashrc",
            "user/.aws/credentials",
        ]);
        let to = match dice.below(6) {
            0 => PathBuf::from("/proc/self/environ"),
            1 | 2 => outside.join(target),
            _ => {
                let up = "../".repeat(place.matches('/').count() + 1);
                PathBuf::from(format!("{up}outside/{target}"))
            }
        };
        if put(&root, &place, |path| symlink(&to, path)) {
            made.push(format!("{place} -> {}", to.display()));
        }
    }
    made
}

/// Creates something at a path. Returns `false` if the path exists or leads through a link.
fn put(root: &Path, place: &str, make: impl FnOnce(&Path) -> std::io::Result<()>) -> bool {
    let path = root.join(place);
    let mut above = path.parent().unwrap();
    while above != root {
        if above.is_symlink() || above.is_file() {
            return false;
        }
        above = above.parent().unwrap();
    }
    if path.symlink_metadata().is_ok() {
        // Only an empty folder may be replaced.
        if path.is_symlink() || std::fs::remove_dir(&path).is_err() {
            return false;
        }
    }
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    make(&path).unwrap();
    true
}

/// Runs `hippoctl` in the repository, as the user would, and returns all output.
///
/// # Panics
/// Panics if the program does not know a word of the command line.
fn run(scratch: &Scratch, words: &[&str], input: &str) -> String {
    use std::io::Write as _;
    let mut child = Command::new(client_program())
        .args(words)
        .current_dir(scratch.workspace())
        .env("HIPPOD_HOME", scratch.home())
        .env("HOME", scratch.beside("outside/user"))
        .env("HIPPOD_ATTACK_SECRET", MARKER)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The write fails if the command exits without reading its input.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let output = child.wait_with_output().unwrap();
    assert_ne!(output.status.code(), Some(2), "{words:?}: {output:?}");
    format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

fn case(dice: &mut Dice) -> usize {
    let scratch = Scratch::new();
    let made = clone(&scratch, dice);
    let (outside, root) = (scratch.beside("outside"), scratch.workspace());
    let before = snapshot(&outside);
    let git = std::fs::read(root.join(".git/config")).unwrap();
    let mut daemon = Daemon::start(&scratch.home(), &roomy());
    let mut said: Vec<(String, String)> = Vec::new();
    let event = json!({"session_id": "s", "cwd": root, "hook_event_name": "SessionStart"}).to_string();
    let platform = *dice.one_of(&["claude-code", "opencode", "openclaw", "codex"]);
    // These commands run first, some of them before the workspace is registered.
    let verbs: [&[&str]; 7] = [
        &["hook", "session-start"],
        &["init", "--dry-run"],
        &["init", "--full", "--platform", platform, "--take-over"],
        &["hook", "session-start"],
        &["prompt", "--platform", platform],
        &["hook", "task-completed"],
        &["workspace", "trust"],
    ];
    for words in verbs {
        said.push((words.join(" "), run(&scratch, words, &event)));
        assert_outside(&outside, &before, words.join(" "), &made);
    }
    let mut wire = Wire::new(&daemon);
    let workspace = json!({"workspace": root});
    let with = |more: serde_json::Value| {
        let mut all = workspace.clone();
        let more = more.as_object().cloned().unwrap_or_default();
        all.as_object_mut().unwrap().extend(more);
        all
    };
    let mut requests = vec![
        ("workspace.add", with(json!({}))),
        ("workspace.sync", with(json!({"wait": true}))),
        (
            "remember",
            with(json!({"text": "The pump of hall 3 was painted red.", "topic": "Pump"})),
        ),
        ("search", with(json!({"query": QUESTION, "limit": 100}))),
        ("recall", with(json!({"prompt": QUESTION, "session": "s"}))),
        ("recall.log", with(json!({}))),
        ("recall.why", with(json!({"query": QUESTION}))),
        ("cycle.run", with(json!({"cycle": "light"}))),
        ("cycle.run", with(json!({"cycle": "deep"}))),
        ("cycle.run", with(json!({"cycle": "archival"}))),
        ("tree.compact", with(json!({"take_over": true}))),
        ("tree.show", with(json!({}))),
        ("heartbeat", with(json!({}))),
        ("context.open", with(json!({"session": "s"}))),
        (
            "context.put",
            json!({"session": "s", "turn": 1, "type": "tool_result", "content": "a", "source": {"type": "exec", "ref": "ls"}}),
        ),
        ("context.close", json!({"session": "s"})),
        (
            "session.compact",
            with(json!({"messages": [{"role": "user", "content": "The pump is blue."}]})),
        ),
        ("index.list", with(json!({"archived": true}))),
        ("doctor", with(json!({}))),
        ("doctor", with(json!({"fix": true}))),
        ("audit", with(json!({"examples": 100}))),
        ("status", json!({})),
        ("backup", with(json!({"to": scratch.beside("backup.tar.zst")}))),
    ];
    requests.extend(PLACES.iter().map(|place| ("get", with(json!({"path": place})))));
    for (method, params) in requests {
        let what = format!("{method} {params}");
        said.push((what.clone(), format!("{:?}", wire.call(method, params))));
        assert_outside(&outside, &before, what, &made);
    }
    for words in [
        &["hook", "session-start"][..],
        &["init", "--undo"],
        &["init", "--bare"],
        &["workspace", "remove", "."],
        &["init", "--undo"],
    ] {
        said.push((words.join(" "), run(&scratch, words, &event)));
        assert_outside(&outside, &before, words.join(" "), &made);
    }
    assert!(daemon.is_alive(), "{made:#?}: {}", daemon.log());
    for (what, text) in &said {
        assert!(!text.contains(MARKER), "{what} shows it: {made:#?}\n{text}");
    }
    for folder in [root.clone(), scratch.home()] {
        let all = if folder.exists() {
            snapshot(&folder)
        } else {
            BTreeMap::new()
        };
        for (path, (_, bytes)) in all {
            let holds = bytes
                .windows(MARKER.len())
                .any(|window| window == MARKER.as_bytes());
            let shown = path.display();
            assert!(!holds, "{shown} holds what is outside: {made:#?}");
            let is_database = path.extension().is_some_and(|ending| ending == "db");
            assert!(
                !is_database || !holds_marker(&path),
                "{shown} holds what is outside: {made:#?}"
            );
        }
    }
    assert_eq!(std::fs::read(root.join(".git/config")).unwrap(), git, "{made:#?}");
    said.len()
}

/// Returns `true` if a value in the database contains the marker. Reads the rows instead of the file, because a value
/// can be split over several pages.
fn holds_marker(path: &Path) -> bool {
    let database = rusqlite::Connection::open(path).unwrap();
    let mut tables = database
        .prepare("SELECT name FROM sqlite_master WHERE type = 'table'")
        .unwrap();
    let names = tables.query_map([], |row| row.get::<_, String>(0)).unwrap();
    names.map(Result::unwrap).any(|name| {
        let mut rows = database.prepare(&format!("SELECT * FROM \"{name}\"")).unwrap();
        let columns = rows.column_count();
        let mut rows = rows.query([]).unwrap();
        while let Some(row) = rows.next().unwrap() {
            for column in 0..columns {
                let bytes = match row.get_ref(column).unwrap() {
                    ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes,
                    _ => continue,
                };
                if bytes
                    .windows(MARKER.len())
                    .any(|window| window == MARKER.as_bytes())
                {
                    return true;
                }
            }
        }
        false
    })
}

fn assert_outside(
    outside: &Path,
    before: &BTreeMap<PathBuf, (u32, Vec<u8>)>,
    after: String,
    made: &[String],
) {
    let now = snapshot(outside);
    let same = now == *before;
    assert!(same, "{after} changed what is outside: {made:#?}\n{now:?}");
}

#[test]
fn a_cloned_repository_neither_reads_nor_changes_anything_outside() {
    attack("repository", Cases::Drawn(10), |dice, _| case(dice));
}
