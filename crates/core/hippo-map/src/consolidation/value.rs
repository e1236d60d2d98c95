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

pub(super) use stated::TextReading;

/// Kind of difference between two texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ValueConflict {
    /// Number, amount, version, date or time.
    Number,
    /// Negation in only one text.
    Negation,
    /// Opposite ("enabled", "disabled"), withdrawal or limitation ("only", "planned").
    Opposite,
    /// Name, possible name, or a value that is a word ("staging", "blue"), in only one text.
    Name,
    /// Other words: a word is inserted or replaced, or each text has words that the other lacks.
    Word,
    /// The same words with exchanged roles: "from a to b", "from b to a".
    Order,
}

/// Returns the first kind of difference between two texts; `None` if neither contradicts the other.
#[must_use]
pub fn value_conflict(a: &str, b: &str) -> Option<ValueConflict> {
    TextReading::read("", a).conflict(&TextReading::read("", b))
}
