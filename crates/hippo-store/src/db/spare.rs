//! Spare copy of the data that exists in no file.
//!
//! The copy contains entries, tombstones, accesses and runs. Without it, a truncated or deleted database would
//! silently be empty at the next start, and entries that the user removed would return. The copy is a separate
//! database in the same folder. It is replaced as a whole shortly after each change of the entries.

use std::fs;
use std::path::{Path, PathBuf};

use super::salvage::{SalvageResult, salvage_from};
use super::{Store, salvage};
use crate::StoreError;
use crate::in_place::{self, Replacement, with_suffix};

/// Returns the path of the spare copy of a database.
pub(super) fn spare_of(path: &Path) -> PathBuf {
    with_suffix(path, ".spare")
}

impl Store {
    /// Writes a new spare copy.
    ///
    /// # Errors
    /// Returns [`StoreError::Corrupt`] if a part of the database is unreadable, and another error if the copy cannot
    /// be written. After an error, the previous copy is kept.
    #[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
    pub fn write_spare(&self, root: &str) -> Result<(), StoreError> {
        let spare = spare_of(&self.path);
        let draft = with_suffix(&spare, ".draft");
        // An earlier process that was killed may have left a draft.
        discard(&draft);
        let copied = salvage(&self.path, &draft, root).inspect_err(|_| discard(&draft))?;
        if let Some(reason) = copied.lost.into_iter().next() {
            // Discard the draft, because an incomplete copy is useless.
            discard(&draft);
            return Err(StoreError::Corrupt {
                path: self.path.clone(),
                reason,
            });
        }
        fs::rename(&draft, &spare)
            .inspect_err(|_| discard(&draft))
            .map_err(StoreError::io("rename the spare copy of the database", &spare))
    }
}

/// Removes a draft and its WAL. Errors are ignored, because the caller reports the first error.
#[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
fn discard(draft: &Path) {
    for suffix in ["", "-wal", "-shm"] {
        let _ = fs::remove_file(with_suffix(draft, suffix));
    }
}

/// Report of a truncated or deleted database that was restored from its spare copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecoveredDatabase {
    /// Number of rows in the spare copy.
    pub rows: usize,
    /// Descriptions of the data that could not be read.
    pub lost: Vec<String>,
    /// The path to which the previous file was moved.
    pub aside: PathBuf,
}

/// Restores a database from its spare copy if the database is empty, or if it is missing and a spare copy exists.
/// Returns `None` in all other cases.
///
/// # Errors
/// See [`StoreError`]. After an error, the call can be repeated.
#[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
pub fn recover(path: &Path, root: &str) -> Result<Option<RecoveredDatabase>, StoreError> {
    in_place::finish(path)?;
    let spare = spare_of(path);
    let is_cut = match path.metadata() {
        Ok(metadata) => metadata.len() == 0,
        Err(_) => spare.exists(),
    };
    if !is_cut {
        return Ok(None);
    }
    // Move the empty database and its WAL away first. SQLite would delete the WAL of an empty database.
    let aside = in_place::set_aside(path)?;
    let draft = Replacement::Rebuilt.draft(path)?;
    let sources: &[&Path] = if spare.exists() { &[&spare] } else { &[] };
    let SalvageResult { rows, mut lost } = salvage_from(sources, &draft, root)?;
    if sources.is_empty() {
        lost.push("everything, because no spare copy exists".to_owned());
    }
    Replacement::Rebuilt.settle(&draft, path)?;
    Ok(Some(RecoveredDatabase { rows, lost, aside }))
}

#[cfg(test)]
mod tests {
    use hippo_types::entry::EntryId;
    use hippo_types::time::Timestamp;

    use super::super::Tombstone;
    use super::*;

    #[test]
    fn a_truncated_or_deleted_database_keeps_its_tombstones() {
        for gone in [false, true] {
            let folder = tempfile::tempdir().unwrap();
            let file = folder.path().join("index.db");
            let id = EntryId("lantern".into());
            let mut store = Store::open(&file, "/w").unwrap();
            let mut batch = store.begin_entries().unwrap();
            let tombstone = Tombstone {
                at: Timestamp(7),
                removed: Default::default(),
            };
            batch.put_tombstone(&id, &tombstone).unwrap();
            batch.commit().unwrap();
            store.write_spare("/w").unwrap();
            assert_eq!(
                recover(&file, "/w").unwrap(),
                None,
                "an intact database is not replaced"
            );
            drop(store);
            match gone {
                true => fs::remove_file(&file).unwrap(),
                false => fs::write(&file, "").unwrap(),
            }
            let recovered = recover(&file, "/w").unwrap().unwrap();
            assert_eq!((recovered.rows > 0, recovered.lost.len()), (true, 0));
            let store = Store::open(&file, "/w").unwrap();
            assert!(
                store.entries().unwrap().tombstones.contains_key(&id),
                "gone: {gone}"
            );
        }
    }
}
