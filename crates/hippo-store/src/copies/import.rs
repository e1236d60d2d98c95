//! How does an export become a database again?

use std::path::Path;

use rusqlite::Connection;

use super::rows::{Rows, columns};
use super::{Database, Table};
use crate::{StoreError, contexts, db};

/// Makes a new database at `file` of the tables that [`super::Snapshot::export`] wrote to `folder`. It belongs to the
/// workspace at `root`, and has no documents yet: they are made again from the files.
///
/// # Errors
/// [`StoreError::Row`] names the line that cannot be used. What there is at `file` then is to be thrown away.
pub fn import(database: Database, folder: &Path, file: &Path, root: &str) -> Result<(), StoreError> {
    match database {
        Database::Index => db::import(folder, file, root),
        Database::Contexts => contexts::import(folder, file),
    }
}

/// Takes in all rows of a table.
pub(crate) fn take_in(connection: &Connection, folder: &Path, table: &Table) -> Result<(), StoreError> {
    let sql = |source| StoreError::from_sql(folder, source);
    let Some(mut rows) = Rows::open(folder, table)? else {
        return Ok(());
    };
    let columns = columns(connection, table.name).map_err(sql)?;
    // Numbers that were given out while others were taken in.
    connection
        .execute(&format!("DELETE FROM {}", table.name), [])
        .map_err(sql)?;
    while let Some(row) = rows.next_row()? {
        rows.put(connection, table, &columns, &row)?;
    }
    Ok(())
}
