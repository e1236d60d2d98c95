//! Search: selection of candidates, refinement, exact scores.

use super::error::VectorError;
use super::index::VectorIndex;
use super::quantize::{self, PreparedQuery};
use super::scan::{self, BestScores, ScoredSlot};
use super::slots::NONE;

/// Filter that returns true for the ids that a search may return. It is called many times in each search.
pub type IdFilter<'a> = Option<&'a (dyn Fn(u32) -> bool + Sync)>;
/// Callback that returns the exact vectors of some ids, in order. For `None`, the approximate score is kept.
pub type Rescore<'a> = &'a dyn Fn(&[u32]) -> Vec<Option<Vec<f32>>>;

/// Returns the number of candidates that are selected by their upper nibbles and then refined with full codes. For
/// the nearest vectors, the rank by coarse score differs from the true rank by about 200, whatever `k` is.
fn coarse_candidates(k: usize) -> usize {
    k.saturating_mul(2).saturating_add(200)
}

/// Returns the number of candidates that are selected by full codes and then scored with exact vectors.
fn exact_candidates(k: usize) -> usize {
    k.saturating_add(30)
}

impl VectorIndex {
    /// Returns the `k` nearest ids that `filter` accepts with their cosines, nearest first. Scores `k + 30`
    /// candidates with exact vectors.
    ///
    /// # Errors
    /// Fails if the query and the index have different dimensions.
    pub fn search(
        &self,
        query: &PreparedQuery,
        k: usize,
        filter: IdFilter<'_>,
        rescore: Rescore<'_>,
    ) -> Result<Vec<(u32, f32)>, VectorError> {
        self.check_query(query)?;
        if k == 0 || self.live == 0 {
            return Ok(Vec::new());
        }
        let coarse = self.candidates(query, coarse_candidates(k), filter);
        let slots: Vec<u32> = coarse.iter().map(|s| s.slot).collect();
        let mut refined = scan::refine(&self.codes, query, &slots);
        refined.sort_unstable_by(|a, b| b.cmp(a));
        refined.truncate(exact_candidates(k));

        let ids: Vec<u32> = refined.iter().map(|s| self.ids[s.slot as usize]).collect();
        let mut exact = rescore(&ids).into_iter();
        let mut hits: Vec<(u32, f32)> = ids
            .iter()
            .zip(&refined)
            .map(|(&id, approximate)| match exact.next().flatten() {
                Some(vector) if vector.len() == self.dimension => {
                    (id, quantize::dot_f32(&vector, &query.exact))
                }
                _ => (id, approximate.score),
            })
            .collect();
        hits.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        hits.truncate(k);
        Ok(hits)
    }

    /// Returns approximate cosines (within about 0.01) between the query and the given ids, in order. The cosine of
    /// an id without a vector is NaN.
    ///
    /// # Errors
    /// Fails if the query and the index have different dimensions.
    pub fn scores(&self, query: &PreparedQuery, ids: &[u32]) -> Result<Vec<f32>, VectorError> {
        self.check_query(query)?;
        let slots: Vec<Option<u32>> = ids.iter().map(|id| self.slot_of.get(id).copied()).collect();
        let known: Vec<u32> = slots.iter().copied().flatten().collect();
        let mut known = scan::refine(&self.codes, query, &known).into_iter();
        let score = |slot: &Option<u32>| slot.and_then(|_| known.next()).map_or(f32::NAN, |s| s.score);
        Ok(slots.iter().map(score).collect())
    }

    fn check_query(&self, query: &PreparedQuery) -> Result<(), VectorError> {
        if query.dimension() == self.dimension {
            return Ok(());
        }
        Err(VectorError::Dimension {
            expected: self.dimension,
            got: query.dimension(),
        })
    }

    fn candidates(&self, query: &PreparedQuery, cap: usize, filter: IdFilter<'_>) -> Vec<ScoredSlot> {
        let passes = |slot: u32| {
            let id = self.ids[slot as usize];
            id != NONE && filter.is_none_or(|f| f(id))
        };
        let rate = filter.map_or(1.0, |f| self.pass_rate(f));
        if let Some(graph) = &self.graph
            && self.uses_graph()
            && rate >= self.params.graph_pass_rate
        {
            let mut best = BestScores::new(cap);
            let ef = self.params.ef_search.max(cap);
            graph
                .search(&self.codes, query, ef, &passes)
                .for_each(|s| best.push(s));
            let outside: Vec<u32> = self.outside.iter().copied().filter(|&s| passes(s)).collect();
            scan::score_slots(&self.codes, query, &outside, |s| best.push_if_better(s));
            return best.into_sorted();
        }
        // Apply a strict filter first, so that few vectors must be scored. Apply any other filter only to vectors
        // with good scores.
        if rate < 0.1 {
            let subset: Vec<u32> = (0..self.ids.len() as u32).filter(|&s| passes(s)).collect();
            let mut best = BestScores::new(cap);
            scan::score_slots(&self.codes, query, &subset, |s| best.push_if_better(s));
            return best.into_sorted();
        }
        scan::scan_all(&self.codes, query, cap, &passes, self.params.scan_threads)
    }

    /// Estimates the share of the live vectors that a filter accepts, from a sample of 256 slots.
    fn pass_rate(&self, filter: &(dyn Fn(u32) -> bool + Sync)) -> f32 {
        let step = (self.ids.len() / 256).max(1);
        let sample = self.ids.iter().step_by(step).filter(|&&id| id != NONE);
        let (asked, passed) = sample.fold((0u32, 0u32), |(a, p), &id| (a + 1, p + u32::from(filter(id))));
        if asked == 0 {
            1.0
        } else {
            passed as f32 / asked as f32
        }
    }
}
