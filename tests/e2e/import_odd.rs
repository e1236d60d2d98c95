//! Invalid exports, impossible dates and concurrent imports.

use std::fs;
use std::path::PathBuf;

use hippod_tests::Scratch;
use serde_json::{Value, json};

use crate::import::{begun, command, hashes_of, import, memory_of};

fn put(scratch: &Scratch, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
    let path = scratch.beside(name);
    fs::write(&path, bytes).unwrap();
    path
}

#[test]
fn unknown_exports_are_refused_with_what_was_found() {
    let scratch = Scratch::new();
    let (daemon, _client, root) = begun(&scratch);
    let nested = "[".repeat(100_000);
    let whole = format!("{nested}{}", "]".repeat(100_000));
    for (bytes, what) in [
        (nested.as_str(), "line 1: it is not JSON"),
        (&whole, "line 1: it is not JSON"),
        ("[1,\n2]", "record 1: it is not an object"),
        (
            "[\n{\"x\":1}]",
            "record 1: the record has no text under \"memory\"",
        ),
        ("{\"pages\":[{\"memory\":\"x\"}]}", "it has no list of records"),
        ("{\"results\":[\0]}", "line 1: it is not JSON"),
    ] {
        let path = put(&scratch, "odd.json", bytes);
        let refused = import(&daemon, &root, "mem0", &path, &["--apply"]).unwrap_err();
        assert_eq!(refused["code"], 2, "{refused}");
        let message = refused["message"].as_str().unwrap();
        assert!(message.contains(what), "{what}: {message}");
        assert!(message.len() < 1000, "{}", message.len());
        assert!(
            refused["hint"].as_str().unwrap().contains("\"results\""),
            "{refused}"
        );
    }
    assert!(memory_of(&root).is_empty());
}

#[test]
fn imported_memories_are_searchable_at_once() {
    let scratch = Scratch::new();
    let (daemon, mut client, root) = begun(&scratch);
    for word in ["heron", "lapwing", "bittern"] {
        let records = json!([{"memory": format!("The {word} nests in the reeds."), "created_at": "2026-03-02T10:00:00Z"}]);
        let path = put(&scratch, "birds.json", records.to_string());
        assert_eq!(
            import(&daemon, &root, "mem0", &path, &["--apply"]).unwrap()["known"],
            0
        );
        assert!(!client.search(&root, word).results.is_empty(), "{word}");
    }
}

#[test]
fn implausible_dates_get_no_daily_log() {
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
    import(&daemon, &root, "mem0", &path, &["--apply"]).unwrap();
    let names: Vec<String> = memory_of(&root).into_keys().collect();
    assert_eq!(
        names,
        [
            "memory/imported/mem0/2026-03-02.md",
            "memory/imported/mem0/undated.md"
        ]
    );
    client.sync(&root);
    let problems = client.doctor(false).problems;
    let of_logs = problems.iter().filter(|problem| problem.id.starts_with("log-"));
    assert_eq!(of_logs.count(), 0, "{problems:#?}");
    assert_eq!(
        import(&daemon, &root, "mem0", &path, &["--apply"]).unwrap()["known"],
        4
    );
}

#[test]
fn concurrent_imports_write_each_memory_once() {
    let scratch = Scratch::new();
    let (daemon, _client, root) = begun(&scratch);
    let record = |number: u32| {
        let day = jiff::civil::date(2024, 1, 1) + jiff::Span::new().days(number % 40);
        json!({"id": number, "memory": format!("Note {number}"), "created_at": format!("{day}T12:00:00Z")})
    };
    let records: Vec<Value> = (0..400).map(record).collect();
    let path = put(&scratch, "many.json", json!(records).to_string());
    let started: Vec<_> = (0..3)
        .map(|_| {
            command(&daemon, &root, "mem0", &path)
                .arg("--apply")
                .spawn()
                .unwrap()
        })
        .collect();
    for mut client in started {
        assert!(client.wait().unwrap().success());
    }
    import(&daemon, &root, "mem0", &path, &["--apply"]).unwrap();
    let mut hashes = hashes_of(&root);
    assert_eq!(hashes.len(), 400);
    hashes.dedup();
    assert_eq!(hashes.len(), 400, "each once");
}
