//! Which entries of a session belong together: those that were asked for in the same turns?

use std::collections::BTreeMap;

use super::{Kept, Link};

/// Turns in which both were asked for until two entries belong together. Once may be chance.
const TOGETHER: usize = 2;
/// Entries that an entry is linked to, at most; a caller may give more.
const MOST: usize = 8;
/// Entries asked for in one turn until the turn says nothing about any two of them.
const CROWD: usize = 16;
/// Turns of an entry that are looked at, the last ones.
const TURNS: usize = 64;

/// The entries that get new associations. Those that were used together most come first.
pub(super) fn links(entries: &[Kept]) -> Vec<Link> {
    let mut turns: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    for (at, kept) in entries.iter().enumerate() {
        let last = kept.uses.len().saturating_sub(TURNS);
        for turn in kept.uses.iter().skip(last) {
            let used = turns.entry(*turn).or_default();
            if used.last() != Some(&at) {
                used.push(at);
            }
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
    together
        .iter()
        .filter_map(|(at, others)| link(entries, *at, others))
        .collect()
}

fn link(entries: &[Kept], at: usize, others: &BTreeMap<usize, usize>) -> Option<Link> {
    let had = &entries.get(at)?.entry.modifiers.associations;
    let mut most: Vec<(usize, usize)> = others.iter().map(|(other, times)| (*other, *times)).collect();
    most.retain(|(_, times)| *times >= TOGETHER);
    most.sort_by_key(|(other, times)| (std::cmp::Reverse(*times), *other));
    let mut associations = had.clone();
    for id in most
        .iter()
        .filter_map(|(other, _)| Some(&entries.get(*other)?.entry.id))
    {
        if associations.len() < MOST && !associations.contains(id) {
            associations.push(id.clone());
        }
    }
    (associations.len() > had.len()).then_some(Link { at, associations })
}
