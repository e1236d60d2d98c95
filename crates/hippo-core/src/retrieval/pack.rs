//! Which chunks of a ranked list fit into a token budget.

/// What of a ranked list is returned.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Packed {
    /// Positions in the ranked list, rising.
    pub taken: Vec<usize>,
    /// Tokens of all that was taken, at most the budget.
    pub tokens: u64,
}

/// Takes whole chunks in rank order while they fit into `budget` tokens. A chunk that does not fit is passed over, so
/// that a long one does not end the answer; after eight of those the budget counts as used up.
pub fn pack(tokens: impl IntoIterator<Item = u32>, budget: u64) -> Packed {
    const PASSED_OVER: usize = 8;
    let mut packed = Packed::default();
    let mut passed_over = 0;
    for (position, tokens) in tokens.into_iter().enumerate() {
        let total = packed.tokens + u64::from(tokens);
        if total <= budget {
            packed.tokens = total;
            packed.taken.push(position);
        } else {
            passed_over += 1;
            if passed_over == PASSED_OVER {
                break;
            }
        }
    }
    packed
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::pack;

    #[test]
    fn takes_in_rank_order_and_passes_over_what_is_too_long() {
        let cases: [(&[u32], u64, &[usize], u64); 5] = [
            (&[10, 20, 30], 60, &[0, 1, 2], 60),
            (&[10, 20, 30], 59, &[0, 1], 30),
            (&[10, 100, 30], 45, &[0, 2], 40),
            (&[100], 99, &[], 0),
            (&[], 10, &[], 0),
        ];
        for (tokens, budget, taken, total) in cases {
            let packed = pack(tokens.iter().copied(), budget);
            assert_eq!(packed.taken, taken, "{tokens:?} in {budget}");
            assert_eq!(packed.tokens, total, "{tokens:?} in {budget}");
        }
    }

    proptest! {
        #[test]
        fn never_exceeds_the_budget_and_always_takes_a_first_that_fits(
            tokens in prop::collection::vec(0u32..5_000, 0..60),
            budget in 0u64..20_000,
        ) {
            let packed = pack(tokens.iter().copied(), budget);
            let sum: u64 = packed.taken.iter().map(|at| u64::from(tokens[*at])).sum();
            prop_assert_eq!(sum, packed.tokens);
            prop_assert!(sum <= budget);
            prop_assert!(packed.taken.is_sorted_by(|a, b| a < b));
            if tokens.first().is_some_and(|first| u64::from(*first) <= budget) {
                prop_assert_eq!(packed.taken.first(), Some(&0));
            }
        }
    }
}
