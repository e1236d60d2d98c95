//! Which words are the most likely to be needed again, and which of them stand in the summary already?

use std::collections::BTreeSet;

use super::ledger::Ledger;
use super::literal::{self, Finds};
use super::read::hash;
use super::track::Seen;

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
    let mut ranked: Vec<(f64, &Seen)> = ledger
        .tracked()
        .words()
        .filter(|seen| !seen.text.contains(crate::redact::REDACTED))
        .map(|seen| (worth(seen, count), seen))
        .collect();
    ranked.sort_by(|a, b| {
        b.0.total_cmp(&a.0)
            .then_with(|| (a.1.first, &a.1.text).cmp(&(b.1.first, &b.1.text)))
    });
    ranked.into_iter().map(|(_, seen)| seen).collect()
}

/// How much a word is worth for each byte that it takes: more when it was met often, when the agent or the user said it, and when
/// that was lately. The numbers lie in the middle of a region in which each may be halved or doubled without losing a point of coverage
/// (docs/compaction.md).
fn worth(seen: &Seen, count: usize) -> f64 {
    #[allow(clippy::cast_precision_loss, reason = "no transcript has 2^53 messages")]
    let age = (count as f64 - 1.0 - f64::from(seen.last)).max(0.0);
    let met = 1.0 + 0.7 * f64::from(seen.count).ln();
    let said = 1.0 + f64::from(seen.said).ln_1p();
    let fade = (1.0 + age / 15.0).powf(-0.7);
    #[allow(clippy::cast_precision_loss, reason = "a word is short")]
    let cost = (seen.text.len() as f64 + 8.0).powf(0.85);
    met * said * fade / cost
}
