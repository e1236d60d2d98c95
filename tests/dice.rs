//! Reproducible randomness for tests.

use std::hash::{BuildHasher, RandomState};
use std::io::Write;

/// Random numbers that are reproducible: the seed is printed, and `HIPPOD_TEST_SEED` sets it.
pub struct Dice(u64);

impl Default for Dice {
    fn default() -> Self {
        Self::new()
    }
}

impl Dice {
    /// Creates dice from the configured seed, or from a random one.
    pub fn new() -> Self {
        let set = std::env::var("HIPPOD_TEST_SEED").ok();
        let seed = set.map_or_else(
            || RandomState::new().hash_one(0),
            |seed| seed.parse().expect("HIPPOD_TEST_SEED is a number"),
        );
        // The test runner shows this message if the test fails. If standard error is closed, the message is dropped.
        let _ = writeln!(std::io::stderr(), "HIPPOD_TEST_SEED={seed}");
        Self(seed)
    }

    /// Creates dice from a seed. The caller reports the seed.
    pub fn of(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns a number from 0 up to, but not including, `end`. The algorithm is SplitMix64: Steele, Lea, Flood,
    /// "Fast splittable pseudorandom number generators", 2014.
    pub fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let mixed = mixed ^ (mixed >> 31);
        usize::try_from(mixed % end as u64).expect("below a usize")
    }

    /// Returns a random element.
    pub fn one_of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }
}
