//! Merge of near-duplicate entries.

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BTreeSet};

use super::change::{RecordFields, SourceHashes};
use super::planner::CyclePlanner;
use super::value::{TextReading, ValueConflict};
use super::{ConsolidationSettings, EntryRecord, RecordPlace, Rule, SimilarPair};
use hippo_types::entry::{Entry, EntryId, EntryOrigin};

/// Maximum number of pointers and tags of a merged entry.
const MOST: usize = 8;
/// Maximum number of pairs with different values that a run records. The most similar pairs are recorded.
const MOST_NAMED: usize = 200;

/// Returns `true` if the vectors of two entries are similar enough for a merge. Entries that share a pointer need less
/// similarity: [`ConsolidationSettings::merge_above_shared`].
pub(super) fn is_similar(a: &Entry, b: &Entry, cosine: f32, settings: &ConsolidationSettings) -> bool {
    let shared = a.pointers.iter().any(|pointer| b.pointers.contains(pointer));
    // Comparisons with NaN are false, so NaN counts as not similar.
    cosine >= settings.merge_above || shared && cosine >= settings.merge_above_shared
}

/// Returns the first difference between two similar entries that forbids a merge. Entries of different projects are
/// about different things, even if their words are the same.
pub(super) fn find_difference(
    a: &Entry,
    b: &Entry,
    text_a: &TextReading,
    text_b: &TextReading,
) -> Option<ValueConflict> {
    let (of_a, of_b) = (projects(a), projects(b));
    if !of_a.is_empty() && !of_b.is_empty() && of_a.is_disjoint(&of_b) {
        return Some(ValueConflict::Name);
    }
    text_a.conflict(text_b)
}

/// Returns the projects of an entry. An entry belongs to a project if a pointer leads to a file of the project.
fn projects(entry: &Entry) -> BTreeSet<&str> {
    let paths = entry.pointers.iter().map(|pointer| pointer.path.as_str());
    let inside = paths.filter_map(|path| path.strip_prefix("projects/")?.split_once('/'));
    inside.map(|(project, _)| project).collect()
}

/// Merges pairs of live entries, the most similar first.
pub(super) fn merge_duplicates(planner: &mut CyclePlanner) {
    let mut pairs = planner.state.similar.clone();
    pairs.sort_by(|a, b| {
        let falling = b.cosine.total_cmp(&a.cosine);
        falling.then_with(|| (&a.a, &a.b).cmp(&(&b.a, &b.b)))
    });
    // Parse each text only once, even if many pairs contain it: a merge does not change the text of the kept entry.
    let (mut texts, mut named) = (BTreeMap::new(), 0);
    for pair in pairs {
        merge_pair(planner, &pair, &mut texts, &mut named);
    }
}

fn merge_pair(
    planner: &mut CyclePlanner,
    pair: &SimilarPair,
    texts: &mut BTreeMap<EntryId, TextReading>,
    named: &mut usize,
) {
    let live = |id: &EntryId| {
        let record = planner.state.records.get(id);
        record.filter(|record| record.place == RecordPlace::Index)
    };
    let (true, Some(a), Some(b)) = (pair.a != pair.b, live(&pair.a), live(&pair.b)) else {
        return;
    };
    if !is_similar(&a.entry, &b.entry, pair.cosine, &planner.state.settings) {
        return;
    }
    for record in [a, b] {
        let text = || TextReading::read(&record.entry.topic, &record.entry.summary);
        texts.entry(record.entry.id.clone()).or_insert_with(text);
    }
    let (Some(text_a), Some(text_b)) = (texts.get(&pair.a), texts.get(&pair.b)) else {
        return;
    };
    let both = vec![pair.a.clone(), pair.b.clone()];
    if let Some(conflict) = find_difference(&a.entry, &b.entry, text_a, text_b) {
        *named += 1;
        if *named <= MOST_NAMED {
            let conflict = format!("{conflict:?}").to_lowercase();
            let reason = format!("the entries state different values: {conflict}");
            planner.refuse(Rule::ValueConflict, both, reason);
        }
        return;
    }
    let more = text_a.more(text_b);
    let (keep, absorb, more) = if precedes(a, b, more) {
        (a, b, more)
    } else {
        (b, a, more.reverse())
    };
    let manual = |record: &EntryRecord| record.entry.origin == EntryOrigin::Manual;
    if manual(absorb) {
        return planner.refuse(Rule::Merge, both, "people wrote both entries");
    }
    if absorb.apart {
        return planner.refuse(Rule::Merge, both, "a person has separated these entries");
    }
    if manual(keep) && more.is_lt() {
        return planner.refuse(Rule::Merge, both, "a person wrote the shorter entry");
    }
    let (to, hashes) = unite(keep, absorb);
    if to.pointers.len() > MOST {
        return planner.refuse(Rule::Merge, both, "the merged entry would have too many pointers");
    }
    if !planner.may_demote() {
        return planner.refuse_loss(both);
    }
    let archived = RecordFields::Place(RecordPlace::Archive(planner.state.run.started));
    let (kept, absorbed) = (keep.entry.id.clone(), absorb.entry.id.clone());
    let kept = (kept, RecordFields::Merged(Box::new(to), hashes));
    planner.set(Rule::Merge, vec![kept, (absorbed, archived)], 1);
}

/// Returns `true` if `a` is kept and absorbs `b`. The first criterion that differs decides: `a` was written by a
/// person, says more, has more hits, is longer, or is older.
///
/// A merge adds the hits of both entries, so no hits are lost if the newer text says more and is kept.
fn precedes(a: &EntryRecord, b: &EntryRecord, more: Ordering) -> bool {
    let made = |record: &EntryRecord| record.entry.origin != EntryOrigin::Manual;
    let rest = |record: &EntryRecord| {
        let entry = &record.entry;
        let (hits, length) = (Reverse(entry.hits), Reverse(entry.summary.len()));
        (hits, length, entry.created.0, entry.id.clone())
    };
    let order = made(a).cmp(&made(b)).then(more.reverse());
    order.then_with(|| rest(a).cmp(&rest(b))).is_le()
}

/// Returns the merged entry and the hashes of its pointers.
fn unite(keep: &EntryRecord, absorb: &EntryRecord) -> (Entry, SourceHashes) {
    let mut entry = keep.entry.clone();
    let mut hashes = keep.hashes.clone();
    hashes.resize(entry.pointers.len(), None);
    for (at, pointer) in absorb.entry.pointers.iter().enumerate() {
        if !entry.pointers.contains(pointer) {
            entry.pointers.push(pointer.clone());
            hashes.push(absorb.hashes.get(at).copied().flatten());
        }
    }
    for tag in &absorb.entry.tags {
        if !entry.tags.contains(tag) && entry.tags.len() < MOST {
            entry.tags.push(tag.clone());
        }
    }
    entry.related.extend(absorb.entry.related.iter().cloned());
    let mut gone = BTreeSet::from([keep.entry.id.clone(), absorb.entry.id.clone()]);
    entry.related.retain(|id| gone.insert(id.clone()));
    entry.hits = entry.hits.saturating_add(absorb.entry.hits);
    entry.created = entry.created.min(absorb.entry.created);
    if absorb.entry.priority > entry.priority {
        entry.priority = absorb.entry.priority;
        entry.priority_rule.clone_from(&absorb.entry.priority_rule);
    }
    entry.version = entry.version.saturating_add(1);
    (entry, hashes)
}
