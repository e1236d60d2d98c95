//! Which words are the most likely to be needed again, and which of them stand in the summary already?

use std::collections::BTreeSet;

use super::ledger::Ledger;
use super::literal::{self, Finds};
use super::read::hash;
use super::track::Seen;
use crate::redact::REDACTED;

/// Without a budget, bytes of words that are added to lines.
pub const UNBOUND: usize = 4_000;

/// Words that stand in a text already.
#[derive(Debug, Default)]
pub struct Known(BTreeSet<u64>);

impl Known {
    /// Notes those of a text.
    pub fn note(&mut self, text: &str) {
        literal::scan(text, self);
    }

    /// Whether a word is one of them.
    pub fn has(&self, word: &str) -> bool {
        self.0.contains(&hash(word))
    }
}

impl<'t> Finds<'t> for Known {
    fn word(&mut self, _: usize) {}
    fn literal(&mut self, literal: &'t str) {
        self.0.insert(hash(literal));
    }
}

/// The words that were met, the most useful for their length first.
pub fn ranked(ledger: &Ledger) -> Vec<&Seen> {
    let count = ledger.cores().len();
    let costs: Vec<f64> = (0..=LONGEST).map(cost).collect();
    let fades: Vec<f64> = (0..FADES.min(count)).map(fade).collect();
    let worth = |seen: &Seen| {
        let age = count.saturating_sub(seen.last as usize + 1);
        let fade = fades.get(age).copied().unwrap_or_else(|| fade(age));
        let cost = costs
            .get(seen.text.len())
            .copied()
            .unwrap_or_else(|| cost(seen.text.len()));
        met(seen) * fade / cost
    };
    let words = ledger
        .tracked()
        .words()
        .filter(|seen| !seen.text.contains(REDACTED));
    let mut ranked: Vec<(f64, &Seen)> = words.map(|seen| (worth(seen), seen)).collect();
    ranked.sort_unstable_by(|a, b| {
        let alike = || (a.1.first, &a.1.text).cmp(&(b.1.first, &b.1.text));
        b.0.total_cmp(&a.0).then_with(alike)
    });
    ranked.into_iter().map(|(_, seen)| seen).collect()
}

/// Lengths and ages whose parts of the worth are computed once.
const LONGEST: usize = 160;
const FADES: usize = 4_096;

/// More for a word that was met often, and that the agent or the user said. How much a word is worth for each byte that it takes is this,
/// times [`fade`], by [`cost`]. The numbers were tried on transcripts of several programs; coverage depends little on them.
fn met(seen: &Seen) -> f64 {
    let often = 1.0 + 0.7 * f64::from(seen.count.max(1)).ln();
    often * (1.0 + f64::from(seen.said).ln_1p())
}

/// Less for a word that was met long ago, in messages.
fn fade(age: usize) -> f64 {
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
