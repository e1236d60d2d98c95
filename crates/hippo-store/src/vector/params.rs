//! Parameters that trade time, memory and recall.

use std::thread;

/// Parameters that trade time, memory and recall. The defaults come from `cargo bench -p hippo-store --bench vector`.
#[derive(Debug, Clone, PartialEq)]
pub struct VectorParams {
    /// Number of live vectors up to which every query scans all vectors and no graph is built.
    ///
    /// The graph is faster from about 10,000 vectors on, with a recall@10 of 0.999 instead of 1. For 384 dimensions and
    /// 100,000 real embeddings on two idle cores, its p50 is 0.40 ms, against 0.92 ms for a scan (docs/benchmarks.md).
    /// The default is higher than 10,000 because a graph costs more than it saves: for 100,000 vectors, a build takes
    /// 44 s on both cores and 2.2 KB of memory per vector. It is repeated after each start and after many changes.
    pub exact_below: usize,
    /// Links per node (twice as many in the lowest layer), 2..=256.
    pub m: usize,
    /// Number of candidates considered for the links of a new node.
    pub ef_construction: usize,
    /// Number of candidates kept during a search; it is at least the number of refined candidates.
    pub ef_search: usize,
    /// Minimum share of the live vectors that a filter must accept for the graph to be used, 0..=1.
    pub graph_pass_rate: f32,
    /// Number of threads for a scan.
    pub scan_threads: usize,
    /// Number of threads for a build.
    pub build_threads: usize,
}

impl Default for VectorParams {
    fn default() -> Self {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        Self {
            exact_below: 90_000,
            m: 12,
            ef_construction: 100,
            ef_search: 200,
            graph_pass_rate: 0.2,
            scan_threads: cores.min(2),
            build_threads: cores.min(4),
        }
    }
}
