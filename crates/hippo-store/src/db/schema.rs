//! Tables, schema version and migrations.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension, TransactionBehavior};

use super::seal;
use crate::StoreError;

/// The newest schema, which this build writes and reads.
pub(crate) const VERSION: i64 = 7;
/// The migrations to each version; a new file runs all of them.
const MIGRATIONS: [(i64, &str); 7] = [
    (1, DOCUMENTS),
    (2, ENTRIES),
    (3, RUN_FILES),
    (4, REMOVED_TEXTS),
    (5, FRESH),
    (6, OWN_WORDS),
    (7, CHECKSUMS),
];

/// Version 1: documents, sections, chunks and vectors.
///
/// `hippo_text::terms` creates the terms, joined by spaces. The tokenizer must not split them anywhere else, so every
/// other ASCII character is a token character.
const DOCUMENTS: &str = r#"
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

/// Version 2: the entries of the index file and their use. These tables are not derived from the watched files: most of
/// the data of an entry is also in the index file, but the journal and the runs are not.
const ENTRIES: &str = "
CREATE TABLE entries (
    id           TEXT PRIMARY KEY,
    place        TEXT NOT NULL,
    since        INTEGER,
    topic_group  TEXT NOT NULL,
    band         TEXT,
    strength     REAL NOT NULL,
    replayed     INTEGER,
    rest         TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE tombstones (
    id       TEXT PRIMARY KEY,
    at       INTEGER NOT NULL,
    pointers TEXT NOT NULL
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
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    cycle    TEXT NOT NULL,
    started  INTEGER NOT NULL,
    finished INTEGER,
    outcome  TEXT NOT NULL,
    live     INTEGER NOT NULL,
    demoted  INTEGER NOT NULL,
    planned  INTEGER NOT NULL,
    done     INTEGER NOT NULL,
    undone   INTEGER,
    report   TEXT NOT NULL
);

CREATE TABLE run_steps (
    run     INTEGER NOT NULL REFERENCES runs (id),
    ordinal INTEGER NOT NULL,
    step    TEXT NOT NULL,
    PRIMARY KEY (run, ordinal)
) WITHOUT ROWID;

CREATE TABLE quick_access (ordinal INTEGER PRIMARY KEY, entry TEXT NOT NULL);

CREATE TABLE proposed (text TEXT PRIMARY KEY) WITHOUT ROWID;

CREATE TABLE bases (
    path  TEXT PRIMARY KEY,
    at    INTEGER NOT NULL,
    hash  BLOB NOT NULL,
    bytes BLOB NOT NULL
);
";

/// Version 3: files before and after a run, so that an undo restores them byte for byte.
const RUN_FILES: &str = "
CREATE TABLE run_files (
    run    INTEGER NOT NULL REFERENCES runs (id),
    path   TEXT NOT NULL,
    before BLOB,
    after  BLOB NOT NULL,
    PRIMARY KEY (run, path)
) WITHOUT ROWID;
";

/// Version 4: the text hashes of removed entries. For earlier removals, they are taken from the records of the entries.
const REMOVED_TEXTS: &str = "
ALTER TABLE tombstones ADD COLUMN hashes TEXT NOT NULL DEFAULT '[]';
UPDATE tombstones SET hashes = ifnull(
    (SELECT json_extract(rest, '$.hashes') FROM entries WHERE entries.id = tombstones.id AND json_valid(rest)), '[]');
";

/// Version 5: documents that are new or changed since the last light cycle.
const FRESH: &str = "
CREATE TABLE fresh (path TEXT PRIMARY KEY) WITHOUT ROWID;
";

/// Version 6: which compaction tree nodes have a body that the user wrote. Known nodes are marked for reindexing.
const OWN_WORDS: &str = "
ALTER TABLE documents ADD COLUMN own_words INTEGER NOT NULL DEFAULT 0;
UPDATE documents SET mtime_ns = 0, hash = zeroblob(16)
WHERE path GLOB 'memory/daily/*' OR path GLOB 'memory/weekly/*' OR path GLOB 'memory/monthly/*' OR path = 'memory/ROOT.md';
";

/// Version 7: checksums of derived rows. A later migration that changes a derived table must empty `checksums`, so that
/// the sums are computed again.
const CHECKSUMS: &str = "
CREATE TABLE checksums (name TEXT PRIMARY KEY, sum INTEGER NOT NULL) WITHOUT ROWID;
ALTER TABLE vectors ADD COLUMN digest INTEGER;
";

/// Creates the tables in an empty file, migrates an older version, or rejects a newer one.
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
        // WAL mode is stored in the file header. auto_vacuum can be set only while the file is empty.
        connection
            .execute_batch("PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL;")
            .map_err(sql)?;
    }
    if found < VERSION {
        run_migrations(connection, found, root).map_err(sql)?;
    }
    // A truncated file may still have an intact first page, so every table is queried before the file is trusted.
    connection
        .query_row(
            "SELECT (SELECT count(*) FROM documents) + (SELECT count(*) FROM embedders)
                  + (SELECT ifnull(max(id), 0) FROM chunks) + (SELECT ifnull(max(id), 0) FROM vectors)
                  + (SELECT ifnull(max(rowid), 0) FROM lexical) + EXISTS (SELECT 1 FROM entries)
                  + EXISTS (SELECT 1 FROM tombstones) + EXISTS (SELECT 1 FROM accesses)
                  + EXISTS (SELECT 1 FROM access_days) + EXISTS (SELECT 1 FROM co_access)
                  + EXISTS (SELECT 1 FROM runs) + EXISTS (SELECT 1 FROM run_steps)
                  + EXISTS (SELECT 1 FROM quick_access) + EXISTS (SELECT 1 FROM proposed)
                  + EXISTS (SELECT 1 FROM bases) + EXISTS (SELECT 1 FROM run_files)
                  + EXISTS (SELECT 1 FROM fresh) + EXISTS (SELECT 1 FROM checksums)",
            [],
            |row| row.get::<_, i64>(0),
        )
        .map_err(sql)?;
    Ok(())
}

/// Creates the tables in an empty database.
pub(crate) fn make(connection: &Connection, path: &Path) -> Result<(), StoreError> {
    migrate(connection, path, "")
}

/// Runs all migrations in one transaction, so that a file is never between two versions.
fn run_migrations(connection: &Connection, found: i64, root: &str) -> rusqlite::Result<()> {
    let transaction = rusqlite::Transaction::new_unchecked(connection, TransactionBehavior::Immediate)?;
    for (version, tables) in MIGRATIONS {
        if found < version {
            transaction.execute_batch(tables)?;
        }
    }
    if found < 7 {
        seal::seal_vectors(&transaction)?;
    }
    if found == 0 {
        transaction.execute("INSERT INTO meta VALUES ('root', ?1)", [root])?;
    }
    transaction.pragma_update(None, "user_version", VERSION)?;
    transaction.commit()
}

/// A counter in the table `meta`.
#[derive(Clone, Copy)]
pub(super) enum Counter {
    /// Changes to documents.
    Documents,
    /// Changes to the vectors of chunks.
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
