//! Application of one step to the tables.
//!
//! The entries that a change names are loaded into a snapshot. The core crate hippo-map applies the change to the
//! snapshot, and the differences are written to the tables. Therefore, the effect of a change is defined only in the
//! core.

use rusqlite::Connection;

use hippo_map::consolidation::{ConsolidationRun, ConsolidationSnapshot, EntryChange};

use super::{put_quick_access, row};

/// Applies a change, and counts demoted entries in `run`. An entry with an unreadable row is treated as missing.
pub(super) fn apply(
    connection: &Connection,
    run: &mut ConsolidationRun,
    change: &EntryChange,
) -> rusqlite::Result<()> {
    let mut snapshot = ConsolidationSnapshot {
        run: *run,
        ..ConsolidationSnapshot::default()
    };
    for id in change.ids() {
        if let Some(Ok(record)) = row::find(connection, &id.0)? {
            snapshot.records.insert(id.clone(), record);
        }
    }
    let before = snapshot.records.clone();
    change.apply(&mut snapshot);
    for (id, record) in &snapshot.records {
        if before.get(id) != Some(record) {
            row::put(connection, record)?;
        }
    }
    for id in before.keys().filter(|id| !snapshot.records.contains_key(*id)) {
        row::remove(connection, id)?;
    }
    if let EntryChange::QuickAccess { .. } = change {
        put_quick_access(connection, &snapshot.quick_access)?;
    }
    *run = snapshot.run;
    Ok(())
}
