//! Which words are the most likely to be needed again, and which of them stand in the summary already?

use std::cmp::Ordering;

use super::ledger::Ledger;
use super::read::hash;
use super::track::{Hashed, Seen};
use crate::literal::{self, Finds, Sort};

/// Without a budget, bytes of words that are added to lines.
pub const UNBOUND: usize = 4_000;

/// Words that stand in a text already.
#[derive(Debug, Default)]
pub struct Known(Hashed<()>);

impl Known {
    /// Notes those of a text.
    pub fn note(&mut self, text: &str) {
        literal::scan(text, self);
    }

    /// Whether a word is one of them.
    pub fn has(&self, word: &str) -> bool {
        self.0.contains_key(&hash(word))
    }
}

impl<'t> Finds<'t> for Known {
    fn literal(&mut self, literal: &'t str, _: Sort, _: usize) {
        self.0.insert(hash(literal), ());
    }
}

/// A word, and how much it is worth for each byte that it takes.
#[derive(Debug, Clone, Copy)]
struct Rated<'l> {
    worth: f64,
    text: &'l str,
    seen: &'l Seen,
}

impl Rated<'_> {
    fn order(&self, other: &Self) -> Ordering {
        let alike = || (self.seen.first, self.text).cmp(&(other.seen.first, other.text));
        other.worth.total_cmp(&self.worth).then_with(alike)
    }
}

/// Words, the most useful for their length first. They are put in order as far as they are asked for.
#[derive(Debug)]
pub struct Ranked<'l> {
    words: Vec<Rated<'l>>,
    at: usize,
    /// Up to here they are in order.
    sorted: usize,
}

/// Words that are put in order at first; then as many again as are in order already.
const FIRST: usize = 512;

impl<'l> Iterator for Ranked<'l> {
    type Item = (&'l str, &'l Seen);

    fn next(&mut self) -> Option<Self::Item> {
        if self.at >= self.sorted {
            let rest = self.words.get_mut(self.sorted..)?;
            let next = rest.len().min(FIRST.max(self.sorted));
            if next < rest.len() {
                rest.select_nth_unstable_by(next, Rated::order);
            }
            rest[..next].sort_unstable_by(Rated::order);
            self.sorted += next;
        }
        let rated = self.words.get(self.at)?;
        self.at += 1;
        Some((rated.text, rated.seen))
    }
}

/// The words that were met: salience times recency, by cost. The numbers were tried on transcripts of several programs; coverage
/// depends little on them.
pub fn ranked(ledger: &Ledger) -> Ranked<'_> {
    let count = ledger.cores().len();
    let costs: Vec<f64> = (0..=LONGEST).map(cost).collect();
    let recencies: Vec<f64> = (0..AGES.min(count)).map(recency).collect();
    let often: Vec<f64> = (0..COUNTS).map(often).collect();
    let said: Vec<f64> = (0..COUNTS).map(said).collect();
    let rated = |(text, seen): (&'_ str, &'_ Seen)| {
        let age = count.saturating_sub(seen.last as usize + 1);
        let salience = known(&often, seen.count, self::often) * known(&said, seen.said, self::said);
        let recency = recencies.get(age).copied().unwrap_or_else(|| recency(age));
        let cost = costs.get(text.len()).copied().unwrap_or_else(|| cost(text.len()));
        salience * recency / cost
    };
    let words = ledger.tracked().words();
    let words = words.map(|(text, seen)| Rated {
        worth: rated((text, seen)),
        text,
        seen,
    });
    Ranked {
        words: words.collect(),
        at: 0,
        sorted: 0,
    }
}

/// Lengths, ages and counts whose numbers are computed once.
const LONGEST: usize = 160;
const AGES: usize = 4_096;
const COUNTS: u32 = 64;

fn known(table: &[f64], count: u32, else_by: impl Fn(u32) -> f64) -> f64 {
    let found = usize::try_from(count).ok().and_then(|count| table.get(count));
    found.copied().unwrap_or_else(|| else_by(count))
}

/// More for a word that was met often.
fn often(count: u32) -> f64 {
    1.0 + 0.7 * f64::from(count.max(1)).ln()
}

/// More for a word that the agent or the user said.
fn said(count: u32) -> f64 {
    1.0 + f64::from(count).ln_1p()
}

/// Less for a word that was met long ago, in messages.
fn recency(age: usize) -> f64 {
    #[allow(clippy::cast_precision_loss, reason = "no transcript has 2^53 messages")]
    let age = age as f64;
    (1.0 + age / 15.0).powf(-0.7)
}

/// What a word takes, with what stands around it.
fn cost(bytes: usize) -> f64 {
    #[allow(clippy::cast_precision_loss, reason = "a word is short")]
    let bytes = bytes as f64;
    (bytes + 8.0).powf(0.85)
}
