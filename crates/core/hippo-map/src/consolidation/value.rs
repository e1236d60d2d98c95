//! Comparison of the values that two texts state.
//!
//! Near-duplicates are often a fact and its correction: "lease 30 s", "lease 120 s". Merging them would lose one value.
//! Two texts may therefore be merged only if no word that could be a value differs. In doubt, the values count as
//! different.

mod compare;
mod number;
mod pieces;
mod stated;
mod words;

use std::cmp::Ordering;

use compare::TextComparison;
use hippo_types::entry::Entry;
use stated::TextReading;

/// Kind of difference between two texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ValueConflict {
    /// Number, amount, version, date or time.
    Number,
    /// Negation in one text.
    Negation,
    /// Opposite ("enabled", "disabled"), withdrawal or limitation ("only", "planned").
    Opposite,
    /// Name, possible name, or a value that is a word ("staging", "blue").
    Name,
    /// A word that replaces another word or is inserted, or words on both sides that the other side lacks.
    Word,
    /// The same words with exchanged roles: "from a to b", "from b to a".
    Order,
}

/// Compared text of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ComparedText<'a> {
    /// Topic.
    pub topic: &'a str,
    /// Summary.
    pub summary: &'a str,
}

impl<'a> From<&'a Entry> for ComparedText<'a> {
    fn from(entry: &'a Entry) -> Self {
        Self {
            topic: &entry.topic,
            summary: &entry.summary,
        }
    }
}

/// Creates a text without a topic.
impl<'a> From<&'a str> for ComparedText<'a> {
    fn from(summary: &'a str) -> Self {
        Self { topic: "", summary }
    }
}

/// Text parsed for comparison with many others.
pub(super) struct ParsedText(TextReading);

impl ParsedText {
    /// Parses a text.
    pub fn parse<'a>(text: impl Into<ComparedText<'a>>) -> Self {
        let text = text.into();
        Self(TextReading::read(text.topic, text.summary))
    }

    /// Compares as [`value_conflict`] does.
    pub fn conflict(&self, other: &Self) -> Option<ValueConflict> {
        compare::find_conflict(&self.0, &other.0)
    }

    /// Compares which of two texts with the same values says more; `Greater` means this one.
    pub fn more(&self, other: &Self) -> Ordering {
        TextComparison::new(&self.0, &other.0).more()
    }
}

/// Returns the first kind of difference between two texts; `None` if neither contradicts the other.
///
/// The result is symmetric. One text may say more, as long as the addition is not a value. Words are compared by their
/// stems. Tables list synonyms and words without content.
#[must_use]
pub fn value_conflict<'a>(
    a: impl Into<ComparedText<'a>>,
    b: impl Into<ComparedText<'a>>,
) -> Option<ValueConflict> {
    ParsedText::parse(a).conflict(&ParsedText::parse(b))
}
