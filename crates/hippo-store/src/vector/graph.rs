//! HNSW graph in flat arrays, and its search.
//!
//! `hnsw_rs` uses one allocation per edge (2.5 KB per point with M = 16). A completed graph is therefore copied into
//! arrays of offsets and links (about 100 bytes per point), which can be searched without locks and reference counts.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::quantize::PreparedQuery;
use super::scan::{ScoredSlot, score_slots};
use super::slots::{Codes, SlotSet};

/// Links of the slots: `links[offsets[slot]..offsets[slot + 1]]` for each `slot`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct GraphLinks {
    pub offsets: Vec<u32>,
    pub links: Vec<u32>,
}

impl GraphLinks {
    pub fn of(&self, at: usize) -> &[u32] {
        match self.offsets.get(at..at + 2) {
            Some(&[start, end]) => &self.links[start as usize..end as usize],
            _ => &[],
        }
    }

    pub fn memory_bytes(&self) -> usize {
        4 * (self.offsets.capacity() + self.links.capacity())
    }
}

/// A layer above the lowest layer: some of the nodes, sorted, and the links between them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct UpperLayer {
    pub nodes: Vec<u32>,
    pub links: GraphLinks,
}

impl UpperLayer {
    fn of(&self, slot: u32) -> &[u32] {
        self.nodes
            .binary_search(&slot)
            .map_or(&[], |at| self.links.of(at))
    }
}

/// A graph over the slots in `members`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct HnswGraph {
    /// The slot at which every search starts.
    pub entry: u32,
    /// The layers above the lowest layer, highest first.
    pub uppers: Vec<UpperLayer>,
    /// The links of the lowest layer, by slot.
    pub base: GraphLinks,
    /// The slots that a graph search can reach. All other slots must be scanned.
    pub members: SlotSet,
}

impl HnswGraph {
    /// Returns the `ef` nearest members that `admit` accepts, in arbitrary order. The search also follows the links
    /// of members that `admit` rejects.
    pub fn search(
        &self,
        codes: &Codes,
        query: &PreparedQuery,
        ef: usize,
        admit: &dyn Fn(u32) -> bool,
    ) -> impl Iterator<Item = ScoredSlot> {
        let start = self.descend(codes, query);
        let mut visited = SlotSet::with_slots(codes.len());
        let mut open = BinaryHeap::from([start]);
        let mut found: BinaryHeap<Reverse<ScoredSlot>> = BinaryHeap::with_capacity(ef + 1);
        let mut fresh = Vec::with_capacity(64);
        visited.insert(start.slot);
        if admit(start.slot) {
            found.push(Reverse(start));
        }
        while let Some(node) = open.pop() {
            let worst = if found.len() < ef {
                f32::NEG_INFINITY
            } else {
                worst_of(&found)
            };
            if node.score < worst {
                break;
            }
            fresh.clear();
            fresh.extend(
                self.base
                    .of(node.slot as usize)
                    .iter()
                    .copied()
                    .filter(|&l| visited.insert(l)),
            );
            score_slots(codes, query, &fresh, |next| {
                if found.len() < ef || next.score > worst_of(&found) {
                    open.push(next);
                    if admit(next.slot) {
                        found.push(Reverse(next));
                        if found.len() > ef {
                            found.pop();
                        }
                    }
                }
            });
        }
        found.into_iter().map(|Reverse(scored)| scored)
    }

    pub fn memory_bytes(&self) -> usize {
        let of = |layer: &UpperLayer| 4 * layer.nodes.capacity() + layer.links.memory_bytes();
        self.uppers.iter().map(of).sum::<usize>() + self.base.memory_bytes() + 8 * self.members.words.len()
    }

    /// Descends from the entry point to the best start for the search in the lowest layer.
    fn descend(&self, codes: &Codes, query: &PreparedQuery) -> ScoredSlot {
        let mut here = ScoredSlot {
            score: f32::NEG_INFINITY,
            slot: self.entry,
        };
        score_slots(codes, query, &[self.entry], |s| here = s);
        for layer in &self.uppers {
            loop {
                let before = here.slot;
                score_slots(codes, query, layer.of(before), |next| {
                    if next > here {
                        here = next;
                    }
                });
                if here.slot == before {
                    break;
                }
            }
        }
        here
    }
}

fn worst_of(found: &BinaryHeap<Reverse<ScoredSlot>>) -> f32 {
    found.peek().map_or(f32::NEG_INFINITY, |Reverse(s)| s.score)
}
