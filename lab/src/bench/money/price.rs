//! Prices of models, and tokens by the way in which they are billed.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Number of tokens below which no vendor caches a prompt.
const LEAST_CACHED: usize = 1_024;

/// Prices of a model in US dollars per million tokens. Higher prices of very large prompts are ignored.
pub struct ModelPrice {
    pub name: &'static str,
    /// Prices in the order of [`BilledTokens`]. If writing to the cache has no separate price, it is the fresh price.
    prices: [f64; 4],
}

/// Tokens by the price that applies:
///
/// - fresh: in prompts that are too short for a cache;
/// - cached: in the longest beginning that a request shares with an earlier request;
/// - written: the others of a request, which the vendor adds to its cache;
/// - output: in answers.
pub type BilledTokens = [usize; 4];

/// Models of three vendors, and one model with the older price of cached tokens. Sources, read on 27 November 2026:
///
/// - Claude: `platform.claude.com/docs/en/models/opus-5-5/overview` and `.../about-claude/pricing`, with the price of
///   a cache entry that lasts five minutes.
/// - GPT: `developers.openai.com/api/docs/models/gpt-6.2-sol`, with the price of a cache entry that lasts 30 minutes.
/// - Gemini: the vendor's page was not available. The price is that of
///   `github.com/iyulab/TokenMeter/releases/tag/v0.17.0`, and `apidog.com/blog/gemini-4-neon-api` of 19 November 2026
///   confirms the prices of input and output. The vendor caches implicitly and does not charge for it.
pub const MODELS: [ModelPrice; 4] = [
    price("Claude Opus 5.5", [4.0, 0.20, 5.0, 20.0]),
    price("GPT-6.2 Sol", [2.0, 0.10, 2.5, 10.0]),
    price("Gemini 4 Neon", [3.0, 0.15, 3.0, 15.0]),
    price("Claude Opus 5", [5.0, 0.50, 6.25, 25.0]),
];

const fn price(name: &'static str, prices: [f64; 4]) -> ModelPrice {
    ModelPrice { name, prices }
}

impl ModelPrice {
    /// Returns the price in US dollars.
    pub fn dollars(&self, tokens: &BilledTokens) -> f64 {
        let prices = self.prices.iter().zip(tokens);
        prices.map(|(price, tokens)| price * *tokens as f64).sum::<f64>() / 1e6
    }
}

/// A vendor's cache of prompts. Entries do not expire.
#[derive(Default)]
pub struct PromptCache {
    /// Hashes of all beginnings of earlier requests.
    beginnings: BTreeSet<u64>,
}

impl PromptCache {
    /// Bills a request that consists of segments, each with the hash of its text and its tokens.
    pub fn bill(&mut self, segments: impl Iterator<Item = (u64, usize)>, output: usize) -> BilledTokens {
        let (mut all, mut cached, mut shared) = (0, 0, true);
        let mut hasher = DefaultHasher::new();
        let mut beginnings = Vec::new();
        for (key, tokens) in segments {
            key.hash(&mut hasher);
            all += tokens;
            shared &= self.beginnings.contains(&hasher.finish());
            if shared {
                cached = all;
            }
            beginnings.push((hasher.finish(), all));
        }
        if cached < LEAST_CACHED {
            cached = 0;
        }
        let rest = all - cached;
        let (fresh, written) = if all < LEAST_CACHED { (rest, 0) } else { (0, rest) };
        if all >= LEAST_CACHED {
            self.beginnings
                .extend(beginnings.into_iter().map(|(hash, _)| hash));
        }
        [fresh, cached, written, output]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_segment_is_billed_with_everything_behind_it() {
        let mut cache = PromptCache::default();
        let mut bill = |keys: &[u64]| {
            let [fresh, cached, written, _] = cache.bill(keys.iter().map(|key| (*key, 1_000)), 7);
            (fresh, cached, written)
        };
        assert_eq!(bill(&[1]), (1_000, 0, 0));
        assert_eq!(bill(&[1, 2, 3]), (0, 0, 3_000));
        assert_eq!(bill(&[1, 2, 3, 4]), (0, 3_000, 1_000));
        assert_eq!(bill(&[1, 2, 9, 4]), (0, 2_000, 2_000));
        // The cache still contains the earlier request.
        assert_eq!(bill(&[1, 2, 3, 4, 5]), (0, 4_000, 1_000));
        let dollars = MODELS[0].dollars(&[0, 1_000_000, 100_000, 10_000]);
        assert!((dollars - 0.9).abs() < 1e-9);
    }
}
