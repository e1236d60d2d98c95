//! The database of one workspace: who opens it, and with which promises.
//!
//! One [`Store`] writes (each change is one `BEGIN IMMEDIATE` transaction), any number of [`Reader`]s read beside it
//! in WAL mode. Documents, chunks and vectors are derived from the watched files and can be built again from them; of the
//! index entries the index file tells most, while the journal of accesses and the runs stand here alone.

mod entries;
mod fresh;
mod load;
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

use rusqlite::{Connection, OpenFlags};

pub use entries::{
    Access, Base, CoAccessed, Damaged, EntryBatch, EntryStore, Folded, RunDetail, RunFile, RunId, RunReport,
    RunRow, Tombstone,
};
pub use load::{Loaded, LoadedDocument};
pub use read::Reader;
#[cfg(test)]
pub(crate) use salvage::{SALVAGED, columns};
pub use salvage::{Salvaged, salvage};
pub use seal::Mended;
pub use spare::{Recovered, recover};
pub use vectors::{EmbedderRow, Embedding, PendingChunk, StoredVector};
pub use write::{Batch, DocumentChange, DocumentRecord, NewChunk};

use crate::StoreError;
use crate::in_place::{self, Open};
use schema::Counter;
pub(crate) use schema::{VERSION as SCHEMA, make};
use seal::Seal;

/// How long a connection waits for the other one's lock before it reports an error.
const BUSY: Duration = Duration::from_secs(10);
/// Page cache of a connection in KiB: the operating system keeps the file's pages anyway.
const CACHE_KIB: i64 = 2048;

/// The write connection of one workspace's database.
#[derive(Debug)]
pub struct Store {
    connection: Connection,
    path: PathBuf,
    open: Open,
    ids: IdPool,
    seal: Seal,
}

impl Store {
    /// Opens or creates the database at `path` for the workspace at `root` (kept in the file for people who look).
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] for a damaged or foreign file, [`StoreError::NewerSchema`] for one from the future.
    pub fn open(path: &Path, root: &str) -> Result<Self, StoreError> {
        let sql = |source| StoreError::from_sql(path, source);
        in_place::finish(path)?;
        let mut connection = open_writer(path).map_err(sql)?;
        schema::migrate(&connection, path, root)?;
        let ids = IdPool::load(&connection).map_err(sql)?;
        let seal = Seal::load(&connection).map_err(sql)?;
        seal.listen(&mut connection).map_err(sql)?;
        Ok(Self {
            connection,
            path: path.to_path_buf(),
            open: Open::at(path),
            ids,
            seal,
        })
    }

    /// Whether what is open is still the file at [`Store::path`]: somebody may have removed or moved it.
    pub fn is_in_place(&self) -> bool {
        self.open.is_at(&self.path)
    }

    /// Writes what is open to [`Store::path`] again, where it is not any more; another file that stands there is kept beside
    /// it as `.replaced`. `goes_on` is asked now and then.
    ///
    /// # Errors
    /// See [`StoreError`]. What is open stays open, and it can be tried again.
    pub fn write_again(&mut self, goes_on: &dyn Fn() -> bool) -> Result<(), StoreError> {
        in_place::write_again(&self.connection, &mut self.open, &self.path, goes_on)?;
        let mut connection = self.sql(open_writer(&self.path))?;
        // The first look opens the log.
        self.sql(Counter::Documents.read(&connection))?;
        self.sql(self.seal.listen(&mut connection))?;
        self.connection = connection;
        self.open = Open::at(&self.path);
        Ok(())
    }

    /// The database file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// How often the documents have changed; every reply of a search names it.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub fn generation(&self) -> Result<u64, StoreError> {
        self.sql(Counter::Documents.read(&self.connection))
    }

    /// Changes with every change of which chunk has which vector; a saved vector index is good for one value of it.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub fn vector_generation(&self) -> Result<u64, StoreError> {
        self.sql(Counter::Vectors.read(&self.connection))
    }

    /// Merges the lexical index into few segments and gives free pages back; for a quiet moment after much writing.
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

    /// Writes the log back into the file, so that a copy of the file alone is whole.
    ///
    /// # Errors
    /// See [`StoreError`]; the log is kept then, and read at the next start.
    pub fn checkpoint(&mut self) -> Result<(), StoreError> {
        let done = self.connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE);");
        self.sql(done)
    }

    /// Compares every page and index of the file; seconds for a large one.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] with SQLite's first finding.
    pub fn check(&self) -> Result<(), StoreError> {
        check(&self.connection, &self.path)
    }

    /// Forgets all documents, as before the first scan; vectors stay for the texts that come again, and entries stay.
    ///
    /// # Errors
    /// See [`StoreError`]; nothing is forgotten then.
    pub fn clear(&mut self) -> Result<(), StoreError> {
        let emptied = self.empty_derived();
        self.sql(emptied)
    }

    fn sql<T>(&self, result: rusqlite::Result<T>) -> Result<T, StoreError> {
        result.map_err(|source| StoreError::from_sql(&self.path, source))
    }
}

fn check(connection: &Connection, path: &Path) -> Result<(), StoreError> {
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

/// Opens a connection that can only read, for [`Reader`].
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

/// Hands out chunk ids: small and dense, because the lexical index codes differences between ids and because
/// ranking keeps arrays by id. Freed ids are used again.
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

    fn take(&mut self) -> u32 {
        self.free.pop_first().unwrap_or_else(|| {
            self.next += 1;
            self.next - 1
        })
    }

    fn give_back(&mut self, id: u32) {
        self.free.insert(id);
    }
}

/// SQLite's integers are signed.
fn number(value: usize) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}
