//! Interrupted imports.
//! Every file is complete, and a second import yields the result of an import without interruption.

use std::fs;
use std::time::Instant;

use hippod_tests::{PATIENCE, Scratch};
use serde_json::{Value, json};

use crate::import::{begun, command, hashes_of, import, memory_of};

#[test]
fn a_killed_import_loses_and_repeats_nothing() {
    let scratch = Scratch::new();
    let large = scratch.beside("large.json");
    let record = |number: u32| {
        let day = jiff::civil::date(2024, 1, 1) + jiff::Span::new().days(number % 300);
        json!({"id": number, "memory": format!("Note {number}: {}", "the pump hums ".repeat(20)), "created_at": format!("{day}T12:00:00Z")})
    };
    let records: Vec<Value> = (0..6000).map(record).collect();
    fs::write(&large, serde_json::to_vec(&records).unwrap()).unwrap();
    let (daemon, _client, root) = begun(&scratch);
    let mut client = command(&daemon, &root, "mem0", &large)
        .arg("--apply")
        .spawn()
        .unwrap();
    let deadline = Instant::now() + PATIENCE;
    while fs::read_dir(root.join("memory/imported/mem0")).map_or(0, Iterator::count) < 20 {
        assert!(Instant::now() < deadline, "nothing is written");
        std::thread::yield_now();
    }
    client.kill().unwrap();
    // Ignore the exit status, because the import may have ended before the kill.
    client.wait().unwrap();
    let cut_off = memory_of(&root)
        .into_iter()
        .filter(|(name, _)| name.ends_with(".md"));
    for (name, bytes) in cut_off {
        let text = String::from_utf8(bytes).unwrap();
        assert!(text.ends_with(" -->\n"), "{name}: {text}");
    }
    let again = import(&daemon, &root, "mem0", &large, &["--apply"]).unwrap();
    assert_eq!(again["memories"], 6000);
    let mut hashes = hashes_of(&root);
    assert_eq!(hashes.len(), 6000);
    hashes.dedup();
    assert_eq!(hashes.len(), 6000, "each once");
}
