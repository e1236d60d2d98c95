//! Do two texts about the same matter state different values?
//!
//! Near-duplicates are often a fact and its correction: "lease 30 s", "lease 120 s". Merging them would lose one of the
//! two. So texts may only be merged when nothing that could be a value differs; a doubt counts as a difference.

mod compare;
mod number;
mod pieces;
mod stated;
mod words;

use std::cmp::Ordering;

use crate::entry::Entry;
use compare::Sides;
use stated::Stated;

/// What differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Conflict {
    /// A number, an amount, a version, a date or a time.
    Number,
    /// One says that something is not so.
    Negation,
    /// One says the opposite ("enabled", "disabled"), takes it back, or limits it ("only", "planned").
    Opposite,
    /// A name, a word that may be one, or a value that is a word ("staging", "blue").
    Name,
    /// Each says a word that the other does not, or one says a word in the place of another, or puts one in.
    Word,
    /// The same words with changed parts: "from a to b", "from b to a".
    Order,
}

/// What an entry tells, as far as it is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Told<'a> {
    /// Its topic.
    pub topic: &'a str,
    /// Its summary.
    pub summary: &'a str,
}

impl<'a> From<&'a Entry> for Told<'a> {
    fn from(entry: &'a Entry) -> Self {
        Self {
            topic: &entry.topic,
            summary: &entry.summary,
        }
    }
}

/// A text without a topic.
impl<'a> From<&'a str> for Told<'a> {
    fn from(summary: &'a str) -> Self {
        Self { topic: "", summary }
    }
}

/// A text as it is compared: read once, compared with many.
pub(super) struct Text(Stated);

impl Text {
    /// Reads a text.
    pub fn of<'a>(told: impl Into<Told<'a>>) -> Self {
        let told = told.into();
        Self(Stated::of(told.topic, told.summary))
    }

    /// As [`value_conflict`].
    pub fn conflict(&self, other: &Self) -> Option<Conflict> {
        compare::conflict(&self.0, &other.0)
    }

    /// Which of two texts that state the same values says more: `Greater`, this one.
    pub fn more(&self, other: &Self) -> Ordering {
        Sides::of(&self.0, &other.0).more()
    }
}

/// The first kind of value in which two texts differ; `None`: whatever one states, the other does not change.
///
/// Symmetric. One text may say more than the other as long as that is no value. Words are compared by their stems;
/// words that mean the same, and words that state nothing of their own, are known from tables.
#[must_use]
pub fn value_conflict<'a>(a: impl Into<Told<'a>>, b: impl Into<Told<'a>>) -> Option<Conflict> {
    Text::of(a).conflict(&Text::of(b))
}
