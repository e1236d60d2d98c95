//! Migration of databases of every earlier schema, and refusal of newer ones.
#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests, outside the functions that clippy knows as tests"
)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use hippo_store::StoreError;
use hippo_store::contexts::{ContextReader, ContextStore};
use hippo_store::db::{Store, StoreReader};
use rusqlite::Connection;
use tempfile::TempDir;

/// A database in its own folder.
struct SchemaScratch {
    _folder: TempDir,
    file: PathBuf,
}

impl SchemaScratch {
    fn new(name: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(name);
        Self {
            _folder: folder,
            file,
        }
    }

    /// Creates the database from `tests/schemas`, in the schema of that version.
    fn stored(kind: &str, version: i64) -> Self {
        let scratch = Self::new(&format!("{kind}.db"));
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/schemas/{kind}-{version}.sql"));
        let sql = fs::read_to_string(&path).unwrap_or_else(|error| {
            panic!(
                "{}: {error}; an old schema needs a small database there, see tests/schemas/README.md",
                path.display()
            )
        });
        scratch.sql(&sql);
        assert_eq!(scratch.version(), version, "{}", path.display());
        scratch
    }

    fn sql(&self, sql: &str) {
        Connection::open(&self.file).unwrap().execute_batch(sql).unwrap();
    }

    fn version(&self) -> i64 {
        let connection = Connection::open(&self.file).unwrap();
        connection
            .query_row("PRAGMA user_version", [], |row| row.get(0))
            .unwrap()
    }

    /// Returns the schema version that this build writes.
    fn current(kind: &str, open: impl Fn(&Path)) -> i64 {
        let scratch = Self::new(&format!("{kind}.db"));
        open(&scratch.file);
        scratch.version()
    }

    /// Returns the columns of each table, except full-text indexes.
    fn columns(&self) -> BTreeMap<String, Vec<String>> {
        let connection = Connection::open(&self.file).unwrap();
        let tables = "SELECT name, group_concat('\"' || column || '\"') FROM (
                          SELECT m.name, c.name AS column FROM sqlite_schema AS m, pragma_table_info(m.name) AS c
                          WHERE m.type = 'table' AND m.name NOT GLOB 'sqlite_*' AND m.name NOT GLOB 'lexical*'
                            AND m.name NOT GLOB 'texts*' AND m.name NOT GLOB 'summaries*')
                      GROUP BY name";
        let mut statement = connection.prepare(tables).unwrap();
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get::<_, String>(1)?)));
        let rows = rows.unwrap().map(Result::unwrap);
        rows.map(|(table, columns)| (table, columns.split(',').map(str::to_owned).collect()))
            .collect()
    }

    /// Returns all rows with the given columns.
    fn rows(&self, columns: &BTreeMap<String, Vec<String>>) -> BTreeMap<String, Vec<String>> {
        let connection = Connection::open(&self.file).unwrap();
        let rows = |table: &str, columns: &[String]| {
            let quoted: Vec<String> = columns.iter().map(|column| format!("quote({column})")).collect();
            let sql = format!("SELECT {} FROM \"{table}\"", quoted.join(" || ' ' || "));
            let mut statement = connection.prepare(&sql).unwrap();
            let rows = statement.query_map([], |row| row.get(0)).unwrap();
            let mut rows: Vec<String> = rows.map(Result::unwrap).collect();
            rows.sort();
            rows
        };
        columns
            .iter()
            .map(|(table, columns)| (table.clone(), rows(table, columns)))
            .collect()
    }

    /// Returns the rows of a full-text index with a term.
    fn found(&self, index: &str, term: &str) -> Vec<i64> {
        let connection = Connection::open(&self.file).unwrap();
        let sql = format!("SELECT rowid FROM {index} WHERE {index} MATCH ?1 ORDER BY rowid");
        let mut statement = connection.prepare(&sql).unwrap();
        let rows = statement
            .query_map([format!("\"{term}\"")], |row| row.get(0))
            .unwrap();
        rows.map(Result::unwrap).collect()
    }
}

fn open_index(file: &Path) {
    drop(Store::open(file, "/w").unwrap());
}

fn open_contexts(file: &Path) {
    drop(ContextStore::open(file).unwrap());
}

/// Compaction tree nodes are indexed again after migration 6, so their rows differ.
const NODES: &str = "memory/weekly/";

#[test]
fn migrating_every_earlier_index_keeps_all_rows() {
    for version in 1..SchemaScratch::current("index", open_index) {
        let scratch = SchemaScratch::stored("index", version);
        let columns = scratch.columns();
        let mut before = scratch.rows(&columns);
        let pump = scratch.found("lexical", "pump");
        assert!(
            !pump.is_empty() && before["chunks"].len() > pump.len(),
            "{version}"
        );
        for _ in 0..2 {
            let store = Store::open(&scratch.file, "/elsewhere").unwrap();
            store.check().unwrap();
            let loaded = store.load().unwrap();
            assert_eq!(loaded.documents.len(), before["documents"].len(), "{version}");
            let rows: usize = loaded.documents.iter().map(|document| document.rows.len()).sum();
            assert_eq!(rows, before["chunks"].len(), "{version}");
            let entries = store.entries().unwrap();
            assert!(entries.damaged.is_empty(), "{version}");
            assert_eq!(
                entries.records.len(),
                before.get("entries").map_or(0, Vec::len),
                "{version}"
            );
            assert_eq!(
                entries.tombstones.len(),
                before.get("tombstones").map_or(0, Vec::len),
                "{version}"
            );
            assert_eq!(
                entries.runs.len(),
                before.get("runs").map_or(0, Vec::len),
                "{version}"
            );
            drop(store);
            let postings = StoreReader::open(&scratch.file)
                .unwrap()
                .postings("\"pump\"")
                .unwrap();
            assert_eq!(
                postings.into_iter().map(i64::from).collect::<Vec<_>>(),
                pump,
                "{version}"
            );
            let mut after = scratch.rows(&columns);
            for rows in [&mut before, &mut after] {
                let documents = rows.get_mut("documents").unwrap();
                documents.retain(|row| !row.contains(NODES));
            }
            assert_eq!(after, before, "{version}");
            before = scratch.rows(&columns);
        }
        assert_eq!(scratch.version(), SchemaScratch::current("index", open_index));
    }
}

#[test]
fn migrating_every_earlier_contexts_database_keeps_all_rows() {
    for version in 1..SchemaScratch::current("contexts", open_contexts) {
        let scratch = SchemaScratch::stored("contexts", version);
        let columns = scratch.columns();
        let before = scratch.rows(&columns);
        let found = scratch.found("texts", "hall");
        assert!(!found.is_empty() && !before["entries"].is_empty(), "{version}");
        for _ in 0..2 {
            open_contexts(&scratch.file);
            let reader = ContextReader::open(&scratch.file).unwrap();
            reader.check().unwrap();
            let usage = reader.usage().unwrap();
            assert_eq!(usage.entries, before["entries"].len() as u64, "{version}");
            assert_eq!(usage.contents, before["contents"].len() as u64, "{version}");
            assert_eq!(scratch.rows(&columns), before, "{version}");
            assert_eq!(scratch.found("texts", "hall"), found, "{version}");
        }
        assert_eq!(
            scratch.version(),
            SchemaScratch::current("contexts", open_contexts)
        );
    }
}

#[test]
fn a_database_with_a_newer_schema_is_refused_and_unchanged() {
    type Makes = fn(&Path);
    type Refuses = fn(&Path) -> StoreError;
    let kinds: [(&str, Makes, Refuses); 2] = [
        ("index", open_index, |file| Store::open(file, "/w").unwrap_err()),
        ("contexts", open_contexts, |file| {
            ContextStore::open(file).unwrap_err()
        }),
    ];
    for (kind, open, opens) in kinds {
        let scratch = SchemaScratch::new(&format!("{kind}.db"));
        open(&scratch.file);
        let later = scratch.version() + 1;
        scratch.sql(&format!("PRAGMA user_version = {later}"));
        let before = fs::read(&scratch.file).unwrap();
        let error = opens(&scratch.file);
        assert!(
            matches!(error, StoreError::NewerSchema { found, known, .. } if (found, known) == (later, later - 1)),
            "{error}"
        );
        let told = error.to_string();
        assert!(
            told.contains(&format!("schema {later}")) && told.contains(&format!("up to {}", later - 1)),
            "{told}"
        );
        assert_eq!(fs::read(&scratch.file).unwrap(), before, "{kind}");
    }
}
