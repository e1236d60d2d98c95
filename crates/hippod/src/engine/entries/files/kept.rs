//! Stored byte strings of the index file: versions, edits, entries.

use std::collections::{BTreeMap, BTreeSet};

use hippo_map::layout::INDEX_FILE;
use hippo_store::StoreError;
use hippo_store::db::{EntryBatch, Store};
use hippo_types::entry::EntryId;
use hippo_types::time::Timestamp;

/// Key prefix for the text of an entry that is not in the file. The id of the entry follows the prefix.
const ENTRY: &str = "HIPPOCAMPUS.md.entry-";

/// A byte string and the time at which it was recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct KeptValue {
    pub bytes: Vec<u8>,
    pub at: Timestamp,
}

/// Byte strings by key, and the keys whose changes are not in the store yet.
#[derive(Debug, Default)]
pub struct KeptBytes {
    all: BTreeMap<String, KeptValue>,
    changed: BTreeSet<String>,
}

impl KeptBytes {
    /// Loads all byte strings from the store.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub fn load(store: &Store) -> Result<Self, StoreError> {
        let bases = store.bases(INDEX_FILE)?.into_iter();
        let value = |bytes, at| KeptValue { bytes, at };
        Ok(Self {
            all: bases
                .map(|(key, base)| (key, value(base.bytes, base.at)))
                .collect(),
            changed: BTreeSet::new(),
        })
    }

    pub(super) fn bytes(&self, key: &str) -> Option<&[u8]> {
        self.all.get(key).map(|kept| &kept.bytes[..])
    }

    pub fn put(&mut self, key: String, bytes: &[u8], at: Timestamp) {
        if self.bytes(&key) != Some(bytes) {
            let bytes = bytes.to_vec();
            self.changed.insert(key.clone());
            self.all.insert(key, KeptValue { bytes, at });
        }
    }

    pub(super) fn remove(&mut self, key: &str) {
        if self.all.remove(key).is_some() {
            self.changed.insert(key.to_owned());
        }
    }

    /// Returns the byte strings whose keys start with a prefix, with the rest of each key, sorted by key.
    pub(super) fn of<'k>(
        &'k self,
        prefix: &'k str,
    ) -> impl DoubleEndedIterator<Item = (&'k str, &'k KeptValue)> {
        let all = self.all.iter();
        all.filter_map(move |(key, kept)| Some((key.strip_prefix(prefix)?, kept)))
    }

    /// Writes the changes to a batch. After its commit, call [`KeptBytes::are_saved`].
    ///
    /// # Errors
    /// See [`StoreError`].
    pub fn write(&self, batch: &mut EntryBatch<'_>) -> Result<(), StoreError> {
        self.changed.iter().try_for_each(|key| match self.all.get(key) {
            Some(kept) => batch.put_base(key, &kept.bytes, kept.at),
            None => batch.drop_base(key),
        })
    }

    /// Marks all changes as stored.
    pub fn are_saved(&mut self) {
        self.changed.clear();
    }

    /// Writes the changes to the store.
    ///
    /// # Errors
    /// See [`StoreError`]. After an error, the changes are written later.
    pub fn save(&mut self, store: &mut Store) -> Result<(), StoreError> {
        let mut batch = store.begin_entries()?;
        self.write(&mut batch)?;
        batch.commit()?;
        self.are_saved();
        Ok(())
    }

    /// Keeps the text that a person wrote into an entry, before the entry is removed from the index file. The text is
    /// restored if the entry is added to the file again.
    pub fn keep_entry(&mut self, id: &EntryId, bytes: &[u8], now: Timestamp) {
        self.put(format!("{ENTRY}{id}"), bytes, now);
    }

    /// Returns whether text of this entry is kept.
    pub fn has_entry(&self, id: &EntryId) -> bool {
        self.all.contains_key(&format!("{ENTRY}{id}"))
    }

    /// Returns the text of all entries that are not in the file.
    pub fn entries(&self) -> Vec<(EntryId, Vec<u8>)> {
        let entries = self.of(ENTRY);
        entries
            .map(|(id, kept)| (EntryId(id.to_owned()), kept.bytes.clone()))
            .collect()
    }

    /// Drops the text of entries that are in the index file.
    pub fn drop_entries(&mut self, in_file: impl Fn(&EntryId) -> bool) {
        for (id, _) in self.entries() {
            if in_file(&id) {
                self.remove(&format!("{ENTRY}{id}"));
            }
        }
    }
}
