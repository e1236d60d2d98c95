//! Removal of old runs.

use std::collections::BTreeSet;

use hippo_types::time::Timestamp;

use super::{RunId, Store};
use crate::StoreError;

impl Store {
    /// Deletes completed runs that are no longer needed: runs without steps, except the last run of each cycle, and
    /// runs that started before `before`, except the last ten. Returns the number of deleted
    /// runs.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub fn trim_runs(&mut self, before: Timestamp) -> Result<usize, StoreError> {
        self.in_transaction(|transaction| {
            transaction.execute_batch(
                "CREATE TEMP TABLE IF NOT EXISTS trimmed (id INTEGER PRIMARY KEY); DELETE FROM trimmed;",
            )?;
            transaction.execute(
                "INSERT INTO trimmed SELECT id FROM runs WHERE finished IS NOT NULL
                     AND id NOT IN (SELECT max(id) FROM runs WHERE outcome IN ('done', 'capped') GROUP BY cycle)
                     AND id NOT IN (SELECT id FROM runs ORDER BY id DESC LIMIT 10)
                     AND (done = 0 OR started < ?1)",
                [before.0],
            )?;
            transaction.execute(
                "DELETE FROM run_steps WHERE run IN (SELECT id FROM trimmed)",
                [],
            )?;
            transaction.execute("DELETE FROM runs WHERE id IN (SELECT id FROM trimmed)", [])
        })
    }

    /// Returns the ids of all runs.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub fn run_ids(&self) -> Result<BTreeSet<RunId>, StoreError> {
        let read = || {
            self.connection
                .prepare_cached("SELECT id FROM runs")?
                .query_map([], |row| row.get(0).map(RunId))?
                .collect::<rusqlite::Result<_>>()
        };
        self.sql(read())
    }
}
