//! Tests of copies during writes, foreign databases and salvage.

use std::path::{Path, PathBuf};

use rusqlite::Connection;
use rusqlite::types::Value;

use super::*;
use crate::contexts::ContextStore;
use crate::db::{SALVAGED, Store, columns, salvage};

struct Scratch(tempfile::TempDir);

impl Scratch {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
}

fn create(database: Database, file: &Path) {
    match database {
        Database::Index => drop(Store::open(file, "/w").unwrap()),
        Database::Contexts => drop(ContextStore::open(file).unwrap()),
    }
}

/// Inserts a row into each table in `SALVAGED`, with values that are difficult to copy exactly.
fn fill(connection: &Connection) {
    connection.pragma_update(None, "foreign_keys", false).unwrap();
    for table in SALVAGED.iter().filter(|table| **table != "sqlite_sequence") {
        let mut statement = connection
            .prepare("SELECT type FROM pragma_table_info(?1)")
            .unwrap();
        let kinds = statement.query_map([table], |row| row.get(0)).unwrap();
        let values: Vec<&str> = kinds
            .map(|kind: rusqlite::Result<String>| match kind.unwrap().as_str() {
                // Use the same number in all tables, because rows refer to each other.
                "INTEGER" => "7",
                "REAL" => "0.1 + 0.2",
                "BLOB" => "x'ff00c3'",
                _ => "'a ''quoted'' \n ü'",
            })
            .collect();
        connection
            .execute_batch(&format!(
                "INSERT OR IGNORE INTO {table} VALUES ({})",
                values.join(", ")
            ))
            .unwrap_or_else(|error| panic!("{table}: {error}"));
    }
}

/// Returns the rows of a table.
fn rows(connection: &Connection, table: &str) -> Vec<Vec<Value>> {
    let width = columns(connection, table).unwrap().len();
    let mut statement = connection.prepare(&format!("SELECT * FROM {table}")).unwrap();
    let rows = statement.query_map([], |row| (0..width).map(|at| row.get(at)).collect());
    rows.unwrap().map(Result::unwrap).collect()
}

#[test]
fn a_snapshot_is_copied_during_concurrent_writes() {
    let scratch = Scratch::new();
    let (file, copy) = (scratch.at("db"), scratch.at("copy"));
    let store = Store::open(&file, "/w").unwrap();
    let writer = Connection::open(&file).unwrap();
    writer
        .execute_batch("INSERT INTO tombstones VALUES ('before', 7, '[]', '[]')")
        .unwrap();
    let snapshot = DatabaseSnapshot::begin(&file).unwrap();
    writer
        .execute_batch("INSERT INTO tombstones VALUES ('after', 7, '[]', '[]')")
        .unwrap();
    snapshot.copy(&copy, &|| true).unwrap();
    take_over(Database::Index, &copy, "/elsewhere").unwrap();
    let copied = Connection::open(&copy).unwrap();
    let one = |question: &str| {
        copied
            .query_row(question, [], |row| row.get::<_, String>(0))
            .unwrap()
    };
    assert_eq!(one("SELECT group_concat(id) FROM tombstones"), "before");
    assert_eq!(one("SELECT value FROM meta WHERE key = 'root'"), "/elsewhere");
    assert_eq!(one("PRAGMA journal_mode"), "wal");
    assert!(
        snapshot.copy(&copy, &|| true).is_err(),
        "a file that is there is not written over"
    );
    drop(store);
}

#[test]
fn a_database_with_a_foreign_schema_is_refused() {
    for database in [Database::Index, Database::Contexts] {
        for change in [
            "CREATE TRIGGER theirs AFTER INSERT ON entries BEGIN DELETE FROM entries; END",
            "CREATE VIEW theirs AS SELECT 1",
            "DROP TABLE entries",
        ] {
            let scratch = Scratch::new();
            let file = scratch.at("db");
            create(database, &file);
            Connection::open(&file)
                .unwrap()
                .execute_batch(&format!("PRAGMA foreign_keys = OFF; {change}"))
                .unwrap();
            let error = take_over(database, &file, "/w").unwrap_err();
            assert!(
                matches!(error, StoreError::Corrupt { .. } | StoreError::Sql { .. }),
                "{change}: {error:?}"
            );
        }
        let scratch = Scratch::new();
        let file = scratch.at("db");
        create(database, &file);
        Connection::open(&file)
            .unwrap()
            .pragma_update(None, "user_version", 99)
            .unwrap();
        let error = take_over(database, &file, "/w").unwrap_err();
        assert!(
            matches!(error, StoreError::OtherSchema { found: 99, .. }),
            "{error:?}"
        );
    }
}

#[test]
fn salvaging_a_sound_database_returns_all_rows() {
    let scratch = Scratch::new();
    let (file, again) = (scratch.at("db"), scratch.at("again.db"));
    create(Database::Index, &file);
    let connection = Connection::open(&file).unwrap();
    fill(&connection);
    // Salvage omits rows with unreadable values.
    connection
        .execute_batch(
            "DELETE FROM entries; DELETE FROM runs; DELETE FROM tombstones; DELETE FROM run_steps;
             INSERT INTO tombstones VALUES ('gone', 7, '[]', '[]')",
        )
        .unwrap();
    let salvaged = salvage(&file, &again, "/w").unwrap();
    assert_eq!(salvaged.lost, Vec::<String>::new());
    let connection_again = Connection::open(&again).unwrap();
    for table in SALVAGED {
        let [before, after] = [&connection, &connection_again].map(|from| rows(from, table));
        assert_eq!(before.is_empty(), after.is_empty(), "{table}");
        if table != "sqlite_sequence" {
            assert_eq!(before, after, "{table}");
        }
    }
}

#[test]
fn every_table_is_salvaged_or_derived_from_files_or_a_log() {
    // The recall log is not memory, so a damaged database may lose it.
    let logs = ["questions"];
    let derived = [
        "checksums",
        "chunks",
        "documents",
        "embedders",
        "fresh",
        "lexical",
        "meta",
        "vectors",
    ];
    let connection = Database::Index.create_in_memory().unwrap();
    let mut statement = connection
        .prepare(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'lexical\\_%' ESCAPE '\\'",
        )
        .unwrap();
    let mut found: Vec<String> = statement
        .query_map([], |row| row.get(0))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    found.sort();
    let mut known: Vec<&str> = SALVAGED.into_iter().chain(derived).chain(logs).collect();
    known.sort_unstable();
    assert_eq!(found, known);
}
