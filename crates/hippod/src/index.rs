//! Immutable view of a workspace's entries for queries.

pub mod answers;
pub mod standing;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use hippo_map::consolidation::{EntryRecord, RecordPlace};
use hippo_map::decay::{self, DecayCurve};
use hippo_rank::cue::{Cues, Match};
use hippo_text::terms::QueryTerm;
use hippo_types::entry::EntryId;
use hippo_types::time::Timestamp;

/// The entries of a workspace at one moment. A new view is created when entries change.
#[derive(Debug, Default)]
pub struct IndexView {
    records: Vec<Arc<EntryRecord>>,
    by_id: Arc<HashMap<EntryId, usize>>,
    /// Positions in `records` of the entries outside the archive, by the paths of their pointers.
    by_path: Arc<HashMap<String, Vec<usize>>>,
    /// Positions in `records` of the entries that queries created, by the terms of the query.
    by_cue: Arc<HashMap<String, usize>>,
    told: Arc<EntryWords>,
    /// Words of the entries that queries created. They are separate, so that earlier queries do not influence the
    /// ranking of other entries.
    asked: Arc<EntryWords>,
    profile: DecayCurve,
    /// Estimated number of tokens in the index file.
    pub tokens: u64,
    /// Number of entries that a person removed.
    pub forgotten: usize,
}

/// Searchable words of some entries, and the positions of these entries in the view.
#[derive(Debug, Default)]
struct EntryWords {
    cues: Cues,
    shown: Vec<usize>,
}

impl EntryWords {
    fn of(records: &[Arc<EntryRecord>], asked: bool) -> Arc<Self> {
        let shown = records.iter().enumerate().filter(|(_, record)| {
            !matches!(record.place, RecordPlace::Archive(_)) && record.learned.is_some() == asked
        });
        let shown: Vec<usize> = shown.map(|(at, _)| at).collect();
        Arc::new(Self {
            cues: Cues::new(shown.iter().map(|at| &records[*at].entry)),
            shown,
        })
    }
}

/// Returns whether queries cannot distinguish two versions of an entry, because all searchable fields are equal.
fn is_found_alike(a: &EntryRecord, b: &EntryRecord) -> bool {
    let archived = |record: &EntryRecord| matches!(record.place, RecordPlace::Archive(_));
    let cue = |record: &EntryRecord| record.learned.as_ref().map(|learned| learned.cue.clone());
    let (one, other) = (&a.entry, &b.entry);
    archived(a) == archived(b)
        && one.topic == other.topic
        && one.summary == other.summary
        && one.tags == other.tags
        && one.pointers == other.pointers
        && cue(a) == cue(b)
}

impl IndexView {
    /// Creates a view of the records `now`. The new view shares the unchanged parts with the view `before`. If only
    /// access counts change, creating the view is therefore cheap.
    pub fn after(before: &Self, now: &BTreeMap<EntryId, EntryRecord>, profile: DecayCurve) -> Self {
        let gone = before
            .records
            .iter()
            .any(|record| !now.contains_key(&record.entry.id));
        let nothing = Self::default();
        let before = if gone { &nothing } else { before };
        let (mut told, mut asked) = (gone, gone);
        let mut reshaped = |record: &EntryRecord| match record.learned {
            None => told = true,
            Some(_) => asked = true,
        };
        let mut records = Vec::with_capacity(now.len());
        for known in &before.records {
            match now.get(&known.entry.id) {
                Some(record) if **known != *record => {
                    if !is_found_alike(known, record) {
                        reshaped(known);
                        reshaped(record);
                    }
                    records.push(Arc::new(record.clone()));
                }
                _ => records.push(Arc::clone(known)),
            }
        }
        for record in now
            .values()
            .filter(|record| !before.by_id.contains_key(&record.entry.id))
        {
            reshaped(record);
            records.push(Arc::new(record.clone()));
        }
        let mut view = Self {
            profile,
            by_id: Arc::clone(&before.by_id),
            by_path: Arc::clone(&before.by_path),
            by_cue: Arc::clone(&before.by_cue),
            told: Arc::clone(&before.told),
            asked: Arc::clone(&before.asked),
            ..Self::default()
        };
        if told {
            view.told = EntryWords::of(&records, false);
        }
        if asked {
            view.asked = EntryWords::of(&records, true);
        }
        if told || asked {
            view.index_records(&records);
        }
        view.records = records;
        view
    }

    fn index_records(&mut self, records: &[Arc<EntryRecord>]) {
        let (mut by_id, mut by_cue) = (HashMap::with_capacity(records.len()), HashMap::new());
        let mut by_path: HashMap<String, Vec<usize>> = HashMap::new();
        for (at, record) in records.iter().enumerate() {
            by_id.insert(record.entry.id.clone(), at);
            if matches!(record.place, RecordPlace::Archive(_)) {
                continue;
            }
            if let Some(learned) = &record.learned {
                by_cue.insert(learned.cue.join(" "), at);
            }
            for pointer in &record.entry.pointers {
                let of_path = by_path.entry(pointer.path.clone()).or_default();
                if of_path.last() != Some(&at) {
                    of_path.push(at);
                }
            }
        }
        self.by_id = Arc::new(by_id);
        self.by_path = Arc::new(by_path);
        self.by_cue = Arc::new(by_cue);
    }

    /// Returns all entries, including archived ones, in no particular order.
    pub fn records(&self) -> &[Arc<EntryRecord>] {
        &self.records
    }

    /// Returns the entry with this id.
    pub fn get(&self, id: &EntryId) -> Option<&Arc<EntryRecord>> {
        self.by_id.get(id).map(|at| &self.records[*at])
    }

    /// Returns the parameters of the decay curve.
    pub fn profile(&self) -> &DecayCurve {
        &self.profile
    }

    /// Returns the strength of an entry at the time `now`, from 0 to 1.
    pub fn strength(&self, record: &EntryRecord, now: Timestamp) -> f32 {
        decay::strength_at(&self.profile, &record.entry, now)
    }

    /// Returns the entries that match a query, best first. Entries that queries created are included only if `asked` is
    /// true.
    pub fn find(&self, terms: &[QueryTerm], limit: usize, asked: bool) -> Vec<(Match, &Arc<EntryRecord>)> {
        let mut found = self.find_matches(&self.told, terms, limit);
        if asked {
            found.extend(self.find_matches(&self.asked, terms, limit));
            found.sort_by(|(a, _), (b, _)| b.relevance.total_cmp(&a.relevance));
            found.truncate(limit);
        }
        found
    }

    fn find_matches(
        &self,
        words: &EntryWords,
        terms: &[QueryTerm],
        limit: usize,
    ) -> Vec<(Match, &Arc<EntryRecord>)> {
        let found = words.cues.find(terms, limit).into_iter();
        found
            .filter_map(|hit| Some((hit, &self.records[*words.shown.get(hit.entry)?])))
            .collect()
    }

    /// Returns the entry that an earlier query with the same terms created.
    pub fn learned(&self, cue: &[String]) -> Option<&Arc<EntryRecord>> {
        self.by_cue.get(&cue.join(" ")).map(|at| &self.records[*at])
    }

    /// Returns the entry that describes a location in a file. `heading` contains the headings above the location,
    /// outermost first. An entry with a pointer to an inner section is preferred to one with a pointer to an outer
    /// section or to the whole file.
    pub fn of_place(&self, path: &str, heading: &[String]) -> Option<&Arc<EntryRecord>> {
        let of_path = self.by_path.get(path)?;
        let depth = |record: &EntryRecord| {
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
        // An entry that a query created describes only that query, so other entries are preferred.
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

#[cfg(test)]
mod tests {
    use hippo_map::bootstrap::PROJECTS;
    use hippo_text::terms::query_terms;
    use hippo_types::entry::{Entry, Pointer};

    use super::*;

    fn record(id: &str, topic: &str) -> EntryRecord {
        let entry = Entry {
            id: EntryId(id.to_owned()),
            topic: topic.to_owned(),
            pointers: vec![Pointer {
                path: format!("{id}.md"),
                section: None,
            }],
            strength: 1.0,
            version: 1,
            ..Entry::default()
        };
        EntryRecord::new(entry, PROJECTS)
    }

    fn ids(view: &IndexView, question: &str) -> Vec<String> {
        let found = view.find(&query_terms(question), 9, true);
        found
            .into_iter()
            .map(|(_, record)| record.entry.id.0.clone())
            .collect()
    }

    #[test]
    fn an_incremental_view_equals_a_rebuilt_view() {
        let mut now: BTreeMap<EntryId, EntryRecord> = BTreeMap::new();
        let mut view = IndexView::default();
        let mut change = |now: &BTreeMap<EntryId, EntryRecord>| {
            view = IndexView::after(&view, now, DecayCurve::PROTOCOL);
            let anew = IndexView::after(&IndexView::default(), now, DecayCurve::PROTOCOL);
            for question in ["blue pump", "red valve", "green lantern"] {
                assert_eq!(ids(&view, question), ids(&anew, question), "{question}");
            }
            for id in now.keys() {
                assert_eq!(view.get(id).map(|record| &**record), now.get(id));
                let path = format!("{id}.md");
                let here = |view: &IndexView| view.of_place(&path, &[]).map(|record| record.entry.id.clone());
                assert_eq!(here(&view), here(&anew));
            }
            assert_eq!(view.records().len(), now.len());
        };
        for (id, topic) in [("m", "Blue pump"), ("a", "Red valve"), ("z", "Green lantern")] {
            now.insert(EntryId(id.to_owned()), record(id, topic));
            change(&now);
        }
        let id = EntryId("m".to_owned());
        now.get_mut(&id).unwrap().entry.hits = 7;
        change(&now);
        now.get_mut(&id).unwrap().entry.topic = "Red pump".to_owned();
        change(&now);
        now.get_mut(&id).unwrap().place = RecordPlace::Archive(Timestamp(1));
        change(&now);
        now.remove(&EntryId("a".to_owned()));
        change(&now);
    }
}
