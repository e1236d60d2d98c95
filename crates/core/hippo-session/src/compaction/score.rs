//! Importance, retention and tier of a message.

use super::classify::EntryType;
use super::config::CompactionConfig;

/// Number of messages at the end that count as recent.
pub const RECENT: usize = 5;
/// Bonus of a recent message.
const RECENCY: f64 = 0.15;
/// Size limits in tokens, each with a penalty. The penalties of all limits that a message exceeds are subtracted from
/// its importance.
const SIZES: [(usize, f64); 2] = [(10_000, 0.15), (30_000, 0.10)];
/// Minimum importance after size penalties.
const LEAST: f64 = 0.1;
/// Bonus of a message that a later one refers to.
const REFERENCE: f64 = 0.20;

/// Facts that modify the importance of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ScoreFacts {
    /// Number of later messages.
    pub age: usize,
    /// Size in tokens.
    pub tokens: usize,
    /// True if a later message refers to this one.
    pub referenced: bool,
}

/// Form in which a message is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tier {
    /// In full.
    Keep,
    /// As a line.
    Compress,
    /// As a pointer.
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

/// Computes the importance, 0 to 1: the importance of the type, with the modifiers in the order of the extension.
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

/// Computes the importance after decay: `max(floor, importance · e^(−λ · age))`, 0 to 1.
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
