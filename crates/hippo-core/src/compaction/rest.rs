//! Which messages have no place in the summary?
//!
//! There may be millions: they are known by those that have one, and told one by one.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::ledger::{Core, Ledger};
use super::message::ContentId;

/// The messages that say something and are not shown.
#[derive(Debug, Default)]
pub struct Rest {
    shown: BTreeSet<usize>,
    /// How many there are.
    pub count: usize,
}

impl Rest {
    /// What is left when these are shown.
    pub fn new(ledger: &Ledger, shown: BTreeSet<usize>) -> Self {
        let mut rest = Self { shown, count: 0 };
        rest.count = rest.of(ledger).count();
        rest
    }

    /// The messages, in their order.
    pub fn of(&self, ledger: &Ledger) -> impl Iterator<Item = usize> {
        let cores = ledger.cores().iter().enumerate();
        cores
            .filter(|(index, core)| core.tokens() > 0 && !self.shown.contains(index))
            .map(|(index, _)| index)
    }

    /// One a line.
    pub fn text(&self, ledger: &Ledger) -> String {
        let mut out = String::new();
        for index in self.of(ledger) {
            write_line(&mut out, &ledger.cores()[index]);
        }
        out
    }

    /// The id of that text, which is not held for it.
    pub fn id(&self, ledger: &Ledger) -> ContentId {
        let mut hasher = blake3::Hasher::new();
        let mut line = String::new();
        for index in self.of(ledger) {
            line.clear();
            write_line(&mut line, &ledger.cores()[index]);
            hasher.update(line.as_bytes());
        }
        ContentId::of_hash(&hasher.finalize())
    }
}

fn write_line(out: &mut String, core: &Core) {
    // A `String` takes everything.
    let _ = writeln!(out, "{} [{}] {}tok", core.id(), core.kind().name(), core.tokens());
}
