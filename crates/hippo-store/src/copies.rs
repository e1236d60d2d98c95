//! Copies of open databases, and conversion of foreign databases.

use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags, OptionalExtension};

#[cfg(test)]
mod tests;

use crate::system::{self, PRIVATE_FILE};
use crate::{StoreError, contexts, db};

/// Pages copied between two checks for cancellation.
const PAGES: i32 = 4096;
/// Maximum wait for a lock.
const BUSY: Duration = Duration::from_secs(10);

/// One of the two databases of a workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Database {
    /// `index.db`: documents, entries, accesses, runs.
    Index,
    /// `contexts.db`: sessions and their stored contents.
    Contexts,
}

impl Database {
    /// Returns a connection to a new database in memory, with the tables, indexes and triggers of this build.
    fn create_in_memory(self) -> Result<Connection, StoreError> {
        let path = Path::new(":memory:");
        let connection = Connection::open_in_memory().map_err(|source| StoreError::from_sql(path, source))?;
        match self {
            Self::Index => db::make(&connection, path, "")?,
            Self::Contexts => contexts::make(&connection, path)?,
        }
        Ok(connection)
    }
}

/// A consistent snapshot of a database, on its own read-only connection. It neither blocks writers nor sees later
/// writes.
pub struct DatabaseSnapshot {
    connection: Connection,
    path: PathBuf,
}

impl DatabaseSnapshot {
    /// Starts a snapshot of the current state.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub fn begin(path: &Path) -> Result<Self, StoreError> {
        let sql = |source| StoreError::from_sql(path, source);
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags).map_err(sql)?;
        connection.busy_timeout(BUSY).map_err(sql)?;
        // SQLite takes the snapshot at the first read in the transaction.
        connection
            .execute_batch("BEGIN; SELECT count(*) FROM sqlite_schema;")
            .map_err(sql)?;
        Ok(Self {
            connection,
            path: path.to_path_buf(),
        })
    }

    /// Returns the bytes that the daemon last wrote at `path` (relative to the workspace), as recorded in `index.db`.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub fn base(&self, path: &str) -> Result<Option<Vec<u8>>, StoreError> {
        self.connection
            .query_row("SELECT bytes FROM bases WHERE path = ?1", [path], |row| {
                row.get(0)
            })
            .optional()
            .map_err(|source| StoreError::from_sql(&self.path, source))
    }

    /// Copies the snapshot to a new file at `to`, which only its owner can access, and flushes that file to disk.
    /// Calls `goes_on` regularly, and stops when it returns false.
    ///
    /// # Errors
    /// See [`StoreError`]. After an error, the caller must remove the file at `to`.
    pub fn copy(&self, to: &Path, goes_on: &dyn Fn() -> bool) -> Result<(), StoreError> {
        copy(&self.connection, to, goes_on)
    }
}

/// Copies the database of a connection to a new file at `to`, like [`DatabaseSnapshot::copy`].
#[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
pub(crate) fn copy(from: &Connection, to: &Path, goes_on: &dyn Fn() -> bool) -> Result<(), StoreError> {
    let io = StoreError::io("copy the database", to);
    let mut options = OpenOptions::new();
    options
        .write(true)
        .create_new(true)
        .mode(PRIVATE_FILE)
        .open(to)
        .map_err(&io)?;
    let sql = |source| StoreError::from_sql(to, source);
    let mut copy = Connection::open(to).map_err(sql)?;
    // A copy that fails is discarded, so it needs no journal. One flush at the end is enough.
    copy.execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;")
        .map_err(sql)?;
    let backup = Backup::new(from, &mut copy).map_err(sql)?;
    loop {
        match backup.step(PAGES).map_err(sql)? {
            StepResult::Done => break,
            StepResult::More if goes_on() => {}
            StepResult::More => {
                return Err(io(std::io::Error::from(std::io::ErrorKind::Interrupted)));
            }
            // No lock can block the copy of a snapshot, so a retry would fail again.
            _ => return Err(io(std::io::Error::from(std::io::ErrorKind::WouldBlock))),
        }
    }
    drop(backup);
    drop(copy);
    system::sync_file(to).map_err(io)
}

/// Converts a database from another machine or folder to the schema of this build, and assigns it to the workspace at
/// `root`.
///
/// # Errors
/// Returns [`StoreError::OtherSchema`] for an unsupported schema. Returns [`StoreError::Corrupt`] for a damaged file,
/// and for a file with tables or triggers that hippod does not create. Such triggers would run with every change.
pub fn take_over(database: Database, file: &Path, root: &str) -> Result<(), StoreError> {
    match database {
        Database::Index => db::Store::open(file, root).map(drop)?,
        Database::Contexts => contexts::ContextStore::open(file).map(drop)?,
    }
    let sql = |source| StoreError::from_sql(file, source);
    let corrupt = |reason: String| StoreError::Corrupt {
        path: file.to_path_buf(),
        reason,
    };
    let connection = Connection::open(file).map_err(sql)?;
    let (found, known) = (
        shape(&connection).map_err(sql)?,
        shape(&database.create_in_memory()?).map_err(sql)?,
    );
    if let Some((name, _)) = found.iter().find(|part| !known.contains(part)) {
        return Err(corrupt(format!("{name} differs from what hippod creates")));
    }
    if let Some((name, _)) = known.iter().find(|part| !found.contains(part)) {
        return Err(corrupt(format!("{name} is missing")));
    }
    db::check(&connection, file)?;
    if database == Database::Index {
        connection
            .execute("UPDATE meta SET value = ?1 WHERE key = 'root'", [root])
            .map_err(sql)?;
    }
    // Leave no journal files, because the caller moves only the database file.
    connection
        .execute_batch("PRAGMA journal_mode = WAL; PRAGMA wal_checkpoint(TRUNCATE);")
        .map_err(sql)?;
    drop(connection);
    system::sync_file(file).map_err(StoreError::io("sync the database", file))
}

/// Returns the name and definition of each schema object, without white space.
fn shape(connection: &Connection) -> rusqlite::Result<Vec<(String, String)>> {
    connection
        .prepare(
            "SELECT type || ' ' || name, ifnull(sql, '') FROM sqlite_schema
             WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY 1",
        )?
        .query_map([], |row| {
            let sql: String = row.get(1)?;
            Ok((row.get(0)?, sql.split_whitespace().collect()))
        })?
        .collect()
}
