//! Ranking of words by their likely usefulness.

use std::collections::HashSet;

use super::ledger::MessageLedger;
use super::track::SeenWord;
use hippo_text::literal::{self, LiteralKind, LiteralVisitor};

/// Maximum total bytes of the words that are appended to lines if the summary has no budget.
pub const UNBOUND: usize = 4_000;

/// Words that the summary already contains.
#[derive(Debug, Default)]
pub struct SummaryWords(HashSet<Box<str>>);

impl SummaryWords {
    /// Adds the words of a text.
    pub fn add(&mut self, text: &str) {
        literal::scan(text, self);
    }

    /// Returns true if the word was added.
    pub fn contains(&self, word: &str) -> bool {
        self.0.contains(word)
    }
}

impl<'t> LiteralVisitor<'t> for SummaryWords {
    fn literal(&mut self, literal: &'t str, _: LiteralKind, _: usize) {
        self.0.insert(literal.into());
    }
}

/// Returns all stored words, the most useful first. The usefulness of a word is the product of its frequency, its use
/// by people and agents, and its recency, divided by its cost in bytes. The parameters were tuned on transcripts of
/// several programs. Their exact values have little effect.
pub fn rank_words(ledger: &MessageLedger) -> Vec<(&str, &SeenWord)> {
    let count = ledger.cores.len();
    let words = || ledger.tracked.words();
    let numbers = words().filter_map(|(text, seen)| Some((text.parse().ok()?, seen.first)));
    let numbers: HashSet<(i64, u32)> = numbers.collect();
    // Three successive numbers in one tool result are line numbers of a file.
    let is_line_number = |text: &str, seen: &SeenWord| {
        let is_run = |from: i64| (0..3).all(|step| numbers.contains(&(from + step, seen.first)));
        let number = text.parse().ok().filter(|_| seen.said == 0 && text.len() < 8);
        number.is_some_and(|number: i64| (number - 2..=number).any(is_run))
    };
    let worth = |text: &str, seen: &SeenWord| {
        let age = count.saturating_sub(seen.last as usize + 1) as f64;
        let frequency = 1.0 + 0.7 * f64::from(seen.count.max(1)).ln();
        let spoken = 1.0 + f64::from(seen.said).ln_1p();
        let recency = (1.0 + age / 15.0).powf(-0.7);
        // The cost includes the separator, and a share of the pointer that the word may need.
        let cost = (text.len() as f64 + 8.0).powf(0.85);
        // Agents seldom need line numbers again.
        let factor = if is_line_number(text, seen) { 0.4 } else { 1.0 };
        factor * frequency * spoken * recency / cost
    };
    let mut rated: Vec<(f64, &str, &SeenWord)> = words()
        .map(|(text, seen)| (worth(text, seen), text, seen))
        .collect();
    rated.sort_unstable_by(|(worth, text, seen), (other, word, met)| {
        let alike = || (seen.first, text).cmp(&(met.first, word));
        other.total_cmp(worth).then_with(alike)
    });
    rated.into_iter().map(|(_, text, seen)| (text, seen)).collect()
}
