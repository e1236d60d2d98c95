//! What are the index entries of a workspace now, as questions see them?

use std::collections::HashMap;
use std::sync::Arc;

use hippo_core::consolidation::{Place, Record};
use hippo_core::decay::{self, Profile};
use hippo_core::entry::EntryId;
use hippo_core::retrieval::cue::{Cues, Match};
use hippo_core::retrieval::terms::QueryTerm;
use hippo_core::time::Timestamp;

/// The entries of a workspace as of one moment; made anew by the engine when one of them changes.
#[derive(Default)]
pub struct IndexView {
    records: Vec<Arc<Record>>,
    by_id: HashMap<EntryId, usize>,
    /// Entries in the index, by the paths they point at.
    by_path: HashMap<String, Vec<usize>>,
    /// Entries in the index that a question made, by the terms of that question.
    by_cue: HashMap<String, usize>,
    cues: Cues,
    /// The entry of each one that `cues` knows.
    shown: Vec<usize>,
    profile: Profile,
    /// Tokens of the index file.
    pub tokens: u64,
    /// Entries that a person removed, among the archived ones.
    pub forgotten: usize,
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
            view.shown.push(at);
            if let Some(learned) = &record.learned {
                view.by_cue.insert(learned.cue.join(" "), at);
            }
            for pointer in &record.entry.pointers {
                let of_path = view.by_path.entry(pointer.path.clone()).or_default();
                if of_path.last() != Some(&at) {
                    of_path.push(at);
                }
            }
        }
        view.cues = Cues::new(view.shown.iter().map(|at| &records[*at].entry));
        view.records = records;
        view
    }

    /// All entries, the archived ones too, by id.
    pub fn records(&self) -> &[Arc<Record>] {
        &self.records
    }

    /// Whether there is none that a question could find.
    pub fn is_empty(&self) -> bool {
        self.shown.is_empty()
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

    /// Entries that a question names, the best first.
    pub fn find(&self, terms: &[QueryTerm], limit: usize) -> Vec<(Match, &Arc<Record>)> {
        let found = self.cues.find(terms, limit).into_iter();
        found
            .filter_map(|hit| Some((hit, &self.records[*self.shown.get(hit.entry)?])))
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
            let mine = record.entry.pointers.iter().filter(|pointer| pointer.path == path);
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
        let best = of_path.iter().filter_map(|at| rank(at).map(|rank| (rank, *at))).max();
        best.map(|(_, at)| &self.records[at])
    }
}
