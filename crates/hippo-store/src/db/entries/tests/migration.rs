//! Migration of older schemas without loss.

use hippo_text::chunk;

use super::*;
use crate::StoreError;
use crate::db::DocumentRecord;

/// The first schema, verbatim. Never change this text.
const FIRST: &str = r#"
PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL;
CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
INSERT INTO meta VALUES ('generation', 0), ('vector_generation', 0);
CREATE TABLE documents (
    id            INTEGER PRIMARY KEY,
    path          TEXT NOT NULL UNIQUE,
    size          INTEGER NOT NULL,
    mtime_ns      INTEGER NOT NULL,
    hash          BLOB NOT NULL,
    date          TEXT,
    title         TEXT
);
CREATE TABLE sections (
    document   INTEGER NOT NULL REFERENCES documents (id),
    ordinal    INTEGER NOT NULL,
    level      INTEGER NOT NULL,
    parent     INTEGER,
    title      TEXT NOT NULL,
    start_line INTEGER NOT NULL,
    end_line   INTEGER NOT NULL,
    date       TEXT,
    PRIMARY KEY (document, ordinal)
) WITHOUT ROWID;
CREATE TABLE embedders (
    id        INTEGER PRIMARY KEY,
    model     TEXT NOT NULL UNIQUE,
    dimension INTEGER NOT NULL,
    active    INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE vectors (
    id       INTEGER PRIMARY KEY,
    embedder INTEGER NOT NULL REFERENCES embedders (id),
    hash     BLOB NOT NULL,
    tokens   INTEGER NOT NULL,
    vector   BLOB NOT NULL
);
CREATE UNIQUE INDEX vectors_by_hash ON vectors (hash, embedder);
CREATE TABLE chunks (
    id         INTEGER PRIMARY KEY,
    document   INTEGER NOT NULL REFERENCES documents (id),
    ordinal    INTEGER NOT NULL,
    section    INTEGER NOT NULL,
    kind       INTEGER NOT NULL,
    speaker    INTEGER NOT NULL,
    start_line INTEGER NOT NULL,
    end_line   INTEGER NOT NULL,
    start_byte INTEGER NOT NULL,
    end_byte   INTEGER NOT NULL,
    terms      INTEGER NOT NULL,
    hash       BLOB NOT NULL,
    vector     INTEGER,
    tokens     INTEGER
);
CREATE INDEX chunks_by_document ON chunks (document, ordinal);
CREATE INDEX chunks_by_hash ON chunks (hash);
CREATE INDEX chunks_pending ON chunks (document, ordinal) WHERE vector IS NULL;
CREATE VIRTUAL TABLE lexical USING fts5 (
    terms, content = '', contentless_delete = 1,
    tokenize = "ascii tokenchars '!#$%&()*+,-./:;<=>?@[\]^_`{|}~'"
);
INSERT INTO meta VALUES ('root', '/old');
INSERT INTO documents VALUES (3, 'a.md', 20, 7, x'00112233445566778899aabbccddeeff', '2026-03-02', 'T');
INSERT INTO sections VALUES (3, 0, 1, NULL, 'T', 1, 2, NULL);
INSERT INTO embedders VALUES (1, 'm', 2, 1);
INSERT INTO vectors VALUES (5, 1, x'000102030405060708090a0b0c0d0e0f', 3, x'003c0000');
INSERT INTO chunks VALUES (0, 3, 0, 0, 0, 0, 1, 2, 0, 20, 2, x'000102030405060708090a0b0c0d0e0f', 5, 3);
INSERT INTO lexical (rowid, terms) VALUES (0, 'blue pump');
UPDATE meta SET value = 4 WHERE key = 'generation';
PRAGMA user_version = 1;
"#;

#[test]
fn migrating_the_first_schema_keeps_all_rows() {
    let scratch = EntryScratch::new();
    scratch.sql(FIRST);
    for _ in 0..2 {
        let mut store = Store::open(&scratch.file, "/elsewhere").unwrap();
        let loaded = store.load().unwrap();
        assert_eq!(loaded.generation, 4);
        assert_eq!(loaded.documents[0].record.path, "a.md");
        assert_eq!(loaded.documents[0].sections[0].title, "T");
        assert_eq!(loaded.documents[0].rows[0].vector, Some(5));
        assert_eq!(store.vectors(&[0]).unwrap(), [(0, vec![1.0, 0.0])]);
        assert_eq!(reader(&scratch.file).postings("\"pump\"").unwrap(), [0]);
        assert!(store.entries().unwrap().damaged.is_empty());
        put(&mut store, &[record("a", 0.5)]);
        assert_eq!(store.entries().unwrap().records.len(), 1);
        let root: String = store
            .connection
            .query_row("SELECT value FROM meta WHERE key = 'root'", [], |row| row.get(0))
            .unwrap();
        assert_eq!(root, "/old");
    }
}

#[test]
fn migration_fills_the_hashes_of_tombstones_from_their_records() {
    let scratch = EntryScratch::new();
    let mut store = scratch.open();
    let mut said = record("said", 0.5);
    said.hashes = vec![Some([7; 16])];
    put(&mut store, &[said.clone(), record("damaged", 0.5)]);
    let mut batch = store.begin_entries().unwrap();
    for name in ["said", "damaged", "gone"] {
        batch
            .put_tombstone(&id(name), &super::super::Tombstone::default())
            .unwrap();
    }
    batch.commit().unwrap();
    drop(store);
    scratch.sql(
        "DROP TABLE checksums;
         ALTER TABLE vectors DROP COLUMN digest;
         DROP TABLE fresh;
         ALTER TABLE documents DROP COLUMN own_words;
         ALTER TABLE tombstones DROP COLUMN hashes;
         UPDATE entries SET rest = '{' WHERE id = 'damaged';
         PRAGMA user_version = 3;",
    );
    let tombstones = scratch.open().entries().unwrap().tombstones;
    assert_eq!(tombstones[&id("said")].removed.hashes, said.hashes);
    assert_eq!(tombstones[&id("damaged")].removed.hashes, []);
    assert_eq!(tombstones[&id("gone")].removed.hashes, []);
}

#[test]
fn migration_marks_tree_nodes_for_reindexing() {
    let scratch = EntryScratch::new();
    drop(scratch.open());
    scratch.sql(
        "DROP TABLE checksums;
         ALTER TABLE vectors DROP COLUMN digest;
         ALTER TABLE documents DROP COLUMN own_words;
         INSERT INTO documents (path, size, mtime_ns, hash) VALUES
             ('memory/2026-03-02.md', 6, 7, x'01010101010101010101010101010101'),
             ('memory/weekly/2026-W10.md', 6, 7, x'01010101010101010101010101010101');
         PRAGMA user_version = 5;",
    );
    let documents = scratch.open().load().unwrap().documents;
    let marks: Vec<(&str, i64)> = documents
        .iter()
        .map(|document| (document.record.path.as_str(), document.record.mtime_ns))
        .collect();
    assert_eq!(
        marks,
        [("memory/2026-03-02.md", 7), ("memory/weekly/2026-W10.md", 0)]
    );
}

#[test]
fn a_migrated_file_has_the_same_tables_as_a_new_one() {
    let (old, new) = (EntryScratch::new(), EntryScratch::new());
    old.sql(FIRST);
    let tables = |store: &Store| -> Vec<(String, Option<String>)> {
        let mut statement = store
            .connection
            .prepare("SELECT name, sql FROM sqlite_schema ORDER BY name")
            .unwrap();
        let rows = statement.query_map([], |row| {
            let sql: Option<String> = row.get(1)?;
            let words = |sql: String| sql.split_whitespace().collect::<Vec<_>>().join(" ");
            Ok((row.get(0)?, sql.map(words)))
        });
        rows.unwrap().map(Result::unwrap).collect()
    };
    assert_eq!(tables(&old.open()), tables(&new.open()));
}

#[test]
fn a_newer_schema_is_refused() {
    let scratch = EntryScratch::new();
    drop(scratch.open());
    scratch.sql("PRAGMA user_version = 99");
    let error = Store::open(&scratch.file, "/w").unwrap_err();
    assert!(
        matches!(
            error,
            StoreError::NewerSchema {
                found: 99,
                known: 7,
                ..
            }
        ),
        "{error}"
    );
}

#[test]
fn clearing_the_documents_keeps_the_entries() {
    let scratch = EntryScratch::new();
    let mut store = scratch.open();
    put(&mut store, &[record("a", 0.5)]);
    let text = "- one\n";
    let document = DocumentRecord {
        path: "a.md".to_owned(),
        size: 6,
        mtime_ns: 7,
        hash: [0; 16],
        date: None,
    };
    let mut batch = store.begin().unwrap();
    batch
        .put_document(&document, &chunk::chunk(text.as_bytes()), &mut |_, _, _| 0)
        .unwrap();
    batch.commit().unwrap();
    store.clear().unwrap();
    assert!(store.load().unwrap().documents.is_empty());
    assert_eq!(store.entries().unwrap().records.len(), 1);
}
