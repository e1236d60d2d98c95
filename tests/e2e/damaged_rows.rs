//! Damaged rows of the index that SQLite still reads as valid.

use std::fs;
use std::path::Path;

use hippo_proto::DoctorResponse;
use hippod_tests::{Answer, Scratch, assert_same};

use super::damage::{QUERIES, indexed};

/// Returns the offsets at which `needle` occurs in the bytes.
fn places(bytes: &[u8], needle: &[u8]) -> Vec<usize> {
    let windows = bytes.windows(needle.len()).enumerate();
    windows
        .filter(|(_, window)| *window == needle)
        .map(|(place, _)| place)
        .collect()
}

/// Returns the values that a query selects, as the bytes that the database stores.
fn values(scratch: &Scratch, query: &str) -> Vec<Vec<u8>> {
    let copy = scratch.beside("copy.db");
    fs::copy(scratch.state("index.db"), &copy).unwrap();
    let connection = rusqlite::Connection::open(copy).unwrap();
    let mut statement = connection.prepare(query).unwrap();
    let rows = statement.query_map([], |row| row.get(0)).unwrap();
    rows.map(Result::unwrap).collect()
}

const VECTORS: &str = "SELECT vector FROM vectors WHERE id % 20 = 3";
const WORDS: &str = "SELECT block FROM lexical_data WHERE id > 10 AND length(block) > 100";

/// Damages every occurrence of a value in a file. Free pages can contain copies of the value, so there may be
/// several.
fn damage(file: &Path, value: &[u8], at: usize) {
    let mut bytes = fs::read(file).unwrap();
    let found = places(&bytes, value);
    assert!(!found.is_empty(), "the value is in one piece");
    for place in found {
        bytes[place + at] ^= 0x11;
    }
    fs::write(file, bytes).unwrap();
}

fn rows_problem(found: &DoctorResponse) -> Option<&str> {
    let problem = found
        .problems
        .iter()
        .find(|problem| problem.id == "database-rows");
    problem.map(|problem| problem.what.as_str())
}

/// Damages a value, and asserts that the answers equal those of an intact index.
fn assert_mended(scratch: &Scratch, (value, at): (&[u8], usize), expected: &[Answer], what: &str) {
    let root = scratch.workspace();
    damage(&scratch.state("index.db"), value, at);
    let daemon = scratch.daemon();
    let mut client = daemon.client();
    client.sync(&root);
    assert_same(what, &client.answers(&root, &QUERIES), expected);
    let told = client.status().workspaces.remove(0);
    assert_eq!(told.degraded.as_deref(), Some("repaired"), "{what}: {told:?}");
    assert!(told.why.is_some_and(|why| why.contains("doctor")), "{what}");
    let found = client.doctor(false);
    assert!(rows_problem(&found).is_some(), "{what}: {found:?}");
    assert!(
        found
            .checks
            .iter()
            .any(|check| check.id == "database" && check.ok),
        "{what}"
    );
    let told = client.status().workspaces.remove(0);
    assert_eq!(told.degraded, None, "{what}");
    daemon.terminate();
    let daemon = scratch.daemon();
    let mut client = daemon.client();
    client.sync(&root);
    assert_same(what, &client.answers(&root, &QUERIES), expected);
    assert_eq!(rows_problem(&client.doctor(false)), None, "{what}");
    assert_eq!(client.status().workspaces.remove(0).degraded, None, "{what}");
    daemon.terminate();
}

#[test]
fn damaged_rows_are_detected_and_rebuilt() {
    let (scratch, expected) = indexed();
    for number in 0..3 {
        let vector = &values(&scratch, VECTORS)[number];
        let at = 2 * number + vector.len() / 2;
        assert_mended(&scratch, (vector, at), &expected, &format!("vector {number}"));
    }
    for word in ["lantern", "copper", "kettl", "valve"] {
        let blocks = values(&scratch, WORDS);
        let within = |block: &Vec<u8>| places(block, word.as_bytes()).first().copied();
        let found = blocks.iter().find_map(|block| Some((block, within(block)?)));
        let (block, at) = found.unwrap_or_else(|| panic!("{word} is in no block"));
        assert_mended(&scratch, (block, at + 2), &expected, word);
    }
}

#[test]
fn doctor_reports_rows_damaged_while_the_daemon_runs() {
    let (scratch, expected) = indexed();
    let root = scratch.workspace();
    let vector = &values(&scratch, VECTORS)[1];
    let daemon = scratch.daemon();
    let mut client = daemon.client();
    client.sync(&root);
    let file = scratch.state("index.db");
    damage(&file, vector, 40);
    let found = client.doctor(false);
    let told = found.problems.iter().find(|problem| problem.id == "database");
    assert!(
        told.is_some_and(|told| told.what.contains("checksum")),
        "{found:?}"
    );
    client.doctor(true);
    client.sync(&root);
    assert_same("rebuilt", &client.answers(&root, &QUERIES), &expected);
    assert!(client.doctor(false).problems.is_empty());
}
