//! Import of exported sessions with their search terms and sums.

use std::path::Path;

use hippo_core::context::ContextEntry;
use rusqlite::{Connection, OptionalExtension, Row, params};
use serde_json::{Map, Value};

use super::content::{Coding, PackedBytes, unpack};
use super::search::{text_terms, with_session};
use super::{ContentId, ContextStore, MAX_CONTENT, signed};
use crate::StoreError;
use crate::copies::{Database, Rows, Table, bytes_of_json, columns, take_in};

/// Value of `gone` for a content whose bytes were not kept.
const FORGOTTEN: i64 = 1;

/// Returns the decoded bytes of a `contents.*` row joined with `blobs` as `content`, if they are stored and intact.
pub(crate) fn bytes_of(row: &Row<'_>) -> Option<Vec<u8>> {
    let id = ContentId(row.get("hash").ok()?);
    let stored: Vec<u8> = row.get("content").ok()?;
    unpack(id, row.get("coding").ok()?, row.get("raw").ok()?, &stored).ok()
}

/// Creates a database from the exported tables in `folder`, all or nothing.
pub(crate) fn import(folder: &Path, file: &Path) -> Result<(), StoreError> {
    let mut store = ContextStore::open(file)?;
    let sql = |source| StoreError::from_sql(file, source);
    // A separate connection, because the analyzer of the store is borrowed.
    let mut connection = Connection::open(file).map_err(sql)?;
    let change = connection.transaction().map_err(sql)?;
    let mut closed = Vec::new();
    for table in Database::Contexts.tables() {
        match table.name {
            "sessions" => for_each_row(&change, folder, table, |rows, columns, mut row| {
                // Sessions are closed at the end: closing releases the contents of their entries, which must exist by then.
                closed.push((
                    row.get("row").cloned(),
                    row.insert("closed_ms".to_owned(), Value::Null),
                ));
                rows.put(&change, table, columns, &row)
            })?,
            "contents" => for_each_row(&change, folder, table, |rows, columns, row| {
                import_content(&change, rows, table, columns, row)
            })?,
            "entries" => for_each_row(&change, folder, table, |rows, columns, row| {
                rows.put(&change, table, columns, &row)?;
                let told = row.get("entry").cloned().unwrap_or_default();
                // An unreadable entry is stored as it is and has no search terms.
                let Ok(entry) = serde_json::from_value::<ContextEntry>(told) else {
                    return Ok(());
                };
                let id = row.get("row").and_then(Value::as_i64).unwrap_or(0);
                index_terms(&mut store, &change, id, &entry).map_err(sql)
            })?,
            _ => take_in(&change, folder, table)?,
        }
    }
    for (row, at) in closed {
        let (row, at) = (row.and_then(|row| row.as_i64()), at.and_then(|at| at.as_i64()));
        if at.is_some() {
            change
                .execute(
                    "UPDATE sessions SET closed_ms = ?2 WHERE row = ?1",
                    params![row, at],
                )
                .map_err(sql)?;
        }
    }
    change.commit().map_err(sql)
}

/// Calls `put` for each row of a table.
fn for_each_row(
    connection: &Connection,
    folder: &Path,
    table: &Table,
    mut put: impl FnMut(&Rows, &[String], Map<String, Value>) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let Some(mut rows) = Rows::open(folder, table)? else {
        return Ok(());
    };
    let columns = columns(connection, table.name).map_err(|source| StoreError::from_sql(folder, source))?;
    while let Some(row) = rows.next_row()? {
        put(&rows, &columns, row)?;
    }
    Ok(())
}

/// Imports a content, compressed by this build.
fn import_content(
    connection: &Connection,
    rows: &Rows,
    table: &Table,
    columns: &[String],
    mut row: Map<String, Value>,
) -> Result<(), StoreError> {
    let wrong = |reason: &str| rows.wrong(reason);
    let told = row.remove("content").unwrap_or_default();
    let gone = row.get("gone").is_some_and(|gone| !gone.is_null());
    let kept = match told.is_null() || gone {
        true => None,
        false => Some(bytes_of_json(&told).map_err(|reason| wrong(&reason))?),
    };
    let Some(bytes) = kept else {
        // A damaged content was exported without its bytes; it counts as removed.
        if !gone {
            row.insert("gone".to_owned(), FORGOTTEN.into());
            row.insert(
                "gone_ms".to_owned(),
                row.get("last_used_ms").cloned().unwrap_or_default(),
            );
        }
        row.insert("stored".to_owned(), 0.into());
        row.insert("coding".to_owned(), Coding::Raw.code().into());
        return rows.put(connection, table, columns, &row);
    };
    let hash = row.get("hash").map(bytes_of_json);
    let is_named = hash.is_some_and(|hash| hash.is_ok_and(|hash| hash == ContentId::of(&bytes).0));
    if bytes.len() > MAX_CONTENT || !is_named {
        return Err(wrong("the content does not match the hash in its row"));
    }
    let packed = PackedBytes::of(&bytes);
    let stored = packed.bytes(&bytes);
    row.insert("stored".to_owned(), signed(stored.len()).into());
    row.insert("coding".to_owned(), packed.coding.code().into());
    let id = row.get("row").and_then(Value::as_i64);
    rows.put(connection, table, columns, &row)?;
    connection
        .prepare_cached("INSERT INTO blobs VALUES (?1, ?2)")
        .and_then(|mut insert| insert.execute(params![id, stored]))
        .map_err(|source| wrong(&source.to_string()))?;
    Ok(())
}

/// Indexes the terms of an entry and of its content.
fn index_terms(
    store: &mut ContextStore,
    connection: &Connection,
    id: i64,
    entry: &ContextEntry,
) -> rusqlite::Result<()> {
    let session: i64 = connection.query_row("SELECT session FROM entries WHERE row = ?1", [id], |row| {
        row.get(0)
    })?;
    let summary = store.summary_terms(entry);
    connection
        .prepare_cached("INSERT INTO summaries (rowid, terms) VALUES (?1, ?2)")?
        .execute(params![id, with_session(&summary, session)])?;
    let content = connection
        .prepare_cached(
            "SELECT contents.hash, contents.coding, contents.raw, blobs.bytes AS content
             FROM entries JOIN contents ON contents.row = entries.content JOIN blobs ON blobs.content = contents.row
             WHERE entries.row = ?1",
        )?
        .query_row([id], |row| Ok(bytes_of(row)))
        .optional()?
        .flatten();
    if let Some(bytes) = content {
        let terms = text_terms(&mut store.analyzer, &bytes);
        connection
            .prepare_cached("INSERT INTO texts (rowid, terms) VALUES (?1, ?2)")?
            .execute(params![id, with_session(&terms, session)])?;
    }
    Ok(())
}
