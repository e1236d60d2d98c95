//! Exact search: coarse scores of all or some slots.

use std::cmp::Ordering;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;

use super::quantize::{self, PreparedQuery};
use super::slots::{BLOCK, Codes};

/// Number of slots above which another thread is worthwhile. Starting a thread takes 30 µs or more.
const SLOTS_PER_THREAD: usize = 40_000;
/// Number of scores computed at a time. These scores take 2 KB, which fits into the first-level cache.
const TILE: usize = 512;

/// A slot and its score. The greater value has the higher score or, with equal scores, the lower slot.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ScoredSlot {
    pub score: f32,
    pub slot: u32,
}

impl Eq for ScoredSlot {}

impl PartialOrd for ScoredSlot {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for ScoredSlot {
    fn cmp(&self, other: &Self) -> Ordering {
        self.score
            .total_cmp(&other.score)
            .then(other.slot.cmp(&self.slot))
    }
}

/// Collector of the `cap` best items.
#[derive(Debug)]
pub(super) struct BestScores {
    cap: usize,
    /// An item is accepted only if its score is above this value.
    pub threshold: f32,
    items: Vec<ScoredSlot>,
}

impl BestScores {
    pub fn new(cap: usize) -> Self {
        Self {
            cap: cap.max(1),
            threshold: f32::NEG_INFINITY,
            items: Vec::with_capacity(2 * cap.max(1)),
        }
    }

    /// Adds an item whose score is above the threshold.
    pub fn push_if_better(&mut self, item: ScoredSlot) {
        if item.score > self.threshold {
            self.push(item);
        }
    }

    pub fn push(&mut self, item: ScoredSlot) {
        self.items.push(item);
        if self.items.len() >= 2 * self.cap {
            self.cut();
        }
    }

    /// Returns the best items, best first.
    pub fn into_sorted(mut self) -> Vec<ScoredSlot> {
        self.cut();
        self.items.sort_unstable_by(|a, b| b.cmp(a));
        self.items
    }

    fn cut(&mut self) {
        if self.items.len() > self.cap {
            let (_, last, _) = self.items.select_nth_unstable_by(self.cap - 1, |a, b| b.cmp(a));
            self.threshold = last.score;
            self.items.truncate(self.cap);
        }
    }
}

/// Computes the coarse scores of all slots. Returns the `cap` best slots that `admit` accepts, best first. `admit`
/// may be slow, because it is called only for slots with a sufficient score.
pub(super) fn scan_all(
    codes: &Codes,
    query: &PreparedQuery,
    cap: usize,
    admit: &(dyn Fn(u32) -> bool + Sync),
    threads: usize,
) -> Vec<ScoredSlot> {
    let threads = threads.min(codes.len() / SLOTS_PER_THREAD).max(1);
    let next = AtomicUsize::new(0);
    let work = || {
        let mut best = BestScores::new(cap);
        loop {
            let block = next.fetch_add(1, Relaxed);
            if block >= codes.blocks.len() {
                return best;
            }
            scan_block(codes, query, block, &mut best, admit);
        }
    };
    if threads == 1 {
        return work().into_sorted();
    }
    thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
        let mut best = work();
        for other in others {
            match other.join() {
                Ok(part) => part.items.into_iter().for_each(|item| best.push(item)),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        best.into_sorted()
    })
}

fn scan_block(
    codes: &Codes,
    query: &PreparedQuery,
    index: usize,
    best: &mut BestScores,
    admit: &(dyn Fn(u32) -> bool + Sync),
) {
    let block = &codes.blocks[index];
    let offset = query.coarse_offset();
    let mut scores = [0.0f32; TILE];
    let tiles = block
        .upper
        .chunks(TILE * codes.plane_bytes())
        .zip(block.scales.chunks(TILE));
    for (tile, (upper, scales)) in tiles.enumerate() {
        let scores = &mut scores[..scales.len()];
        quantize::score_run(upper, &query.codes, offset, scales, scores);
        let first = index * BLOCK + tile * TILE;
        for (part, group) in scores.chunks(16).enumerate() {
            let limit = best.threshold;
            if !group.iter().fold(false, |any, &score| any | (score > limit)) {
                continue;
            }
            for (i, &score) in group.iter().enumerate() {
                let slot = (first + part * 16 + i) as u32;
                if score > best.threshold && admit(slot) {
                    best.push(ScoredSlot { score, slot });
                }
            }
        }
    }
}

/// Calls `each` with the coarse score of each given slot, in order.
pub(super) fn score_slots(
    codes: &Codes,
    query: &PreparedQuery,
    slots: &[u32],
    mut each: impl FnMut(ScoredSlot),
) {
    let offset = query.coarse_offset();
    let mut dots = [0i32; 64];
    let mut planes: [&[u8]; 64] = [&[]; 64];
    for part in slots.chunks(64) {
        let (dots, planes) = (&mut dots[..part.len()], &mut planes[..part.len()]);
        for (plane, &slot) in planes.iter_mut().zip(part) {
            *plane = codes.upper_plane(slot);
        }
        quantize::dot_planes(planes, &query.codes, dots);
        for (&slot, &dot) in part.iter().zip(&*dots) {
            each(ScoredSlot {
                score: ((16 * dot) as f32 + offset) * codes.scale(slot),
                slot,
            });
        }
    }
}

/// Returns the cosines of the given slots from their full codes, in order.
pub(super) fn refine(codes: &Codes, query: &PreparedQuery, slots: &[u32]) -> Vec<ScoredSlot> {
    let mut planes: Vec<&[u8]> = Vec::with_capacity(2 * slots.len());
    for &slot in slots {
        planes.push(codes.upper_plane(slot));
        planes.push(codes.lower_plane(slot));
    }
    let mut dots = vec![0; planes.len()];
    quantize::dot_planes(&planes, &query.codes, &mut dots);
    let pairs = dots.as_chunks::<2>().0;
    slots
        .iter()
        .zip(pairs)
        .map(|(&slot, &[upper, lower])| ScoredSlot {
            score: query.cosine(upper, lower, codes.scale(slot)),
            slot,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn best_keeps_the_highest_scores_in_order() {
        let mut best = BestScores::new(3);
        for slot in 0..100u32 {
            best.push(ScoredSlot {
                score: ((slot * 37) % 100) as f32,
                slot,
            });
        }
        let scores: Vec<f32> = best.into_sorted().iter().map(|s| s.score).collect();
        assert_eq!(scores, [99.0, 98.0, 97.0]);
    }
}
