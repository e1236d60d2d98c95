//! Access journal, which ensures that each access is counted once.
//!
//! After a reply, the daemon writes the accesses to the journal. Folding reads the journal, counts the accesses in
//! the entries and per day, and empties the journal, all in one transaction. Therefore, even after a crash, an access
//! is either in the journal or counted.

use std::collections::BTreeMap;

use rusqlite::{Connection, params};

use hippo_map::consolidation::EntryRecord;
use hippo_map::decay::{self, DecayCurve};
use hippo_types::entry::EntryId;
use hippo_types::time::{Date, Timestamp};

use super::{CoAccessed, Store, row};
use crate::StoreError;

/// One access to an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Access {
    /// Id of the entry.
    pub entry: EntryId,
    /// Time of the access.
    pub at: Timestamp,
    /// Local day of the access. Each further access on the same day adds less strength.
    pub day: Date,
}

/// The result of folding.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FoldResult {
    /// Changed entries in their new state.
    pub records: Vec<EntryRecord>,
    /// Number of accesses that were counted.
    pub counted: usize,
    /// Number of accesses to entries that do not exist. They were removed from the journal.
    pub unknown: usize,
    /// Number of accesses to entries with an unreadable row. They were kept in the journal.
    pub kept: usize,
}

impl Store {
    /// Counts the recorded accesses and empties the journal. Each access raises the strength of its entry. The amount
    /// depends on the number of earlier accesses on the same day. The strength of each changed entry is computed as
    /// of `now`.
    ///
    /// Call this before a run is planned, but not while a run is applied, because the steps of the run contain the
    /// state at the time of planning.
    ///
    /// # Errors
    /// See [`StoreError`]. After an error, the journal is unchanged.
    pub fn fold_accesses(&mut self, profile: &DecayCurve, now: Timestamp) -> Result<FoldResult, StoreError> {
        self.in_transaction(|transaction| fold(transaction, profile, now))
    }
}

pub(super) fn insert_accesses(connection: &Connection, accesses: &[Access]) -> rusqlite::Result<()> {
    let mut insert =
        connection.prepare_cached("INSERT INTO accesses (entry, at, day) VALUES (?1, ?2, ?3)")?;
    for access in accesses {
        insert.execute(params![access.entry.0, access.at.0, access.day.to_string()])?;
    }
    Ok(())
}

/// The entry to which an access in the journal refers.
enum FoldTarget {
    Known(Box<EntryRecord>),
    Unknown,
    Unreadable,
}

pub(super) fn fold(
    connection: &Connection,
    profile: &DecayCurve,
    now: Timestamp,
) -> rusqlite::Result<FoldResult> {
    let mut folded = FoldResult::default();
    let mut targets: BTreeMap<String, FoldTarget> = BTreeMap::new();
    let journal: Vec<(i64, String, i64, String)> = connection
        .prepare_cached("SELECT sequence, entry, at, day FROM accesses ORDER BY sequence")?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))?
        .collect::<rusqlite::Result<_>>()?;
    for (sequence, id, at, day) in journal {
        let target = match targets.get_mut(&id) {
            Some(target) => target,
            None => {
                let found = match row::find(connection, &id)? {
                    Some(Ok(record)) => FoldTarget::Known(Box::new(record)),
                    Some(Err(_)) => FoldTarget::Unreadable,
                    None => FoldTarget::Unknown,
                };
                targets.entry(id.clone()).or_insert(found)
            }
        };
        match target {
            FoldTarget::Known(record) => {
                let nth = next_of_day(connection, &id, &day)?;
                decay::record_access(profile, &mut record.entry, Timestamp(at), nth);
                folded.counted += 1;
            }
            FoldTarget::Unknown => folded.unknown += 1,
            FoldTarget::Unreadable => {
                folded.kept += 1;
                continue;
            }
        }
        connection
            .prepare_cached("DELETE FROM accesses WHERE sequence = ?1")?
            .execute([sequence])?;
    }
    for target in targets.into_values() {
        if let FoldTarget::Known(mut record) = target {
            record.strength = decay::strength_at(profile, &record.entry, now);
            row::put(connection, &record)?;
            folded.records.push(*record);
        }
    }
    Ok(folded)
}

/// Counts an access to an entry on a day. Returns the number of accesses on that day so far.
fn next_of_day(connection: &Connection, entry: &str, day: &str) -> rusqlite::Result<u32> {
    connection
        .prepare_cached(
            "INSERT INTO access_days (entry, day, count) VALUES (?1, ?2, 1)
             ON CONFLICT (entry, day) DO UPDATE SET count = count + 1 RETURNING count",
        )?
        .query_row([entry, day], |row| row.get(0))
}

pub(super) fn record_co_access(
    connection: &Connection,
    together: &[EntryId],
    at: Timestamp,
) -> rusqlite::Result<()> {
    let mut add = connection.prepare_cached(
        "INSERT INTO co_access (a, b, count, last) VALUES (?1, ?2, 1, ?3)
         ON CONFLICT (a, b) DO UPDATE SET count = min(count + 1, 4294967295), last = ?3",
    )?;
    let mut ids: Vec<&EntryId> = together.iter().collect();
    ids.sort_unstable();
    ids.dedup();
    for (at_a, a) in ids.iter().enumerate() {
        for b in &ids[at_a + 1..] {
            add.execute(params![a.0, b.0, at.0])?;
        }
    }
    Ok(())
}

pub(super) fn put_pair(connection: &Connection, co_accessed: &CoAccessed) -> rusqlite::Result<()> {
    let pair = &co_accessed.pair;
    let (a, b) = ((&pair.a).min(&pair.b), (&pair.a).max(&pair.b));
    if pair.count == 0 {
        connection
            .prepare_cached("DELETE FROM co_access WHERE a = ?1 AND b = ?2")?
            .execute([&a.0, &b.0])?;
        return Ok(());
    }
    connection
        .prepare_cached("INSERT OR REPLACE INTO co_access (a, b, count, last) VALUES (?1, ?2, ?3, ?4)")?
        .execute(params![a.0, b.0, pair.count, co_accessed.last.0])
        .map(|_| ())
}
