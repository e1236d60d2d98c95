//! What can still be read of a damaged database, and how does it come into a new one?
//!
//! Documents, chunks and vectors are made again from the files. Entries, removals, accesses and runs stand nowhere else, or
//! only in part: each of their tables is read from its beginning up to what cannot be read, then from its end.

#[cfg(test)]
mod tests;

use std::path::Path;

use rusqlite::types::Value;
use rusqlite::{Connection, ErrorCode, Transaction};

use super::spare::spare_of;
use super::{Store, open_reader};
use crate::StoreError;
use crate::in_place::Made;
use crate::system;

/// The tables that cannot be derived from files, each after those that it refers to.
pub(crate) const SALVAGED: [&str; 12] = [
    "entries",
    "tombstones",
    "accesses",
    "access_days",
    "co_access",
    "runs",
    "run_steps",
    "run_files",
    "quick_access",
    "proposed",
    "bases",
    "sqlite_sequence",
];

/// What a salvage brought.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Salvaged {
    /// Rows that were taken over.
    pub rows: usize,
    /// What could not be read, for people; a table each.
    pub lost: Vec<String>,
}

/// Makes a new database at `to` for the workspace at `root`, of what can be read at `from`. `from` is not changed.
///
/// # Errors
/// When the new one cannot be written; what there is at `to` then is to be thrown away.
#[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
pub fn salvage(from: &Path, to: &Path, root: &str) -> Result<Salvaged, StoreError> {
    let salvaged = salvage_from(&[from], to, root)?;
    let spare = spare_of(from);
    if salvaged.lost.is_empty() || !spare.exists() {
        return Ok(salvaged);
    }
    // What the damaged one does not say any more, the spare copy does.
    let with_spare = Made::Again.draft(to)?;
    let again = salvage_from(&[from, &spare], &with_spare, root)?;
    std::fs::rename(&with_spare, to).map_err(|source| StoreError::Io {
        what: "name the database that was made",
        path: to.to_path_buf(),
        source,
    })?;
    Ok(Salvaged {
        rows: again.rows,
        lost: salvaged.lost,
    })
}

/// Makes a new database of what can be read of several, the first before the second.
pub(super) fn salvage_from(from: &[&Path], to: &Path, root: &str) -> Result<Salvaged, StoreError> {
    let store = Store::open(to, root)?;
    let mut salvaged = Salvaged::default();
    for from in from {
        take_over(from, &store, &mut salvaged)?;
    }
    if !from.is_empty() {
        drop_unreadable(&store, &mut salvaged)?;
    }
    store.sql(store.connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE);"))?;
    drop(store);
    system::sync_file(to).map_err(|source| StoreError::Io {
        what: "make the database durable",
        path: to.to_path_buf(),
        source,
    })?;
    Ok(salvaged)
}

fn take_over(from: &Path, store: &Store, salvaged: &mut Salvaged) -> Result<(), StoreError> {
    match open_reader(from).and_then(|damaged| tables(&damaged).map(|names| (damaged, names))) {
        Ok((damaged, names)) => {
            let change = store.sql(store.connection.unchecked_transaction())?;
            // An older schema lacks some.
            for table in SALVAGED
                .iter()
                .filter(|table| names.iter().any(|name| name == *table))
            {
                store.sql(take(&damaged, &change, table, salvaged))?;
            }
            store.sql(change.commit())?;
        }
        Err(error) => salvaged.lost.push(format!("all of it: {error}")),
    }
    Ok(())
}

fn tables(damaged: &Connection) -> rusqlite::Result<Vec<String>> {
    damaged
        .prepare("SELECT name FROM sqlite_schema WHERE type = 'table'")?
        .query_map([], |row| row.get(0))?
        .collect()
}

/// Takes over one table. An error is one of the new database.
fn take(
    damaged: &Connection,
    change: &Transaction<'_>,
    table: &str,
    salvaged: &mut Salvaged,
) -> rusqlite::Result<()> {
    let wanted = columns(change, table)?;
    let there = match columns(damaged, table) {
        Ok(there) => there,
        Err(error) => {
            salvaged.lost.push(format!("{table}: {error}"));
            return Ok(());
        }
    };
    let both: Vec<String> = wanted.into_iter().filter(|name| there.contains(name)).collect();
    let names = both.join(", ");
    let marks = vec!["?"; both.len()].join(", ");
    let mut insert = change.prepare(&format!(
        "INSERT OR IGNORE INTO {table} ({names}) VALUES ({marks})"
    ))?;
    let order = order(change, table)?;
    let mut reason = None;
    let (mut refused, mut unreadable, mut failed) = (0, 0, None);
    for direction in ["ASC", "DESC"] {
        let ordered: Vec<String> = order.iter().map(|name| format!("{name} {direction}")).collect();
        let query = format!("SELECT {names} FROM {table} ORDER BY {}", ordered.join(", "));
        match read(damaged, &query, both.len(), &mut |row| {
            if failed.is_some() {
                return;
            }
            // A text that is none costs its own row alone.
            let Ok(row) = row else {
                unreadable += usize::from(direction == "ASC");
                return;
            };
            match insert.execute(rusqlite::params_from_iter(row)) {
                Ok(put) => salvaged.rows += put,
                // A row that refers to what is lost costs no other.
                Err(error) if error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation) => {
                    refused += 1
                }
                Err(error) => failed = Some(error),
            }
        }) {
            Ok(()) => break,
            Err(error) => reason = Some(error),
        }
    }
    if let Some(error) = failed {
        return Err(error);
    }
    if unreadable > 0 {
        salvaged
            .lost
            .push(format!("{unreadable} rows of {table}, which are no text"));
    }
    if refused > 0 {
        salvaged
            .lost
            .push(format!("{refused} rows of {table}, which refer to what is lost"));
    }
    if let Some(reason) = reason {
        salvaged.lost.push(format!("a part of {table}: {reason}"));
    }
    Ok(())
}

/// Columns in whose order a table lies on the disk: no other order can be read past damage.
fn order(connection: &Connection, table: &str) -> rusqlite::Result<Vec<String>> {
    let bare = "SELECT wr FROM pragma_table_list(?1) WHERE schema = 'main'";
    if connection.query_row(bare, [table], |row| row.get::<_, i64>(0))? == 0 {
        return Ok(vec!["rowid".to_owned()]);
    }
    connection
        .prepare("SELECT name FROM pragma_table_info(?1) WHERE pk > 0 ORDER BY pk")?
        .query_map([table], |row| row.get(0))?
        .collect()
}

/// The columns of a table.
pub(crate) fn columns(connection: &Connection, table: &str) -> rusqlite::Result<Vec<String>> {
    connection
        .prepare("SELECT name FROM pragma_table_info(?1)")?
        .query_map([table], |row| row.get(0))?
        .collect()
}

fn read(
    damaged: &Connection,
    query: &str,
    columns: usize,
    take: &mut dyn FnMut(rusqlite::Result<Vec<Value>>),
) -> rusqlite::Result<()> {
    let mut statement = damaged.prepare(query)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        take(
            (0..columns)
                .map(|at| row.get(at))
                .collect::<rusqlite::Result<_>>(),
        );
    }
    Ok(())
}

/// Rows that came over and say nothing that can be understood stay where they came from.
fn drop_unreadable(store: &Store, salvaged: &mut Salvaged) -> Result<(), StoreError> {
    for damaged in store.entries()?.damaged {
        let key: Option<String> = columns(&store.connection, damaged.table)
            .ok()
            .and_then(|names| names.into_iter().next());
        let Some(key) = key else { continue };
        if damaged.table == "runs" {
            // Steps and files of a run that is not there would be refused by the database.
            for part in ["run_steps", "run_files"] {
                let remove = format!("DELETE FROM {part} WHERE run = ?1");
                store.sql(store.connection.execute(&remove, [&damaged.id]))?;
            }
        }
        let remove = format!("DELETE FROM {} WHERE {key} = ?1", damaged.table);
        store.sql(store.connection.execute(&remove, [&damaged.id]))?;
        salvaged
            .lost
            .push(format!("{} {}: {}", damaged.table, damaged.id, damaged.reason));
    }
    Ok(())
}
