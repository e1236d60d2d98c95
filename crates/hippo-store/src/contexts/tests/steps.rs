//! Changes interrupted at every point are complete or absent.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use super::*;

/// Returns all rows of all tables, including search terms.
fn dump_tables(store: &ContextStore) -> Vec<String> {
    let tables = [
        "sums",
        "sessions",
        "contents",
        "blobs",
        "entries",
        "summaries_data",
        "texts_data",
    ];
    let mut all_rows = Vec::new();
    for table in tables {
        store
            .read
            .sql(|connection| {
                let mut statement = connection.prepare(&format!("SELECT * FROM {table}"))?;
                let columns = statement.column_count();
                let mut rows = statement.query([])?;
                while let Some(row) = rows.next()? {
                    let cells: rusqlite::Result<Vec<String>> = (0..columns)
                        .map(|at| row.get_ref(at).map(|cell| format!("{cell:?}")))
                        .collect();
                    all_rows.push(format!("{table}: {}", cells?.join(" | ")));
                }
                Ok(())
            })
            .unwrap();
    }
    all_rows
}

/// Creates two contents of a closed session, and an open session with one entry.
fn prepared(scratch: &ContextScratch) -> ContextStore {
    let mut store = scratch.open();
    store.open_session("old", None, 1).unwrap();
    put(&mut store, "old", "o1", &noise(1, 500), 1);
    put(&mut store, "old", "o2", &noise(2, 500), 2);
    store.close_session("old", 3).unwrap();
    store.open_session("s", None, 4).unwrap();
    put(&mut store, "s", "e1", b"one", 4);
    store
}

type Act = fn(&mut ContextStore) -> Result<(), ContextError>;

/// One change of each kind. Each change does as much work as possible.
const ACTS: [(&str, Act); 7] = [
    ("open", |store| {
        store.open_session("new", Some("main"), 9).map(|_| ())
    }),
    ("advance", |store| store.advance("s", 5, 9).map(|_| ())),
    ("put that makes room", |store| {
        let entry = entry("e2");
        let content = noise(3, 700);
        let new = NewEntry {
            budget_bytes: 1_300,
            ..new("s", &entry, &content, 9)
        };
        store.put(&new).map(|_| ())
    }),
    ("pieces", |store| {
        let pieces = [noise(5, 400), noise(1, 500), b"one".to_vec()];
        let pieces: Vec<NewContent<'_>> = pieces.iter().map(|bytes| NewContent::new(bytes, 1)).collect();
        store.put_pieces(&pieces, 1_300, 9).map(|_| ())
    }),
    ("update", |store| {
        store.update_entries(&[SessionEntry::new(entry("e1"))], 9)
    }),
    ("close", |store| store.close_session("s", 9).map(|_| ())),
    ("trim", |store| store.trim(0, 0, 9).map(|_| ())),
];

#[test]
fn a_change_interrupted_after_any_instruction_did_not_happen() {
    for (name, act) in ACTS {
        let scratch = ContextScratch::new();
        let mut store = prepared(&scratch);
        let before = dump_tables(&store);
        act(&mut store).unwrap();
        let whole = dump_tables(&store);
        assert_ne!(before, whole, "{name}");

        let scratch = ContextScratch::new();
        let mut store = prepared(&scratch);
        assert_eq!(dump_tables(&store), before);
        let mut most = 0;
        loop {
            let left = Arc::new(AtomicU32::new(most));
            // Interrupt only once, so that the rollback can run.
            let stop = move || left.fetch_sub(1, Ordering::Relaxed) == 0;
            store.read.connection.progress_handler(1, Some(stop)).unwrap();
            let done = act(&mut store);
            store
                .read
                .connection
                .progress_handler(0, None::<fn() -> bool>)
                .unwrap();
            assert!(
                store.read.connection.is_autocommit(),
                "{name}: a transaction is open"
            );
            match done {
                Ok(()) => break,
                Err(ContextError::Store(StoreError::Sql { .. })) => {}
                Err(other) => panic!("{name}, {most} instructions: {other}"),
            }
            let after = dump_tables(&store);
            if after != before {
                // If the interruption was after the commit, the change is complete.
                assert!(after == whole, "{name}, {most} instructions: half done");
                break;
            }
            most += 1;
        }
        assert!(most > 20, "{name}: only {most} instructions");
        assert!(dump_tables(&store) == whole, "{name}");
        assert_sums(&store);
    }
}

#[test]
fn a_change_interrupted_at_any_row_did_not_happen() {
    let rows = [
        "INSERT ON sessions",
        "UPDATE ON sessions",
        "INSERT ON contents",
        "UPDATE ON contents",
        "INSERT ON blobs",
        "DELETE ON blobs",
        "INSERT ON entries",
        "UPDATE ON entries",
        "UPDATE ON sums",
    ];
    let stopped = Rc::new(Cell::new(0));
    for (name, act) in ACTS {
        for event in rows {
            for skip in 0..12 {
                let scratch = ContextScratch::new();
                let mut store = prepared(&scratch);
                let before = dump_tables(&store);
                store
                    .read
                    .sql(|connection| {
                        connection.execute_batch(&format!(
                            "CREATE TEMP TABLE passed (n);
                             CREATE TEMP TRIGGER stop BEFORE {event} BEGIN
                                 SELECT RAISE(FAIL, 'stopped') WHERE (SELECT count(*) FROM passed) = {skip};
                                 INSERT INTO passed VALUES (1);
                             END;"
                        ))
                    })
                    .unwrap();
                if act(&mut store).is_ok() {
                    break;
                }
                stopped.set(stopped.get() + 1);
                drop(store);
                let mut store = scratch.open();
                assert_eq!(dump_tables(&store), before, "{name}: {event} {skip}");
                act(&mut store).unwrap();
                assert_sums(&store);
            }
        }
    }
    assert!(stopped.get() > 40, "{}", stopped.get());
}
