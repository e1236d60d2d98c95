//! Packing of results into the token limit of an answer.

/// The packer stops after it has skipped this number of chunks.
const PASSED_OVER: u32 = 8;

/// Packer that takes whole chunks in rank order while they fit. It skips a chunk that does not fit, so that one long
/// chunk does not end the answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packer {
    places: usize,
    budget: Option<u64>,
    tokens: u64,
    passed_over: u32,
}

impl Packer {
    /// Creates a packer for at most `limit` chunks with at most `budget` tokens in total.
    pub fn new(limit: usize, budget: Option<u64>) -> Self {
        Self {
            places: limit,
            budget,
            tokens: 0,
            passed_over: 0,
        }
    }

    /// Takes the next chunk, of `tokens` tokens, if it fits. Returns true if it was taken.
    pub fn take(&mut self, tokens: u32) -> bool {
        if self.is_full() {
            return false;
        }
        let total = self.tokens + u64::from(tokens);
        if self.budget.is_some_and(|budget| total > budget) {
            self.passed_over += 1;
            return false;
        }
        self.tokens = total;
        self.places -= 1;
        true
    }

    /// Returns true if the packer takes no more chunks.
    pub fn is_full(&self) -> bool {
        self.places == 0 || self.passed_over == PASSED_OVER
    }

    /// Returns the tokens of all chunks taken, at most the budget.
    pub fn tokens(&self) -> u64 {
        self.tokens
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn pack(tokens: &[u32], limit: usize, budget: Option<u64>) -> (Vec<usize>, u64) {
        let mut packer = Packer::new(limit, budget);
        let taken = (0..tokens.len()).filter(|at| packer.take(tokens[*at])).collect();
        (taken, packer.tokens())
    }

    /// A case: tokens of each chunk, limit, budget, expected chunks, and their total number of tokens.
    type Case<'a> = (&'a [u32], usize, Option<u64>, &'a [usize], u64);

    #[test]
    fn results_are_packed_in_rank_order_and_oversized_ones_skipped() {
        let cases: [Case<'_>; 7] = [
            (&[10, 20, 30], 9, Some(60), &[0, 1, 2], 60),
            (&[10, 20, 30], 9, Some(59), &[0, 1], 30),
            (&[10, 100, 30], 9, Some(45), &[0, 2], 40),
            (&[100], 9, Some(99), &[], 0),
            (&[10, 20, 30], 2, Some(60), &[0, 1], 30),
            (&[10, 20, 30], 2, None, &[0, 1], 30),
            (&[], 9, Some(10), &[], 0),
        ];
        for (tokens, limit, budget, taken, total) in cases {
            let packed = pack(tokens, limit, budget);
            assert_eq!(packed, (taken.to_vec(), total), "{tokens:?} in {budget:?}");
        }
    }

    proptest! {
        #[test]
        fn packing_respects_its_limits_and_keeps_a_first_result_that_fits(
            tokens in prop::collection::vec(0u32..5_000, 0..60),
            limit in 1usize..40,
            budget in 0u64..20_000,
        ) {
            let (taken, total) = pack(&tokens, limit, Some(budget));
            let sum: u64 = taken.iter().map(|at| u64::from(tokens[*at])).sum();
            prop_assert_eq!(sum, total);
            prop_assert!(sum <= budget);
            prop_assert!(taken.len() <= limit);
            if tokens.first().is_some_and(|first| u64::from(*first) <= budget) {
                prop_assert_eq!(taken.first(), Some(&0));
            }
        }
    }
}
