//! Reuse of the memory that ranking needs.

use std::sync::{Mutex, PoisonError};

use hippo_rank::rank::RankScratch;
use hippo_rank::rerank::RerankScratch;

/// Memory that ranking reuses from query to query.
#[derive(Default)]
pub struct QueryScratch {
    /// Arrays of the first ranking.
    pub first: RankScratch,
    /// Stems for the second ranking.
    pub second: RerankScratch,
}

/// Runs `work` with the memory that ranking needs, and returns its result. Memory for up to two queries is kept.
pub fn with_scratch<T>(work: impl FnOnce(&mut QueryScratch) -> T) -> T {
    static KEPT: Mutex<Vec<QueryScratch>> = Mutex::new(Vec::new());
    let mut scratch = KEPT
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .pop()
        .unwrap_or_default();
    let result = work(&mut scratch);
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if kept.len() < 2 {
        kept.push(scratch);
    }
    result
}
