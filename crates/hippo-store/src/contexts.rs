//! Store of agent contexts: sessions, entries and their contents, byte for byte.
//!
//! Each workspace has one such database. It is separate from the index, so that storing an entry never waits for
//! indexing. The data of this database exists nowhere else.
//!
//! One [`ContextStore`] writes. Each change is one transaction, and it is durable when the call returns. Any number
//! of [`ContextReader`]s read concurrently without waiting. The same content is stored only once, however many
//! entries, sessions and compactions refer to it. Content is returned only if its bytes match its hash.
//!
//! No call scans all contents: triggers maintain the sums, and an index lists the contents that may be removed.

mod accepted;
mod acked;
mod content;
mod entries;
mod error;
mod flushes;
mod place;
mod read;
mod schema;
mod search;
mod sessions;
#[cfg(test)]
mod tests;
mod trim;
mod write;

use std::path::{Path, PathBuf};

use hippo_text::terms::Analyzer;
use rusqlite::{Connection, Transaction, TransactionBehavior};

pub use accepted::AcceptedFlush;
pub use acked::lost_changes;
pub use content::{ContentId, ContentPrefix, MAX_CONTENT};
pub use entries::{DamagedEntry, KeptEntry, SessionEntries};
pub use error::ContextError;
pub use flushes::{Flush, FlushPart, FlushPosition, MessageKey};
pub use read::{ContextReader, Lookup, StoredContent, UnavailableReason, Usage};
pub(crate) use schema::make;
pub use search::Hit;
pub use sessions::SessionRow;
pub use trim::TrimResult;
pub use write::{ContentPacker, NewContent, NewEntry, PackedContent, PutOutcome};

use crate::StoreError;
use crate::db::{configure, open_reader};
use crate::in_place::{self, OpenFiles};

/// The write connection to the contexts of a workspace.
pub struct ContextStore {
    read: ContextReader,
    open: OpenFiles,
    missing: u64,
    analyzer: Analyzer,
}

impl ContextStore {
    /// Opens or creates the database at `path`. Only its owner can access the file, whatever the umask is.
    ///
    /// # Errors
    /// Returns [`StoreError::Corrupt`] for a damaged file and for a database of another program, and
    /// [`StoreError::OtherSchema`] for a database with another schema.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        in_place::finish(path)?;
        acked::set_aside_if_cut(path)?;
        schema::make_private(path)?;
        let connection = open_writer(path).map_err(|source| StoreError::from_sql(path, source))?;
        let missing = acked::compare_with_acked(&connection, path)?;
        make(&connection, path)?;
        Ok(Self {
            read: ContextReader {
                connection,
                path: path.to_path_buf(),
            },
            open: OpenFiles::open_at(path),
            missing,
            analyzer: Analyzer::new(),
        })
    }

    /// Returns true if the open file is still the file at [`ContextStore::path`]. Returns false if that file was
    /// removed or moved.
    #[must_use]
    pub fn is_in_place(&self) -> bool {
        self.open.is_at(self.path())
    }

    /// Returns the number of acknowledged changes that were missing when the database was opened.
    #[must_use]
    pub const fn missing_changes(&self) -> u64 {
        self.missing
    }

    /// Copies the WAL into the database file, so that a copy of this file alone is complete.
    ///
    /// # Errors
    /// See [`StoreError`]. After an error, the WAL is kept, and SQLite replays it when the database is opened again.
    pub fn checkpoint(&self) -> Result<(), StoreError> {
        self.roll_back()?;
        self.read
            .sql(|connection| connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)"))
    }

    /// Returns the identity of the open files.
    #[must_use]
    pub const fn open_files(&self) -> OpenFiles {
        self.open
    }

    /// Writes the open database to [`ContextStore::path`] again after the file there was removed or replaced. If
    /// another file is now at that path, it is renamed with the suffix `.replaced`.
    ///
    /// # Errors
    /// See [`StoreError`]. After an error, the database stays open, and the call can be repeated.
    pub fn write_again(&mut self) -> Result<(), StoreError> {
        self.roll_back()?;
        let path = &self.read.path;
        in_place::write_again(&self.read.connection, &mut self.open, path, &|| true)?;
        let sql = |source| StoreError::from_sql(path, source);
        let connection = open_writer(path).map_err(sql)?;
        // `OpenFiles::open_at` needs an open WAL file. SQLite opens this file only at the first query.
        connection
            .query_row("SELECT count(*) FROM sqlite_schema", [], |row| {
                row.get::<_, i64>(0)
            })
            .map_err(sql)?;
        self.open = OpenFiles::open_at(path);
        self.read.connection = connection;
        Ok(())
    }

    /// Returns the path of the database file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.read.path
    }

    /// Returns a reader that uses this connection and sees the latest changes.
    #[must_use]
    pub const fn read(&self) -> &ContextReader {
        &self.read
    }

    /// Merges the segments of the lexical indexes and frees unused pages. Intended for idle times after many removals.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub fn tidy(&mut self) -> Result<(), StoreError> {
        self.read.sql(|connection| {
            connection.execute_batch(
                "INSERT INTO summaries(summaries) VALUES ('optimize');
                 INSERT INTO texts(texts) VALUES ('optimize');
                 PRAGMA incremental_vacuum;
                 PRAGMA optimize;
                 PRAGMA wal_checkpoint(TRUNCATE);",
            )
        })
    }

    /// Begins a change, which is durable after its commit.
    fn begin(&self) -> Result<ContextChange<'_>, StoreError> {
        // `ContextStore::advance` sets `synchronous` to NORMAL on the same connection. Every other change therefore
        // sets it to FULL again.
        self.begin_with("PRAGMA synchronous = FULL")
    }

    fn begin_with(&self, durability: &str) -> Result<ContextChange<'_>, StoreError> {
        self.roll_back()?;
        self.read.sql(|connection| connection.execute_batch(durability))?;
        match Transaction::new_unchecked(&self.read.connection, TransactionBehavior::Immediate) {
            Ok(transaction) => Ok(ContextChange {
                transaction,
                path: &self.read.path,
            }),
            Err(source) => {
                let error = StoreError::from_sql(&self.read.path, source);
                self.roll_back()?;
                Err(error)
            }
        }
    }

    /// Rolls back a transaction that is still open after a failure. Until then, SQLite starts no new transaction.
    fn roll_back(&self) -> Result<(), StoreError> {
        if self.read.connection.is_autocommit() {
            return Ok(());
        }
        self.read.sql(|connection| connection.execute_batch("ROLLBACK"))
    }
}

/// One transaction. If it is dropped without [`ContextChange::commit`], it is rolled back.
struct ContextChange<'store> {
    transaction: Transaction<'store>,
    path: &'store PathBuf,
}

impl ContextChange<'_> {
    /// Runs a query or statement.
    fn sql<T>(&self, question: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, StoreError> {
        question(&self.transaction).map_err(|source| StoreError::from_sql(self.path, source))
    }

    /// Commits the transaction durably.
    fn commit(self) -> Result<(), StoreError> {
        let path = self.path;
        let number = self.sql(acked::increment)?;
        self.transaction
            .commit()
            .map_err(|source| StoreError::from_sql(path, source))?;
        acked::record_ack(path, number);
        Ok(())
    }
}

/// Opens the write connection.
fn open_writer(path: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open(path)?;
    configure(&connection)?;
    // `synchronous = FULL`: a commit waits for the disk. On macOS, this requires `fullfsync`.
    connection.execute_batch(
        "PRAGMA synchronous = FULL; PRAGMA fullfsync = ON; PRAGMA journal_size_limit = 16777216;",
    )?;
    Ok(connection)
}

/// Converts a number to SQLite's signed integer. A number that is too large becomes the maximum.
fn to_signed(number: impl TryInto<i64>) -> i64 {
    number.try_into().unwrap_or(i64::MAX)
}

/// Converts a column value that is never negative in an intact file. A negative value becomes 0.
fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}
