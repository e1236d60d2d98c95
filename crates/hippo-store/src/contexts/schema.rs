//! Schema of the contexts database: creation, migration, verification.

use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::StoreError;
use crate::system::{self, PRIVATE_FILE};

/// The newest schema, which this build writes and reads.
pub(crate) const VERSION: i64 = 3;
/// Application id of this database: `hpct`.
pub(super) const APPLICATION: i64 = 0x6870_6374;

/// The tables of version 1.
///
/// - `blobs` holds the bytes, separately from the columns that each use updates.
/// - `contents.holds` counts the entries of open sessions with this content. At 0, the content may be removed.
///   `contents.gone` is the reason why it is not stored: 1 forgotten, 2 withheld from the beginning, 3 expired.
/// - `sums` has one row, which only triggers write.
/// - `entries.source` is a hash of the type and source of an entry.
/// - `summaries` (terms of an entry's own lines) and `texts` (terms of its content) are separate indexes, because their
///   rows are removed independently. Each row has the term `#<session>`, which no text contains, and no positions.
///   Every character that can occur in a term is a token character, including `'`: if a term were split into tokens, it
///   would be a phrase, which needs positions.
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
    use     TEXT NOT NULL,
    UNIQUE (session, seq)
);
CREATE INDEX entries_by_content ON entries (content, session, source) WHERE content IS NOT NULL;

CREATE TABLE compactions (
    owner     TEXT NOT NULL,
    content   INTEGER NOT NULL REFERENCES contents (row),
    stored_ms INTEGER NOT NULL,
    PRIMARY KEY (owner, content)
) WITHOUT ROWID;

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
"##;

/// The tables added by version 2: flushed positions of transcripts.
///
/// `told` has a row for each flushed message; `flushes` has only the unfinished flushes.
const FLUSHES: &str = "
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
";

/// The table added by version 3: accepted flush requests. Their numbers are never reused.
const ACCEPTED: &str = "
CREATE TABLE accepted (
    row        INTEGER PRIMARY KEY AUTOINCREMENT,
    transcript TEXT NOT NULL,
    session    TEXT,
    format     TEXT,
    compact    INTEGER NOT NULL,
    close      INTEGER NOT NULL,
    tree       INTEGER NOT NULL
);
";

/// Creates the file if necessary, readable only by its owner. SQLite gives the files beside it the same mode.
#[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
pub(super) fn make_private(path: &Path) -> Result<(), StoreError> {
    let failed = |what, path: &Path, source| StoreError::Io {
        what,
        path: path.to_path_buf(),
        source,
    };
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(PRIVATE_FILE);
    match options.open(path) {
        Ok(_) => {
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
            let folder = folder.unwrap_or(Path::new("."));
            // The first commit is durable only if the name of the file is.
            system::sync_folder(folder).map_err(|source| failed("sync the new name", folder, source))?;
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(failed("create the database", path, error)),
    }
    for suffix in ["", "-wal", "-shm"] {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        let file = PathBuf::from(name);
        match fs::metadata(&file) {
            Ok(found) if system::mode(&found) & 0o777 != PRIVATE_FILE => {
                system::set_mode(&file, PRIVATE_FILE)
                    .map_err(|source| failed("restrict the permissions of the database", &file, source))?;
            }
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(failed("inspect the database", &file, error)),
        }
    }
    Ok(())
}

/// Creates the tables in an empty database.
pub(crate) fn make(connection: &Connection, path: &Path) -> Result<(), StoreError> {
    migrate(connection, path)
}

/// Creates the tables in an empty file and migrates old schemas. Rejects a file that belongs to another program, is
/// damaged, or has a newer schema.
pub(super) fn migrate(connection: &Connection, path: &Path) -> Result<(), StoreError> {
    let sql = |source| StoreError::from_sql(path, source);
    let new = "SELECT (SELECT user_version FROM pragma_user_version) = 0
                   AND (SELECT application_id FROM pragma_application_id) = 0
                   AND NOT EXISTS (SELECT 1 FROM sqlite_schema)";
    if connection.query_row(new, [], |row| row.get(0)).map_err(sql)? {
        // WAL mode is stored in the file header. auto_vacuum can be set only while the file is empty.
        connection
            .execute_batch("PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL;")
            .map_err(sql)?;
        let transaction =
            Transaction::new_unchecked(connection, TransactionBehavior::Immediate).map_err(sql)?;
        // Another process may have created the tables in the meantime.
        if transaction.query_row(new, [], |row| row.get(0)).map_err(sql)? {
            transaction.execute_batch(TABLES).map_err(sql)?;
            transaction.execute_batch(FLUSHES).map_err(sql)?;
            transaction.execute_batch(ACCEPTED).map_err(sql)?;
            transaction
                .pragma_update(None, "application_id", APPLICATION)
                .map_err(sql)?;
            transaction
                .pragma_update(None, "user_version", VERSION)
                .map_err(sql)?;
        }
        transaction.commit().map_err(sql)?;
    }
    for (version, tables) in [(1, FLUSHES), (2, ACCEPTED)] {
        migrate_from(connection, version, tables).map_err(sql)?;
    }
    verify(connection, path)
}

/// Migrates a file from this version to the next one, in one transaction.
fn migrate_from(connection: &Connection, version: i64, tables: &str) -> rusqlite::Result<()> {
    let old = "SELECT (SELECT user_version FROM pragma_user_version) = ?1
                  AND (SELECT application_id FROM pragma_application_id) = ?2";
    let is_old =
        |connection: &Connection| connection.query_row(old, [version, APPLICATION], |row| row.get(0));
    if !is_old(connection)? {
        return Ok(());
    }
    let transaction = Transaction::new_unchecked(connection, TransactionBehavior::Immediate)?;
    if is_old(&transaction)? {
        transaction.execute_batch(tables)?;
        transaction.pragma_update(None, "user_version", version + 1)?;
    }
    transaction.commit()
}

/// Rejects a file that this build cannot use.
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
    if found > VERSION {
        return Err(StoreError::NewerSchema {
            path: path.to_path_buf(),
            found,
            known: VERSION,
        });
    }
    // A reader may open the file before the writer has migrated it.
    if found < 1 {
        return Err(corrupt(format!("schema {found} does not exist")));
    }
    // A truncated file may still have an intact first page, so every table is queried before the file is trusted.
    let sums: i64 = connection
        .query_row(
            "SELECT (SELECT count(*) FROM sums)
                  + 0 * ((SELECT ifnull(max(row), 0) FROM sessions) + (SELECT ifnull(max(row), 0) FROM contents)
                       + (SELECT ifnull(max(row), 0) FROM entries) + (SELECT ifnull(max(content), 0) FROM blobs)
                       + EXISTS (SELECT 1 FROM compactions)
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
