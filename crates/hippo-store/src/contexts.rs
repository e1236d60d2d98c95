//! What agents had in their contexts: how do sessions, entries and the content behind them survive, each byte of it?
//!
//! One database a workspace, apart from that of the index: a put never waits for indexing, and what stands here can be
//! had nowhere else. One [`ContextStore`] writes; each change is one transaction that is on the disk when the call comes
//! back. Any number of [`ContextReader`]s read beside it and wait for nobody. Every content is kept once, however many
//! entries, sessions and compactions refer to it, and read back only when its bytes still have its hash.
//!
//! Sums are kept by triggers, and what may be forgotten stands in an index of its own: no call looks at all contents.

mod accepted;
mod acked;
mod content;
mod entries;
mod error;
mod flushes;
mod place;
mod read;
mod ready;
mod schema;
mod search;
mod sessions;
#[cfg(test)]
mod tests;
mod trim;
mod write;

use std::path::{Path, PathBuf};
use std::time::Duration;

use hippo_core::retrieval::terms::Analyzer;
use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior};

pub use accepted::Accepted;
pub use acked::lost_changes;
pub use content::{ContentId, ContentPrefix, MOST_CONTENT};
pub use entries::{DamagedEntry, Entries, KeptEntry};
pub use error::ContextError;
pub use flushes::{Flush, FlushPart, MessageKey, TakenUp};
pub use read::{Content, ContextReader, Gone, Lookup, Usage};
pub use ready::{Packer, Ready};
pub(crate) use schema::{VERSION as SCHEMA, make};
pub use search::Hit;
pub use sessions::{Closed, Opened, Session};
pub use trim::Trimmed;
pub use write::{NewContent, NewEntry, Piece, Put};

use crate::StoreError;
use crate::in_place::{self, Open};

/// How long a connection waits for another writer before it reports an error.
const BUSY: Duration = Duration::from_secs(10);
/// Page cache of a connection in KiB: the operating system keeps the file's pages anyway.
const CACHE_KIB: i64 = 2048;

/// The write connection of one workspace's contexts.
pub struct ContextStore {
    read: ContextReader,
    open: Open,
    missing: u64,
    analyzer: Analyzer,
}

impl ContextStore {
    /// Opens or creates the database at `path`. Only its owner can read it, whatever the umask is.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] for a damaged or foreign file, [`StoreError::NewerSchema`] for one from the future.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        in_place::finish(path)?;
        acked::set_aside_if_cut(path)?;
        schema::private(path)?;
        let connection = open_writer(path).map_err(|source| StoreError::from_sql(path, source))?;
        let missing = acked::compare(&connection, path)?;
        schema::migrate(&connection, path)?;
        Ok(Self {
            read: ContextReader {
                connection,
                path: path.to_path_buf(),
            },
            open: Open::at(path),
            missing,
            analyzer: Analyzer::new(),
        })
    }

    /// Whether what is open is still the file at [`ContextStore::path`]: somebody may have removed or moved it.
    #[must_use]
    pub fn is_in_place(&self) -> bool {
        self.open.is_at(self.path())
    }

    /// Acknowledged changes that were found missing when it was opened.
    #[must_use]
    pub const fn missing(&self) -> u64 {
        self.missing
    }

    /// Writes the log back into the file, so that a copy of the file alone is whole.
    ///
    /// # Errors
    /// See [`StoreError`]; the log is kept then, and read at the next start.
    pub fn checkpoint(&self) -> Result<(), StoreError> {
        self.end()?;
        self.read
            .ask(|connection| connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)"))
    }

    /// The files that are open.
    #[must_use]
    pub const fn open_files(&self) -> Open {
        self.open
    }

    /// Writes what is open to [`ContextStore::path`] again, where it is not any more; another file that stands there is kept
    /// beside it as `.replaced`.
    ///
    /// # Errors
    /// See [`StoreError`]. What is open stays open, and it can be tried again.
    pub fn write_again(&mut self) -> Result<(), StoreError> {
        self.end()?;
        let path = &self.read.path;
        in_place::write_again(&self.read.connection, &mut self.open, path, &|| true)?;
        let sql = |source| StoreError::from_sql(path, source);
        let connection = open_writer(path).map_err(sql)?;
        // The first look opens the log.
        connection
            .query_row("SELECT count(*) FROM sqlite_schema", [], |row| {
                row.get::<_, i64>(0)
            })
            .map_err(sql)?;
        self.open = Open::at(path);
        self.read.connection = connection;
        Ok(())
    }

    /// The database file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.read.path
    }

    /// The same questions as on a connection for reading; they see what was written last.
    #[must_use]
    pub const fn read(&self) -> &ContextReader {
        &self.read
    }

    /// Merges the lexical indexes into few segments and gives free pages back; for a quiet moment after much was
    /// forgotten.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub fn tidy(&mut self) -> Result<(), StoreError> {
        self.read.ask(|connection| {
            connection.execute_batch(
                "INSERT INTO summaries(summaries) VALUES ('optimize');
                 INSERT INTO texts(texts) VALUES ('optimize');
                 PRAGMA incremental_vacuum;
                 PRAGMA optimize;
                 PRAGMA wal_checkpoint(TRUNCATE);",
            )
        })
    }

    /// Begins a change that is on the disk when it is committed.
    fn begin(&self) -> Result<Change<'_>, StoreError> {
        // Set each time: no failure in between may make a later change less durable.
        self.begin_with("PRAGMA synchronous = FULL")
    }

    fn begin_with(&self, durability: &str) -> Result<Change<'_>, StoreError> {
        self.end()?;
        self.read.ask(|connection| connection.execute_batch(durability))?;
        match Transaction::new_unchecked(&self.read.connection, TransactionBehavior::Immediate) {
            Ok(transaction) => Ok(Change {
                transaction,
                path: &self.read.path,
            }),
            Err(source) => {
                let error = StoreError::from_sql(&self.read.path, source);
                self.end()?;
                Err(error)
            }
        }
    }

    /// Takes back what a failure left open; until that succeeds nothing can be changed.
    fn end(&self) -> Result<(), StoreError> {
        if self.read.connection.is_autocommit() {
            return Ok(());
        }
        self.read.ask(|connection| connection.execute_batch("ROLLBACK"))
    }
}

impl std::fmt::Debug for ContextStore {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("ContextStore")
            .field("path", &self.read.path)
            .finish_non_exhaustive()
    }
}

/// One transaction. Dropped without [`Change::commit`], nothing of it happened.
struct Change<'store> {
    transaction: Transaction<'store>,
    path: &'store PathBuf,
}

impl Change<'_> {
    /// Asks or changes something.
    fn ask<T>(&self, question: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, StoreError> {
        question(&self.transaction).map_err(|source| StoreError::from_sql(self.path, source))
    }

    /// Makes all of it durable.
    fn commit(self) -> Result<(), StoreError> {
        let path = self.path;
        let number = self.ask(acked::count)?;
        self.transaction
            .commit()
            .map_err(|source| StoreError::from_sql(path, source))?;
        acked::note(path, number);
        Ok(())
    }
}

/// Opens the connection that writes.
fn open_writer(path: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open(path)?;
    configure(&connection)?;
    // A commit waits for the disk; on macOS only a full fsync does.
    connection.execute_batch(
        "PRAGMA synchronous = FULL; PRAGMA fullfsync = ON; PRAGMA journal_size_limit = 16777216;",
    )?;
    Ok(connection)
}

/// Opens a connection that can only read.
fn open_reader(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    configure(&connection)?;
    Ok(connection)
}

fn configure(connection: &Connection) -> rusqlite::Result<()> {
    connection.busy_timeout(BUSY)?;
    connection.set_prepared_statement_cache_capacity(64);
    connection.execute_batch(&format!(
        "PRAGMA cache_size = -{CACHE_KIB}; PRAGMA temp_store = MEMORY;"
    ))
}

/// SQLite's integers are signed: what is larger counts as the largest.
fn signed(number: impl TryInto<i64>) -> i64 {
    number.try_into().unwrap_or(i64::MAX)
}

/// A column that is never negative, in a file that might be damaged.
fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}
