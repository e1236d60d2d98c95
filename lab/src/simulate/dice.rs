//! How does the simulation throw dice so that the same seed always gives the same year?

/// Random numbers from a seed (SplitMix64, Steele, Lea and Flood 2014).
#[derive(Debug, Clone)]
pub struct Dice(u64);

impl Dice {
    /// Dice of their own for one purpose: what one part of the simulation throws changes nothing for the others.
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

    /// From 0 to below 1.
    pub fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Whether something of this probability happens.
    pub fn happens(&mut self, probability: f64) -> bool {
        self.share() < probability
    }

    /// A number below `end`; 0 when `end` is 0.
    pub fn below(&mut self, end: usize) -> usize {
        (self.share() * end as f64) as usize
    }

    /// A number of a range, both ends included.
    pub fn between(&mut self, least: usize, most: usize) -> usize {
        least + self.below(most - least + 1)
    }

    /// One of some things.
    pub fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }

    /// A position below `count` by Zipf's law: the n-th has the weight n^−s. `None` when there are none.
    pub fn zipf(&mut self, count: usize, s: f64) -> Option<usize> {
        self.weighed((1..=count).map(|rank| (rank as f64).powf(-s)))
    }

    /// A position, each as likely as its weight says. `None` without weight.
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
