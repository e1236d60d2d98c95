//! What are the index entries of a workspace now, as questions see them?

pub mod answers;

use std::collections::HashMap;
use std::sync::Arc;

use hippo_core::consolidation::{Place, Record};
use hippo_core::decay::{self, Profile};
use hippo_core::entry::EntryId;
use hippo_core::retrieval::cue::{Cues, Match};
use hippo_core::retrieval::terms::QueryTerm;
use hippo_core::time::Timestamp;

/// The entries of a workspace as of one moment; made anew by the engine when one of them changes.
#[derive(Debug, Default)]
pub struct IndexView {
    records: Vec<Arc<Record>>,
    by_id: HashMap<EntryId, usize>,
    /// Entries in the index, by the paths they point at.
    by_path: HashMap<String, Vec<usize>>,
    /// Entries in the index that a question made, by the terms of that question.
    by_cue: HashMap<String, usize>,
    told: Words,
    /// The same for entries that questions made: what was asked before must not change what else is found.
    asked: Words,
    profile: Profile,
    /// Tokens of the index file.
    pub tokens: u64,
    /// Entries that a person removed, among the archived ones.
    pub forgotten: usize,
}

/// The words of some entries, and which ones these are.
#[derive(Debug, Default)]
struct Words {
    cues: Cues,
    shown: Vec<usize>,
}

impl IndexView {
    /// A picture of these entries.
    pub fn new<'a>(records: impl Iterator<Item = &'a Record>, profile: Profile) -> Self {
        let records: Vec<Arc<Record>> = records.cloned().map(Arc::new).collect();
        let mut view = Self {
            profile,
            ..Self::default()
        };
        for (at, record) in records.iter().enumerate() {
            view.by_id.insert(record.entry.id.clone(), at);
            if matches!(record.place, Place::Archive(_)) {
                continue;
            }
            match &record.learned {
                Some(learned) => {
                    view.by_cue.insert(learned.cue.join(" "), at);
                    view.asked.shown.push(at);
                }
                None => view.told.shown.push(at),
            }
            for pointer in &record.entry.pointers {
                let of_path = view.by_path.entry(pointer.path.clone()).or_default();
                if of_path.last() != Some(&at) {
                    of_path.push(at);
                }
            }
        }
        for words in [&mut view.told, &mut view.asked] {
            words.cues = Cues::new(words.shown.iter().map(|at| &records[*at].entry));
        }
        view.records = records;
        view
    }

    /// All entries, the archived ones too, by id.
    pub fn records(&self) -> &[Arc<Record>] {
        &self.records
    }

    /// The entry with this id.
    pub fn get(&self, id: &EntryId) -> Option<&Arc<Record>> {
        self.by_id.get(id).map(|at| &self.records[*at])
    }

    /// The numbers of the curve.
    pub fn profile(&self) -> &Profile {
        &self.profile
    }

    /// The strength of an entry at a moment, in [0, 1].
    pub fn strength(&self, record: &Record, now: Timestamp) -> f32 {
        decay::strength_at(&self.profile, &record.entry, now)
    }

    /// Entries that a question names, the best first; of those that questions made only with `asked`.
    pub fn find(&self, terms: &[QueryTerm], limit: usize, asked: bool) -> Vec<(Match, &Arc<Record>)> {
        let mut found = self.found(&self.told, terms, limit);
        if asked {
            found.extend(self.found(&self.asked, terms, limit));
            found.sort_by(|(a, _), (b, _)| b.relevance.total_cmp(&a.relevance));
            found.truncate(limit);
        }
        found
    }

    fn found(&self, words: &Words, terms: &[QueryTerm], limit: usize) -> Vec<(Match, &Arc<Record>)> {
        let found = words.cues.find(terms, limit).into_iter();
        found
            .filter_map(|hit| Some((hit, &self.records[*words.shown.get(hit.entry)?])))
            .collect()
    }

    /// The entry that the same question made.
    pub fn learned(&self, cue: &[String]) -> Option<&Arc<Record>> {
        self.by_cue.get(&cue.join(" ")).map(|at| &self.records[*at])
    }

    /// The entry that tells of a place: one that points at the innermost of its sections, else at the whole file.
    pub fn of_place(&self, path: &str, heading: &[String]) -> Option<&Arc<Record>> {
        let of_path = self.by_path.get(path)?;
        let depth = |record: &Record| {
            let mine = record
                .entry
                .pointers
                .iter()
                .filter(|pointer| pointer.path == path);
            mine.filter_map(|pointer| match &pointer.section {
                None => Some(0),
                Some(section) => heading
                    .iter()
                    .rposition(|title| title == section)
                    .map(|at| at + 1),
            })
            .max()
        };
        // What a question made tells of that question; the entry of the place itself comes first.
        let rank = |at: &usize| {
            let record = &self.records[*at];
            depth(record).map(|depth| (record.learned.is_none(), depth, std::cmp::Reverse(*at)))
        };
        let best = of_path
            .iter()
            .filter_map(|at| rank(at).map(|rank| (rank, *at)))
            .max();
        best.map(|(_, at)| &self.records[at])
    }
}
