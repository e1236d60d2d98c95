//! Do the memories of other programs come into a workspace, each once, and is nothing that stands there touched?

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use hippo_proto::{ErrorKind, ImportFrom, ImportRequest, ImportResponse, RpcError};
use hippod_tests::{Caller, Daemon, Scratch, client_program};
use serde_json::{Value, json};

const FIXTURES: [(ImportFrom, &str); 5] = [
    (ImportFrom::HippoMemory, "hippo-memory"),
    (ImportFrom::BasicMemory, "basic-memory"),
    (ImportFrom::ClaudeMem, "claude-mem.json"),
    (ImportFrom::Mem0, "mem0.json"),
    (ImportFrom::Mem0, "mem0-history.db"),
];

pub fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("data/import")
        .join(name)
}

fn hippoctl(daemon: &Daemon, root: &Path, words: &[&str]) -> Output {
    Command::new(client_program())
        .args(["--no-start", "--workspace"])
        .arg(root)
        .args(words)
        .env("HIPPOD_HOME", daemon.socket().parent().unwrap())
        .output()
        .expect("hippoctl runs")
}

pub fn told(daemon: &Daemon, root: &Path, words: &[&str]) -> String {
    let output = hippoctl(daemon, root, words);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{words:?}: {errors}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

pub fn import(
    client: &mut Caller,
    root: &Path,
    from: ImportFrom,
    path: &Path,
    apply: bool,
) -> Result<ImportResponse, RpcError> {
    let request = ImportRequest {
        workspace: root.display().to_string(),
        from,
        path: path.display().to_string(),
        into: None,
        apply,
    };
    match client.raw().call(&request.into()) {
        Ok(answer) => Ok(answer),
        Err(hippo_proto::ClientError::Refused(error)) => Err(error),
        Err(error) => panic!("{error}"),
    }
}

/// The markdown files of a workspace but for what the daemon keeps, with their bytes.
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

pub fn begun(scratch: &Scratch) -> (Daemon, Caller, PathBuf) {
    let daemon = scratch.daemon();
    let mut client = daemon.client();
    let root = scratch.workspace();
    client.add(&root);
    (daemon, client, root)
}

#[test]
fn what_was_imported_is_found_and_a_second_time_adds_nothing() {
    let scratch = Scratch::new();
    scratch.write("memory/2026-03-05.md", "# 2026-03-05\n\n## Mine\n\nmine\n");
    let (daemon, mut client, root) = begun(&scratch);
    let before = memory_of(&root);
    for (from, name) in FIXTURES {
        let path = fixture(name);
        let words = ["import", from.name(), path.to_str().unwrap()];
        let dry = told(&daemon, &root, &words);
        assert!(dry.contains("add --apply"), "{dry}");
    }
    assert_eq!(memory_of(&root), before, "a dry run writes nothing");
    for (from, name) in FIXTURES {
        let path = fixture(name);
        let told = told(
            &daemon,
            &root,
            &["import", from.name(), path.to_str().unwrap(), "--apply"],
        );
        assert!(
            told.contains("to take it back") || told.contains("0 written"),
            "{told}"
        );
    }
    let after = memory_of(&root);
    for (path, bytes) in &before {
        assert!(after[path].starts_with(bytes), "{path} is only appended to");
    }
    client.sync(&root);
    for (question, path, text) in [
        ("greenhouse pump volts spare", "memory/2026-11-22.md", "24 volts"),
        (
            "cellar pump amperes",
            "knowledge/imported/basic-memory/pumps/Pump room.md",
            "6 amperes",
        ),
        (
            "why does the orchard sensor drain its battery",
            "memory/2026-03-03.md",
            "wakes every five",
        ),
        ("when is standup", "memory/2026-11-22.md", "9:45 since March"),
        (
            "日本語 Messwerte Zeitzone",
            "memory/2026-03-05.md",
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
    assert_eq!(all.matches("nothing to be followed").count(), 3);
    assert!(!all.contains("A mistake that goes again"), "it was deleted there");
    let doctor = client.doctor(false);
    assert!(doctor.problems.is_empty(), "{:#?}", doctor.problems);
    for (from, name) in FIXTURES {
        let words = [
            "import",
            from.name(),
            fixture(name).to_str().unwrap(),
            "--apply",
            "--json",
        ]
        .map(str::to_owned);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let answer: Value = serde_json::from_str(&told(&daemon, &root, &words)).unwrap();
        assert_eq!(
            (&answer["files"], &answer["memories"]),
            (&json!([]), &answer["known"]),
            "{answer}"
        );
    }
    assert_eq!(memory_of(&root), after);
}

/// The database of claude-mem that says what its export does, in a folder.
pub fn store_of_claude_mem(folder: &Path) {
    fs::create_dir_all(folder).unwrap();
    let export: Value = serde_json::from_slice(&fs::read(fixture("claude-mem.json")).unwrap()).unwrap();
    let database = rusqlite::Connection::open(folder.join("claude-mem.db")).unwrap();
    for (table, group) in [
        ("observations", "observations"),
        ("session_summaries", "summaries"),
    ] {
        let rows = export[group].as_array().unwrap();
        let columns: Vec<&String> = rows[0].as_object().unwrap().keys().collect();
        let names = columns
            .iter()
            .map(|name| format!("\"{name}\""))
            .collect::<Vec<_>>()
            .join(",");
        database
            .execute(&format!("CREATE TABLE {table} ({names})"), [])
            .unwrap();
        for row in rows {
            let values: Vec<rusqlite::types::Value> = columns
                .iter()
                .map(|name| match &row[name.as_str()] {
                    Value::String(text) => text.clone().into(),
                    Value::Number(number) => number.as_i64().unwrap().into(),
                    _ => rusqlite::types::Value::Null,
                })
                .collect();
            let marks = vec!["?"; values.len()].join(",");
            let insert = format!("INSERT INTO {table} ({names}) VALUES ({marks})");
            database
                .execute(&insert, rusqlite::params_from_iter(values))
                .unwrap();
        }
    }
}

#[test]
fn the_file_of_a_store_and_its_export_say_the_same() {
    let scratch = Scratch::new();
    let (_daemon, mut client, root) = begun(&scratch);
    let folder = scratch.beside("store");
    store_of_claude_mem(&folder);
    let answer = import(&mut client, &root, ImportFrom::ClaudeMem, &folder, true).unwrap();
    assert_eq!((answer.memories, answer.known), (7, 0));
    let again = import(
        &mut client,
        &root,
        ImportFrom::ClaudeMem,
        &fixture("claude-mem.json"),
        false,
    )
    .unwrap();
    assert_eq!((again.memories, again.known, again.left_out), (7, 7, 2));
    // Without its database, the files of hippo-memory say the same.
    import(
        &mut client,
        &root,
        ImportFrom::HippoMemory,
        &fixture("hippo-memory"),
        true,
    )
    .unwrap();
    let files = scratch.beside("files");
    fs::create_dir_all(files.join("episodic")).unwrap();
    for entry in fs::read_dir(fixture("hippo-memory/.hippo/episodic")).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, files.join("episodic").join(path.file_name().unwrap())).unwrap();
    }
    let again = import(&mut client, &root, ImportFrom::HippoMemory, &files, false).unwrap();
    assert_eq!((again.memories, again.known), (8, 8));
}

#[test]
fn what_cannot_be_imported_is_refused_and_damage_is_named() {
    let scratch = Scratch::new();
    scratch.write("memory/2026-03-05.md", "mine\n");
    let (daemon, mut client, root) = begun(&scratch);
    let before = memory_of(&root);
    let folder = scratch.beside("odd");
    fs::create_dir_all(folder.join("empty")).unwrap();
    for (name, bytes) in [
        ("empty.json", &b""[..]),
        ("latin1.json", b"{\"results\": [{\"memory\": \"caf\xe9\"}]}"),
        ("prose.json", b"# Notes\n"),
        ("other.json", b"{\"a\": {\"memory\": \"x\"}}"),
        ("torn.db", b"SQLite format 3\0 and nothing else"),
    ] {
        fs::write(folder.join(name), bytes).unwrap();
        let refused = import(&mut client, &root, ImportFrom::Mem0, &folder.join(name), true).unwrap_err();
        assert_eq!(refused.data.kind, ErrorKind::BadRequest, "{name}: {refused:?}");
        assert!(
            refused.message.contains(name) && !refused.data.hint.is_empty(),
            "{refused:?}"
        );
    }
    for (from, path) in [
        (ImportFrom::Mem0, folder.join("empty")),
        (ImportFrom::BasicMemory, folder.join("empty")),
        (ImportFrom::HippoMemory, folder.clone()),
        (ImportFrom::ClaudeMem, folder.clone()),
        (ImportFrom::ClaudeMem, folder.join("gone.json")),
        (ImportFrom::BasicMemory, folder.join("empty.json")),
    ] {
        let refused = import(&mut client, &root, from, &path, true).unwrap_err();
        assert_eq!(refused.data.kind, ErrorKind::NotFound, "{refused:?}");
    }
    let refused = import(&mut client, &root, ImportFrom::BasicMemory, &root, true).unwrap_err();
    assert!(refused.message.contains("within each other"), "{refused:?}");
    for into in ["../out", "/etc", ".hippocampus", "drafts", "memory/daily"] {
        let mem0 = fixture("mem0.json");
        let words = [
            "import",
            "mem0",
            mem0.to_str().unwrap(),
            "--into",
            into,
            "--apply",
        ];
        let output = hippoctl(&daemon, &root, &words);
        assert_eq!(output.status.code(), Some(2), "{into}: {output:?}");
    }
    assert_eq!(memory_of(&root), before);
    let lines = "{\"memory\":\"one\"}\n{\"memory\": \n{\"memory\":\"two\"}\n";
    fs::write(folder.join("lines.jsonl"), lines).unwrap();
    let lines = folder.join("lines.jsonl");
    let said = told(
        &daemon,
        &root,
        &[
            "import",
            "mem0",
            lines.to_str().unwrap(),
            "--into",
            "memory/other",
            "--apply",
        ],
    );
    assert!(
        said.contains("lines.jsonl, line 2: the record that begins here is damaged"),
        "{said}"
    );
    let written = fs::read_to_string(root.join("memory/other/undated.md")).unwrap();
    assert!(
        written.starts_with("# Imported from mem0\n\n## one\n") && written.contains("\n## two\n"),
        "{written}"
    );
    assert_eq!(memory_of(&root).len(), 2);
}

#[test]
fn a_note_of_the_same_name_stays_as_it_is() {
    let scratch = Scratch::new();
    let mine = "knowledge/imported/basic-memory/people/Zoë.md";
    scratch.write(mine, "# Zoë\n\nWhat I know of her.\n");
    let (_daemon, mut client, root) = begun(&scratch);
    let answer = import(
        &mut client,
        &root,
        ImportFrom::BasicMemory,
        &fixture("basic-memory"),
        true,
    )
    .unwrap();
    let paths: Vec<&str> = answer.files.iter().map(|file| &*file.path).collect();
    assert!(
        paths[0].starts_with("knowledge/imported/basic-memory/people/Zoë-") && paths.len() == 2,
        "{paths:?}"
    );
    assert_eq!(
        fs::read_to_string(root.join(mine)).unwrap(),
        "# Zoë\n\nWhat I know of her.\n"
    );
    let note = fs::read_to_string(root.join(paths[1])).unwrap();
    let theirs = fs::read_to_string(fixture("basic-memory/pumps/Pump room.md")).unwrap();
    assert!(note.starts_with(theirs.trim_end()), "{note}");
    assert!(
        note.contains("<!-- imported from=basic-memory id=main/pumps/pump-room kind=note hash="),
        "{note}"
    );
}
