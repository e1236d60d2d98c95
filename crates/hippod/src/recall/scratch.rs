//! Reuse of the arrays that ranking needs.

use std::sync::{Mutex, PoisonError};

use hippo_rank::rank::RankScratch;

/// Runs `work` with the arrays that ranking needs, and returns its result. Up to two sets of arrays are kept for later
/// queries.
pub fn with_scratch<T>(work: impl FnOnce(&mut RankScratch) -> T) -> T {
    static KEPT: Mutex<Vec<RankScratch>> = Mutex::new(Vec::new());
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
