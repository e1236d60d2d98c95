//! Edits of the index file's text that the file does not have yet.
//!
//! Somebody wrote them into a version that was replaced meanwhile. The store keeps them until a writing has merged them.

use std::collections::{BTreeMap, BTreeSet};

use hippo_core::index_file::{IndexFile as Parsed, IndexFileOptions, merge_text};
use hippo_core::time::Timestamp;
use hippo_store::StoreError;
use hippo_store::db::{EntryBatch, Store};

/// Where the store keeps them, by number and side.
const KEY: &str = "HIPPOCAMPUS.md.words-";

/// Edits that wait for the next writing, oldest first.
#[derive(Debug, Default)]
pub struct Words {
    waiting: BTreeMap<u64, Edit>,
    next: u64,
    /// Edits below this number are in the bytes that are being written.
    merged: u64,
    /// Numbers that the store does not have as they are here.
    changed: BTreeSet<u64>,
}

#[derive(Debug)]
struct Edit {
    from: Vec<u8>,
    to: Vec<u8>,
}

impl Words {
    /// Loads those that the store keeps.
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
            // Without the version that it began with, all of an edit counts as added.
            let (from, to) = (from.unwrap_or_default(), to?);
            Some((number, Edit { from, to }))
        });
        Ok(Self {
            waiting: waiting.collect(),
            next,
            ..Self::default()
        })
    }

    /// Notes that somebody made `to` from `from`. Returns its number.
    pub fn note(&mut self, from: &[u8], to: &[u8]) -> u64 {
        let number = self.next;
        if from != to {
            let (from, to) = (from.to_vec(), to.to_vec());
            self.waiting.insert(number, Edit { from, to });
            self.changed.insert(number);
            self.next += 1;
        }
        number
    }

    /// Forgets an edit that did not happen.
    pub fn cancel(&mut self, number: u64) {
        if self.waiting.remove(&number).is_some() {
            self.changed.insert(number);
        }
    }

    /// Whether the file has all of them.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Merges all of them into the file as it is now. Returns `None` where nothing waits.
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

    /// What was merged was not written.
    pub fn are_not_written(&mut self) {
        self.merged = 0;
    }

    /// The file has what was merged.
    pub fn are_written(&mut self) {
        let rest = self.waiting.split_off(&self.merged);
        let written = std::mem::replace(&mut self.waiting, rest);
        self.changed.extend(written.into_keys());
        self.merged = 0;
    }

    /// Has the store keep what it does not have yet, and forget what the file has.
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

    /// The store has kept all of it.
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
        let keep = |words: &mut Words, store: &mut Store| {
            let mut batch = store.begin_entries().unwrap();
            words.put(&mut batch, Timestamp(1)).unwrap();
            batch.commit().unwrap();
            words.are_kept();
        };
        let merge = |words: &mut Words, current: &[u8]| {
            let merged = words.merge(Some(current), IndexFileOptions::default(), Timestamp(1));
            merged.map(|bytes| String::from_utf8(bytes).unwrap())
        };
        let mut words = Words::default();
        assert_eq!(merge(&mut words, b"One.\n"), None);
        words.note(b"One.\n", b"One.\nTwo.\n");
        words.note(b"One.\n", b"One.\nThree.\n");
        keep(&mut words, &mut store);
        let mut words = Words::load(&store).unwrap();
        let merged = merge(&mut words, b"Zero.\nOne.\n").unwrap();
        assert_eq!(merged, "Zero.\nOne.\nTwo.\nThree.\n");
        // One that comes while the others are written waits for the next writing.
        words.note(b"One.\n", b"One.\nFour.\n");
        words.are_written();
        keep(&mut words, &mut store);
        let mut words = Words::load(&store).unwrap();
        assert_eq!(merge(&mut words, b"One.\n").unwrap(), "One.\nFour.\n");
        words.are_written();
        keep(&mut words, &mut store);
        assert!(Words::load(&store).unwrap().is_empty());
        assert_eq!(store.bases(KEY).unwrap(), []);
    }
}
