//! Which of many sentences are kept, and which of these are told?

/// Sentences that are kept.
const KEPT: usize = 4;

/// The sentences that tell most, in the order in which they were said.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Best {
    kept: Vec<(u32, String)>,
}

impl Best {
    /// Notes a sentence.
    pub fn note(&mut self, weight: u32, text: &str) {
        if self.kept.iter().any(|(_, kept)| kept == text) {
            return;
        }
        self.kept.push((weight, text.to_owned()));
        if self.kept.len() > KEPT {
            // Of equals the later one stays: it may say what became of the earlier one.
            let least = self
                .kept
                .iter()
                .enumerate()
                .min_by_key(|(_, (weight, _))| *weight);
            if let Some((at, _)) = least {
                self.kept.remove(at);
            }
        }
    }

    /// The best of them, at most so many.
    pub fn best(&self, most: usize) -> Vec<&str> {
        let mut order: Vec<usize> = (0..self.kept.len()).collect();
        order.sort_by_key(|at| (std::cmp::Reverse(self.kept[*at].0), std::cmp::Reverse(*at)));
        order.truncate(most);
        order.sort_unstable();
        order.into_iter().map(|at| self.kept[at].1.as_str()).collect()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// Notes all of another list.
    pub fn join(&mut self, other: Self) {
        other
            .kept
            .iter()
            .for_each(|(weight, text)| self.note(*weight, text));
    }
}
