//! Which near-duplicates become one entry?

use super::change::Change;
use super::planner::Planner;
use super::value::value_conflict;
use super::{Place, Record, Rule, Similar};
use crate::entry::{Entry, EntryId, Origin};

/// Pointers and tags of a merged entry, at most.
const MOST: usize = 8;

/// Merges pairs of live entries, the most alike first.
pub(super) fn duplicates(planner: &mut Planner) {
    let mut pairs = planner.state.similar.clone();
    pairs.sort_by(|a, b| {
        b.cosine
            .total_cmp(&a.cosine)
            .then_with(|| (&a.a, &a.b).cmp(&(&b.a, &b.b)))
    });
    planner.consider(Rule::Merge, pairs.len());
    for pair in pairs {
        pair_of(planner, &pair);
    }
}

fn pair_of(planner: &mut Planner, pair: &Similar) {
    // A NaN is not alike.
    let alike = pair.cosine >= planner.state.settings.merge_above && pair.a != pair.b;
    let live = |id: &EntryId| {
        planner
            .state
            .records
            .get(id)
            .filter(|record| record.place == Place::Index)
    };
    let (true, Some(a), Some(b)) = (alike, live(&pair.a), live(&pair.b)) else {
        return;
    };
    let both = vec![pair.a.clone(), pair.b.clone()];
    if a.entry.origin == Origin::Manual && b.entry.origin == Origin::Manual {
        return planner.refuse(Rule::Merge, both, "people wrote both entries");
    }
    let text = |record: &Record| format!("{}. {}", record.entry.topic, record.entry.summary);
    if let Some(conflict) = value_conflict(&text(a), &text(b)) {
        let reason = format!(
            "they state different values: {}",
            format!("{conflict:?}").to_lowercase()
        );
        return planner.refuse(Rule::ValueConflict, both, reason);
    }
    let (keep, absorb) = if rank(a) <= rank(b) { (a, b) } else { (b, a) };
    let (to, hashes) = united(keep, absorb);
    if to.pointers.len() > MOST {
        return planner.refuse(Rule::Merge, both, "together they point at too many places");
    }
    if !planner.may_demote() {
        return planner.refuse_loss(both);
    }
    let change = Change::Merge {
        from: Box::new(keep.entry.clone()),
        to: Box::new(to),
        hashes: Box::new([keep.hashes.clone(), hashes]),
        absorbed: absorb.entry.id.clone(),
        places: (absorb.place, Place::Archive(planner.state.run.started)),
        demotes: 1,
    };
    planner.step(Rule::Merge, both, change);
}

/// What stays comes first: written by a person, used, told at greater length, old.
fn rank(
    record: &Record,
) -> (
    bool,
    std::cmp::Reverse<u32>,
    std::cmp::Reverse<usize>,
    i64,
    &EntryId,
) {
    let entry = &record.entry;
    (
        entry.origin != Origin::Manual,
        std::cmp::Reverse(entry.hits),
        std::cmp::Reverse(entry.summary.len()),
        entry.created.0,
        &entry.id,
    )
}

/// The entry that has all of both, and the hashes of its pointers.
fn united(keep: &Record, absorb: &Record) -> (Entry, Vec<Option<[u8; 16]>>) {
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
