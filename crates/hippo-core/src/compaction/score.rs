//! How important is a message, how much of that is left at its distance from the end, and how is it shown then?

use super::classify::EntryType;
use super::config::Config;

/// Messages from the end that count as recent.
pub const RECENT: usize = 5;
/// What being recent adds.
const RECENCY: f64 = 0.15;
/// Above so many tokens a message counts as large, and as very large; what each takes away.
const SIZES: [(usize, f64); 2] = [(10_000, 0.15), (30_000, 0.10)];
/// Size takes importance down to this at most.
const LEAST: f64 = 0.1;
/// What being referenced later adds.
const REFERENCE: f64 = 0.20;

/// What about a message changes its importance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Facts {
    /// Messages after it.
    pub age: usize,
    /// Its size.
    pub tokens: usize,
    /// A later message refers to it.
    pub referenced: bool,
}

/// How a message is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tier {
    /// As it is.
    Keep,
    /// As a line.
    Compress,
    /// As a pointer.
    Sparse,
}

impl Tier {
    /// Its name in results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Keep => "keep",
            Self::Compress => "compress",
            Self::Sparse => "sparse",
        }
    }
}

/// The importance of a message, 0 to 1: that of its type, with the modifiers in the extension's order.
#[must_use]
pub fn importance(kind: EntryType, facts: Facts) -> f64 {
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

/// What is left of the importance: `max(floor, importance · e^(−λ · age))`, 0 to 1.
#[must_use]
pub fn retention(config: &Config, kind: EntryType, importance: f64, age: usize) -> f64 {
    #[allow(clippy::cast_precision_loss, reason = "no transcript has 2^53 messages")]
    let age = age as f64;
    let left = importance * (-config.decay_rates[kind as usize] * age).exp();
    left.max(config.retention_floor[kind as usize])
}

/// How a message of this retention is shown.
#[must_use]
pub fn tier(config: &Config, retention: f64) -> Tier {
    if retention < config.sparse_threshold {
        Tier::Sparse
    } else if retention < config.compress_threshold {
        Tier::Compress
    } else {
        Tier::Keep
    }
}

/// At how many messages from the end a message of this type is shown as a line at the latest, whatever else holds for it;
/// `None`: perhaps never.
#[must_use]
pub fn horizon(config: &Config, kind: EntryType) -> Option<usize> {
    let (at, threshold) = (kind as usize, config.compress_threshold);
    let most = (kind.importance() + RECENCY + REFERENCE).min(1.0);
    if config.retention_floor[at] >= threshold || threshold <= 0.0 {
        return None;
    }
    if most < threshold {
        return Some(0);
    }
    let ages = (most / threshold).ln() / config.decay_rates[at];
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the comparison keeps it small, and it is not negative"
    )]
    (ages < 1e9).then(|| ages as usize + 2)
}
