//! Damaged databases, other schemas and programs, full disks.

use super::*;

fn sql(store: &ContextStore, statement: &str) {
    store
        .read
        .sql(|connection| connection.execute_batch(statement))
        .unwrap();
}

fn filled(scratch: &ContextScratch) -> ContextStore {
    let mut store = scratch.open();
    store.open_session("s", None, 1).unwrap();
    for number in 0..20 {
        put(&mut store, "s", &format!("e{number}"), &noise(number, 3_000), 1);
    }
    store
}

fn why(reader: &ContextReader, content: &[u8]) -> String {
    match reader.content(ContentId::of(content)).unwrap() {
        Lookup::Gone {
            why: UnavailableReason::Damaged { reason },
            ..
        } => reason,
        other => panic!("{other:?}"),
    }
}

/// Flips a bit in the middle of every stored content.
fn flip(store: &ContextStore) {
    let all = store.read.sql(|connection| {
        let mut statement = connection.prepare("SELECT content, bytes FROM blobs")?;
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        rows.collect::<rusqlite::Result<Vec<(i64, Vec<u8>)>>>()
    });
    for (row, mut bytes) in all.unwrap() {
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        let update = "UPDATE blobs SET bytes = ?2 WHERE content = ?1";
        store
            .read
            .sql(|connection| connection.execute(update, (row, bytes)))
            .unwrap();
    }
}

#[test]
fn damaged_bytes_are_never_returned_and_a_new_put_repairs_them() {
    let scratch = ContextScratch::new();
    let mut store = scratch.open();
    store.open_session("s", None, 1).unwrap();
    let (text, bytes) = ("many words ".repeat(500).into_bytes(), noise(1, 500));
    let damages = [
        (
            "UPDATE blobs SET bytes = substr(bytes, 1, length(bytes) - 1)",
            ["unpacked", "499 bytes"],
        ),
        ("FLIP", ["", "belong to another content id"]),
        (
            "DELETE FROM blobs",
            ["not in the database", "not in the database"],
        ),
        (
            "UPDATE blobs SET bytes = 'text'",
            ["not in the database", "not in the database"],
        ),
        ("UPDATE contents SET raw = raw + 1", ["instead of", "instead of"]),
        (
            "UPDATE contents SET raw = -1",
            ["invalid length", "invalid length"],
        ),
        (
            "UPDATE contents SET coding = 9",
            ["unknown coding", "unknown coding"],
        ),
        ("UPDATE contents SET coding = 1 - coding", ["bytes", "unpacked"]),
        (
            "UPDATE contents SET tokens = 5; UPDATE blobs SET bytes = x''",
            ["", "0 bytes"],
        ),
    ];
    for (number, (damage, reasons)) in damages.into_iter().enumerate() {
        for (content, name) in [(&text, "t"), (&bytes, "b")] {
            put(&mut store, "s", &format!("{name}{number}"), content, 1);
        }
        let healed = kept(store.read(), &text) && kept(store.read(), &bytes);
        assert!(healed, "before: {damage}");
        if damage == "FLIP" {
            flip(&store);
        } else {
            sql(&store, damage);
        }
        for (content, reason) in [&text, &bytes].into_iter().zip(reasons) {
            let found = why(&scratch.reader(), content);
            assert!(found.contains(reason), "{damage}: {found}");
        }
    }
    let mut again = entry("again");
    again.source.reference = entry("t0").source.reference;
    let healing = store.put(&new("s", &again, &text, 1)).unwrap();
    assert!(
        matches!(healing, PutOutcome::Entry { shared: false, .. }),
        "a damaged content is not known"
    );
    put(&mut store, "s", "last", &bytes, 1);
    assert_sums(&store);
}

#[test]
fn a_damaged_row_affects_only_its_entry() {
    let scratch = ContextScratch::new();
    let mut store = filled(&scratch);
    sql(
        &store,
        "UPDATE entries SET entry = '{' WHERE id = 'e3'; UPDATE entries SET entry = x'ff' WHERE id = 'e4';",
    );
    let found = scratch.reader().entries("s").unwrap();
    let damaged: Vec<&str> = found.damaged.iter().map(|damaged| damaged.id.as_str()).collect();
    assert_eq!((damaged, found.entries.len()), (vec!["e3", "e4"], 18));
    let error = scratch.reader().entry("e3").unwrap_err();
    assert!(
        matches!(error, ContextError::Store(StoreError::Row { .. })),
        "{error}"
    );
    store
        .update_entries(&[SessionEntry::new(entry("e3"))], 2)
        .unwrap();
    assert_eq!(
        scratch.reader().entry("e3").unwrap().unwrap().kept.entry,
        entry("e3")
    );
}

#[test]
fn deleted_rows_affect_only_themselves() {
    let scratch = ContextScratch::new();
    let mut store = filled(&scratch);
    sql(
        &store,
        "PRAGMA foreign_keys = OFF; DELETE FROM entries WHERE seq IN (0, 19); DELETE FROM contents WHERE row = 5;",
    );
    assert!(store.read().entry("e0").unwrap().is_none());
    let orphan = store.read().entry("e4").unwrap().unwrap();
    assert_eq!((orphan.stored, orphan.content), (false, None));
    assert_eq!(
        store.read().content(ContentId::of(&noise(4, 3_000))).unwrap(),
        Lookup::Unknown
    );
    assert!(matches!(
        put(&mut store, "s", "new", b"new", 2),
        PutOutcome::Entry { seq: 19, .. }
    ));
    assert!(kept(store.read(), b"new") && kept(store.read(), &noise(6, 3_000)));
    assert_eq!(store.read().search("s", "new", 5, |_| true).unwrap()[0].id, "new");
    store.close_session("s", 3).unwrap();
    store.trim(0, 0, 9).unwrap();
}

fn closed_file(scratch: &ContextScratch) -> Vec<u8> {
    let mut store = filled(scratch);
    store.tidy().unwrap();
    drop(store);
    std::fs::read(&scratch.file).unwrap()
}

#[test]
fn a_truncated_file_is_refused_or_returns_only_intact_contents() {
    let scratch = ContextScratch::new();
    let bytes = closed_file(&scratch);
    let mut refused = 0;
    for part in 1..16 {
        std::fs::write(&scratch.file, &bytes[..bytes.len() * part / 16]).unwrap();
        match ContextStore::open(&scratch.file) {
            Err(StoreError::Corrupt { .. }) => {
                refused += 1;
                assert!(matches!(
                    ContextReader::open(&scratch.file),
                    Err(StoreError::Corrupt { .. })
                ));
            }
            Err(other) => panic!("{part}: {other}"),
            Ok(store) => {
                for number in 0..20 {
                    let content = noise(number, 3_000);
                    if let Ok(Lookup::Kept(found)) = store.read().content(ContentId::of(&content)) {
                        assert_eq!(found.bytes, content);
                    }
                }
            }
        }
    }
    assert!(refused > 10, "{refused}");
}

#[test]
fn flipped_bytes_are_never_returned_as_content() {
    let scratch = ContextScratch::new();
    let bytes = closed_file(&scratch);
    for round in 0..150_usize {
        let mut damaged = bytes.clone();
        for flip in 0..=round % 20 {
            let spot = blake3::hash(&[round.to_le_bytes(), flip.to_le_bytes()].concat());
            let at = usize::try_from(u32::from_le_bytes(spot.as_bytes()[..4].try_into().unwrap())).unwrap();
            damaged[at % bytes.len()] ^= spot.as_bytes()[4] | 1;
        }
        std::fs::write(&scratch.file, &damaged).unwrap();
        let Ok(mut store) = ContextStore::open(&scratch.file) else {
            continue;
        };
        for number in 0..20 {
            let content = noise(number, 3_000);
            if let Ok(Lookup::Kept(found)) = store.read().content(ContentId::of(&content)) {
                assert_eq!(found.bytes, content, "round {round}");
            }
        }
        let _ = (
            store.read().entries("s"),
            store.read().search("s", "built", 9, |_| true),
            store.read().usage(),
        );
        if store.put(&new("s", &entry("after"), b"after", 5)).is_ok() {
            assert!(kept(store.read(), b"after"), "round {round}");
        }
    }
}

#[test]
fn foreign_and_newer_files_are_refused() {
    let scratch = ContextScratch::new();
    std::fs::write(
        &scratch.file,
        "this is not a database, whatever its name says".repeat(200),
    )
    .unwrap();
    assert!(matches!(
        ContextStore::open(&scratch.file),
        Err(StoreError::Corrupt { .. })
    ));
    let refused = |change: &str| {
        let scratch = ContextScratch::new();
        let store = scratch.open();
        sql(&store, change);
        drop(store);
        let before = std::fs::read(&scratch.file).unwrap();
        let errors = [
            ContextStore::open(&scratch.file).err().unwrap(),
            ContextReader::open(&scratch.file).unwrap_err(),
        ];
        assert_eq!(std::fs::read(&scratch.file).unwrap(), before, "{change}");
        errors
    };
    for change in [
        "PRAGMA application_id = 7",
        "PRAGMA user_version = 0",
        "DROP TABLE texts",
        "DELETE FROM sums",
    ] {
        for error in refused(change) {
            assert!(matches!(error, StoreError::Corrupt { .. }), "{change}: {error}");
        }
    }
    for error in refused("PRAGMA user_version = 3") {
        assert!(
            matches!(
                error,
                StoreError::OtherSchema {
                    found: 3,
                    known: 4,
                    ..
                }
            ),
            "{error}"
        );
    }
    let other = scratch.folder.path().join("index.db");
    drop(crate::db::Store::open(&other, "/w").unwrap());
    assert!(matches!(
        ContextStore::open(&other),
        Err(StoreError::Corrupt { .. })
    ));
    assert!(crate::db::Store::open(&other, "/w").is_ok());
}

#[test]
fn an_empty_file_and_a_file_without_tables_become_stores() {
    let scratch = ContextScratch::new();
    std::fs::write(&scratch.file, "").unwrap();
    assert!(matches!(
        ContextReader::open(&scratch.file),
        Err(StoreError::Corrupt { .. })
    ));
    drop(scratch.open());
    let scratch = ContextScratch::new();
    let connection = Connection::open(&scratch.file).unwrap();
    connection
        .execute_batch("PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL;")
        .unwrap();
    drop(connection);
    scratch.open().open_session("s", None, 1).unwrap();
}

#[test]
fn a_full_disk_is_reported_and_the_change_is_rolled_back() {
    let scratch = ContextScratch::new();
    let mut store = filled(&scratch);
    let pages: i64 = store
        .read
        .sql(|connection| connection.query_row("PRAGMA page_count", [], |row| row.get(0)))
        .unwrap();
    let content = noise(99, 200_000);
    let mut full = 0;
    for more in 0..200 {
        sql(&store, &format!("PRAGMA max_page_count = {}", pages + more));
        match store.put(&new("s", &entry("big"), &content, 2)) {
            Err(ContextError::Store(StoreError::DiskFull { .. })) => {
                full += 1;
                assert_eq!(store.read().entries("s").unwrap().entries.len(), 20);
                assert_eq!(
                    store.read().content(ContentId::of(&content)).unwrap(),
                    Lookup::Unknown
                );
            }
            Err(other) => panic!("{other}"),
            Ok(_) => {
                assert!(full >= 40, "{full}");
                assert!(kept(&scratch.reader(), &content));
                assert_sums(&store);
                store.read().check().unwrap();
                return;
            }
        }
    }
    panic!("never enough room");
}

#[test]
fn every_damage_of_the_wal_is_counted_and_the_wal_is_kept() {
    use crate::in_place::with_suffix;

    let scratch = ContextScratch::new();
    let store = filled(&scratch);
    let files = ["", "-wal", ".acked"]
        .map(|suffix| (suffix, std::fs::read(with_suffix(&scratch.file, suffix)).unwrap()));
    drop(store);
    let log = &files[1].1;
    let acked = 21;
    let mut all_there = 0;
    for number in 0..48 {
        let place = (log.len() - 40) * number / 47;
        let again = ContextScratch::new();
        for (suffix, bytes) in &files {
            let mut bytes = bytes.clone();
            if *suffix == "-wal" {
                match number % 3 {
                    0 => bytes[place] ^= 1 << (number % 8),
                    1 => bytes[place..place + 40].fill(0xa5),
                    _ => bytes.truncate(place),
                }
            }
            std::fs::write(with_suffix(&again.file, suffix), bytes).unwrap();
        }
        let store = again.open();
        let found = (0..20)
            .filter(|number| kept(store.read(), &noise(*number, 3_000)))
            .count() as u64;
        let opened = u64::from(store.read().session("s").unwrap().is_some());
        assert_eq!(store.missing_changes(), acked - found - opened, "{number}");
        assert_eq!(lost_changes(&again.file), store.missing_changes(), "{number}");
        let aside = with_suffix(&again.file, ".damaged-wal");
        let is_cut = number % 3 == 2 && place == 0;
        assert_eq!(aside.exists(), store.missing_changes() > 0 && !is_cut, "{number}");
        if aside.exists() {
            let length = aside.metadata().unwrap().len();
            assert!(length == log.len() as u64 || number % 3 == 2, "{number}");
        }
        all_there += u64::from(store.missing_changes() == 0);
        drop(store);
        assert_eq!(
            (again.open().missing_changes(), lost_changes(&again.file)),
            (0, acked - found - opened)
        );
    }
    assert!(all_there < 10, "{all_there}");
}
