//! Input of a cycle, gathered like the daemon does.

use std::collections::{BTreeMap, BTreeSet};

use hippo_embed::Embedder;
use hippo_map::bootstrap::{self, BootstrapEntry};
use hippo_map::consolidation::{CoAccess, EntryRecord, RecordPlace, SimilarPair, decayed_co_access};
use hippo_map::decay;
use hippo_text::chunk::ContentHash;
use hippo_types::cycle::Cycle;
use hippo_types::entry::{EntryId, Pointer};
use hippo_types::time::Timestamp;

use super::Brain;
use crate::simulate::shelf::Shelf;

impl Brain {
    /// Gathers the input of a cycle.
    pub(super) fn gather(&mut self, cycle: Cycle, shelf: &Shelf, now: Timestamp) {
        let last = self.last.get(&cycle).copied();
        for record in self.snapshot.records.values_mut() {
            record.strength = decay::strength_at(&self.options.profile, &record.entry, now);
        }
        self.snapshot.begin(now);
        self.snapshot.candidates.clear();
        self.snapshot.summaries.clear();
        self.snapshot.similar.clear();
        self.snapshot.facts.clear();
        self.snapshot.reviewed.clear();
        self.snapshot.settings.profile = self.options.profile;
        let mut changed = self.fresh.clone();
        if cycle != Cycle::Light {
            self.snapshot.documents = shelf.states();
            self.snapshot.reviewed = shelf.changed_since(last);
            if cycle == Cycle::Deep {
                changed.extend(self.snapshot.reviewed.iter().cloned());
            } else {
                self.snapshot.reviewed.retain(|path| shelf.is_log(path));
            }
            let left = self.together.iter().map(|((a, b), (count, last))| CoAccess {
                a: a.clone(),
                b: b.clone(),
                count: decayed_co_access(*count, *last, now),
            });
            self.snapshot.co_access = left.collect();
        }
        if !changed.is_empty() {
            self.look_for_entries(shelf, &changed, now);
        }
        if cycle == Cycle::Deep {
            self.snapshot.similar = self.similar();
        }
        if cycle == Cycle::Archival {
            let records: Vec<&EntryRecord> = self.snapshot.records.values().collect();
            let hits = |pointer: &Pointer| {
                let there = records
                    .iter()
                    .filter(|record| record.entry.pointers.contains(pointer));
                there.map(|record| record.entry.hits).sum()
            };
            self.snapshot.facts = shelf.facts(hits);
        }
    }

    /// Adds candidates for content without an entry, and new summaries of changed content.
    fn look_for_entries(&mut self, shelf: &Shelf, changed: &BTreeSet<String>, now: Timestamp) {
        let records = &self.snapshot.records;
        let of_changed = |record: &EntryRecord| {
            record
                .entry
                .pointers
                .iter()
                .any(|pointer| changed.contains(&pointer.path))
        };
        let taken = records.iter().filter(|(_, record)| !of_changed(record));
        let settings = bootstrap::BootstrapSettings {
            now,
            taken: taken.map(|(id, _)| id.clone()).collect(),
            ..bootstrap::BootstrapSettings::default()
        };
        let made = bootstrap::bootstrap(&shelf.memory(changed), &[], &settings);
        for new in &made {
            let known = records.get(&new.entry.id);
            if known.is_some_and(|record| record.entry.pointers == new.entry.pointers) {
                let summary = new.entry.summary.clone();
                self.snapshot.summaries.insert(new.entry.id.clone(), summary);
            }
        }
        self.snapshot.candidates = untold(made, records);
    }

    /// Returns pairs of similar live entries, one of them new or changed. Hashed words replace the model.
    fn similar(&mut self) -> Vec<SimilarPair> {
        let live = self
            .snapshot
            .records
            .values()
            .filter(|record| record.place == RecordPlace::Index);
        let texts: BTreeMap<EntryId, String> = live
            .map(|record| {
                let text = format!("{}. {}", record.entry.topic, record.entry.summary);
                (record.entry.id.clone(), text)
            })
            .collect();
        self.vectors.retain(|id, _| texts.contains_key(id));
        let mut fresh = Vec::new();
        for (id, text) in &texts {
            let hash = ContentHash::of(text.as_bytes()).0;
            if self.vectors.get(id).is_some_and(|(known, _)| *known == hash) {
                continue;
            }
            if let Ok(vector) = self.embedder.embed_query(text) {
                self.vectors.insert(id.clone(), (hash, vector));
                fresh.push(id.clone());
            }
        }
        let least = self.snapshot.settings.merge_above;
        let mut pairs = Vec::new();
        for id in &fresh {
            let Some((_, mine)) = self.vectors.get(id) else {
                continue;
            };
            for (other, (_, theirs)) in &self.vectors {
                let cosine: f32 = mine.iter().zip(theirs).map(|(a, b)| a * b).sum();
                let twice = fresh.binary_search(other).is_ok() && other < id;
                if other != id && !twice && cosine >= least {
                    pairs.push(SimilarPair {
                        a: id.clone(),
                        b: other.clone(),
                        cosine,
                    });
                }
            }
        }
        pairs
    }
}

/// Returns the new entries without those that existing entries cover.
fn untold(made: Vec<BootstrapEntry>, records: &BTreeMap<EntryId, EntryRecord>) -> Vec<BootstrapEntry> {
    let told: BTreeSet<&Pointer> = records
        .values()
        .flat_map(|record| &record.entry.pointers)
        .collect();
    let files: BTreeSet<&str> = told.iter().map(|pointer| pointer.path.as_str()).collect();
    let made = made
        .into_iter()
        .filter(|new| !records.contains_key(&new.entry.id));
    let made = made.map(|mut new| {
        new.entry.pointers.retain(|pointer| match pointer.section {
            Some(_) => !told.contains(pointer),
            None => !files.contains(pointer.path.as_str()),
        });
        new
    });
    made.filter(|new| !new.entry.pointers.is_empty()).collect()
}
