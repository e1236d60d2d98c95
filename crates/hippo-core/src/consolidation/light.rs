//! What does a light cycle do: new entries, the Decay Queue, and what the file says of each entry (v1 §8.2)?

use std::collections::{BTreeMap, BTreeSet};

use super::change::Change;
use super::planner::{Plan, Planner};
use super::{Cycle, Filed, Place, Record, Rule, Settings, Snapshot, deep, sources};
use crate::bootstrap::{NewEntry, TimeBand};
use crate::decay;
use crate::entry::{EntryId, Pointer, Priority};
use crate::time::Timestamp;

/// Hundredths of strength below which a change alone does not reach the file.
const FADED: u8 = 5;
/// Lower ends of the bands of strength in hundredths (v1 §6.2).
const BANDS: [u8; 5] = [0, 10, 30, 50, 80];

/// All rules of a light cycle but [`flush`], which every cycle ends with.
pub(super) fn rules(planner: &mut Planner) {
    // Before new entries: what has another name now is not new.
    sources::follow(planner);
    new_entries(planner);
    // After them: what an entry of a whole file has not seen yet is new.
    sources::note(planner);
    revive(planner);
    queue(planner);
    strong(planner);
    // A first index is useful before the first night.
    if planner.state.quick_access.is_empty() {
        deep::list_quick_access(planner);
    }
}

/// The plan of a light cycle that has nothing to do, found without a copy of the entries; `None` where there is something.
/// Strengths are computed for `now`; there are no candidates, and no document
/// has come or changed.
#[must_use]
pub fn idle(
    records: &BTreeMap<EntryId, Record>,
    quick_access: &[EntryId],
    settings: &Settings,
    now: Timestamp,
) -> Option<Plan> {
    let (mut live, mut waiting) = (0, 0);
    for record in records.values() {
        let strength = decay::strength_at(&settings.profile, &record.entry, now);
        let amygdala = record.entry.priority == Priority::Amygdala;
        let weak = strength < settings.queue_below && !amygdala;
        match record.place {
            Place::Index if weak => return None,
            Place::Index => {
                live += 1;
                if (strength > settings.strong_above) != record.strong_since.is_some() {
                    return None;
                }
            }
            Place::Queue(_) if !weak => return None,
            Place::Queue(_) => waiting += 1,
            Place::Archive(_) => {}
        }
        if !is_told(record.filed, Filed::at(record, strength)) {
            return None;
        }
    }
    if quick_access.is_empty() && live > 0 {
        return None;
    }
    let listed = quick_access.is_empty().then_some((Rule::QuickAccess, 0));
    let considered = [
        (Rule::NewEntry, 0),
        (Rule::Revive, waiting),
        (Rule::Queue, live),
        (Rule::Strong, live),
        (Rule::Flush, records.len()),
    ];
    Some(Plan {
        considered: considered.into_iter().chain(listed).collect(),
        ..Plan::empty(Cycle::Light)
    })
}

/// Entries for files that have none.
fn new_entries(planner: &mut Planner) {
    let candidates = std::mem::take(&mut planner.state.candidates);
    planner.consider(Rule::NewEntry, candidates.len());
    let (told, forgotten) = (
        Known::told(&planner.state, &candidates),
        Known::forgotten(&planner.state),
    );
    for new in &candidates {
        let id = &new.entry.id;
        if planner.state.records.contains_key(id) {
            continue;
        }
        let mut new = new.clone();
        new.entry
            .pointers
            .retain(|pointer| !told.has(pointer, &planner.state));
        if new.entry.pointers.is_empty() {
            continue;
        }
        let mut mine = new.entry.pointers.iter();
        if planner.state.tombstones.contains_key(id)
            || mine.all(|pointer| forgotten.has(pointer, &planner.state))
        {
            planner.refuse(Rule::Tombstone, vec![id.clone()], "a person removed this entry");
            continue;
        }
        let record = Box::new(record_of(&new, planner));
        planner.step(Rule::NewEntry, vec![id.clone()], Change::Add { record });
    }
    planner.state.candidates = candidates;
}

/// What needs no new entry.
#[derive(Default)]
struct Known {
    pointers: BTreeSet<Pointer>,
    /// Files with a pointer to them or to a section of theirs; empty where that says nothing.
    files: BTreeSet<String>,
    /// Files that are pointed at as a whole, and hold what they held then: nothing in them is new.
    whole: BTreeSet<String>,
    /// Content, sections and whole files apart.
    contents: BTreeSet<(bool, [u8; 16])>,
}

impl Known {
    /// What entries tell of already. What a question made is no telling: it is about that question.
    fn told(state: &Snapshot, candidates: &[NewEntry]) -> Self {
        let ids: BTreeSet<&EntryId> = candidates.iter().map(|new| &new.entry.id).collect();
        let mut known = Self::default();
        for (id, record) in &state.records {
            // Of two entries of one section that this run makes, one may be made already when it goes on.
            let of_this_run = record.filed.is_none() && ids.contains(id);
            if record.learned.is_none() && !of_this_run {
                known.take(record, state);
                let paths = record.entry.pointers.iter().map(|pointer| pointer.path.clone());
                known.files.extend(paths);
            }
        }
        known
    }

    /// What a person removed: where it stood and what it said.
    fn forgotten(state: &Snapshot) -> Self {
        let mut known = Self::default();
        for (id, pointers) in &state.tombstones {
            known.pointers.extend(pointers.iter().cloned());
            if let Some(record) = state.records.get(id) {
                known.take(record, state);
                let hashes = record.entry.pointers.iter().zip(&record.hashes);
                known
                    .contents
                    .extend(hashes.filter_map(|(pointer, hash)| Some((pointer.section.is_some(), (*hash)?))));
            }
        }
        known
    }

    fn take(&mut self, record: &Record, state: &Snapshot) {
        for (at, pointer) in record.entry.pointers.iter().enumerate() {
            self.pointers.insert(pointer.clone());
            let hash = record.hashes.get(at).copied().flatten();
            if pointer.section.is_none() && hash.is_some() && hash == sources::here(state, pointer, None) {
                self.whole.insert(pointer.path.clone());
            }
        }
    }

    fn has(&self, pointer: &Pointer, state: &Snapshot) -> bool {
        let content = || Some((pointer.section.is_some(), sources::here(state, pointer, None)?));
        self.pointers.contains(pointer)
            || self.whole.contains(&pointer.path)
            || (pointer.section.is_none() && self.files.contains(&pointer.path))
            || (!self.contents.is_empty()
                && content().is_some_and(|content| self.contents.contains(&content)))
    }
}

fn record_of(new: &NewEntry, planner: &Planner) -> Record {
    let offset = planner.state.settings.offset_seconds;
    Record {
        strength: decay::strength_at(
            &planner.state.settings.profile,
            &new.entry,
            planner.state.run.started,
        ),
        place: Place::Index,
        group: new.group.clone(),
        band: Some(TimeBand::of(
            new.entry.created.date(offset),
            planner.state.today(),
        )),
        hashes: new
            .entry
            .pointers
            .iter()
            .map(|pointer| sources::here(&planner.state, pointer, None))
            .collect(),
        filed: None,
        strong_since: None,
        consolidated: false,
        replayed: None,
        learned: None,
        by_hand: false,
        apart: false,
        linked: BTreeSet::new(),
        entry: new.entry.clone(),
    }
}

/// Out of the Decay Queue: accessed since, or made more important.
fn revive(planner: &mut Planner) {
    let least = planner.state.settings.queue_below;
    let waiting = planner.ids(|record| matches!(record.place, Place::Queue(_)));
    planner.consider(Rule::Revive, waiting.len());
    for id in waiting {
        let Some(record) = planner.state.records.get(&id) else {
            continue;
        };
        if record.strength >= least || record.entry.priority == Priority::Amygdala {
            let from = record.place;
            let change = Change::Move {
                id: id.clone(),
                from,
                to: Place::Index,
                demotes: 0,
            };
            planner.step(Rule::Revive, vec![id], change);
        }
    }
}

/// Into the Decay Queue.
fn queue(planner: &mut Planner) {
    let least = planner.state.settings.queue_below;
    planner.consider(Rule::Queue, planner.state.live().count());
    let weak = planner.ids(|record| {
        let fades = record.entry.priority != Priority::Amygdala;
        record.place == Place::Index && fades && record.strength < least
    });
    let to = Place::Queue(planner.state.run.started);
    planner.demote(Rule::Queue, weak, to);
}

/// Since when entries are strong. Only here: a replay later in the night is no proof of strength.
fn strong(planner: &mut Planner) {
    let above = planner.state.settings.strong_above;
    let now = planner.state.run.started;
    let live = |record: &Record| record.place == Place::Index;
    planner.each(Rule::Strong, live, |id, record| {
        let from = record.strong_since;
        let to = (record.strength > above).then(|| from.unwrap_or(now));
        (from != to).then(|| Change::Strong {
            id: id.clone(),
            from,
            to,
        })
    });
}

/// Strength, last access and hits as the file will say them.
pub(super) fn flush(planner: &mut Planner) {
    planner.each(
        Rule::Flush,
        |_| true,
        |id, record| {
            let (from, to) = (record.filed, Filed::of(record));
            (!is_told(from, to)).then(|| Change::File {
                id: id.clone(),
                from,
                to,
            })
        },
    );
}

/// Whether the file says well enough what is so. The file stands in prompts: it does not change with every hundredth
/// that a strength fades, only with what a reader would act on.
fn is_told(from: Option<Filed>, to: Option<Filed>) -> bool {
    let (Some(said), Some(so)) = (from, to) else {
        return from == to;
    };
    let band = |filed: Filed| BANDS.iter().rposition(|least| filed.hundredths >= *least);
    let near = said.hundredths.abs_diff(so.hundredths) < FADED && band(said) == band(so);
    near && (said.accessed, said.hits) == (so.accessed, so.hits)
}

/// The ids of all live entries that point into a file.
pub(super) fn of_path(planner: &Planner, path: &str) -> Vec<EntryId> {
    planner.ids(|record| {
        record.place == Place::Index && record.entry.pointers.iter().any(|pointer| pointer.path == path)
    })
}
