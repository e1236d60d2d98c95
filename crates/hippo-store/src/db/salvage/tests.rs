//! Salvage of the rows before and after a damaged page.

use std::fs;

use hippo_types::entry::EntryId;
use rusqlite::Connection;

use super::*;

#[test]
fn rows_before_and_after_the_damage_are_salvaged() {
    let scratch = tempfile::tempdir().unwrap();
    let (file, again) = (scratch.path().join("db"), scratch.path().join("again.db"));
    drop(Store::open(&file, "/w").unwrap());
    let connection = Connection::open(&file).unwrap();
    let long = "x".repeat(900);
    for number in 0..200 {
        connection
            .execute(
                "INSERT INTO tombstones VALUES (?1, 7, '[]', '[]')",
                [format!("{number:03} {long}")],
            )
            .unwrap();
        connection
            .execute(
                "INSERT INTO accesses (entry, at, day) VALUES (?1, 7, '2026-03-02')",
                [number],
            )
            .unwrap();
    }
    connection
        .execute_batch("PRAGMA wal_checkpoint(TRUNCATE)")
        .unwrap();
    drop(connection);
    let mut bytes = fs::read(&file).unwrap();
    let middle = bytes
        .windows(900)
        .position(|part| part == long.as_bytes())
        .unwrap();
    let middle = bytes.len().midpoint(middle) / 4096 * 4096;
    bytes[middle..middle + 4096].fill(0xa5);
    fs::write(&file, bytes).unwrap();
    let salvaged = salvage(&file, &again, "/w").unwrap();
    assert!(
        matches!(&salvaged.lost[..], [one] if one.starts_with("some rows of the table tombstones: ")),
        "{salvaged:?}"
    );
    let store = Store::open(&again, "/w").unwrap().entries().unwrap();
    let there = |number: usize| {
        store
            .tombstones
            .contains_key(&EntryId(format!("{number:03} {long}")))
    };
    let found = (0..200).filter(|number| there(*number)).count();
    assert!((190..200).contains(&found), "{found}");
    assert!(there(0) && there(199));
    assert_eq!(store.journal, 200);
    drop(fs::write(&file, "not a database"));
    let again = scratch.path().join("third.db");
    let salvaged = salvage(&file, &again, "/w").unwrap();
    assert!(
        salvaged.rows == 0 && salvaged.lost[0].starts_with("everything: "),
        "{salvaged:?}"
    );
}
