//! Parameters that trade time, memory and recall.

use std::thread;

/// Parameters that trade time, memory and recall. The defaults come from `cargo bench -p hippo-store --bench vector`.
#[derive(Debug, Clone, PartialEq)]
pub struct VectorParams {
    /// Maximum number of live vectors for a scan. Up to this number, every query scans all vectors, and no graph is
    /// built.
    ///
    /// A graph is faster from about 10,000 vectors on, but its recall@10 is 0.999 instead of 1. For 100,000 real
    /// embeddings with 384 dimensions on two idle cores, the p50 of a search is 0.40 ms with the graph and 0.92 ms
    /// with a scan (docs/benchmarks.md). The default is higher than 10,000 because a graph costs more than it saves:
    /// for 100,000 vectors, a build takes 44 s on both cores and 2.2 KB of memory per vector. A build is necessary
    /// after each start and after many changes.
    pub exact_below: usize,
    /// Maximum number of links per node, 2..=256. Twice as many are allowed in the lowest layer.
    pub m: usize,
    /// Number of candidates that are considered for the links of a new node.
    pub ef_construction: usize,
    /// Number of candidates kept during a search of the graph. A search uses at least the number of candidates that
    /// it refines.
    pub ef_search: usize,
    /// Share of the live vectors, 0..=1, that a filter must accept. If a filter accepts fewer, the graph is not used.
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
