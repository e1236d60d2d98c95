//! Where do the arrays that ranking needs come from?

use std::sync::{Mutex, PoisonError};

use hippo_core::retrieval::rank::RankScratch;

/// Ranking keeps arrays by chunk id; a few of them are handed from query to query.
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
