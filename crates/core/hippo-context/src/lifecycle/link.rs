//! Associations between entries that are used in the same turns.

use std::collections::BTreeMap;

use super::{AssociationChange, SessionEntry};

/// Minimum number of turns in which two entries were both used before they are associated. A single turn may be a
/// coincidence.
const TOGETHER: usize = 2;
/// Maximum number of associations that are added to an entry automatically; a caller may add more.
const MOST: usize = 8;
/// A turn that uses more entries than this is ignored, because it does not show that any two entries are related.
const CROWD: usize = 16;

/// Returns the entries that get new associations. For each entry, the new associations are in order of the number of
/// common turns, highest first.
pub(super) fn find_links(entries: &[SessionEntry]) -> Vec<AssociationChange> {
    let mut turns: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    for (at, kept) in entries.iter().enumerate() {
        for turn in &kept.uses {
            turns.entry(*turn).or_default().push(at);
        }
    }
    let mut together: BTreeMap<usize, BTreeMap<usize, usize>> = BTreeMap::new();
    for used in turns.values().filter(|used| used.len() <= CROWD) {
        for a in used {
            for b in used.iter().filter(|b| *b != a) {
                *together.entry(*a).or_default().entry(*b).or_default() += 1;
            }
        }
    }
    let extend = |(at, others): (&usize, &_)| extend_links(entries, *at, others);
    together.iter().filter_map(extend).collect()
}

fn extend_links(
    entries: &[SessionEntry],
    at: usize,
    others: &BTreeMap<usize, usize>,
) -> Option<AssociationChange> {
    let had = &entries[at].entry.modifiers.associations;
    let mut most: Vec<_> = others.iter().filter(|(_, times)| **times >= TOGETHER).collect();
    most.sort_by_key(|(other, times)| (std::cmp::Reverse(**times), **other));
    let mut associations = had.clone();
    for (other, _) in most {
        let id = &entries[*other].entry.id;
        if associations.len() < MOST && !associations.contains(id) {
            associations.push(id.clone());
        }
    }
    (associations.len() > had.len()).then_some(AssociationChange { at, associations })
}
