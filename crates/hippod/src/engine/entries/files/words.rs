//! Edits of text in the index file that the file lacks.
//!
//! An editor made these edits in a version that had just been replaced. The store keeps them until a write has merged
//! them.

use std::collections::{BTreeMap, BTreeSet};

use hippo_map::index_file::{IndexFile as Parsed, IndexFileOptions, merge_text};
use hippo_store::StoreError;
use hippo_store::db::{EntryBatch, Store};
use hippo_types::time::Timestamp;

/// Key prefix in the store, followed by the number of the edit and the side (before or after).
const KEY: &str = "HIPPOCAMPUS.md.words-";

/// Edits that wait for the next write, oldest first.
#[derive(Debug, Default)]
pub struct EditQueue {
    waiting: BTreeMap<u64, QueuedEdit>,
    next: u64,
    /// Edits with lower numbers are part of the bytes that are being written.
    merged: u64,
    /// Numbers of the edits that differ from those in the store.
    changed: BTreeSet<u64>,
}

#[derive(Debug)]
struct QueuedEdit {
    from: Vec<u8>,
    to: Vec<u8>,
}

impl EditQueue {
    /// Loads the edits from the store.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub fn load(store: &Store) -> Result<Self, StoreError> {
        let mut sides: BTreeMap<u64, [Option<Vec<u8>>; 2]> = BTreeMap::new();
        for (path, base) in store.bases(KEY)? {
            let number = path.strip_prefix(KEY).and_then(|rest| rest.split_once('-'));
            let Some((Ok(number), side)) = number.map(|(number, side)| (number.parse(), side)) else {
                continue;
            };
            let edit = sides.entry(number).or_default();
            match side {
                "from" => edit[0] = Some(base.bytes),
                _ => edit[1] = Some(base.bytes),
            }
        }
        let next = sides.keys().last().map_or(0, |number| number + 1);
        let waiting = sides.into_iter().filter_map(|(number, [from, to])| {
            // If its original version is unknown, the whole content of an edit counts as added.
            let (from, to) = (from.unwrap_or_default(), to?);
            Some((number, QueuedEdit { from, to }))
        });
        Ok(Self {
            waiting: waiting.collect(),
            next,
            ..Self::default()
        })
    }

    /// Records an edit of `from` to `to`. Returns its number.
    pub fn note(&mut self, from: &[u8], to: &[u8]) -> u64 {
        let number = self.next;
        if from != to {
            let (from, to) = (from.to_vec(), to.to_vec());
            self.waiting.insert(number, QueuedEdit { from, to });
            self.changed.insert(number);
            self.next += 1;
        }
        number
    }

    /// Removes an edit that did not happen.
    pub fn cancel(&mut self, number: u64) {
        if self.waiting.remove(&number).is_some() {
            self.changed.insert(number);
        }
    }

    /// Returns whether no edit waits.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Merges all edits into the current content. Returns `None` if there are no edits.
    pub fn merge(
        &mut self,
        current: Option<&[u8]>,
        settings: IndexFileOptions,
        now: Timestamp,
    ) -> Option<Vec<u8>> {
        self.merged = 0;
        if self.waiting.is_empty() {
            return None;
        }
        let mut bytes = match current.filter(|bytes| !bytes.trim_ascii().is_empty()) {
            Some(bytes) => bytes.to_vec(),
            None => Parsed::skeleton(now, settings).to_bytes(),
        };
        for edit in self.waiting.values() {
            bytes = merge_text(&edit.from, &bytes, &edit.to, settings);
        }
        self.merged = self.next;
        Some(bytes)
    }

    /// Records that the merged content was not written.
    pub fn are_not_written(&mut self) {
        self.merged = 0;
    }

    /// Removes the edits that were written.
    pub fn are_written(&mut self) {
        let rest = self.waiting.split_off(&self.merged);
        let written = std::mem::replace(&mut self.waiting, rest);
        self.changed.extend(written.into_keys());
        self.merged = 0;
    }

    /// Writes new edits to the store and deletes the merged ones from it.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub fn put(&self, batch: &mut EntryBatch<'_>, now: Timestamp) -> Result<(), StoreError> {
        for number in &self.changed {
            let (from, to) = (format!("{KEY}{number}-from"), format!("{KEY}{number}-to"));
            match self.waiting.get(number) {
                Some(edit) => {
                    batch.put_base(&from, &edit.from, now)?;
                    batch.put_base(&to, &edit.to, now)?;
                }
                None => {
                    batch.drop_base(&from)?;
                    batch.drop_base(&to)?;
                }
            }
        }
        Ok(())
    }

    /// Marks all changes as stored.
    pub fn are_kept(&mut self) {
        self.changed.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_wait_in_the_store_until_they_are_written() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(&folder.path().join("store.db"), "/w").unwrap();
        let keep = |words: &mut EditQueue, store: &mut Store| {
            let mut batch = store.begin_entries().unwrap();
            words.put(&mut batch, Timestamp(1)).unwrap();
            batch.commit().unwrap();
            words.are_kept();
        };
        let merge = |words: &mut EditQueue, current: &[u8]| {
            let merged = words.merge(Some(current), IndexFileOptions::default(), Timestamp(1));
            merged.map(|bytes| String::from_utf8(bytes).unwrap())
        };
        let mut words = EditQueue::default();
        assert_eq!(merge(&mut words, b"One.\n"), None);
        words.note(b"One.\n", b"One.\nTwo.\n");
        words.note(b"One.\n", b"One.\nThree.\n");
        keep(&mut words, &mut store);
        let mut words = EditQueue::load(&store).unwrap();
        let merged = merge(&mut words, b"Zero.\nOne.\n").unwrap();
        assert_eq!(merged, "Zero.\nOne.\nTwo.\nThree.\n");
        // An edit recorded during a write waits for the next write.
        words.note(b"One.\n", b"One.\nFour.\n");
        words.are_written();
        keep(&mut words, &mut store);
        let mut words = EditQueue::load(&store).unwrap();
        assert_eq!(merge(&mut words, b"One.\n").unwrap(), "One.\nFour.\n");
        words.are_written();
        keep(&mut words, &mut store);
        assert!(EditQueue::load(&store).unwrap().is_empty());
        assert_eq!(store.bases(KEY).unwrap(), []);
    }
}
