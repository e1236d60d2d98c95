//! Undo of runs.

use rusqlite::params;

use hippo_map::consolidation::EntryChange;
use hippo_types::entry::EntryId;
use hippo_types::time::Timestamp;

use super::{RunId, Store, row, runs, step};
use crate::StoreError;
use crate::db::fresh;

impl Store {
    /// Returns the changes that undo the completed steps of a run, in the order in which they must be applied. If the
    /// run was already undone, returns none.
    ///
    /// # Errors
    /// Returns [`StoreError::Row`] if the run does not exist or a step is unreadable; see [`StoreError`].
    pub fn undo_list(&self, id: RunId) -> Result<Vec<EntryChange>, StoreError> {
        let (done, undone): (u32, bool) = self
            .connection
            .query_row(
                "SELECT done, undone IS NOT NULL FROM runs WHERE id = ?1",
                [id.0],
                |row| Ok((row.get(0)?, row.get(1)?)),
            )
            .map_err(|error| match error {
                rusqlite::Error::QueryReturnedNoRows => self.no_run(id, "no such run"),
                error => StoreError::from_sql(&self.path, error),
            })?;
        if undone {
            return Ok(Vec::new());
        }
        let steps = self.steps(id, done)?;
        Ok(steps.iter().rev().map(|step| step.change.inverse()).collect())
    }

    /// Undoes a run with the given changes, either all or none, and stores the time. `changes` is [`Store::undo_list`]
    /// without the entries that were changed since. Documents whose entries are removed become fresh again. Later runs
    /// never merge the entries in `apart`. The caller restores the files.
    ///
    /// # Errors
    /// Returns [`StoreError::Row`] if the run is still running; see [`StoreError`].
    pub fn undo_run(
        &mut self,
        id: RunId,
        changes: &[EntryChange],
        apart: &[EntryId],
        at: Timestamp,
    ) -> Result<(), StoreError> {
        let undone = self.in_transaction(|transaction| {
            let Some(mut run) = runs::ended_run(transaction, id)? else {
                return Ok(false);
            };
            for change in changes {
                step::apply(transaction, &mut run, change)?;
                if let EntryChange::Remove { record } = change {
                    for pointer in &record.entry.pointers {
                        fresh::mark_known(transaction, &pointer.path)?;
                    }
                }
            }
            for id in apart {
                if let Some(Ok(mut record)) = row::find(transaction, &id.0)? {
                    record.apart = true;
                    row::put(transaction, &record)?;
                }
            }
            transaction.execute(
                "UPDATE runs SET undone = ?2, demoted = ?3 WHERE id = ?1",
                params![id.0, at.0, run.demoted],
            )?;
            Ok(true)
        })?;
        if undone {
            Ok(())
        } else {
            Err(self.no_run(id, "it is running"))
        }
    }
}
