//! Schema of the contexts database.

use std::fs::OpenOptions;
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::StoreError;
use crate::in_place;
use crate::system::{self, PRIVATE_FILE};

/// The schema that this build writes and reads.
pub(crate) const VERSION: i64 = 4;
/// Application id of this database: `hpct`.
pub(super) const APPLICATION: i64 = 0x6870_6374;

/// The tables.
///
/// - `blobs` holds the bytes of contents. It is separate from `contents`, because each use of a content updates
///   `contents`.
/// - `contents.holds` is the number of entries of open sessions with this content. At 0, the content may be removed.
/// - `contents.gone` is the reason why the content is not stored: 1 forgotten, 2 withheld from the beginning,
///   3 expired.
/// - `sums` has one row. Only triggers write it.
/// - `entries.source` is a hash of the kind and source of an entry.
/// - `summaries` (terms of an entry's summary, source and key data) and `texts` (terms of its content) are separate
///   indexes, because their rows are removed independently. Each row has the term `#<session>`, which no text
///   contains. The indexes have no positions. Every character that can occur in a term is a token character,
///   including `'`. Otherwise, the tokenizer would split the term into a phrase, and phrases need positions.
const TABLES: &str = r##"
CREATE TABLE sums (
    id       INTEGER PRIMARY KEY CHECK (id = 1),
    sessions INTEGER NOT NULL DEFAULT 0,
    open     INTEGER NOT NULL DEFAULT 0,
    entries  INTEGER NOT NULL DEFAULT 0,
    contents INTEGER NOT NULL DEFAULT 0,
    stored   INTEGER NOT NULL DEFAULT 0,
    raw      INTEGER NOT NULL DEFAULT 0
);
INSERT INTO sums (id) VALUES (1);

CREATE TABLE sessions (
    row          INTEGER PRIMARY KEY,
    id           TEXT NOT NULL UNIQUE,
    agent        TEXT,
    opened_ms    INTEGER NOT NULL,
    closed_ms    INTEGER,
    turn         INTEGER NOT NULL DEFAULT 0,
    last_used_ms INTEGER NOT NULL,
    entries      INTEGER NOT NULL DEFAULT 0
);

CREATE TABLE contents (
    row          INTEGER PRIMARY KEY,
    hash         BLOB NOT NULL UNIQUE,
    raw          INTEGER NOT NULL,
    stored       INTEGER NOT NULL,
    coding       INTEGER NOT NULL,
    tokens       INTEGER NOT NULL,
    stored_ms    INTEGER NOT NULL,
    last_used_ms INTEGER NOT NULL,
    holds        INTEGER NOT NULL DEFAULT 0,
    gone         INTEGER,
    gone_ms      INTEGER
);
CREATE INDEX contents_free ON contents (last_used_ms) WHERE holds = 0 AND gone IS NULL;
CREATE INDEX contents_kept ON contents (stored_ms) WHERE gone IS NULL;

CREATE TABLE blobs (content INTEGER PRIMARY KEY REFERENCES contents (row), bytes BLOB NOT NULL);

CREATE TABLE entries (
    row     INTEGER PRIMARY KEY,
    id      TEXT NOT NULL UNIQUE,
    session INTEGER NOT NULL REFERENCES sessions (row),
    seq     INTEGER NOT NULL,
    content INTEGER REFERENCES contents (row),
    source  BLOB NOT NULL,
    entry   TEXT NOT NULL,
    UNIQUE (session, seq)
);
CREATE INDEX entries_by_content ON entries (content, session, source) WHERE content IS NOT NULL;

CREATE VIRTUAL TABLE summaries USING fts5 (
    terms, content = '', contentless_delete = 1, detail = none,
    tokenize = "ascii tokenchars '!#$%&()*+,-./:;<=>?@[\]^_`{|}~'''"
);
CREATE VIRTUAL TABLE texts USING fts5 (
    terms, content = '', contentless_delete = 1, detail = none,
    tokenize = "ascii tokenchars '!#$%&()*+,-./:;<=>?@[\]^_`{|}~'''"
);

CREATE TRIGGER session_opened AFTER INSERT ON sessions BEGIN
    UPDATE sums SET sessions = sessions + 1, open = open + 1;
END;

CREATE TRIGGER session_closed AFTER UPDATE OF closed_ms ON sessions
WHEN OLD.closed_ms IS NULL AND NEW.closed_ms IS NOT NULL BEGIN
    UPDATE sums SET open = open - 1;
    UPDATE contents
    SET holds = holds - (
        SELECT count(*) FROM entries WHERE entries.content = contents.row AND entries.session = NEW.row
    )
    WHERE row IN (SELECT content FROM entries WHERE session = NEW.row AND content IS NOT NULL);
END;

CREATE TRIGGER entry_made AFTER INSERT ON entries BEGIN
    UPDATE sums SET entries = entries + 1;
    UPDATE sessions SET entries = entries + 1 WHERE row = NEW.session;
    UPDATE contents SET holds = holds + 1 WHERE row = NEW.content;
END;

CREATE TRIGGER content_made AFTER INSERT ON contents WHEN NEW.gone IS NULL BEGIN
    UPDATE sums SET contents = contents + 1, stored = stored + NEW.stored, raw = raw + NEW.raw;
END;

CREATE TRIGGER content_changed AFTER UPDATE OF gone, stored, raw ON contents BEGIN
    UPDATE sums
    SET contents = contents + (NEW.gone IS NULL) - (OLD.gone IS NULL),
        stored = stored + iif(NEW.gone IS NULL, NEW.stored, 0) - iif(OLD.gone IS NULL, OLD.stored, 0),
        raw = raw + iif(NEW.gone IS NULL, NEW.raw, 0) - iif(OLD.gone IS NULL, OLD.raw, 0);
END;

CREATE TRIGGER content_forgotten AFTER UPDATE OF gone ON contents WHEN NEW.gone IS NOT NULL BEGIN
    DELETE FROM blobs WHERE content = NEW.row;
    DELETE FROM texts WHERE rowid IN (SELECT row FROM entries WHERE content = NEW.row);
END;

CREATE TABLE transcripts (
    name       TEXT PRIMARY KEY,
    position   INTEGER NOT NULL,
    before     BLOB NOT NULL,
    topic      TEXT,
    flushed_ms INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE told (key BLOB PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE flushes (
    row        INTEGER PRIMARY KEY AUTOINCREMENT,
    transcript TEXT NOT NULL,
    begun_ms   INTEGER NOT NULL
);
CREATE TABLE flush_parts (
    flush INTEGER NOT NULL REFERENCES flushes (row),
    part  INTEGER NOT NULL,
    day   TEXT NOT NULL,
    text  TEXT NOT NULL,
    mark  TEXT NOT NULL,
    PRIMARY KEY (flush, part)
) WITHOUT ROWID;

CREATE TABLE accepted (
    row        INTEGER PRIMARY KEY AUTOINCREMENT,
    transcript TEXT NOT NULL,
    session    TEXT,
    format     TEXT,
    compact    INTEGER NOT NULL,
    close      INTEGER NOT NULL,
    tree       INTEGER NOT NULL
);
"##;

/// Creates the file if it does not exist, accessible only by its owner. SQLite gives the same mode to the files
/// beside it.
#[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
pub(super) fn make_private(path: &Path) -> Result<(), StoreError> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(PRIVATE_FILE);
    match options.open(path) {
        Ok(_) => {
            // SQLite syncs only the content of the file, but its name must survive a power failure as well.
            let folder = in_place::folder_of(path);
            system::sync_folder(folder).map_err(StoreError::io("sync the folder of the database", folder))?;
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(StoreError::io("create the database", path)(error)),
    }
    for suffix in ["", "-wal", "-shm"] {
        let file = in_place::with_suffix(path, suffix);
        match system::set_mode(&file, PRIVATE_FILE) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(StoreError::io("restrict the permissions of the database", &file)(
                    error,
                ));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Creates the tables in an empty file. Otherwise, fails if this build cannot use the file.
pub(crate) fn make(connection: &Connection, path: &Path) -> Result<(), StoreError> {
    create_tables(connection).map_err(|source| StoreError::from_sql(path, source))?;
    verify(connection, path)
}

fn create_tables(connection: &Connection) -> rusqlite::Result<()> {
    let new = "SELECT (SELECT user_version FROM pragma_user_version) = 0
                  AND (SELECT application_id FROM pragma_application_id) = 0
                  AND NOT EXISTS (SELECT 1 FROM sqlite_schema)";
    let is_new = |connection: &Connection| connection.query_row(new, [], |row| row.get(0));
    if !is_new(connection)? {
        return Ok(());
    }
    connection.execute_batch("PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL;")?;
    let transaction = Transaction::new_unchecked(connection, TransactionBehavior::Immediate)?;
    // Another process may have created the tables in the meantime.
    if is_new(&transaction)? {
        transaction.execute_batch(TABLES)?;
        transaction.pragma_update(None, "application_id", APPLICATION)?;
        transaction.pragma_update(None, "user_version", VERSION)?;
    }
    transaction.commit()
}

/// Fails if this build cannot use the file.
pub(super) fn verify(connection: &Connection, path: &Path) -> Result<(), StoreError> {
    let sql = |source| StoreError::from_sql(path, source);
    let corrupt = |reason: String| StoreError::Corrupt {
        path: path.to_path_buf(),
        reason,
    };
    let (application, found): (i64, i64) = connection
        .query_row(
            "SELECT application_id, user_version FROM pragma_application_id, pragma_user_version",
            [],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
        .map_err(sql)?;
    if application != APPLICATION {
        return Err(corrupt(format!(
            "it is another program's database: application id {application:#x}, not {APPLICATION:#x}"
        )));
    }
    // A reader can open the file before the writer has created the tables.
    if found == 0 {
        return Err(corrupt("schema 0 does not exist".to_owned()));
    }
    if found != VERSION {
        return Err(StoreError::OtherSchema {
            path: path.to_path_buf(),
            found,
            known: VERSION,
        });
    }
    // The first page of a truncated file may be intact, so every table is queried.
    let sums: i64 = connection
        .query_row(
            "SELECT (SELECT count(*) FROM sums)
                  + 0 * ((SELECT ifnull(max(row), 0) FROM sessions) + (SELECT ifnull(max(row), 0) FROM contents)
                       + (SELECT ifnull(max(row), 0) FROM entries) + (SELECT ifnull(max(content), 0) FROM blobs)
                       + (SELECT ifnull(max(rowid), 0) FROM summaries)
                       + (SELECT ifnull(max(rowid), 0) FROM texts))",
            [],
            |row| row.get(0),
        )
        .map_err(|source| match StoreError::from_sql(path, source) {
            // A table is missing.
            StoreError::Sql { source, .. } if !is_busy(&source) => corrupt(source.to_string()),
            other => other,
        })?;
    if sums == 1 {
        return Ok(());
    }
    Err(corrupt(format!(
        "the table of sums has {sums} rows instead of one"
    )))
}

fn is_busy(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode as Code;
    matches!(
        error.sqlite_error_code(),
        Some(Code::DatabaseBusy | Code::DatabaseLocked | Code::SystemIoFailure | Code::OutOfMemory)
    )
}
