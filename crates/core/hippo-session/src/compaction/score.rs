//! Importance, retention and tier of a message.

use super::classify::EntryType;
use super::config::CompactionConfig;

/// Number of messages at the end that count as recent.
pub const RECENT: usize = 5;
/// Importance that is added to a recent message.
const RECENCY: f64 = 0.15;
/// Size limits in tokens, each with a penalty. The penalties of all limits that a message exceeds are subtracted from
/// its importance.
const SIZES: [(usize, f64); 2] = [(10_000, 0.15), (30_000, 0.10)];
/// Minimum importance after size penalties.
const LEAST: f64 = 0.1;
/// Importance that is added to a message to which a later one refers.
const REFERENCE: f64 = 0.20;

/// Facts that modify the importance of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ScoreFacts {
    /// Number of later messages.
    pub age: usize,
    /// Size of the message in tokens.
    pub tokens: usize,
    /// True if a later message refers to this one.
    pub referenced: bool,
}

/// Form in which the summary shows a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tier {
    /// The summary shows the message in full.
    Keep,
    /// The summary shows the message as one line.
    Compress,
    /// The summary shows only a pointer to the message.
    Sparse,
}

impl Tier {
    /// Returns the name used in results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Keep => "keep",
            Self::Compress => "compress",
            Self::Sparse => "sparse",
        }
    }
}

/// Computes the importance of a message, 0 to 1. It is the importance of its type, modified by recency, size and
/// references, in this order, as in the hippocampus.md extension.
#[must_use]
pub fn importance(kind: EntryType, facts: ScoreFacts) -> f64 {
    let mut importance = kind.importance();
    if facts.age < RECENT {
        importance = (importance + RECENCY).min(1.0);
    }
    for (size, penalty) in SIZES {
        if facts.tokens > size {
            importance = (importance - penalty).max(LEAST);
        }
    }
    if facts.referenced {
        importance = (importance + REFERENCE).min(1.0);
    }
    importance
}

/// Computes the retention of a message, 0 to 1: its importance after decay, `max(floor, importance · e^(−λ · age))`.
#[must_use]
pub fn retention(config: &CompactionConfig, kind: EntryType, importance: f64, age: usize) -> f64 {
    let age = age as f64;
    let left = importance * (-config.decay_rates[kind as usize] * age).exp();
    left.max(config.retention_floor[kind as usize])
}

/// Returns the tier of a message with this retention.
#[must_use]
pub fn tier(config: &CompactionConfig, retention: f64) -> Tier {
    if retention < config.sparse_threshold {
        Tier::Sparse
    } else if retention < config.compress_threshold {
        Tier::Compress
    } else {
        Tier::Keep
    }
}
