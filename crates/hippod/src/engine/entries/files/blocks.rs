//! What did people write into entries that have left the index file, besides what the fields of an entry hold?
//!
//! Prose, code and unknown keys stand in the bytes of an entry alone. They come back with it.

use std::collections::{BTreeMap, BTreeSet};

use hippo_core::entry::EntryId;
use hippo_core::time::Timestamp;
use hippo_store::StoreError;
use hippo_store::db::{EntryBatch, Store};

/// Where the store keeps them, by the ids of their entries.
const KEY: &str = "HIPPOCAMPUS.md.entry-";

/// Bytes of entries that are out of the file and said more than their fields.
#[derive(Debug, Default)]
pub struct Blocks {
    all: BTreeMap<EntryId, Vec<u8>>,
    /// What the store does not know yet.
    changed: BTreeSet<EntryId>,
}

impl Blocks {
    /// What the store knows.
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

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = (&EntryId, &Vec<u8>)> {
        self.all.iter()
    }

    /// An entry leaves the file with these bytes.
    pub fn keep(&mut self, id: EntryId, bytes: Vec<u8>) {
        if self.all.get(&id) != Some(&bytes) {
            self.changed.insert(id.clone());
            self.all.insert(id, bytes);
        }
    }

    /// Lets go of those that stand in the file.
    pub fn let_go(&mut self, in_file: impl Fn(&EntryId) -> bool) {
        let back: Vec<EntryId> = self.all.keys().filter(|id| in_file(id)).cloned().collect();
        for id in back {
            self.all.remove(&id);
            self.changed.insert(id);
        }
    }

    /// Has the store keep what it does not have yet.
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

    /// The store has kept all of it.
    pub fn are_kept(&mut self) {
        self.changed.clear();
    }
}
