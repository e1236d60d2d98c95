//! Content of files before and after a run.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use rusqlite::params;

use hippo_map::schedule::{RunOutcome, RunRecord};
use hippo_types::time::Timestamp;

use super::{RunId, RunRow, Store, runs};
use crate::StoreError;

/// A file changed by a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunFile {
    /// Path relative to the workspace, with `/`.
    pub path: String,
    /// Bytes of the file before the run; `None` if the file did not exist.
    pub before: Option<Vec<u8>>,
    /// Bytes of the file after the run.
    pub after: Vec<u8>,
}

impl Store {
    /// Stores a file change of a run. If the run changed the file several times, the first `before` and the last
    /// `after` are kept.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub fn put_run_file(&mut self, run: RunId, file: &RunFile) -> Result<(), StoreError> {
        self.in_transaction(|transaction| {
            transaction
                .execute(
                    "INSERT INTO run_files (run, path, before, after) VALUES (?1, ?2, ?3, ?4)
                     ON CONFLICT (run, path) DO UPDATE SET after = ?4",
                    params![run.0, file.path, file.before, file.after],
                )
                .map(|_| ())
        })
    }

    /// Returns the files changed by a run, sorted by path.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub fn run_files(&self, run: RunId) -> Result<Vec<RunFile>, StoreError> {
        let read = || {
            self.connection
                .prepare_cached("SELECT path, before, after FROM run_files WHERE run = ?1 ORDER BY path")?
                .query_map([run.0], |row| {
                    Ok(RunFile {
                        path: row.get(0)?,
                        before: row.get(1)?,
                        after: row.get(2)?,
                    })
                })?
                .collect::<rusqlite::Result<_>>()
        };
        self.sql(read())
    }

    /// Deletes finished runs that have no completed steps or started before `before`. Keeps the last ten runs and, of
    /// each cycle, the last run that was applied. Also deletes the stored files of all runs except the last fifty
    /// that have some. Returns the number of deleted runs.
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
                // The last applied run of each cycle is kept.
                let is_last = applied && cycles.insert(run.record.cycle);
                let is_old = run.done == 0 || run.record.started < before;
                !is_last && *at >= 10 && run.record.finished.is_some() && is_old
            };
            let trimmed: Vec<RunId> = runs.iter().enumerate().filter(is_trimmed).map(|(_, run)| run.id).collect();
            for run in &trimmed {
                for table in ["run_files WHERE run", "run_steps WHERE run", "runs WHERE id"] {
                    transaction.execute(&format!("DELETE FROM {table} = ?1"), [run.0])?;
                }
            }
            // Older runs are undone entry by entry, and their files are generated again.
            transaction.execute(
                "DELETE FROM run_files WHERE run NOT IN (SELECT DISTINCT run FROM run_files ORDER BY run DESC LIMIT 50)",
                [],
            )?;
            Ok(trimmed.len())
        })
    }
}
