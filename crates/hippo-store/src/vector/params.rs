//! The numbers that trade time, memory and recall.

use std::thread;

/// Numbers that trade time, memory and recall. The defaults come from `cargo bench -p hippo-store --bench vector`.
#[derive(Debug, Clone, PartialEq)]
pub struct VectorParams {
    /// Up to this many live vectors every query scans all of them and no graph is built.
    ///
    /// In time alone the graph is ahead from about 10,000 vectors on (p50 of 384 dimensions at 100,000, real embeddings,
    /// on two idle cores: 0.40 against 0.92 ms; docs/benchmarks.md), with a recall@10 of 0.999 against 1. The default is
    /// higher because a graph costs more than the queries it speeds up: a build of 44 s at 100,000 on both cores, 2.2 KB
    /// a vector while it runs, and a new build when much was changed.
    pub exact_below: usize,
    /// Links per node of the graph (twice that in its lowest layer), 2..=256.
    pub m: usize,
    /// Most vectors of one part of the graph. More are built part after part: `hnsw_rs` takes 2.2 KB a vector while it
    /// builds.
    pub part_max: usize,
    /// Candidates considered while a node is linked.
    pub ef_construction: usize,
    /// Candidates kept while the graph is walked; never fewer than are refined.
    pub ef_search: usize,
    /// Share of the live vectors that a filter must pass for the graph to be used, 0..=1.
    pub graph_pass_rate: f32,
    /// Threads of one scan.
    pub scan_threads: usize,
    /// Threads of one build.
    pub build_threads: usize,
}

impl Default for VectorParams {
    fn default() -> Self {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        Self {
            exact_below: 90_000,
            m: 12,
            part_max: 130_000,
            ef_construction: 100,
            ef_search: 200,
            graph_pass_rate: 0.2,
            scan_threads: cores.min(2),
            build_threads: cores.min(4),
        }
    }
}
