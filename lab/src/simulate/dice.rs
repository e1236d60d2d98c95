//! Reproducible randomness of the simulation.

/// Random numbers from a seed (SplitMix64; Steele, Lea and Flood 2014).
#[derive(Debug, Clone)]
pub struct Dice(u64);

impl Dice {
    /// Creates dice for one purpose. They are independent: draws for one purpose do not affect those for another.
    pub fn new(seed: u64, purpose: &str) -> Self {
        let purpose = purpose.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ purpose)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a random number from 0 to below 1.
    pub fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Returns `true` with this probability.
    pub fn happens(&mut self, probability: f64) -> bool {
        self.share() < probability
    }

    /// Returns a random number below `end`, or 0 if `end` is 0.
    pub fn below(&mut self, end: usize) -> usize {
        (self.share() * end as f64) as usize
    }

    /// Returns a random number from `least` to `most`, both included.
    pub fn between(&mut self, least: usize, most: usize) -> usize {
        least + self.below(most - least + 1)
    }

    /// Returns a random element.
    pub fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }

    /// Returns a random position below `count` by Zipf's law: the n-th position has the weight n^−s. Returns `None` if
    /// `count` is 0.
    pub fn zipf(&mut self, count: usize, s: f64) -> Option<usize> {
        self.weighed((1..=count).map(|rank| (rank as f64).powf(-s)))
    }

    /// Returns a random position, with a probability proportional to its weight. Returns `None` if the weights sum to
    /// 0.
    pub fn weighed(&mut self, weights: impl Iterator<Item = f64> + Clone) -> Option<usize> {
        let total: f64 = weights.clone().sum();
        let mut left = self.share() * total;
        let mut last = None;
        for (at, weight) in weights.enumerate() {
            if weight > 0.0 {
                last = Some(at);
                left -= weight;
                if left < 0.0 {
                    break;
                }
            }
        }
        last
    }
}
