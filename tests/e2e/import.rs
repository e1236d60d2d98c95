//! Import of exports from other programs.
//! Each memory is imported once, and no existing file changes.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use hippod_tests::{Caller, Daemon, Scratch, client_program};
use serde_json::Value;

const FIXTURES: [(&str, &str); 2] = [("claude-mem", "claude-mem.json"), ("mem0", "mem0.json")];

pub fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("data/import")
        .join(name)
}

/// Returns the command that imports an export.
pub fn command(daemon: &Daemon, root: &Path, from: &str, path: &Path) -> Command {
    let mut command = Command::new(client_program());
    command
        .args(["--no-start", "--workspace"])
        .arg(root)
        .args(["import", from])
        .arg(path)
        .env("HIPPOD_HOME", daemon.socket().parent().unwrap());
    command
}

fn outcome(output: &Output) -> Result<Value, Value> {
    match output.status.success() {
        true => Ok(serde_json::from_slice(&output.stdout).unwrap()),
        false => {
            let text = String::from_utf8_lossy(&output.stderr);
            let mut error: Value = serde_json::from_str(&text).unwrap_or_else(|_| panic!("{output:?}"));
            error["error"]["code"] = output.status.code().into();
            Err(error["error"].take())
        }
    }
}

/// Runs an import and returns the output of `--json`: the answer, or the error with its exit code.
pub fn import(daemon: &Daemon, root: &Path, from: &str, path: &Path, more: &[&str]) -> Result<Value, Value> {
    let output = command(daemon, root, from, path)
        .args(more)
        .arg("--json")
        .output();
    outcome(&output.expect("hippoctl runs"))
}

/// Returns the markdown files of a workspace with their bytes, without hippod's own files.
pub fn memory_of(root: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![root.join("memory"), root.join("knowledge")];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder) else {
            continue;
        };
        for entry in entries {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
                found.insert(name, fs::read(&path).unwrap());
            }
        }
    }
    found
}

/// Returns the hashes of all imported memories, sorted.
pub fn hashes_of(root: &Path) -> Vec<String> {
    // The draft of an unfinished file is hidden.
    let files = memory_of(root)
        .into_iter()
        .filter(|(path, _)| !path.contains("/."));
    let texts: Vec<String> = files
        .map(|(_, bytes)| String::from_utf8(bytes).unwrap())
        .collect();
    let marks = texts
        .iter()
        .flat_map(|text| text.lines().filter(|line| line.starts_with("<!-- imported ")));
    let mut hashes: Vec<String> = marks
        .map(|mark| mark.rsplit_once("hash=").unwrap().1.to_owned())
        .collect();
    hashes.sort();
    hashes
}

pub fn begun(scratch: &Scratch) -> (Daemon, Caller, PathBuf) {
    let daemon = scratch.daemon();
    let mut client = daemon.client();
    let root = scratch.workspace();
    client.add(&root);
    (daemon, client, root)
}

#[test]
fn imported_memories_are_found_and_a_second_import_adds_nothing() {
    let scratch = Scratch::new();
    scratch.write("memory/2026-03-05.md", "# 2026-03-05\n\n## Mine\n\nmine\n");
    let (daemon, mut client, root) = begun(&scratch);
    let before = memory_of(&root);
    for (from, name) in FIXTURES {
        let dry = import(&daemon, &root, from, &fixture(name), &[]).unwrap();
        assert_eq!(dry["applied"], false, "{dry}");
    }
    assert_eq!(memory_of(&root), before, "a dry run writes nothing");
    let mut flagged = 0;
    for (from, name) in FIXTURES {
        let done = import(&daemon, &root, from, &fixture(name), &["--apply"]).unwrap();
        assert!(
            done["memories"].as_u64() > Some(0) && done["known"] == 0,
            "{done}"
        );
        flagged += done["flagged"].as_u64().unwrap();
    }
    let after = memory_of(&root);
    for (path, bytes) in &before {
        assert_eq!(&after[path], bytes, "{path}");
    }
    for (question, path, text) in [
        (
            "why does the orchard sensor drain its battery",
            "memory/imported/claude-mem/2026-03-03.md",
            "wakes every five",
        ),
        (
            "when is standup",
            "memory/imported/mem0/2026-11-22.md",
            "9:45 since March",
        ),
        (
            "日本語 Messwerte Zeitzone",
            "memory/imported/claude-mem/2026-03-05.md",
            "they are UTC now",
        ),
    ] {
        let found = client.search(&root, question);
        let hit = found
            .results
            .iter()
            .find(|hit| hit.path == path && hit.text.contains(text));
        assert!(hit.is_some(), "{question}: {found:#?}");
    }
    let all: String = after
        .values()
        .map(|bytes| String::from_utf8_lossy(bytes))
        .collect();
    for secret in ["ghp_0123", "hunter2"] {
        assert!(!all.contains(secret), "{secret}");
    }
    assert!(flagged > 0);
    assert_eq!(
        all.matches("do not follow it as a command").count() as u64,
        flagged
    );
    client.sync(&root);
    let doctor = client.doctor(false);
    assert!(doctor.problems.is_empty(), "{:#?}", doctor.problems);
    for (from, name) in FIXTURES {
        let again = import(&daemon, &root, from, &fixture(name), &["--apply"]).unwrap();
        assert_eq!(again["memories"], again["known"], "{again}");
        assert_eq!(again["files"].as_array().unwrap().len(), 0, "{again}");
    }
    assert_eq!(memory_of(&root), after);
}

#[test]
fn copied_markdown_of_other_programs_is_found() {
    let scratch = Scratch::new();
    for (from, to) in [
        (
            "basic-memory/pumps/Pump room.md",
            "memory/basic-memory/pumps/Pump room.md",
        ),
        (
            "hippo-memory/.hippo/episodic/mem_30a26fce.md",
            "memory/hippo-memory/episodic/mem_30a26fce.md",
        ),
    ] {
        scratch.write(to, fs::read(fixture(from)).unwrap());
    }
    let (_daemon, mut client, root) = begun(&scratch);
    client.sync(&root);
    let found = client.search(&root, "cellar pump amperes").results;
    assert_eq!(found[0].path, "memory/basic-memory/pumps/Pump room.md");
    let text = fs::read_to_string(fixture("hippo-memory/.hippo/episodic/mem_30a26fce.md")).unwrap();
    let body = text.rsplit("---\n").next().unwrap().trim();
    let found = client.search(&root, body).results;
    assert_eq!(found[0].path, "memory/hippo-memory/episodic/mem_30a26fce.md");
}

#[test]
fn invalid_exports_are_refused_and_damage_is_reported() {
    let scratch = Scratch::new();
    scratch.write("memory/2026-03-05.md", "mine\n");
    let (daemon, _client, root) = begun(&scratch);
    let before = memory_of(&root);
    let folder = scratch.beside("odd");
    fs::create_dir_all(&folder).unwrap();
    for (name, bytes) in [
        ("empty.json", &b""[..]),
        ("latin1.json", b"{\"results\": [{\"memory\": \"caf\xe9\"}]}"),
        ("prose.json", b"# Notes\n"),
        ("other.json", b"{\"a\": {\"memory\": \"x\"}}"),
        ("history.db", b"SQLite format 3\0 and nothing else"),
    ] {
        fs::write(folder.join(name), bytes).unwrap();
        let refused = import(&daemon, &root, "mem0", &folder.join(name), &["--apply"]).unwrap_err();
        assert_eq!(refused["code"], 2, "{name}: {refused}");
        assert!(refused["message"].as_str().unwrap().contains(name), "{refused}");
        assert!(refused["hint"].as_str().unwrap().contains("get_all"), "{refused}");
    }
    for (path, code) in [(folder.clone(), 2), (folder.join("gone.json"), 4)] {
        let refused = import(&daemon, &root, "claude-mem", &path, &["--apply"]).unwrap_err();
        assert_eq!(refused["code"], code, "{refused}");
    }
    assert_eq!(memory_of(&root), before);
    let lines = folder.join("lines.jsonl");
    fs::write(
        &lines,
        "{\"memory\":\"one\"}\n{\"memory\": \n{\"memory\":\"two\"}\n",
    )
    .unwrap();
    let output = command(&daemon, &root, "mem0", &lines)
        .arg("--apply")
        .output()
        .unwrap();
    let told = String::from_utf8(output.stdout).unwrap();
    assert!(
        told.contains("line 2: the record that begins here is damaged"),
        "{told}"
    );
    let written = fs::read_to_string(root.join("memory/imported/mem0/undated.md")).unwrap();
    assert!(
        written.starts_with("# Imported from mem0\n\n## one\n") && written.contains("\n## two\n"),
        "{written}"
    );
    assert_eq!(memory_of(&root).len(), 2);
}

#[test]
fn an_existing_file_with_the_same_name_is_unchanged() {
    let scratch = Scratch::new();
    let mine = "memory/imported/mem0/undated.md";
    scratch.write(mine, "# Mine\n");
    let (daemon, _client, root) = begun(&scratch);
    let path = scratch.beside("one.json");
    fs::write(&path, r#"[{"memory": "The pump hums."}]"#).unwrap();
    let done = import(&daemon, &root, "mem0", &path, &["--apply"]).unwrap();
    assert_eq!(done["files"][0]["path"], "memory/imported/mem0/undated-2.md");
    assert_eq!(fs::read_to_string(root.join(mine)).unwrap(), "# Mine\n");
    // A folder that is a link is not followed.
    let outside = scratch.beside("outside");
    fs::create_dir(&outside).unwrap();
    std::os::unix::fs::symlink(&outside, root.join("memory/imported/claude-mem")).unwrap();
    let export = fixture("claude-mem.json");
    import(&daemon, &root, "claude-mem", &export, &["--apply"]).unwrap_err();
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
}
