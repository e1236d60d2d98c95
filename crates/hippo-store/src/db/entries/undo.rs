//! Undo of runs.

use hippo_map::consolidation::EntryChange;
use hippo_map::schedule::RunOutcome;
use hippo_types::entry::EntryId;
use hippo_types::time::Timestamp;

use super::{RunId, Store, row, runs, step};
use crate::StoreError;
use crate::db::fresh;

impl Store {
    /// Undoes a run with `changes`, either all or none, and stores the time.
    ///
    /// `changes` are the inverses of the completed steps, last step first, except for entries that were changed after
    /// the run. The documents of removed entries become fresh again. Later runs never merge the entries in `apart`.
    /// The caller must restore the files.
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
            let row = runs::find(transaction, id)?.filter(|row| row.record.outcome != RunOutcome::Running);
            let Some(mut run) = row else { return Ok(false) };
            for change in changes {
                step::apply(transaction, &mut run.run, change)?;
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
            run.undone = Some(at);
            runs::save(transaction, &run)?;
            Ok(true)
        })?;
        if undone {
            Ok(())
        } else {
            Err(self.no_run(id, "it is running"))
        }
    }
}
