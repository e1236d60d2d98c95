//! Removal of old runs.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use hippo_map::schedule::{RunOutcome, RunRecord};
use hippo_types::time::Timestamp;

use super::runs::{self, RunRow};
use super::{RunId, Store};
use crate::StoreError;

impl Store {
    /// Deletes completed runs that have no completed steps or that started before `before`. Keeps the last ten runs,
    /// and the last successful run of each cycle. Returns the number of deleted runs.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub fn trim_runs(&mut self, before: Timestamp) -> Result<usize, StoreError> {
        self.in_transaction(|transaction| {
            let mut runs = runs::list(transaction)?;
            runs.sort_by_key(|run| Reverse(run.id));
            let mut cycles = BTreeSet::new();
            let is_trimmed = |(at, run): &(usize, &RunRow)| {
                let RunRecord { outcome, .. } = run.record;
                let applied = matches!(outcome, RunOutcome::Done | RunOutcome::Capped);
                // The last successful run of each cycle is kept.
                let is_last = applied && cycles.insert(run.record.cycle);
                let is_old = run.done == 0 || run.record.started < before;
                !is_last && *at >= 10 && run.record.finished.is_some() && is_old
            };
            let trimmed = runs.iter().enumerate().filter(is_trimmed);
            let trimmed: Vec<RunId> = trimmed.map(|(_, run)| run.id).collect();
            for run in &trimmed {
                for table in ["run_steps WHERE run", "runs WHERE id"] {
                    transaction.execute(&format!("DELETE FROM {table} = ?1"), [run.0])?;
                }
            }
            Ok(trimmed.len())
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
