//! Tables and schema version.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension, TransactionBehavior};

use crate::StoreError;

/// The schema that this build writes and reads. A database with another schema is rebuilt from the files.
pub(crate) const VERSION: i64 = 9;

/// Tables of documents, chunks and vectors. The column `outline` contains a [`super::outline::DocumentOutline`] as
/// JSON.
///
/// `hippo_text::terms` creates the terms and joins them with spaces. The tokenizer must split the text only at these
/// spaces, so every other ASCII character is a token character.
const DOCUMENTS: &str = r#"
CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
INSERT INTO meta VALUES ('generation', 0);

CREATE TABLE documents (
    id            INTEGER PRIMARY KEY,
    path          TEXT NOT NULL UNIQUE,
    size          INTEGER NOT NULL,
    mtime_ns      INTEGER NOT NULL,
    hash          BLOB NOT NULL,
    date          TEXT,
    outline       TEXT NOT NULL
);
CREATE TABLE fresh (path TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE checksums (name TEXT PRIMARY KEY, sum INTEGER NOT NULL) WITHOUT ROWID;

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
    vector   BLOB NOT NULL,
    digest   INTEGER NOT NULL
);
CREATE UNIQUE INDEX vectors_by_hash ON vectors (hash, embedder);

CREATE TABLE chunks (
    id         INTEGER PRIMARY KEY,
    document   INTEGER NOT NULL REFERENCES documents (id),
    ordinal    INTEGER NOT NULL,
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
"#;

/// Tables of the index entries and their use. They cannot be derived from the watched files: most of the data of an
/// entry is also in the index file, but the journal and the runs are not.
const ENTRIES: &str = "
CREATE TABLE entries (id TEXT PRIMARY KEY, record TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE tombstones (
    id       TEXT PRIMARY KEY,
    at       INTEGER NOT NULL,
    pointers TEXT NOT NULL,
    hashes   TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE accesses (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    entry    TEXT NOT NULL,
    at       INTEGER NOT NULL,
    day      TEXT NOT NULL
);

CREATE TABLE access_days (
    entry TEXT NOT NULL,
    day   TEXT NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (entry, day)
) WITHOUT ROWID;

CREATE TABLE co_access (
    a     TEXT NOT NULL,
    b     TEXT NOT NULL,
    count INTEGER NOT NULL,
    last  INTEGER NOT NULL,
    PRIMARY KEY (a, b),
    CHECK (a < b)
) WITHOUT ROWID;

CREATE TABLE runs (
    id     INTEGER PRIMARY KEY AUTOINCREMENT,
    state  TEXT NOT NULL,
    report TEXT NOT NULL
);

CREATE TABLE run_steps (
    run     INTEGER NOT NULL REFERENCES runs (id),
    ordinal INTEGER NOT NULL,
    step    TEXT NOT NULL,
    PRIMARY KEY (run, ordinal)
) WITHOUT ROWID;

CREATE TABLE quick_access (ordinal INTEGER PRIMARY KEY, entry TEXT NOT NULL);

CREATE TABLE bases (
    path  TEXT PRIMARY KEY,
    at    INTEGER NOT NULL,
    hash  BLOB NOT NULL,
    bytes BLOB NOT NULL
);
";

/// The recall log. It was added without a new schema version, because nothing else refers to it.
const QUESTIONS: &str = "
CREATE TABLE IF NOT EXISTS questions (id INTEGER PRIMARY KEY, at INTEGER NOT NULL, record TEXT NOT NULL);
";

/// Creates the tables of a new database, and checks that every table can be read.
pub(crate) fn make(connection: &Connection, path: &Path, root: &str) -> Result<(), StoreError> {
    let sql = |source| StoreError::from_sql(path, source);
    let found: i64 = connection
        .query_row("PRAGMA user_version", [], |row| row.get(0))
        .map_err(sql)?;
    match found {
        0 => create_tables(connection, root).map_err(sql)?,
        VERSION => {}
        _ => {
            return Err(StoreError::OtherSchema {
                path: path.to_path_buf(),
                found,
                known: VERSION,
            });
        }
    }
    connection.execute_batch(QUESTIONS).map_err(sql)?;
    // The first page of a truncated file may be intact, so every table is queried.
    connection
        .query_row(
            "SELECT (SELECT count(*) FROM documents) + (SELECT count(*) FROM embedders)
                  + (SELECT ifnull(max(id), 0) FROM chunks) + (SELECT ifnull(max(id), 0) FROM vectors)
                  + (SELECT ifnull(max(rowid), 0) FROM lexical) + EXISTS (SELECT 1 FROM entries)
                  + EXISTS (SELECT 1 FROM tombstones) + EXISTS (SELECT 1 FROM accesses)
                  + EXISTS (SELECT 1 FROM access_days) + EXISTS (SELECT 1 FROM co_access)
                  + EXISTS (SELECT 1 FROM runs) + EXISTS (SELECT 1 FROM run_steps)
                  + EXISTS (SELECT 1 FROM quick_access)
                  + EXISTS (SELECT 1 FROM bases)
                  + EXISTS (SELECT 1 FROM questions)
                  + EXISTS (SELECT 1 FROM fresh) + EXISTS (SELECT 1 FROM checksums)",
            [],
            |_| Ok(()),
        )
        .map_err(sql)
}

fn create_tables(connection: &Connection, root: &str) -> rusqlite::Result<()> {
    // The file header stores WAL mode. SQLite accepts `auto_vacuum` only while the file is empty.
    connection.execute_batch("PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL;")?;
    let transaction = rusqlite::Transaction::new_unchecked(connection, TransactionBehavior::Immediate)?;
    transaction.execute_batch(DOCUMENTS)?;
    transaction.execute_batch(ENTRIES)?;
    transaction.execute("INSERT INTO meta VALUES ('root', ?1)", [root])?;
    transaction.pragma_update(None, "user_version", VERSION)?;
    transaction.commit()
}

/// Returns the number of changes to documents.
pub(super) fn read_generation(connection: &Connection) -> rusqlite::Result<u64> {
    let value: Option<i64> = connection
        .prepare_cached("SELECT value FROM meta WHERE key = 'generation'")?
        .query_row([], |row| row.get(0))
        .optional()?;
    Ok(value.unwrap_or(0).unsigned_abs())
}

/// Counts a change to documents, and returns the new number of changes.
pub(super) fn advance_generation(connection: &Connection) -> rusqlite::Result<u64> {
    connection
        .prepare_cached("UPDATE meta SET value = value + 1 WHERE key = 'generation'")?
        .execute([])?;
    read_generation(connection)
}
