//! Recovery of readable rows from a damaged database.
//!
//! Documents, chunks and vectors can be derived from the files. Entries, tombstones, accesses and runs cannot,
//! because some of their data exists only in the database. Each of their tables is read from its start to the damage,
//! and then from its end back to the damage.

#[cfg(test)]
mod tests;

use std::path::Path;

use hippo_text::text::plural;
use rusqlite::types::Value;
use rusqlite::{Connection, ErrorCode, Transaction};

use super::spare::spare_of;
use super::{Store, open_reader};
use crate::StoreError;
use crate::in_place::Replacement;
use crate::system;

/// The tables that cannot be derived from files. A table is listed after the tables to which it refers.
#[rustfmt::skip] // keep the list compact
pub(crate) const SALVAGED: [&str; 10] = [
    "entries", "tombstones", "accesses", "access_days", "co_access", "runs", "run_steps",
    "quick_access", "bases", "sqlite_sequence",
];

/// The result of a salvage.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SalvageResult {
    /// Number of recovered rows.
    pub rows: usize,
    /// Descriptions of the unreadable data, one for each table.
    pub lost: Vec<String>,
}

/// Creates a new database at `to` for the workspace at `root` from the readable rows of the database at `from`. The
/// database at `from` is not changed.
///
/// # Errors
/// Fails if the new database cannot be written. In this case, the caller must delete the file at `to`.
#[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
pub fn salvage(from: &Path, to: &Path, root: &str) -> Result<SalvageResult, StoreError> {
    let salvaged = salvage_from(&[from], to, root)?;
    let spare = spare_of(from);
    if salvaged.lost.is_empty() || !spare.exists() {
        return Ok(salvaged);
    }
    // Rows missing from the damaged database are taken from its spare copy.
    let with_spare = Replacement::Rebuilt.draft(to)?;
    let again = salvage_from(&[from, &spare], &with_spare, root)?;
    std::fs::rename(&with_spare, to).map_err(StoreError::io("rename the new database", to))?;
    Ok(SalvageResult {
        rows: again.rows,
        lost: salvaged.lost,
    })
}

/// Creates a new database from the readable rows of several databases. If a row is
/// in several of them, uses the row of the first one.
pub(super) fn salvage_from(from: &[&Path], to: &Path, root: &str) -> Result<SalvageResult, StoreError> {
    let store = Store::open(to, root)?;
    let mut salvaged = SalvageResult::default();
    for from in from {
        salvage_file(from, &store, &mut salvaged)?;
    }
    if !from.is_empty() {
        drop_unreadable(&store, &mut salvaged)?;
    }
    store.sql(store.connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE);"))?;
    drop(store);
    system::sync_file(to).map_err(StoreError::io("sync the database", to))?;
    Ok(salvaged)
}

fn salvage_file(from: &Path, store: &Store, salvaged: &mut SalvageResult) -> Result<(), StoreError> {
    match open_reader(from).and_then(|damaged| list_tables(&damaged).map(|names| (damaged, names))) {
        Ok((damaged, names)) => {
            let change = store.sql(store.connection.unchecked_transaction())?;
            // A database with an older schema lacks some tables.
            for table in SALVAGED
                .iter()
                .filter(|table| names.iter().any(|name| name == *table))
            {
                store.sql(copy_table(&damaged, &change, table, salvaged))?;
            }
            store.sql(change.commit())?;
        }
        Err(error) => salvaged.lost.push(format!("everything: {error}")),
    }
    Ok(())
}

fn list_tables(damaged: &Connection) -> rusqlite::Result<Vec<String>> {
    damaged
        .prepare("SELECT name FROM sqlite_schema WHERE type = 'table'")?
        .query_map([], |row| row.get(0))?
        .collect()
}

/// Copies the readable rows of one table. A returned error is an error of the new database.
fn copy_table(
    damaged: &Connection,
    change: &Transaction<'_>,
    table: &str,
    salvaged: &mut SalvageResult,
) -> rusqlite::Result<()> {
    let names = columns(change, table)?;
    let (count, names) = (names.len(), names.join(", "));
    let marks = vec!["?"; count].join(", ");
    let mut insert = change.prepare(&format!(
        "INSERT OR IGNORE INTO {table} ({names}) VALUES ({marks})"
    ))?;
    let order = disk_order(change, table)?;
    let mut reason = None;
    let (mut refused, mut unreadable, mut failed) = (0, 0, None);
    for direction in ["ASC", "DESC"] {
        let ordered: Vec<String> = order.iter().map(|name| format!("{name} {direction}")).collect();
        let query = format!("SELECT {names} FROM {table} ORDER BY {}", ordered.join(", "));
        match read(damaged, &query, count, &mut |row| {
            if failed.is_some() {
                return;
            }
            // If a row has invalid text, only that row is skipped.
            let Ok(row) = row else {
                unreadable += u64::from(direction == "ASC");
                return;
            };
            match insert.execute(rusqlite::params_from_iter(row)) {
                Ok(put) => salvaged.rows += put,
                // If a row refers to a lost row, only that row is skipped.
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
        salvaged.lost.push(format!(
            "{} of the table {table} with invalid text",
            plural(unreadable, "row")
        ));
    }
    if refused > 0 {
        salvaged.lost.push(format!(
            "{} of the table {table} with a reference to a lost row",
            plural(refused, "row")
        ));
    }
    if let Some(reason) = reason {
        salvaged
            .lost
            .push(format!("some rows of the table {table}: {reason}"));
    }
    Ok(())
}

/// Returns the columns by which a table is ordered on disk. The rows on both sides of the damage can be read only in
/// this order.
fn disk_order(connection: &Connection, table: &str) -> rusqlite::Result<Vec<String>> {
    let bare = "SELECT wr FROM pragma_table_list(?1) WHERE schema = 'main'";
    if connection.query_row(bare, [table], |row| row.get::<_, i64>(0))? == 0 {
        return Ok(vec!["rowid".to_owned()]);
    }
    connection
        .prepare("SELECT name FROM pragma_table_info(?1) WHERE pk > 0 ORDER BY pk")?
        .query_map([table], |row| row.get(0))?
        .collect()
}

/// Returns the names of the columns of a table.
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

/// Deletes copied rows that cannot be parsed, and reports them.
fn drop_unreadable(store: &Store, salvaged: &mut SalvageResult) -> Result<(), StoreError> {
    for damaged in store.entries()?.damaged {
        let key: Option<String> = columns(&store.connection, damaged.table)
            .ok()
            .and_then(|names| names.into_iter().next());
        let Some(key) = key else { continue };
        if damaged.table == "runs" {
            // Delete the steps of the run before the run, because they refer to it.
            let remove = "DELETE FROM run_steps WHERE run = ?1";
            store.sql(store.connection.execute(remove, [&damaged.id]))?;
        }
        let remove = format!("DELETE FROM {} WHERE {key} = ?1", damaged.table);
        store.sql(store.connection.execute(&remove, [&damaged.id]))?;
        salvaged
            .lost
            .push(format!("{} {}: {}", damaged.table, damaged.id, damaged.reason));
    }
    Ok(())
}
