//! Construction of a graph from a snapshot with `hnsw_rs`.

use std::sync::atomic::{AtomicBool, Ordering};

use hnsw_rs::prelude::{Distance, Hnsw};

use super::graph::{GraphLinks, HnswGraph, UpperLayer};
use super::params::VectorParams;
use super::quantize;
use super::slots::{Codes, SlotSet};

/// Number of points inserted between two checks of the cancel flag. Inserting them takes about 0.1 s.
const BATCH: usize = 256;
/// Maximum number of layers. `hnsw_rs` does not support more.
const MAX_LAYERS: usize = 16;

/// A snapshot of an index. Another thread can build a graph from it while the index is in use.
#[derive(Debug, Clone)]
pub struct BuildJob {
    pub(super) token: u64,
    pub(super) codes: Codes,
    pub(super) slots: Vec<u32>,
    pub(super) params: VectorParams,
}

/// A completed build, for [`VectorIndex::install`](super::VectorIndex::install).
#[derive(Debug)]
pub struct BuiltGraph {
    pub(super) token: u64,
    pub(super) graph: Option<HnswGraph>,
}

impl BuildJob {
    /// Returns the number of vectors.
    pub fn count(&self) -> usize {
        self.slots.len()
    }

    /// Builds the graph on [`VectorParams::build_threads`] threads. For hundreds of thousands of vectors, this takes
    /// minutes. If the snapshot is small enough for a scan, the result contains no graph. Returns `None` if `cancel`
    /// was set during the build.
    pub fn run(self, cancel: &AtomicBool) -> Option<BuiltGraph> {
        if self.slots.len() <= self.params.exact_below.max(1) {
            return Some(BuiltGraph {
                token: self.token,
                graph: None,
            });
        }
        let token = self.token;
        let threads = self.params.build_threads.max(1);
        let graph = match rayon::ThreadPoolBuilder::new().num_threads(threads).build() {
            // `hnsw_rs` uses the current thread pool, even when it drops its points.
            Ok(pool) => pool.install(|| self.build(cancel, threads > 1))?,
            Err(_) => self.build(cancel, false)?,
        };
        Some(BuiltGraph {
            token,
            graph: Some(graph),
        })
    }

    fn build(self, cancel: &AtomicBool, parallel: bool) -> Option<HnswGraph> {
        let slots = self.codes.len();
        let m = self.params.m.clamp(2, 256);
        let distance = CodeDistance { codes: self.codes };
        let hnsw = Hnsw::new(
            m,
            self.slots.len(),
            MAX_LAYERS,
            self.params.ef_construction.max(m),
            distance,
        );
        for batch in self.slots.chunks(BATCH) {
            if cancel.load(Ordering::Relaxed) {
                return None;
            }
            let points: Vec<(&[u32], usize)> = batch
                .iter()
                .map(|slot| (std::slice::from_ref(slot), *slot as usize))
                .collect();
            if parallel {
                hnsw.parallel_insert_slice(&points);
            } else {
                points.into_iter().for_each(|point| hnsw.insert_slice(point));
            }
        }
        Some(flatten(hnsw, slots))
    }
}

/// Distance between two slots: 1 − the cosine of their codes, and at least 0. `hnsw_rs` asserts that a distance is
/// not negative. Without the minimum, rounding would violate this for equal vectors. To `hnsw_rs`, the "vector" of a
/// point is only its slot, so that the codes are not stored twice.
struct CodeDistance {
    codes: Codes,
}

impl Distance<u32> for CodeDistance {
    fn eval(&self, a: &[u32], b: &[u32]) -> f32 {
        let (&[a], &[b]) = (a, b) else { return 2.0 };
        let codes = &self.codes;
        let dot = quantize::dot_codes(
            (codes.upper_plane(a), codes.lower_plane(a)),
            (codes.upper_plane(b), codes.lower_plane(b)),
        );
        (1.0 - dot as f32 * codes.scale(a) * codes.scale(b)).max(0.0)
    }
}

/// A slot and its links.
type LinkRow = (u32, Vec<u32>);

/// Copies the links of a graph. Drops the original as early as possible, because it is by far the largest structure
/// of a build.
fn flatten(hnsw: Hnsw<'_, u32, CodeDistance>, slots: usize) -> HnswGraph {
    // Links in the lowest layer, as pairs (from, to).
    let mut pairs: Vec<(u32, u32)> = Vec::new();
    let mut uppers: Vec<Vec<LinkRow>> = vec![Vec::new(); MAX_LAYERS];
    let mut top = (0, 0);
    for point in hnsw.get_point_indexation() {
        let slot = point.get_origin_id() as u32;
        let level = point.get_point_id().0;
        top = top.max((level, slot));
        let layers = point
            .get_neighborhood_id()
            .into_iter()
            .take(usize::from(level) + 1);
        for (layer, neighbours) in layers.enumerate() {
            let links = neighbours.into_iter().map(|n| n.d_id as u32);
            match layer.checked_sub(1) {
                None => pairs.extend(links.map(|link| (slot, link))),
                Some(upper) => uppers[upper].push((slot, links.collect())),
            }
        }
    }
    drop(hnsw);
    let (level, entry) = top;
    uppers.truncate(usize::from(level));
    let base = make_bidirectional(&pairs, slots);
    let members = find_reachable(&base, entry, slots);
    HnswGraph {
        entry,
        uppers: uppers.iter_mut().rev().map(|rows| upper_layer(rows)).collect(),
        base,
        members,
    }
}

fn upper_layer(rows: &mut [LinkRow]) -> UpperLayer {
    rows.sort_unstable_by_key(|(slot, _)| *slot);
    let mut upper = UpperLayer {
        nodes: Vec::new(),
        links: GraphLinks {
            offsets: vec![0],
            links: Vec::new(),
        },
    };
    for (slot, links) in rows {
        upper.nodes.push(*slot);
        upper.links.links.extend_from_slice(links);
        upper.links.offsets.push(upper.links.links.len() as u32);
    }
    upper
}

/// Returns the links of the lowest layer in both directions, each link once. `hnsw_rs` drops the farthest back link
/// of a node that has the maximum number of links. Without this function, some nodes would have no incoming links.
fn make_bidirectional(pairs: &[(u32, u32)], slots: usize) -> GraphLinks {
    let mut starts = vec![0u32; slots + 1];
    for &(a, b) in pairs {
        starts[a as usize + 1] += 1;
        starts[b as usize + 1] += 1;
    }
    for slot in 0..slots {
        starts[slot + 1] += starts[slot];
    }
    let mut all = vec![0u32; 2 * pairs.len()];
    let mut next = starts.clone();
    for &(a, b) in pairs {
        for (from, to) in [(a, b), (b, a)] {
            all[next[from as usize] as usize] = to;
            next[from as usize] += 1;
        }
    }
    let mut base = GraphLinks {
        offsets: vec![0],
        links: Vec::with_capacity(pairs.len()),
    };
    for slot in 0..slots {
        let row = &mut all[starts[slot] as usize..starts[slot + 1] as usize];
        row.sort_unstable();
        let mut last = None;
        base.links.extend(
            row.iter()
                .copied()
                .filter(|&link| last.replace(link) != Some(link)),
        );
        base.offsets.push(base.links.len() as u32);
    }
    base.links.shrink_to_fit();
    base
}

fn find_reachable(base: &GraphLinks, entry: u32, slots: usize) -> SlotSet {
    let mut members = SlotSet::with_slots(slots);
    members.insert(entry);
    let mut open = vec![entry];
    while let Some(slot) = open.pop() {
        open.extend(
            base.of(slot as usize)
                .iter()
                .copied()
                .filter(|&next| members.insert(next)),
        );
    }
    members
}
