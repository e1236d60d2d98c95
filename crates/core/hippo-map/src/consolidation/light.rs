//! Rules of the light cycle (v1 §8.2).

use std::collections::BTreeSet;

use super::change::{EntryChange, RecordFields};
use super::planner::CyclePlanner;
use super::{ConsolidationSnapshot, EntryRecord, FiledUse, QUEUE_BELOW, RecordPlace, Rule, deep, sources};
use crate::bootstrap::{BootstrapEntry, TimeBand};
use crate::decay;
use hippo_types::entry::{EntryId, EntryPriority, Pointer};

/// Minimum change of strength, in hundredths, for which the index file is updated.
const FADED: u8 = 5;
/// Lower bounds of the strength bands in hundredths (v1 §6.2).
const BANDS: [u8; 5] = [0, 10, 30, 50, 80];

/// Runs all rules of a light cycle except [`flush`], which runs at the end of every cycle.
pub(super) fn run_rules(planner: &mut CyclePlanner) {
    // Follow moves before creating entries: a renamed source must not get a new entry.
    sources::follow_moves(planner);
    add_entries(planner);
    // Record hashes after creating entries: a section counts as new until the entry for the whole file has recorded the
    // file's current hash.
    sources::record_hashes(planner);
    deep::update_texts(planner);
    revive_entries(planner);
    queue_weak(planner);
    // Fill an empty Quick Access now, so that a new index does not wait for the first deep cycle.
    if planner.state.quick_access.is_empty() {
        deep::list_quick_access(planner);
    }
}

/// Creates entries for sources that no entry covers.
fn add_entries(planner: &mut CyclePlanner) {
    let candidates = std::mem::take(&mut planner.state.candidates);
    if candidates.is_empty() {
        return;
    }
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
        let pointers = &mut new.entry.pointers;
        pointers.retain(|pointer| !covered.covers(pointer, &planner.state));
        if pointers.is_empty() {
            continue;
        }
        let mut mine = pointers.iter();
        if planner.state.tombstones.contains_key(id)
            || mine.all(|pointer| forgotten.covers(pointer, &planner.state))
        {
            planner.refuse(Rule::Tombstone, vec![id.clone()], "a person removed this entry");
            continue;
        }
        let record = Box::new(record_of(&new, planner));
        planner.add_step(Rule::NewEntry, EntryChange::Add { record });
    }
    planner.state.candidates = candidates;
}

/// Sources that need no new entry.
#[derive(Default)]
struct CoveredSources {
    pointers: BTreeSet<Pointer>,
    /// Files to which an entry points, either as a whole or by section. Empty if the sources are those of removed
    /// entries.
    files: BTreeSet<String>,
    /// Files whose current content hash equals the hash that an entry recorded for the whole file. They contain nothing
    /// new.
    whole: BTreeSet<String>,
    /// Content hashes; `true` marks the hash of a section, `false` of a whole file.
    contents: BTreeSet<(bool, [u8; 16])>,
}

impl CoveredSources {
    /// Collects the sources that existing entries cover.
    fn from_entries(state: &ConsolidationSnapshot, candidates: &[BootstrapEntry]) -> Self {
        let ids: BTreeSet<&EntryId> = candidates.iter().map(|new| &new.entry.id).collect();
        let mut known = Self::default();
        for (id, record) in &state.records {
            // Ignore entries that this run created before an interruption. This run may create two entries for one
            // section, and the first must not cover the second.
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
            // A removed entry has two known contents: the text at the time of removal, and the text written at the same
            // place since.
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
            let now = sources::content_hash(state, pointer, None);
            if pointer.section.is_none() && hash.is_some() && hash == now {
                self.whole.insert(pointer.path.clone());
            }
        }
    }

    fn covers(&self, pointer: &Pointer, state: &ConsolidationSnapshot) -> bool {
        let is_section = pointer.section.is_some();
        let hash = || sources::content_hash(state, pointer, None);
        self.pointers.contains(pointer)
            || self.whole.contains(&pointer.path)
            || (!is_section && self.files.contains(&pointer.path))
            || hash().is_some_and(|hash| self.contents.contains(&(is_section, hash)))
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

/// Returns whether a light cycle leaves an entry as it is, if the entry has this strength, no document has changed, and
/// Quick Access is not empty.
#[must_use]
pub fn is_settled(record: &EntryRecord, strength: f32) -> bool {
    let moves = match record.place {
        RecordPlace::Index => is_weak(record, strength),
        RecordPlace::Queue(_) => !is_weak(record, strength),
        RecordPlace::Archive(_) => false,
    };
    let is_filed = is_close_enough(record.filed, FiledUse::with_strength(record, strength));
    !moves && is_filed && record.hashes.len() == record.entry.pointers.len()
}

/// Returns whether an entry of this strength belongs in the Decay Queue.
fn is_weak(record: &EntryRecord, strength: f32) -> bool {
    strength < QUEUE_BELOW && record.entry.priority != EntryPriority::Amygdala
}

/// Moves entries out of the Decay Queue if they were accessed or became more important.
fn revive_entries(planner: &mut CyclePlanner) {
    planner.set_each(Rule::Revive, |_, record| {
        let returns = matches!(record.place, RecordPlace::Queue(_)) && !is_weak(record, record.strength);
        returns.then_some(RecordFields::Place(RecordPlace::Index))
    });
}

/// Moves weak entries to the Decay Queue.
fn queue_weak(planner: &mut CyclePlanner) {
    let weak = planner.ids(|record| record.place == RecordPlace::Index && is_weak(record, record.strength));
    let to = RecordPlace::Queue(planner.state.run.started);
    planner.demote(Rule::Queue, weak, to);
}

/// Updates strength, last access and hits in the index file.
pub(super) fn flush(planner: &mut CyclePlanner) {
    planner.set_each(Rule::Flush, |_, record| {
        let to = FiledUse::with_strength(record, record.strength);
        (!is_close_enough(record.filed, to)).then_some(RecordFields::Filed(to))
    });
}

/// Returns `true` if the values in the index file are close enough to the current ones. Prompts contain the index file.
/// It is therefore rewritten only for a difference that matters to a reader, not for each hundredth of strength.
fn is_close_enough(from: Option<FiledUse>, to: Option<FiledUse>) -> bool {
    let (Some(filed), Some(so)) = (from, to) else {
        return from == to;
    };
    let band = |filed: FiledUse| BANDS.iter().rposition(|least| filed.hundredths >= *least);
    let near = filed.hundredths.abs_diff(so.hundredths) < FADED && band(filed) == band(so);
    near && (filed.accessed, filed.hits) == (so.accessed, so.hits)
}
