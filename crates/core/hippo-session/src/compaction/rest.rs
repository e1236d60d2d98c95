//! Messages that the summary has no room for.
//!
//! There may be millions, so only the shown messages are stored.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::ledger::MessageLedger;

/// Messages with content that are not shown.
#[derive(Debug, Default)]
pub struct DroppedMessages {
    shown: BTreeSet<usize>,
    /// Number of dropped messages.
    pub count: usize,
}

impl DroppedMessages {
    /// Creates the complement of the shown messages.
    pub fn new(ledger: &MessageLedger, shown: BTreeSet<usize>) -> Self {
        let mut rest = Self { shown, count: 0 };
        rest.count = rest.indexes(ledger).count();
        rest
    }

    /// Returns the indexes of the dropped messages, in transcript order.
    pub fn indexes(&self, ledger: &MessageLedger) -> impl Iterator<Item = usize> {
        let cores = ledger.cores().iter().enumerate();
        cores
            .filter(|(index, core)| core.tokens() > 0 && !self.shown.contains(index))
            .map(|(index, _)| index)
    }

    /// Returns the list of dropped messages, one per line.
    pub fn list(&self, ledger: &MessageLedger) -> String {
        let mut out = String::new();
        for index in self.indexes(ledger) {
            let core = &ledger.cores()[index];
            // Writing to a `String` cannot fail.
            let _ = writeln!(out, "{} [{}] {}tok", core.id, core.kind.name(), core.tokens());
        }
        out
    }
}
