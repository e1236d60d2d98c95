//! Bounded selection of the best sentences.

/// Maximum number of sentences that are kept.
const KEPT: usize = 4;

/// The sentences with the highest weight, in transcript order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BestSentences {
    kept: Vec<(u32, String)>,
}

impl BestSentences {
    /// Adds a sentence. If there are too many, the sentence with the lowest weight is removed.
    pub fn add(&mut self, weight: u32, text: &str) {
        if self.kept.iter().any(|(_, kept)| kept == text) {
            return;
        }
        self.kept.push((weight, text.to_owned()));
        if self.kept.len() > KEPT {
            // Of two sentences with equal weights, the later one is kept, because it may report the outcome of the
            // earlier one.
            let least = (0..self.kept.len()).min_by_key(|at| self.kept[*at].0);
            self.kept.remove(least.unwrap_or_default());
        }
    }

    /// Returns the best sentences, at most `most`, in transcript order.
    pub fn top(&self, most: usize) -> Vec<&str> {
        let mut order: Vec<usize> = (0..self.kept.len()).collect();
        order.sort_by_key(|at| (std::cmp::Reverse(self.kept[*at].0), std::cmp::Reverse(*at)));
        order.truncate(most);
        order.sort_unstable();
        order.into_iter().map(|at| self.kept[at].1.as_str()).collect()
    }

    /// Returns true if there are no sentences.
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// Adds the sentences of another selection, and keeps the best ones.
    pub fn merge(&mut self, other: Self) {
        for (weight, text) in other.kept {
            self.add(weight, &text);
        }
    }
}
