//! The tables, their version, and how an older file becomes a current one.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension, TransactionBehavior};

use crate::StoreError;

/// The newest schema that this build writes and reads.
const VERSION: i64 = 1;

/// Terms are made by `hippo_core::retrieval::terms` and joined by spaces; the tokenizer must split nowhere else, so
/// every other ASCII sign counts as part of a token.
const TABLES: &str = r#"
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
"#;

/// Creates the tables in an empty file, or checks that the file is one that this build understands.
pub(super) fn migrate(connection: &Connection, path: &Path, root: &str) -> Result<(), StoreError> {
    let sql = |source| StoreError::from_sql(path, source);
    let found: i64 = connection
        .query_row("PRAGMA user_version", [], |row| row.get(0))
        .map_err(sql)?;
    if found > VERSION {
        return Err(StoreError::NewerSchema {
            path: path.to_path_buf(),
            found,
            known: VERSION,
        });
    }
    if found == 0 {
        // WAL survives in the file header; auto_vacuum can only be chosen while the file is empty.
        connection
            .execute_batch("PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL;")
            .map_err(sql)?;
        create(connection, root).map_err(sql)?;
    }
    // A file that was cut short may still have a sound first page: touch every table before trusting it.
    connection
        .query_row(
            "SELECT (SELECT count(*) FROM documents) + (SELECT count(*) FROM embedders)
                  + (SELECT ifnull(max(id), 0) FROM chunks) + (SELECT ifnull(max(id), 0) FROM vectors)
                  + (SELECT ifnull(max(rowid), 0) FROM lexical)",
            [],
            |row| row.get::<_, i64>(0),
        )
        .map_err(sql)?;
    Ok(())
}

fn create(connection: &Connection, root: &str) -> rusqlite::Result<()> {
    let transaction = rusqlite::Transaction::new_unchecked(connection, TransactionBehavior::Immediate)?;
    transaction.execute_batch(TABLES)?;
    transaction.execute("INSERT INTO meta VALUES ('root', ?1)", [root])?;
    transaction.pragma_update(None, "user_version", VERSION)?;
    transaction.commit()
}

/// A counter in the table `meta`.
#[derive(Clone, Copy)]
pub(super) enum Counter {
    /// Changes of the documents.
    Documents,
    /// Changes of which chunk has which vector.
    Vectors,
}

impl Counter {
    fn key(self) -> &'static str {
        match self {
            Self::Documents => "generation",
            Self::Vectors => "vector_generation",
        }
    }

    pub(super) fn read(self, connection: &Connection) -> rusqlite::Result<u64> {
        let value: Option<i64> = connection
            .prepare_cached("SELECT value FROM meta WHERE key = ?1")?
            .query_row([self.key()], |row| row.get(0))
            .optional()?;
        Ok(value.unwrap_or(0).unsigned_abs())
    }

    pub(super) fn advance(self, connection: &Connection) -> rusqlite::Result<u64> {
        connection
            .prepare_cached("UPDATE meta SET value = value + 1 WHERE key = ?1")?
            .execute([self.key()])?;
        self.read(connection)
    }
}
