//! Conversion between records and rows.
//!
//! A field that is used in queries has a column. All other fields are in one JSON value, with the types of the core.

use std::borrow::Cow;
use std::collections::BTreeSet;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension, Row, params};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use hippo_map::consolidation::{EntryRecord, FiledUse, LearnedAnswer, RecordPlace};
use hippo_types::entry::{Entry, EntryId};
use hippo_types::time::Timestamp;

/// Selects the columns for [`read`].
pub(super) const SELECT: &str =
    "SELECT id, place, since, topic_group, band, strength, replayed, rest FROM entries";

/// The reason why a row is unreadable, as text.
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

/// The fields without a column.
#[derive(Serialize, Deserialize)]
struct RecordRest<'a> {
    entry: Cow<'a, Entry>,
    hashes: Cow<'a, [Option<[u8; 16]>]>,
    filed: Option<FiledUse>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    learned: Option<Cow<'a, LearnedAnswer>>,
    #[serde(default)]
    by_hand: bool,
    #[serde(default)]
    apart: bool,
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    linked: Cow<'a, BTreeSet<EntryId>>,
}

/// Writes a record under its id. A strength that is not finite becomes 0, because JSON and SQLite cannot store it.
pub(super) fn put(connection: &Connection, record: &EntryRecord) -> rusqlite::Result<()> {
    let (place, since) = match record.place {
        RecordPlace::Index => ("index", None),
        RecordPlace::Queue(since) => ("queue", Some(since.0)),
        RecordPlace::Archive(since) => ("archive", Some(since.0)),
    };
    let mut entry = Cow::Borrowed(&record.entry);
    if !entry.strength.is_finite() {
        entry.to_mut().strength = 0.0;
    }
    let rest = RecordRest {
        entry,
        hashes: Cow::Borrowed(&record.hashes),
        filed: record.filed,
        learned: record.learned.as_deref().map(Cow::Borrowed),
        by_hand: record.by_hand,
        apart: record.apart,
        linked: Cow::Borrowed(&record.linked),
    };
    let strength = Some(record.strength).filter(|strength| strength.is_finite());
    connection
        .prepare_cached(
            "INSERT OR REPLACE INTO entries (id, place, since, topic_group, band, strength, replayed, rest)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        )?
        .execute(params![
            record.entry.id.0,
            place,
            since,
            record.group,
            record.band.map(name_of).transpose()?,
            strength.unwrap_or(0.0),
            record.replayed.map(|replayed| replayed.0),
            json(&rest)?
        ])
        .map(|_| ())
}

/// Deletes the row of an entry; used only to undo its addition.
pub(super) fn remove(connection: &Connection, id: &EntryId) -> rusqlite::Result<()> {
    connection
        .prepare_cached("DELETE FROM entries WHERE id = ?1")?
        .execute([&id.0])
        .map(|_| ())
}

/// Returns the record of an entry, or `None`.
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
    let id = EntryId(row.get(0)?);
    let place: String = row.get(1)?;
    let since = time(row, 2)?;
    let place = match (place.as_str(), since) {
        ("index", None) => RecordPlace::Index,
        ("queue", Some(since)) => RecordPlace::Queue(since),
        ("archive", Some(since)) => RecordPlace::Archive(since),
        _ => {
            return Err(UnreadableRow(format!(
                "the place {place:?} and the time {since:?} do not match"
            )));
        }
    };
    let band: Option<String> = row.get(4)?;
    let rest: String = row.get(7)?;
    let rest: RecordRest<'_> = serde_json::from_str(&rest)?;
    if rest.entry.id != id {
        return Err(UnreadableRow(format!(
            "the row contains another entry: {}",
            rest.entry.id
        )));
    }
    let record = EntryRecord {
        entry: rest.entry.into_owned(),
        strength: row.get(5)?,
        place,
        group: row.get(3)?,
        band: band.as_deref().map(from_name).transpose()?,
        hashes: rest.hashes.into_owned(),
        filed: rest.filed,
        replayed: time(row, 6)?,
        by_hand: rest.by_hand,
        apart: rest.apart,
        linked: rest.linked.into_owned(),
        learned: rest.learned.map(|learned| Box::new(learned.into_owned())),
    };
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

/// Reads an optional timestamp.
pub(super) fn time(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<Timestamp>> {
    Ok(row.get::<_, Option<i64>>(column)?.map(Timestamp))
}

pub(super) fn json(value: &impl Serialize) -> rusqlite::Result<String> {
    serde_json::to_string(value).map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))
}

/// Returns serde's name of a fieldless enum value.
pub(super) fn name_of(value: impl Serialize) -> rusqlite::Result<String> {
    let quoted = json(&value)?;
    Ok(quoted.trim_matches('"').to_owned())
}

/// Parses a name from [`name_of`].
pub(super) fn from_name<T: DeserializeOwned>(name: &str) -> Result<T, serde_json::Error> {
    serde_json::from_value(serde_json::Value::String(name.to_owned()))
}
