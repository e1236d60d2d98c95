//! Token estimate: a quarter of the bytes, rounded up.
//!
//! Because the estimate is rounded up, a text within a budget has at most four bytes per token, and only an empty
//! text counts as zero tokens. For several texts, the total of their bytes is rounded up once.

/// Bytes per token.
pub const BYTES: usize = 4;

/// Returns the estimated number of tokens of a text.
#[must_use]
pub const fn of(text: &str) -> usize {
    of_bytes(text.len())
}

/// Returns the estimated number of tokens of a number of bytes.
#[must_use]
pub const fn of_bytes(bytes: usize) -> usize {
    bytes.div_ceil(BYTES)
}

/// Returns the maximum number of bytes for a number of tokens.
#[must_use]
pub const fn bytes(tokens: usize) -> usize {
    tokens.saturating_mul(BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_rounded_up() {
        for (bytes, tokens) in [(0, 0), (1, 1), (4, 1), (5, 2), (usize::MAX, usize::MAX / 4 + 1)] {
            assert_eq!(of_bytes(bytes), tokens);
        }
        assert_eq!(of("日本"), 2);
    }

    #[test]
    fn bytes_within_a_budget_do_not_exceed_it() {
        for tokens in [0, 1, 7, 500] {
            assert_eq!(of_bytes(bytes(tokens)), tokens);
            assert_eq!(of_bytes(bytes(tokens) + 1), tokens + 1);
        }
        assert_eq!(bytes(usize::MAX), usize::MAX);
    }
}
