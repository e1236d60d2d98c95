//! Ranking of words by their likely usefulness.

use std::cmp::Ordering;

use super::ledger::MessageLedger;
use super::read::hash_text;
use super::track::{HashedMap, SeenWord};
use hippo_text::literal::{self, LiteralKind, LiteralVisitor};

/// Maximum bytes of words that are added to lines if there is no budget.
pub const UNBOUND: usize = 4_000;

/// Words that the summary already contains.
#[derive(Debug, Default)]
pub struct SummaryWords(HashedMap<()>);

impl SummaryWords {
    /// Adds the words of a text.
    pub fn add(&mut self, text: &str) {
        literal::scan(text, self);
    }

    /// Returns true if the word was added.
    pub fn contains(&self, word: &str) -> bool {
        self.0.contains_key(&hash_text(word))
    }
}

impl<'t> LiteralVisitor<'t> for SummaryWords {
    fn literal(&mut self, literal: &'t str, _: LiteralKind, _: usize) {
        self.0.insert(hash_text(literal), ());
    }
}

/// A word with its worth per byte.
#[derive(Debug, Clone, Copy)]
struct RatedWord<'l> {
    worth: f64,
    text: &'l str,
    seen: &'l SeenWord,
}

impl RatedWord<'_> {
    fn order(&self, other: &Self) -> Ordering {
        let alike = || (self.seen.first, self.text).cmp(&(other.seen.first, other.text));
        other.worth.total_cmp(&self.worth).then_with(alike)
    }
}

/// Iterator over words in order of worth. Words are sorted lazily, in growing blocks.
#[derive(Debug)]
pub struct RankedWords<'l> {
    words: Vec<RatedWord<'l>>,
    at: usize,
    /// Number of words that are sorted already.
    sorted: usize,
}

/// Size of the first sorted block; each further block doubles the sorted part.
const FIRST: usize = 512;

impl<'l> Iterator for RankedWords<'l> {
    type Item = (&'l str, &'l SeenWord);

    fn next(&mut self) -> Option<Self::Item> {
        if self.at >= self.sorted {
            let rest = self.words.get_mut(self.sorted..)?;
            let next = rest.len().min(FIRST.max(self.sorted));
            if next < rest.len() {
                rest.select_nth_unstable_by(next, RatedWord::order);
            }
            rest[..next].sort_unstable_by(RatedWord::order);
            self.sorted += next;
        }
        let rated = self.words.get(self.at)?;
        self.at += 1;
        Some((rated.text, rated.seen))
    }
}

/// Ranks all stored words by salience times recency, divided by cost. The parameters were tuned on transcripts of
/// several programs; coverage depends little on them.
pub fn rank_words(ledger: &MessageLedger) -> RankedWords<'_> {
    let count = ledger.cores().len();
    let costs: Vec<f64> = (0..=LONGEST).map(cost).collect();
    let recencies: Vec<f64> = (0..AGES.min(count)).map(recency_weight).collect();
    let often: Vec<f64> = (0..COUNTS).map(frequency_weight).collect();
    let said: Vec<f64> = (0..COUNTS).map(spoken_weight).collect();
    let rated = |(text, seen): (&'_ str, &'_ SeenWord)| {
        let age = count.saturating_sub(seen.last as usize + 1);
        let salience = lookup(&often, seen.count, frequency_weight) * lookup(&said, seen.said, spoken_weight);
        let recency = recencies.get(age).copied().unwrap_or_else(|| recency_weight(age));
        let cost = costs.get(text.len()).copied().unwrap_or_else(|| cost(text.len()));
        salience * recency / cost
    };
    let words = ledger.tracked().words();
    let words = words.map(|(text, seen)| RatedWord {
        worth: rated((text, seen)),
        text,
        seen,
    });
    RankedWords {
        words: words.collect(),
        at: 0,
        sorted: 0,
    }
}

/// Sizes of the precomputed tables for lengths, ages and counts.
const LONGEST: usize = 160;
const AGES: usize = 4_096;
const COUNTS: u32 = 64;

fn lookup(table: &[f64], count: u32, else_by: impl Fn(u32) -> f64) -> f64 {
    let found = usize::try_from(count).ok().and_then(|count| table.get(count));
    found.copied().unwrap_or_else(|| else_by(count))
}

/// Weight of a word by its number of occurrences.
fn frequency_weight(count: u32) -> f64 {
    1.0 + 0.7 * f64::from(count.max(1)).ln()
}

/// Weight of a word by its number of occurrences outside tool results.
fn spoken_weight(count: u32) -> f64 {
    1.0 + f64::from(count).ln_1p()
}

/// Weight of a word by its age in messages.
fn recency_weight(age: usize) -> f64 {
    #[allow(clippy::cast_precision_loss, reason = "no transcript has 2^53 messages")]
    let age = age as f64;
    (1.0 + age / 15.0).powf(-0.7)
}

/// Cost of a word, including the separator and its share of a pointer.
fn cost(bytes: usize) -> f64 {
    #[allow(clippy::cast_precision_loss, reason = "a word is short")]
    let bytes = bytes as f64;
    (bytes + 8.0).powf(0.85)
}
