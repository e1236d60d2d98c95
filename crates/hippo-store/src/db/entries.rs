//! Storage of the index entries, accesses and runs.
//!
//! All changes are transactions of the write connection: [`EntryBatch`] for changes of the caller,
//! [`Store::fold_accesses`] for counting accesses, and [`Store::apply_step`] for the steps of a run. If an entry
//! leaves the index, its record is kept and gets another [place](hippo_map::consolidation::RecordPlace). An
//! unreadable row is reported and left unchanged.

mod access;
mod base;
mod batch;
mod row;
mod runs;
mod step;
#[cfg(test)]
mod tests;
mod trim;
mod undo;

use std::collections::BTreeMap;

use rusqlite::{Connection, Row};

use hippo_map::consolidation::{CoAccess, EntryRecord, RemovedEntry};
use hippo_types::entry::EntryId;
use hippo_types::time::Timestamp;

pub use access::{Access, FoldResult};
pub use base::Base;
pub use batch::EntryBatch;
pub use runs::{RunDetail, RunId, RunReport, RunRow};

use super::Store;
use crate::StoreError;

/// The stored state of all entries of a workspace at one moment.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct EntryStore {
    /// All entries, including archived ones.
    pub records: BTreeMap<EntryId, EntryRecord>,
    /// Entries that the user removed.
    pub tombstones: BTreeMap<EntryId, Tombstone>,
    /// Number of recorded accesses that are not counted yet.
    pub journal: usize,
    /// Entries listed under Quick Access in the index file, in order.
    pub quick_access: Vec<EntryId>,
    /// Runs without their steps, oldest first. [`Store::run`] returns the steps of a run.
    pub runs: Vec<RunRow>,
    /// Unreadable rows. A row stays unchanged until a row with the same key is written.
    pub damaged: Vec<DamagedRow>,
}

/// An entry that the user removed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tombstone {
    /// Pointers and texts of the entry. No cycle creates an entry for any of these again.
    pub removed: RemovedEntry,
    /// Time at which the daemon noticed the removal.
    pub at: Timestamp,
}

/// A pair of entries that were accessed together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CoAccessed {
    /// The pair and the number of common accesses. `a` is smaller than `b`.
    pub pair: CoAccess,
    /// Time at which the two entries were last accessed together.
    pub last: Timestamp,
}

/// An unreadable row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DamagedRow {
    /// Table of the row.
    pub table: &'static str,
    /// Key of the row. For an entry, this is the entry's id.
    pub id: String,
    /// The problem, as text.
    pub reason: String,
}

impl Store {
    /// Reads the stored state of all entries.
    ///
    /// # Errors
    /// See [`StoreError`]. An unreadable row is not an error; it is reported in [`EntryStore::damaged`].
    pub fn entries(&self) -> Result<EntryStore, StoreError> {
        self.sql(load(&self.connection))
    }

    /// Returns the pairs of entries that were accessed together, sorted. Omits unreadable rows.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub fn co_accesses(&self) -> Result<Vec<CoAccessed>, StoreError> {
        let query = "SELECT a, b, count, last FROM co_access ORDER BY a, b";
        self.sql(read_rows(
            &self.connection,
            query,
            "co_access",
            &mut Vec::new(),
            co_accessed,
        ))
    }
}

fn load(connection: &Connection) -> rusqlite::Result<EntryStore> {
    // Use one transaction, so that all tables are read in the same state.
    let moment = connection.unchecked_transaction()?;
    let mut damaged = Vec::new();
    let mut store = EntryStore {
        records: read_rows(&moment, row::SELECT, "entries", &mut damaged, row::read)?,
        tombstones: read_rows(
            &moment,
            "SELECT id, at, pointers, hashes FROM tombstones",
            "tombstones",
            &mut damaged,
            tombstone,
        )?,
        journal: moment
            .query_row("SELECT count(*) FROM accesses", [], |row| row.get::<_, i64>(0))
            .map(|count| usize::try_from(count).unwrap_or(0))?,
        quick_access: quick_access(&moment)?,
        runs: read_rows(&moment, runs::SELECT, "runs", &mut damaged, runs::read)?,
        damaged: Vec::new(),
    };
    store.runs.sort_by_key(|run| (run.record.started, run.id));
    Ok(EntryStore { damaged, ..store })
}

/// Reads every row of a query. For each unreadable row, adds its key, the first column, to `damaged`.
fn read_rows<T, C: Default + Extend<T>>(
    connection: &Connection,
    query: &str,
    table: &'static str,
    damaged: &mut Vec<DamagedRow>,
    read: impl Fn(&Row<'_>) -> Result<T, row::UnreadableRow>,
) -> rusqlite::Result<C> {
    let mut statement = connection.prepare_cached(query)?;
    let mut rows = statement.query([])?;
    let mut all = C::default();
    while let Some(row) = rows.next()? {
        match read(row) {
            Ok(value) => all.extend([value]),
            Err(row::UnreadableRow(reason)) => damaged.push(DamagedRow {
                table,
                id: row::key(row),
                reason,
            }),
        }
    }
    Ok(all)
}

fn tombstone(row: &Row<'_>) -> Result<(EntryId, Tombstone), row::UnreadableRow> {
    let (pointers, hashes): (String, String) = (row.get(2)?, row.get(3)?);
    let tombstone = Tombstone {
        removed: RemovedEntry {
            pointers: serde_json::from_str(&pointers)?,
            hashes: serde_json::from_str(&hashes)?,
        },
        at: Timestamp(row.get(1)?),
    };
    Ok((EntryId(row.get(0)?), tombstone))
}

fn co_accessed(row: &Row<'_>) -> Result<CoAccessed, row::UnreadableRow> {
    Ok(CoAccessed {
        pair: CoAccess {
            a: EntryId(row.get(0)?),
            b: EntryId(row.get(1)?),
            count: row.get(2)?,
        },
        last: Timestamp(row.get(3)?),
    })
}

fn quick_access(connection: &Connection) -> rusqlite::Result<Vec<EntryId>> {
    connection
        .prepare_cached("SELECT entry FROM quick_access ORDER BY ordinal")?
        .query_map([], |row| Ok(EntryId(row.get(0)?)))?
        .collect()
}

fn put_quick_access(connection: &Connection, entries: &[EntryId]) -> rusqlite::Result<()> {
    connection.execute("DELETE FROM quick_access", [])?;
    let mut insert = connection.prepare_cached("INSERT INTO quick_access (entry) VALUES (?1)")?;
    for entry in entries {
        insert.execute([&entry.0])?;
    }
    Ok(())
}
