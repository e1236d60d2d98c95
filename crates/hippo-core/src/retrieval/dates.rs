//! Which days does a question speak of?

use crate::time::Date;

/// Days from `start` to `end`, both included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DateRange {
    /// First day.
    pub start: Date,
    /// Last day.
    pub end: Date,
    /// The question names a calendar date ("in May 2026", "2026-05-01"); false for words that move with today
    /// ("yesterday", "last week", "in May").
    pub explicit: bool,
}

/// The days that a question names, understood as asked on `today`; `None` when it names none.
#[must_use]
pub fn date_range(query: &str, today: Date) -> Option<DateRange> {
    let _ = (query, today);
    None
}
