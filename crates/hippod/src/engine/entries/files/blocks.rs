//! Extra text of entries that are no longer in the index file.
//!
//! The prose, code and unknown keys of an entry exist only in the bytes of the index file. When the entry returns to
//! the file, its bytes return as well.

use std::collections::{BTreeMap, BTreeSet};

use hippo_store::StoreError;
use hippo_store::db::{EntryBatch, Store};
use hippo_types::entry::EntryId;
use hippo_types::time::Timestamp;

/// Key prefix in the store, followed by the id of the entry.
const KEY: &str = "HIPPOCAMPUS.md.entry-";

/// Bytes of entries that are no longer in the index file and contained more than their fields.
#[derive(Debug, Default)]
pub struct Blocks {
    all: BTreeMap<EntryId, Vec<u8>>,
    /// Entries whose bytes are not written to the store yet.
    changed: BTreeSet<EntryId>,
}

impl Blocks {
    /// Loads the bytes from the store.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub fn load(store: &Store) -> Result<Self, StoreError> {
        let bases = store.bases(KEY)?.into_iter();
        let all = bases.filter_map(|(path, base)| {
            let id = path.strip_prefix(KEY)?;
            Some((EntryId(id.to_owned()), base.bytes))
        });
        Ok(Self {
            all: all.collect(),
            changed: BTreeSet::new(),
        })
    }

    /// Returns all ids and bytes.
    pub fn iter(&self) -> impl Iterator<Item = (&EntryId, &Vec<u8>)> {
        self.all.iter()
    }

    /// Returns whether bytes of this entry are kept.
    pub fn has(&self, id: &EntryId) -> bool {
        self.all.contains_key(id)
    }

    /// Keeps the bytes of an entry that is about to leave the index file.
    pub fn keep(&mut self, id: EntryId, bytes: Vec<u8>) {
        if self.all.get(&id) != Some(&bytes) {
            self.changed.insert(id.clone());
            self.all.insert(id, bytes);
        }
    }

    /// Drops the bytes of entries that are in the index file.
    pub fn let_go(&mut self, in_file: impl Fn(&EntryId) -> bool) {
        let back: Vec<EntryId> = self.all.keys().filter(|id| in_file(id)).cloned().collect();
        for id in back {
            self.all.remove(&id);
            self.changed.insert(id);
        }
    }

    /// Writes unsaved changes to the batch.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub fn put(&self, batch: &mut EntryBatch<'_>, now: Timestamp) -> Result<(), StoreError> {
        for id in &self.changed {
            let key = format!("{KEY}{}", id.0);
            match self.all.get(id) {
                Some(bytes) => batch.put_base(&key, bytes, now)?,
                None => batch.drop_base(&key)?,
            }
        }
        Ok(())
    }

    /// Marks all changes as stored.
    pub fn are_kept(&mut self) {
        self.changed.clear();
    }
}
