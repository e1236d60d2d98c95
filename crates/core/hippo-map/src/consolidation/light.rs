//! Rules of the light cycle (v1 §8.2).

use std::collections::{BTreeMap, BTreeSet};

use super::change::EntryChange;
use super::planner::{ConsolidationPlan, CyclePlanner};
use super::{
    ConsolidationSettings, ConsolidationSnapshot, EntryRecord, FiledUse, RecordPlace, Rule, deep, sources,
};
use crate::bootstrap::{BootstrapEntry, TimeBand};
use crate::decay;
use hippo_types::cycle::Cycle;
use hippo_types::entry::{EntryId, EntryPriority, Pointer};
use hippo_types::time::Timestamp;

/// Minimum change of strength, in hundredths, for which the file is updated.
const FADED: u8 = 5;
/// Lower bounds of the strength bands in hundredths (v1 §6.2).
const BANDS: [u8; 5] = [0, 10, 30, 50, 80];

/// Runs all rules of a light cycle except [`flush`], which ends every cycle.
pub(super) fn run_rules(planner: &mut CyclePlanner) {
    // Moves are followed before new entries are created, because renamed sources are not new.
    sources::follow_moves(planner);
    add_entries(planner);
    // Hashes are recorded after entries are created, because a section is new if the entry for the whole file has not
    // recorded it yet.
    sources::record_hashes(planner);
    deep::update_texts(planner);
    revive_entries(planner);
    queue_weak(planner);
    track_strong(planner);
    // Fill Quick Access of a first index before the first deep cycle.
    if planner.state.quick_access.is_empty() {
        deep::list_quick_access(planner);
    }
}

/// Returns the plan of a light cycle that changes nothing, computed without a copy of the entries. Returns `None` if
/// there are changes.
///
/// Strengths are computed for `now`. The caller guarantees that there are no candidates and no new or
/// changed documents.
#[must_use]
pub fn plan_idle(
    records: &BTreeMap<EntryId, EntryRecord>,
    quick_access: &[EntryId],
    settings: &ConsolidationSettings,
    now: Timestamp,
) -> Option<ConsolidationPlan> {
    let mut listed = 0;
    for record in records.values() {
        let strength = decay::strength_at(&settings.profile, &record.entry, now);
        let amygdala = record.entry.priority == EntryPriority::Amygdala;
        let weak = strength < settings.queue_below && !amygdala;
        match record.place {
            RecordPlace::Index if weak => return None,
            RecordPlace::Index => {
                listed += usize::from(record.learned.is_none());
                if (strength > settings.strong_above) != record.strong_since.is_some() {
                    return None;
                }
            }
            RecordPlace::Queue(_) if !weak => return None,
            RecordPlace::Queue(_) | RecordPlace::Archive(_) => {}
        }
        if !is_close_enough(record.filed, FiledUse::with_strength(record, strength)) {
            return None;
        }
    }
    if quick_access.is_empty() && listed > 0 {
        return None;
    }
    Some(ConsolidationPlan::empty(Cycle::Light))
}

/// Creates entries for files without one.
fn add_entries(planner: &mut CyclePlanner) {
    let candidates = std::mem::take(&mut planner.state.candidates);
    let (covered, forgotten) = (
        CoveredSources::from_entries(&planner.state, &candidates),
        CoveredSources::from_tombstones(&planner.state),
    );
    for new in &candidates {
        let id = &new.entry.id;
        if planner.state.records.contains_key(id) {
            continue;
        }
        let mut new = new.clone();
        new.entry
            .pointers
            .retain(|pointer| !covered.covers(pointer, &planner.state));
        if new.entry.pointers.is_empty() {
            continue;
        }
        let mut mine = new.entry.pointers.iter();
        if planner.state.tombstones.contains_key(id)
            || mine.all(|pointer| forgotten.covers(pointer, &planner.state))
        {
            planner.refuse(Rule::Tombstone, vec![id.clone()], "a person removed this entry");
            continue;
        }
        let record = Box::new(record_of(&new, planner));
        planner.add_step(Rule::NewEntry, vec![id.clone()], EntryChange::Add { record });
    }
    planner.state.candidates = candidates;
}

/// Sources that need no new entry.
#[derive(Default)]
struct CoveredSources {
    pointers: BTreeSet<Pointer>,
    /// Files that are pointed at, as a whole or by section; empty for forgotten entries.
    files: BTreeSet<String>,
    /// Files that are pointed at as a whole and have not changed since: nothing in them is new.
    whole: BTreeSet<String>,
    /// Content hashes; `true` marks the hash of a section, `false` of a whole file.
    contents: BTreeSet<(bool, [u8; 16])>,
}

impl CoveredSources {
    /// Collects the sources that entries cover.
    fn from_entries(state: &ConsolidationSnapshot, candidates: &[BootstrapEntry]) -> Self {
        let ids: BTreeSet<&EntryId> = candidates.iter().map(|new| &new.entry.id).collect();
        let mut known = Self::default();
        for (id, record) in &state.records {
            // If this run makes two entries for one section, one of them may already exist when an interrupted run
            // resumes.
            let shown = !matches!(record.place, RecordPlace::Archive(_));
            let of_this_run = shown && record.filed.is_none() && ids.contains(id);
            if sources::describes_sources(record) && !of_this_run {
                known.add_record(record, state);
                let paths = record.entry.pointers.iter().map(|pointer| pointer.path.clone());
                known.files.extend(paths);
            }
        }
        known
    }

    /// Collects the locations and contents of entries that a person removed.
    fn from_tombstones(state: &ConsolidationSnapshot) -> Self {
        let mut known = Self::default();
        for (id, removed) in &state.tombstones {
            known.pointers.extend(removed.pointers.iter().cloned());
            // The content at the time of removal, and the content written there since.
            known.add_contents(&removed.pointers, &removed.hashes);
            if let Some(record) = state.records.get(id) {
                known.add_record(record, state);
                known.add_contents(&record.entry.pointers, &record.hashes);
            }
        }
        known
    }

    fn add_contents(&mut self, pointers: &[Pointer], hashes: &[Option<[u8; 16]>]) {
        let contents = pointers.iter().zip(hashes);
        self.contents
            .extend(contents.filter_map(|(pointer, hash)| Some((pointer.section.is_some(), (*hash)?))));
    }

    fn add_record(&mut self, record: &EntryRecord, state: &ConsolidationSnapshot) {
        for (at, pointer) in record.entry.pointers.iter().enumerate() {
            self.pointers.insert(pointer.clone());
            let hash = record.hashes.get(at).copied().flatten();
            if pointer.section.is_none()
                && hash.is_some()
                && hash == sources::content_hash(state, pointer, None)
            {
                self.whole.insert(pointer.path.clone());
            }
        }
    }

    fn covers(&self, pointer: &Pointer, state: &ConsolidationSnapshot) -> bool {
        let content = || {
            Some((
                pointer.section.is_some(),
                sources::content_hash(state, pointer, None)?,
            ))
        };
        self.pointers.contains(pointer)
            || self.whole.contains(&pointer.path)
            || (pointer.section.is_none() && self.files.contains(&pointer.path))
            || (!self.contents.is_empty()
                && content().is_some_and(|content| self.contents.contains(&content)))
    }
}

fn record_of(new: &BootstrapEntry, planner: &CyclePlanner) -> EntryRecord {
    let (state, entry) = (&planner.state, &new.entry);
    let offset = state.settings.offset_seconds;
    let here = |pointer| sources::content_hash(state, pointer, None);
    EntryRecord {
        strength: decay::strength_at(&state.settings.profile, entry, state.run.started),
        band: Some(TimeBand::from_date(entry.created.date(offset), state.today())),
        hashes: entry.pointers.iter().map(here).collect(),
        ..EntryRecord::new(entry.clone(), new.group.as_str())
    }
}

/// Moves entries out of the Decay Queue if they were accessed or became more important.
fn revive_entries(planner: &mut CyclePlanner) {
    let least = planner.state.settings.queue_below;
    let waiting = planner.ids(|record| matches!(record.place, RecordPlace::Queue(_)));
    for id in waiting {
        let Some(record) = planner.state.records.get(&id) else {
            continue;
        };
        if record.strength >= least || record.entry.priority == EntryPriority::Amygdala {
            let from = record.place;
            let change = EntryChange::Move {
                id: id.clone(),
                from,
                to: RecordPlace::Index,
                demotes: 0,
            };
            planner.add_step(Rule::Revive, vec![id], change);
        }
    }
}

/// Moves weak entries to the Decay Queue.
fn queue_weak(planner: &mut CyclePlanner) {
    let least = planner.state.settings.queue_below;
    let weak = planner.ids(|record| {
        let fades = record.entry.priority != EntryPriority::Amygdala;
        record.place == RecordPlace::Index && fades && record.strength < least
    });
    let to = RecordPlace::Queue(planner.state.run.started);
    planner.demote(Rule::Queue, weak, to);
}

/// Tracks since when entries have been strong. Only the light cycle does this, because a replay later at night is not
/// evidence of strength.
fn track_strong(planner: &mut CyclePlanner) {
    let above = planner.state.settings.strong_above;
    let now = planner.state.run.started;
    let live = |record: &EntryRecord| record.place == RecordPlace::Index;
    planner.change_each(Rule::Strong, live, |id, record| {
        let from = record.strong_since;
        let to = (record.strength > above).then(|| from.unwrap_or(now));
        (from != to).then(|| EntryChange::Strong {
            id: id.clone(),
            from,
            to,
        })
    });
}

/// Updates strength, last access and hits in the file.
pub(super) fn flush(planner: &mut CyclePlanner) {
    planner.change_each(
        Rule::Flush,
        |_| true,
        |id, record| {
            let (from, to) = (record.filed, FiledUse::from_record(record));
            (!is_close_enough(from, to)).then(|| EntryChange::File {
                id: id.clone(),
                from,
                to,
            })
        },
    );
}

/// Returns `true` if the file's values are close enough to the current ones. Prompts contain the file, so it changes
/// only for values on which a reader would act, not for each hundredth of strength.
fn is_close_enough(from: Option<FiledUse>, to: Option<FiledUse>) -> bool {
    let (Some(filed), Some(so)) = (from, to) else {
        return from == to;
    };
    let band = |filed: FiledUse| BANDS.iter().rposition(|least| filed.hundredths >= *least);
    let near = filed.hundredths.abs_diff(so.hundredths) < FADED && band(filed) == band(so);
    near && (filed.accessed, filed.hits) == (so.accessed, so.hits)
}

/// Returns the ids of all live entries that point into a file.
pub(super) fn ids_in_file(planner: &CyclePlanner, path: &str) -> Vec<EntryId> {
    planner.ids(|record| {
        record.place == RecordPlace::Index && record.entry.pointers.iter().any(|pointer| pointer.path == path)
    })
}
