//! Conversion between records and rows.
//!
//! A field that queries use has its own column. All other fields are in one JSON value, in the format of the core
//! types.

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension, Row};

use hippo_map::consolidation::EntryRecord;
use hippo_types::entry::EntryId;

use crate::db::json;

/// Selects the columns that [`read`] expects.
pub(super) const SELECT: &str = "SELECT id, record FROM entries";

/// The reason why a row cannot be parsed.
#[derive(Debug)]
pub(super) struct UnreadableRow(pub String);

impl From<rusqlite::Error> for UnreadableRow {
    fn from(error: rusqlite::Error) -> Self {
        Self(error.to_string())
    }
}

impl From<serde_json::Error> for UnreadableRow {
    fn from(error: serde_json::Error) -> Self {
        Self(error.to_string())
    }
}

/// Writes an entry. JSON cannot represent a strength of NaN, so it is written as 0.
pub(super) fn put(connection: &Connection, record: &EntryRecord) -> rusqlite::Result<()> {
    let finite = |strength: f32| if strength.is_finite() { strength } else { 0.0 };
    let mut record = record.clone();
    record.strength = finite(record.strength);
    record.entry.strength = finite(record.entry.strength);
    connection
        .prepare_cached("INSERT OR REPLACE INTO entries (id, record) VALUES (?1, ?2)")?
        .execute([&record.entry.id.0, &json(&record)?])
        .map(|_| ())
}

pub(super) fn remove(connection: &Connection, id: &EntryId) -> rusqlite::Result<()> {
    connection
        .prepare_cached("DELETE FROM entries WHERE id = ?1")?
        .execute([&id.0])
        .map(|_| ())
}

/// Returns the entry with this id. If its row is unreadable, the inner result is an error.
pub(super) fn find(
    connection: &Connection,
    id: &str,
) -> rusqlite::Result<Option<Result<EntryRecord, UnreadableRow>>> {
    connection
        .prepare_cached(&format!("{SELECT} WHERE id = ?1"))?
        .query_row([id], |row| Ok(read(row).map(|(_, record)| record)))
        .optional()
}

/// Parses one row of [`SELECT`].
pub(super) fn read(row: &Row<'_>) -> Result<(EntryId, EntryRecord), UnreadableRow> {
    let (id, record): (String, String) = (row.get(0)?, row.get(1)?);
    let (id, record): (EntryId, EntryRecord) = (EntryId(id), serde_json::from_str(&record)?);
    if record.entry.id != id {
        return Err(UnreadableRow(format!(
            "the row contains another entry: {}",
            record.entry.id
        )));
    }
    Ok((id, record))
}

/// Returns the first column of a row as text, whatever its type.
pub(super) fn key(row: &Row<'_>) -> String {
    match row.get_ref(0) {
        Ok(ValueRef::Text(bytes) | ValueRef::Blob(bytes)) => String::from_utf8_lossy(bytes).into_owned(),
        Ok(ValueRef::Integer(number)) => number.to_string(),
        Ok(ValueRef::Real(number)) => number.to_string(),
        Ok(ValueRef::Null) | Err(_) => String::new(),
    }
}
