//! What becomes of exports that are none, of dates that cannot be, of memories that no file has room for, and of many imports at once?

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use hippo_proto::{ErrorKind, ImportFrom, ImportRequest, ImportResponse};
use hippod_tests::{Caller, Daemon, Scratch};
use serde_json::{Value, json};

use crate::import::{begun, import, memory_of, told};

fn put(scratch: &Scratch, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
    let path = scratch.beside(name);
    fs::write(&path, bytes).unwrap();
    path
}

/// A file of `mem0` with so many memories, on so many days.
fn many(scratch: &Scratch, count: u32, days: u32) -> PathBuf {
    let record = |number: u32| {
        let day = jiff::civil::date(2024, 1, 1) + jiff::Span::new().days(number % days);
        json!({"id": number, "memory": format!("Note {number}: {}", "the pump hums ".repeat(20)), "created_at": format!("{day}T12:00:00Z")})
    };
    let records: Vec<Value> = (0..count).map(record).collect();
    put(scratch, "many.json", serde_json::to_vec(&records).unwrap())
}

fn applied(client: &mut Caller, root: &Path, path: &Path) -> ImportResponse {
    import(client, root, ImportFrom::Mem0, path, true).unwrap()
}

#[test]
fn what_no_program_exports_is_refused_and_says_what_was_found() {
    let scratch = Scratch::new();
    let (_daemon, mut client, root) = begun(&scratch);
    let nested = "[".repeat(100_000);
    let whole = format!("{nested}{}", "]".repeat(100_000));
    for (bytes, what) in [
        (nested.as_str(), "line 1: the file ends in the middle"),
        (&whole, "line 1: record 1 is damaged: it is a list, and no object"),
        ("[1,\n2]", "line 1: record 1 is damaged: it is a value"),
        (
            "[\n{\"x\":1}]",
            "line 2: record 1: the record has no text under \"memory\"",
        ),
        ("{\"pages\":[{\"memory\":\"x\"}]}", "what is in it is \"pages\""),
        ("{\"results\":[\0]}", "line 1: record 1 of \"results\" is damaged"),
    ] {
        let path = put(&scratch, "odd.json", bytes);
        let refused = import(&mut client, &root, ImportFrom::Mem0, &path, true).unwrap_err();
        assert_eq!(refused.data.kind, ErrorKind::BadRequest, "{refused:?}");
        assert!(refused.message.contains(what), "{what}: {}", refused.message);
        assert!(refused.message.len() < 1000, "{}", refused.message.len());
        assert!(refused.data.hint.contains("\"results\""), "{refused:?}");
    }
    assert!(memory_of(&root).is_empty());
}

#[test]
fn what_was_imported_can_be_searched_at_once() {
    let scratch = Scratch::new();
    let (_daemon, mut client, root) = begun(&scratch);
    for word in ["heron", "lapwing", "bittern"] {
        let records = json!([{"memory": format!("The {word} nests in the reeds."), "created_at": "2026-03-02T10:00:00Z"}]);
        let path = put(&scratch, "birds.json", records.to_string());
        assert_eq!(applied(&mut client, &root, &path).known, 0);
        assert!(!client.search(&root, word).results.is_empty(), "{word}");
    }
}

#[test]
fn a_day_that_cannot_be_meant_is_told_and_is_no_day_of_a_log() {
    let scratch = Scratch::new();
    let (daemon, mut client, root) = begun(&scratch);
    let dates = [
        "1200-05-01T10:00:00Z",
        "9998-12-31T00:00:00Z",
        "1970-01-01T00:00:00Z",
        "2026-03-02T10:00:00Z",
    ];
    let records: Vec<Value> = dates
        .iter()
        .map(|at| json!({"memory": format!("made at {at}"), "created_at": at}))
        .collect();
    let path = put(&scratch, "dates.json", json!(records).to_string());
    let dry = told(&daemon, &root, &["import", "mem0", path.to_str().unwrap()]);
    assert!(
        dry.contains(
            "3 memories are dated before 1970, or a month ahead or more, which is no day that can be meant (1200-05-01, 1970-01-01, 9998-12-31)"
        ),
        "{dry}"
    );
    applied(&mut client, &root, &path);
    let names: Vec<String> = memory_of(&root).into_keys().collect();
    assert_eq!(
        names,
        ["knowledge/imported/mem0/undated.md", "memory/2026-03-02.md"]
    );
    client.sync(&root);
    let problems = client.doctor(false).problems;
    let of_logs = problems.iter().filter(|problem| problem.id.starts_with("log-"));
    assert_eq!(of_logs.count(), 0, "{problems:#?}");
    assert_eq!(applied(&mut client, &root, &path).known, 4);
}

#[test]
fn a_memory_belongs_to_the_day_of_the_workspace() {
    let scratch = Scratch::new();
    scratch.trusted(
        ".hippocampus/config.toml",
        "[search]\ntimezone = \"Pacific/Kiritimati\"\n",
    );
    let (_daemon, mut client, root) = begun(&scratch);
    let records = json!([{"memory": "late", "created_at": "2026-03-02T23:00:00Z"}]);
    let path = put(&scratch, "late.json", records.to_string());
    let answer = applied(&mut client, &root, &path);
    assert_eq!(answer.files[0].path, "memory/2026-03-03.md");
}

#[test]
fn what_no_file_has_room_for_is_told_and_all_else_stands_once() {
    let scratch = Scratch::new();
    let settings = "[sources]\nexclude = [\"knowledge/imported\"]\n";
    scratch.trusted(".hippocampus/config.toml", settings);
    let daemon = Daemon::start(&scratch.home(), &[("HIPPOD_SOURCES_MAX_FILE_BYTES", "3000")]);
    let (mut client, root) = (daemon.client(), scratch.workspace());
    client.add(&root);
    let mut records: Vec<Value> = (0..20)
        .map(|number| json!({"id": number, "memory": format!("Note {number} {}", "hums ".repeat(100)), "created_at": "2026-03-02T10:00:00Z"}))
        .collect();
    records
        .push(json!({"id": "large", "memory": "hums ".repeat(1000), "created_at": "2026-03-02T10:00:00Z"}));
    records.push(json!({"id": "undated", "memory": "It has no day."}));
    let path = put(&scratch, "sizes.json", json!(records).to_string());
    let first = applied(&mut client, &root, &path);
    assert_eq!((first.memories, first.malformed), (22, 1));
    let what = &first.problems[0].what;
    assert!(
        what.contains("\"large\"") && what.contains("max_file_bytes"),
        "{what}"
    );
    let whole = memory_of(&root);
    assert!(whole.values().all(|bytes| bytes.len() <= 3000) && whole.len() > 4);
    assert!(
        first.notes.iter().any(|note| note.contains("excluded")),
        "{first:?}"
    );
    // Somebody writes on, until one is too large to be searched.
    let name = root.join("memory/2026-03-02.md");
    let grown = fs::read_to_string(&name).unwrap() + &"More of it.\n".repeat(300);
    fs::write(&name, grown).unwrap();
    client.sync(&root);
    let again = applied(&mut client, &root, &path);
    assert_eq!((again.known, again.files), (21, Vec::new()));
}

#[test]
fn who_waits_sees_how_far_an_import_is() {
    let scratch = Scratch::new();
    let (_daemon, mut client, root) = begun(&scratch);
    let path = many(&scratch, 600, 60);
    let request = ImportRequest {
        workspace: root.display().to_string(),
        from: ImportFrom::Mem0,
        path: path.display().to_string(),
        into: None,
        apply: true,
    };
    let mut seen = BTreeSet::new();
    let mut most = 0;
    let answer: ImportResponse = client
        .raw()
        .call_with(&request.into(), |notification| {
            let progress = notification.progress().unwrap();
            most = most.max(progress.total.unwrap_or(0));
            seen.insert(progress.stage);
        })
        .unwrap();
    assert_eq!((answer.files.len(), most), (60, 600));
    // A client that reads slowly sees fewer of them: the daemon does not wait.
    assert!(seen.contains("read") && seen.contains("prepare"), "{seen:?}");
}

#[test]
fn imports_that_wait_hold_nobody_up() {
    let scratch = Scratch::new();
    scratch.write("memory/2026-03-05.md", "# 2026-03-05\n\nThe pump is blue.\n");
    let (daemon, mut client, root) = begun(&scratch);
    client.sync(&root);
    let path = many(&scratch, 3000, 30);
    let mut waiting = daemon.raw();
    // More than the daemon has threads for such work.
    for id in 1..=40 {
        let params = json!({"workspace": root, "from": "mem0", "path": path});
        let request = json!({"jsonrpc": "2.0", "id": id, "method": "import", "params": params});
        assert!(waiting.send(format!("{request}\n").as_bytes()));
    }
    let (mut answered, mut told_to_wait) = (0, 0);
    while told_to_wait < 20 && answered < 40 {
        let line = waiting.line().unwrap();
        answered += u32::from(!line["id"].is_null());
        told_to_wait += u32::from(line["params"]["stage"] == "wait");
    }
    assert_eq!(told_to_wait, 20);
    let found = client.search(&root, "which colour has the pump");
    assert!(!found.results.is_empty());
    let last =
        json!({"jsonrpc": "2.0", "id": 99, "method": "hello", "params": {"client": "test", "protocol": 1}});
    assert!(waiting.send(format!("{last}\n").as_bytes()));
    loop {
        let line = waiting.line().unwrap();
        if line["id"] == 99 {
            break;
        }
        answered += u32::from(!line["id"].is_null());
    }
    assert!(answered < 24, "{answered} imports were done first");
}

#[test]
fn two_at_a_time_write_each_memory_once() {
    let scratch = Scratch::new();
    let (daemon, mut client, root) = begun(&scratch);
    let path = many(&scratch, 400, 40);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            let (mut client, path, root) = (daemon.client(), &path, &root);
            scope.spawn(move || applied(&mut client, root, path));
        }
    });
    let other = scratch.beside("other");
    fs::create_dir_all(&other).unwrap();
    client.add(&other);
    applied(&mut client, &other, &path);
    assert!(memory_of(&root) == memory_of(&other));
}

#[test]
fn a_damaged_page_of_a_database_costs_the_rows_on_it_alone() {
    let scratch = Scratch::new();
    let (_daemon, mut client, root) = begun(&scratch);
    let path = scratch.beside("claude-mem.db");
    let database = rusqlite::Connection::open(&path).unwrap();
    database
        .execute_batch(
            "CREATE TABLE observations (id INTEGER PRIMARY KEY, project TEXT, type TEXT, title TEXT, narrative TEXT, created_at_epoch INTEGER);
             WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200)
             INSERT INTO observations SELECT i, 'orchard', 'note', printf('Title %d', i), printf('%.*c', 400, 'x'), 1772530000000 FROM n;
             UPDATE observations SET title = NULL, narrative = NULL WHERE id = 7;",
        )
        .unwrap();
    drop(database);
    let mut bytes = fs::read(&path).unwrap();
    let wanted = b"Title 100";
    let at = bytes
        .windows(wanted.len())
        .position(|part| part == wanted)
        .unwrap();
    let page = at / 4096 * 4096;
    bytes[page..page + 4096].fill(0xee);
    fs::write(&path, bytes).unwrap();
    let answer = import(&mut client, &root, ImportFrom::ClaudeMem, &path, false).unwrap();
    assert!((180..200).contains(&answer.memories), "{answer:?}");
    let told: Vec<&str> = answer.problems.iter().map(|problem| &*problem.what).collect();
    assert_eq!(told.len(), 2);
    assert_eq!(
        told[0],
        "row 7 of observations (id \"7\"): the observation has neither title nor text"
    );
    assert!(
        told[1].starts_with("the rows between rowid ") && told[1].contains("malformed"),
        "{told:?}"
    );
}

#[test]
fn links_and_folders_that_are_not_followed_are_told() {
    let scratch = Scratch::new();
    let (_daemon, mut client, root) = begun(&scratch);
    let store = scratch.beside("notes");
    let deep = (0..20).fold(store.clone(), |folder, number| folder.join(number.to_string()));
    fs::create_dir_all(&deep).unwrap();
    fs::write(store.join("a.md"), "# A\n\nIt hums.\n").unwrap();
    fs::write(deep.join("b.md"), "# B\n").unwrap();
    std::os::unix::fs::symlink(&store, store.join("again")).unwrap();
    std::os::unix::fs::symlink("a.md", store.join("c.md")).unwrap();
    let answer = import(&mut client, &root, ImportFrom::BasicMemory, &store, false).unwrap();
    assert_eq!(answer.memories, 1);
    assert!(
        answer.notes[0].contains("are not followed: 3 such as 0/1/2/"),
        "{:?}",
        answer.notes
    );
}
