//! Merge of near-duplicate entries.

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BTreeSet};

use super::change::EntryChange;
use super::planner::CyclePlanner;
use super::value::{ParsedText, ValueConflict};
use super::{ConsolidationSettings, EntryRecord, RecordPlace, Rule, SimilarPair};
use hippo_types::entry::{Entry, EntryId, EntryOrigin};

/// Maximum number of pointers and tags of a merged entry.
const MOST: usize = 8;
/// Maximum number of pairs with different values in the record of a run; the most similar pairs are kept.
const MOST_NAMED: usize = 200;

/// Relation of two entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Likeness {
    /// Not similar enough.
    Apart,
    /// Similar, with different values.
    Conflict(ValueConflict),
    /// Same content; one entry may have additions.
    Same,
}

/// Classifies two entries by the cosine of the vectors of their texts ("topic. summary") and by the values
/// they state.
///
/// Entries that share a pointer need less similarity: [`ConsolidationSettings::merge_above_shared`]. Entries of
/// different projects are about different things, even if their words are the same.
#[must_use]
pub fn classify_pair(a: &Entry, b: &Entry, cosine: f32, settings: &ConsolidationSettings) -> Likeness {
    if !is_similar(a, b, cosine, settings) {
        return Likeness::Apart;
    }
    compare_values(a, b, &ParsedText::parse(a), &ParsedText::parse(b))
}

fn is_similar(a: &Entry, b: &Entry, cosine: f32, settings: &ConsolidationSettings) -> bool {
    let shared = a.pointers.iter().any(|pointer| b.pointers.contains(pointer));
    let least = if shared {
        settings.merge_above_shared.min(settings.merge_above)
    } else {
        settings.merge_above
    };
    // A NaN is not similar.
    cosine >= least
}

/// Compares the projects and the values of two similar entries.
fn compare_values(a: &Entry, b: &Entry, text_a: &ParsedText, text_b: &ParsedText) -> Likeness {
    let (of_a, of_b) = (projects(a), projects(b));
    if !of_a.is_empty() && !of_b.is_empty() && of_a.is_disjoint(&of_b) {
        return Likeness::Conflict(ValueConflict::Name);
    }
    text_a.conflict(text_b).map_or(Likeness::Same, Likeness::Conflict)
}

/// Returns the projects that an entry points into.
fn projects(entry: &Entry) -> BTreeSet<&str> {
    let paths = entry.pointers.iter().map(|pointer| pointer.path.as_str());
    let inside = paths.filter_map(|path| path.strip_prefix("projects/")?.split_once('/'));
    inside.map(|(project, _)| project).collect()
}

/// Merges pairs of live entries, the most similar first.
pub(super) fn merge_duplicates(planner: &mut CyclePlanner) {
    let mut pairs = planner.state.similar.clone();
    pairs.sort_by(|a, b| {
        b.cosine
            .total_cmp(&a.cosine)
            .then_with(|| (&a.a, &a.b).cmp(&(&b.a, &b.b)))
    });
    // Each text is parsed once, however many pairs contain it, because a merge does not change the text of the kept
    // entry.
    let (mut texts, mut named) = (BTreeMap::new(), 0);
    for pair in pairs {
        merge_pair(planner, &pair, &mut texts, &mut named);
    }
}

fn merge_pair(
    planner: &mut CyclePlanner,
    pair: &SimilarPair,
    texts: &mut BTreeMap<EntryId, ParsedText>,
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
        if !texts.contains_key(&record.entry.id) {
            texts.insert(record.entry.id.clone(), ParsedText::parse(&record.entry));
        }
    }
    let (Some(text_a), Some(text_b)) = (texts.get(&pair.a), texts.get(&pair.b)) else {
        return;
    };
    let both = vec![pair.a.clone(), pair.b.clone()];
    if let Likeness::Conflict(conflict) = compare_values(&a.entry, &b.entry, text_a, text_b) {
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
    let change = EntryChange::Merge {
        from: Box::new(keep.entry.clone()),
        to: Box::new(to),
        hashes: Box::new([keep.hashes.clone(), hashes]),
        absorbed: absorb.entry.id.clone(),
        places: (absorb.place, RecordPlace::Archive(planner.state.run.started)),
        demotes: 1,
    };
    planner.add_step(Rule::Merge, both, change);
}

/// Returns `true` if `a` is kept and absorbs `b`. The criteria, in order: written by a person, says more, has more
/// hits, is longer, is older.
///
/// The hits of both are added, so that nothing is lost if the newer text says more and is kept.
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

/// Returns the union of both entries and the hashes of its pointers.
fn unite(keep: &EntryRecord, absorb: &EntryRecord) -> (Entry, Vec<Option<[u8; 16]>>) {
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
    for id in &absorb.entry.related {
        if !entry.related.contains(id) {
            entry.related.push(id.clone());
        }
    }
    let gone = [&keep.entry.id, &absorb.entry.id];
    entry.related.retain(|id| !gone.contains(&id));
    entry.hits = entry.hits.saturating_add(absorb.entry.hits);
    entry.created = entry.created.min(absorb.entry.created);
    if absorb.entry.priority > entry.priority {
        entry.priority = absorb.entry.priority;
        entry.priority_rule.clone_from(&absorb.entry.priority_rule);
    }
    entry.version = entry.version.saturating_add(1);
    (entry, hashes)
}
