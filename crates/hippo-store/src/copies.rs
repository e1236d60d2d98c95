//! Copies of a database that is being written, and the takeover of such a copy by another workspace.

use std::fs::OpenOptions;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags, OptionalExtension};

#[cfg(test)]
mod tests;

use crate::system::{self, PRIVATE_FILE, WithMode as _};
use crate::{StoreError, contexts, db};

/// Pages that are copied before it is looked whether to go on.
const PAGES: i32 = 4096;
/// How long it is waited for a lock.
const BUSY: Duration = Duration::from_secs(10);

/// One of the two databases of a workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Database {
    /// `index.db`: documents, entries, accesses, runs.
    Index,
    /// `contexts.db`: sessions and what they stored.
    Contexts,
}

impl Database {
    /// The newest schema that this build knows.
    #[must_use]
    pub const fn schema(self) -> i64 {
        match self {
            Self::Index => db::SCHEMA,
            Self::Contexts => contexts::SCHEMA,
        }
    }

    /// Returns a connection to a new database in memory, with the tables, indexes and triggers of this build.
    fn fresh(self) -> Result<Connection, StoreError> {
        let path = Path::new(":memory:");
        let connection = Connection::open_in_memory().map_err(|source| StoreError::from_sql(path, source))?;
        match self {
            Self::Index => db::make(&connection, path)?,
            Self::Contexts => contexts::make(&connection, path)?,
        }
        Ok(connection)
    }
}

/// One moment of a database, on a read-only connection of its own: writers wait for nothing, and what they write is not seen.
pub struct Snapshot {
    connection: Connection,
    path: PathBuf,
}

impl Snapshot {
    /// Takes the moment that is now.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub fn begin(path: &Path) -> Result<Self, StoreError> {
        let sql = |source| StoreError::from_sql(path, source);
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags).map_err(sql)?;
        connection.busy_timeout(BUSY).map_err(sql)?;
        // The transaction has its moment from the first read on.
        connection
            .execute_batch("BEGIN; SELECT count(*) FROM sqlite_schema;")
            .map_err(sql)?;
        Ok(Self {
            connection,
            path: path.to_path_buf(),
        })
    }

    /// The version of its tables.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub fn schema(&self) -> Result<i64, StoreError> {
        self.ask(|connection| connection.query_row("PRAGMA user_version", [], |row| row.get(0)))
    }

    /// Returns what the daemon wrote last at `path` (relative to the workspace), as `index.db` has it.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub fn base(&self, path: &str) -> Result<Option<Vec<u8>>, StoreError> {
        self.ask(|connection| {
            connection
                .query_row("SELECT bytes FROM bases WHERE path = ?1", [path], |row| {
                    row.get(0)
                })
                .optional()
        })
    }

    /// Copies it to a new file at `to` that only its owner can read, and sees to it that it is on the disk. `goes_on` is
    /// asked now and then.
    ///
    /// # Errors
    /// See [`StoreError`]; what there is at `to` then is to be thrown away.
    pub fn copy(&self, to: &Path, goes_on: &dyn Fn() -> bool) -> Result<(), StoreError> {
        copy(&self.connection, to, goes_on)
    }

    fn ask<T>(&self, question: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, StoreError> {
        question(&self.connection).map_err(|source| StoreError::from_sql(&self.path, source))
    }
}

/// Copies what a connection reads to a new file at `to`, as [`Snapshot::copy`] does.
#[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
pub(crate) fn copy(from: &Connection, to: &Path, goes_on: &dyn Fn() -> bool) -> Result<(), StoreError> {
    let io = |source| StoreError::Io {
        what: "copy the database",
        path: to.to_path_buf(),
        source,
    };
    let mut options = OpenOptions::new();
    options
        .write(true)
        .create_new(true)
        .with_mode(PRIVATE_FILE)
        .open(to)
        .map_err(io)?;
    let sql = |source| StoreError::from_sql(to, source);
    let mut copy = Connection::open(to).map_err(sql)?;
    // Half of a copy is thrown away: nothing of it needs a journal, and it is made durable once.
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
            // Of a moment that is read nothing is locked; another answer would repeat itself.
            _ => return Err(io(std::io::Error::from(std::io::ErrorKind::WouldBlock))),
        }
    }
    drop(backup);
    drop(copy);
    system::sync_file(to).map_err(io)
}

/// Makes a database at `file`, which came from elsewhere, one of this build and of the workspace at `root`: an older schema
/// is brought up to date.
///
/// # Errors
/// [`StoreError::NewerSchema`]; [`StoreError::Corrupt`] for a file that is damaged, or whose tables and triggers are not
/// those that hippod makes: triggers of a stranger would act with every change.
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
        shape(&database.fresh()?).map_err(sql)?,
    );
    if let Some((name, _)) = found.iter().find(|part| !known.contains(part)) {
        return Err(corrupt(format!("{name} is not as hippod makes it")));
    }
    if let Some((name, _)) = known.iter().find(|part| !found.contains(part)) {
        return Err(corrupt(format!("{name} is not there")));
    }
    let sound: String = connection
        .query_row("PRAGMA quick_check(1)", [], |row| row.get(0))
        .map_err(sql)?;
    if sound != "ok" {
        return Err(corrupt(sound));
    }
    if database == Database::Index {
        connection
            .execute("UPDATE meta SET value = ?1 WHERE key = 'root'", [root])
            .map_err(sql)?;
    }
    // Nothing of it may stand beside it when it is moved into its place.
    connection
        .execute_batch("PRAGMA journal_mode = WAL; PRAGMA wal_checkpoint(TRUNCATE);")
        .map_err(sql)?;
    drop(connection);
    system::sync_file(file).map_err(|source| StoreError::Io {
        what: "make the database durable",
        path: file.to_path_buf(),
        source,
    })
}

/// Name and text of everything that a database is made of, blanks left out.
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
