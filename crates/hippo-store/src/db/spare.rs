//! The spare copy of what stands in no file: entries, removals, accesses, runs.
//!
//! A database that is cut to nothing, or gone, would otherwise begin anew without a word, and what was forgotten would be
//! back. The copy is a database of its own beside it, replaced whole a moment after each change of the entries.

use std::fs;
use std::path::{Path, PathBuf};

use super::salvage::{Salvaged, salvage_from};
use super::{Store, salvage};
use crate::StoreError;
use crate::in_place::{self, Made, with_suffix};

/// Where the spare copy of a database is.
pub(super) fn spare_of(path: &Path) -> PathBuf {
    with_suffix(path, ".spare")
}

impl Store {
    /// Writes the spare copy anew.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] where not all could be read, and the former copy stays; others where it cannot be written.
    #[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
    pub fn write_spare(&self, root: &str) -> Result<(), StoreError> {
        let spare = spare_of(&self.path);
        let draft = with_suffix(&spare, ".draft");
        // A stopped process may have left one.
        discard(&draft);
        let copied = salvage(&self.path, &draft, root).inspect_err(|_| discard(&draft))?;
        if let Some(reason) = copied.lost.into_iter().next() {
            // Nobody needs half of it.
            discard(&draft);
            return Err(StoreError::Corrupt {
                path: self.path.clone(),
                reason,
            });
        }
        fs::rename(&draft, &spare).map_err(|source| {
            discard(&draft);
            StoreError::Io {
                what: "name the spare copy of the database",
                path: spare,
                source,
            }
        })
    }
}

/// Removes a draft with its log; the first error is the one to report.
#[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
fn discard(draft: &Path) {
    for suffix in ["", "-wal", "-shm"] {
        let _ = fs::remove_file(with_suffix(draft, suffix));
    }
}

/// A database that was there and was gone or empty, made again from its spare copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recovered {
    /// Rows that the spare copy had.
    pub rows: usize,
    /// What could not be read, for people.
    pub lost: Vec<String>,
    /// Where what stood in its place is kept.
    pub aside: PathBuf,
}

/// Makes a database again that is cut to nothing, or gone although it has a spare copy. `None` for any other.
///
/// # Errors
/// See [`StoreError`]; it can be tried again.
#[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
pub fn recover(path: &Path, root: &str) -> Result<Option<Recovered>, StoreError> {
    in_place::finish(path)?;
    let spare = spare_of(path);
    let is_cut = match path.metadata() {
        Ok(metadata) => metadata.len() == 0,
        Err(_) => spare.exists(),
    };
    if !is_cut {
        return Ok(None);
    }
    // SQLite would remove the log of an empty database.
    let aside = in_place::set_aside(path)?;
    let draft = Made::Again.draft(path)?;
    let sources: &[&Path] = if spare.exists() { &[&spare] } else { &[] };
    let Salvaged { rows, mut lost } = salvage_from(sources, &draft, root)?;
    if sources.is_empty() {
        lost.push("all of it: there is no spare copy".to_owned());
    }
    Made::Again.settle(&draft, path)?;
    Ok(Some(Recovered { rows, lost, aside }))
}

#[cfg(test)]
mod tests {
    use hippo_core::entry::EntryId;
    use hippo_core::time::Timestamp;

    use super::super::Tombstone;
    use super::*;

    #[test]
    fn a_database_that_is_cut_or_gone_keeps_what_was_forgotten() {
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
            assert_eq!(recover(&file, "/w").unwrap(), None, "a sound one stays");
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
