//! What is kept of the index entries, and how is all of it read at once?
//!
//! Everything is written in transactions of the one write connection: [`EntryBatch`] for what the caller decides,
//! [`Store::fold_accesses`] for reinforcement, [`Store::apply_step`] for the steps of a run. No entry is ever removed by a
//! batch: leaving the index is a [place](hippo_core::consolidation::Place). A row that cannot be read is named and left as it is.

mod access;
mod base;
mod batch;
mod row;
mod run_files;
mod runs;
mod step;
#[cfg(test)]
mod tests;
mod undo;

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::{Connection, Row};

use hippo_core::consolidation::{CoAccess, Record, Removed};
use hippo_core::entry::EntryId;
use hippo_core::time::Timestamp;

pub use access::{Access, Folded};
pub use base::Base;
pub use batch::EntryBatch;
pub use run_files::RunFile;
pub use runs::{RunDetail, RunId, RunReport, RunRow};

use super::{Reader, Store};
use crate::StoreError;

/// All that is kept of a workspace's entries, as of one moment.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct EntryStore {
    /// All entries, the archived ones too.
    pub records: BTreeMap<EntryId, Record>,
    /// Entries that a person removed.
    pub tombstones: BTreeMap<EntryId, Tombstone>,
    /// Accesses that are recorded and not folded into their entries yet.
    pub journal: usize,
    /// Pairs that were accessed together, ordered.
    pub co_access: Vec<CoAccessed>,
    /// What the index file lists under Quick Access, in its order.
    pub quick_access: Vec<EntryId>,
    /// Texts that have been proposed for long-term memory.
    pub proposed: BTreeSet<String>,
    /// Runs, the oldest first; [`Store::run`] has the steps of one.
    pub runs: Vec<RunRow>,
    /// Rows that could not be read. They stay as they are, until something is written under their key.
    pub damaged: Vec<Damaged>,
}

/// An entry that a person removed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tombstone {
    /// Where it stood and what it said: no cycle makes an entry of that again.
    pub removed: Removed,
    /// When its removal was noticed.
    pub at: Timestamp,
}

/// A pair of entries that were accessed together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CoAccessed {
    /// The pair and its count. `a` comes before `b`.
    pub pair: CoAccess,
    /// When last.
    pub last: Timestamp,
}

/// A row that could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damaged {
    /// Its table.
    pub table: &'static str,
    /// Its key; for an entry the entry's id.
    pub id: String,
    /// What is wrong, for people.
    pub reason: String,
}

impl Store {
    /// Reads everything that is kept of the entries.
    ///
    /// # Errors
    /// See [`StoreError`]; a row that cannot be read is none, see [`EntryStore::damaged`].
    pub fn entries(&self) -> Result<EntryStore, StoreError> {
        self.sql(load(&self.connection))
    }
}

impl Reader {
    /// Reads everything that is kept of the entries, as of the last transaction of the writer.
    ///
    /// # Errors
    /// See [`StoreError`]; a row that cannot be read is none, see [`EntryStore::damaged`].
    pub fn entries(&self) -> Result<EntryStore, StoreError> {
        self.ask(load)
    }
}

fn load(connection: &Connection) -> rusqlite::Result<EntryStore> {
    // One transaction, so that all tables are of one moment.
    let moment = connection.unchecked_transaction()?;
    let mut damaged = Vec::new();
    let store = EntryStore {
        records: each(&moment, row::SELECT, "entries", &mut damaged, row::read)?,
        tombstones: each(
            &moment,
            "SELECT id, at, pointers, hashes FROM tombstones",
            "tombstones",
            &mut damaged,
            tombstone,
        )?,
        journal: moment
            .query_row("SELECT count(*) FROM accesses", [], |row| row.get::<_, i64>(0))
            .map(|count| usize::try_from(count).unwrap_or(0))?,
        co_access: each(
            &moment,
            "SELECT a, b, count, last FROM co_access ORDER BY a, b",
            "co_access",
            &mut damaged,
            co_accessed,
        )?,
        quick_access: quick_access(&moment)?,
        proposed: each(
            &moment,
            "SELECT text FROM proposed",
            "proposed",
            &mut damaged,
            |row| Ok(row.get::<_, String>(0)?),
        )?,
        runs: each(
            &moment,
            &format!("SELECT {} FROM runs ORDER BY started, id", runs::COLUMNS),
            "runs",
            &mut damaged,
            runs::read,
        )?,
        damaged: Vec::new(),
    };
    Ok(EntryStore { damaged, ..store })
}

/// Reads every row of a query; one that cannot be read is noted under its first column.
fn each<T, C: Default + Extend<T>>(
    connection: &Connection,
    query: &str,
    table: &'static str,
    damaged: &mut Vec<Damaged>,
    read: impl Fn(&Row<'_>) -> Result<T, row::Unreadable>,
) -> rusqlite::Result<C> {
    let mut statement = connection.prepare_cached(query)?;
    let mut rows = statement.query([])?;
    let mut all = C::default();
    while let Some(row) = rows.next()? {
        match read(row) {
            Ok(value) => all.extend([value]),
            Err(row::Unreadable(reason)) => damaged.push(Damaged {
                table,
                id: row::key(row),
                reason,
            }),
        }
    }
    Ok(all)
}

fn tombstone(row: &Row<'_>) -> Result<(EntryId, Tombstone), row::Unreadable> {
    let (pointers, hashes): (String, String) = (row.get(2)?, row.get(3)?);
    let tombstone = Tombstone {
        removed: Removed {
            pointers: serde_json::from_str(&pointers)?,
            hashes: serde_json::from_str(&hashes)?,
        },
        at: Timestamp(row.get(1)?),
    };
    Ok((EntryId(row.get(0)?), tombstone))
}

fn co_accessed(row: &Row<'_>) -> Result<CoAccessed, row::Unreadable> {
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
