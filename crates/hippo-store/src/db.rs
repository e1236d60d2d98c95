//! Database of one workspace.
//!
//! One [`Store`] writes, with one `BEGIN IMMEDIATE` transaction per change. Any number of [`StoreReader`]s read
//! concurrently in WAL mode. Documents, chunks and vectors are derived from the watched files and can be rebuilt.
//! Most of the data of an index entry is also in the index file, but the access journal and the runs are stored only
//! in this database.

mod entries;
mod fresh;
mod load;
mod outline;
mod questions;
mod read;
mod salvage;
mod schema;
mod seal;
mod spare;
#[cfg(test)]
mod tests;
mod vectors;
mod write;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior};

pub use entries::{
    Access, Base, CoAccessed, DamagedRow, EntryBatch, EntryStore, FoldResult, RunDetail, RunId, RunReport,
    RunRow, Tombstone,
};
pub use load::LoadedDocument;
pub use questions::LogLimits;
pub use read::StoreReader;
#[cfg(test)]
pub(crate) use salvage::{SALVAGED, columns};
pub use salvage::{SalvageResult, salvage};
pub use seal::DroppedRows;
pub use spare::{RecoveredDatabase, recover};
pub use vectors::{EmbedderRow, Embedding, PendingChunk, StoredVector};
pub use write::{DocumentBatch, DocumentChange, DocumentRecord, NewChunk};

use crate::StoreError;
use crate::in_place::{self, OpenFiles};
pub(crate) use schema::make;
use seal::Seal;

/// Time that a connection waits for a lock before it reports an error.
const BUSY: Duration = Duration::from_secs(10);
/// Page cache of a connection in KiB. It is small, because the operating system also caches the pages.
const CACHE_KIB: i64 = 2048;

/// The write connection to the database of a workspace.
#[derive(Debug)]
pub struct Store {
    connection: Connection,
    path: PathBuf,
    open: OpenFiles,
    ids: IdPool,
    seal: Seal,
}

impl Store {
    /// Opens or creates the database at `path` for the workspace at `root`. `root` is only stored for information.
    ///
    /// # Errors
    /// Returns [`StoreError::Corrupt`] for a damaged file and for a database of another program, and
    /// [`StoreError::OtherSchema`] for a database with another schema.
    pub fn open(path: &Path, root: &str) -> Result<Self, StoreError> {
        let sql = |source| StoreError::from_sql(path, source);
        in_place::finish(path)?;
        let mut connection = open_writer(path).map_err(sql)?;
        make(&connection, path, root)?;
        let ids = IdPool::load(&connection).map_err(sql)?;
        let seal = Seal::load(&connection).map_err(sql)?;
        seal.listen(&mut connection).map_err(sql)?;
        Ok(Self {
            connection,
            path: path.to_path_buf(),
            open: OpenFiles::open_at(path),
            ids,
            seal,
        })
    }

    /// Returns true if the open file is still the file at [`Store::path`]. Returns false if that file was removed or
    /// moved.
    pub fn is_in_place(&self) -> bool {
        self.open.is_at(&self.path)
    }

    /// Writes the open database to [`Store::path`] again after the file there was removed or replaced. If another
    /// file is now at that path, it is renamed with the suffix `.replaced`. Stops when `goes_on` returns false.
    ///
    /// # Errors
    /// See [`StoreError`]. After an error, the database stays open, and the call can be repeated.
    pub fn write_again(&mut self, goes_on: &dyn Fn() -> bool) -> Result<(), StoreError> {
        in_place::write_again(&self.connection, &mut self.open, &self.path, goes_on)?;
        let mut connection = self.sql(open_writer(&self.path))?;
        // `OpenFiles::open_at` needs an open WAL file. SQLite opens this file only at the first query.
        self.sql(schema::read_generation(&connection))?;
        self.sql(self.seal.listen(&mut connection))?;
        self.connection = connection;
        self.open = OpenFiles::open_at(&self.path);
        Ok(())
    }

    /// Returns the path of the database file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the number of changes to the documents so far. Every answer to a search contains this number.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub fn generation(&self) -> Result<u64, StoreError> {
        self.sql(schema::read_generation(&self.connection))
    }

    /// Merges the segments of the lexical index and frees unused pages. Intended for idle times after many writes.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub fn tidy(&mut self) -> Result<(), StoreError> {
        let done = self.merge_lexical().and_then(|()| {
            self.connection.execute_batch(
                "PRAGMA incremental_vacuum;
                 PRAGMA optimize;
                 PRAGMA wal_checkpoint(TRUNCATE);",
            )
        });
        self.sql(done)
    }

    /// Copies the WAL into the database file, so that a copy of this file alone is complete.
    ///
    /// # Errors
    /// See [`StoreError`]. After an error, the WAL is kept, and SQLite replays it when the database is opened again.
    pub fn checkpoint(&mut self) -> Result<(), StoreError> {
        let done = self.connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE);");
        self.sql(done)
    }

    /// Checks every page and index of the file. This takes seconds for a large file.
    ///
    /// # Errors
    /// Returns [`StoreError::Corrupt`] with SQLite's first finding.
    pub fn check(&self) -> Result<(), StoreError> {
        check(&self.connection, &self.path)
    }

    /// Removes all documents. Keeps the entries. Also keeps the vectors, because texts that are indexed again can
    /// reuse them.
    ///
    /// # Errors
    /// See [`StoreError`]. After an error, nothing is removed.
    pub fn clear(&mut self) -> Result<(), StoreError> {
        let emptied = self.empty_derived();
        self.sql(emptied)
    }

    /// Runs a change in one transaction. After an error, nothing is stored.
    fn in_transaction<T>(
        &mut self,
        run: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        let done = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .and_then(|transaction| {
                let value = run(&transaction)?;
                transaction.commit()?;
                Ok(value)
            });
        done.map_err(|source| StoreError::from_sql(&self.path, source))
    }

    fn sql<T>(&self, result: rusqlite::Result<T>) -> Result<T, StoreError> {
        result.map_err(|source| StoreError::from_sql(&self.path, source))
    }
}

/// Checks every page and index of a database. This takes seconds for a large database.
pub(crate) fn check(connection: &Connection, path: &Path) -> Result<(), StoreError> {
    let found: String = connection
        .query_row("PRAGMA quick_check(1)", [], |row| row.get(0))
        .map_err(|source| StoreError::from_sql(path, source))?;
    if found == "ok" {
        return Ok(());
    }
    Err(StoreError::Corrupt {
        path: path.to_path_buf(),
        reason: found,
    })
}

fn open_writer(path: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open(path)?;
    configure(&connection)?;
    connection.execute_batch("PRAGMA synchronous = NORMAL; PRAGMA journal_size_limit = 16777216;")?;
    Ok(connection)
}

/// Opens a read-only connection.
pub(crate) fn open_reader(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    configure(&connection)?;
    Ok(connection)
}

/// Sets the options that are the same for all connections.
pub(crate) fn configure(connection: &Connection) -> rusqlite::Result<()> {
    connection.busy_timeout(BUSY)?;
    connection.set_prepared_statement_cache_capacity(64);
    // Keep the plan of a statement when a bound value changes. Therefore, no index serves a bound pattern of LIKE.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.execute_batch(&format!(
        "PRAGMA cache_size = -{CACHE_KIB}; PRAGMA temp_store = MEMORY;"
    ))
}

/// Allocator of chunk ids, which reuses freed ids. Ids must be small and dense, because the lexical index encodes
/// differences of ids, and ranking uses arrays indexed by id.
#[derive(Debug, Default, Clone)]
struct IdPool {
    free: BTreeSet<u32>,
    next: u32,
}

impl IdPool {
    fn load(connection: &Connection) -> rusqlite::Result<Self> {
        let mut pool = Self::default();
        let mut statement = connection.prepare("SELECT id FROM chunks ORDER BY id")?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let id: u32 = row.get(0)?;
            pool.free.extend(pool.next..id);
            pool.next = id + 1;
        }
        Ok(pool)
    }

    fn allocate(&mut self) -> u32 {
        self.free.pop_first().unwrap_or_else(|| {
            self.next += 1;
            self.next - 1
        })
    }

    fn release(&mut self, id: u32) {
        self.free.insert(id);
    }
}

/// Converts a number to SQLite's signed integer. A number that is too large becomes the maximum.
fn number(value: usize) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// Converts a value to JSON for a column.
fn json(value: &impl serde::Serialize) -> rusqlite::Result<String> {
    serde_json::to_string(value).map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))
}
