//! Passages and vectors of the benchmark.

use std::path::Path;

use hippo_share::DIMENSION;

/// Numbers that look random (SplitMix64).
pub struct Dice(pub u64);

impl Dice {
    /// Returns the next number.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut value = self.0;
        value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        value ^ (value >> 31)
    }

    /// Returns a number below `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    /// Returns a number with mean 0 and about a normal distribution.
    fn normal(&mut self) -> f32 {
        let sum: f32 = (0..4)
            .map(|_| (self.next() >> 40) as f32 / (1 << 24) as f32)
            .sum();
        sum - 2.0
    }
}

fn add_noise(vector: &mut [f32], seed: u64, weight: f32) {
    let mut dice = Dice(seed);
    vector
        .iter_mut()
        .for_each(|value| *value += weight * dice.normal());
}

/// Returns the text and the vector that these sentences have together.
pub fn combine(sentences: &[String], chosen: &[usize], noise: u64) -> (String, Vec<f32>) {
    let mut vector = vec![0.0; DIMENSION];
    for sentence in chosen {
        add_noise(&mut vector, *sentence as u64, 1.0);
    }
    add_noise(&mut vector, noise, 0.5);
    let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
    vector.iter_mut().for_each(|value| *value /= length);
    let text: Vec<&str> = chosen
        .iter()
        .map(|sentence| sentences[*sentence].as_str())
        .collect();
    (text.join(" "), vector)
}

/// Appends the sentences of all text files below a folder.
pub fn read_sentences(folder: &Path, out: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            read_sentences(&path, out);
        } else if path
            .extension()
            .is_some_and(|ending| ending == "md" || ending == "txt")
        {
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            let parts = text.split(['\n', '.']).map(str::trim);
            out.extend(
                parts
                    .filter(|part| (30..200).contains(&part.len()))
                    .map(str::to_owned),
            );
        }
    }
}
