//! How many tokens does a text take? Estimated in one way everywhere: a quarter of its bytes, rounded up.
//!
//! Rounded up, so that what is within a budget by this estimate takes at most four bytes for each of its tokens, and so
//! that no text with content takes none. A sum over several texts is rounded once, over their bytes together.

/// Bytes that are taken for one token.
pub const BYTES: usize = 4;

/// Tokens of a text.
#[must_use]
pub const fn of(text: &str) -> usize {
    of_bytes(text.len())
}

/// Tokens of so many bytes.
#[must_use]
pub const fn of_bytes(bytes: usize) -> usize {
    bytes.div_ceil(BYTES)
}

/// Bytes that so many tokens hold at most.
#[must_use]
pub const fn bytes(tokens: usize) -> usize {
    tokens.saturating_mul(BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_begins_a_token_takes_it() {
        for (bytes, tokens) in [(0, 0), (1, 1), (4, 1), (5, 2), (usize::MAX, usize::MAX / 4 + 1)] {
            assert_eq!(of_bytes(bytes), tokens);
        }
        assert_eq!(of("日本"), 2);
    }

    #[test]
    fn what_a_budget_holds_is_within_it() {
        for tokens in [0, 1, 7, 500] {
            assert_eq!(of_bytes(bytes(tokens)), tokens);
            assert_eq!(of_bytes(bytes(tokens) + 1), tokens + 1);
        }
        assert_eq!(bytes(usize::MAX), usize::MAX);
    }
}
