//! Dates in questions.
//!
//! Supports dates in English and in numbers, and the most common words for yesterday and today in some other
//! languages. Weeks start on Monday. A month or day without a year means the latest one that is not after today.

mod calendar;
mod moment;
mod word;

use hippo_types::time::Date;

use calendar::Days;
use moment::{DateMatch, find};
use word::{Word, words};

/// Number of words of a question that are read. Text after them is probably a pasted file, whose dates do not count.
const WORDS: usize = 400;

/// Words of a question for everything of some days, apart from the days.
#[rustfmt::skip] // a list is read in lines
const ANYTHING: [&str; 77] = [
    "a", "about", "activities", "activity", "all", "an", "anything", "are", "at", "day", "days", "diary", "did", "do",
    "does", "doing", "done", "during", "entries", "entry", "events", "everything", "for", "from", "going", "had",
    "happen", "happened", "happening", "happens", "i", "in", "is", "journal", "list", "log", "logs", "me", "my", "note",
    "notes", "of", "on", "our", "recap", "show", "summarize", "summary", "the", "there", "us", "was", "we", "were",
    "what", "work", "worked",
    // German
    "alles", "am", "der", "die", "es", "gab", "gemacht", "geschah", "habe", "haben", "ich", "im", "ist", "notizen",
    "passiert", "passierte", "vom", "von", "war", "wir",
];
/// Letters in a numeric date: an ordinal (`3rd`), a time (`T10:00Z`) or a week (`W11`).
const IN_DATES: [&str; 8] = ["", "st", "nd", "rd", "th", "t", "tz", "w"];
/// Maximum bytes of a run of letters and digits in a question for everything of some days.
const LONGEST_WORD: usize = 40;

/// Days from `start` to `end`, both inclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DateRange {
    /// First day; [`Date::MIN`] for "until …" and "before …".
    pub start: Date,
    /// Last day.
    pub end: Date,
    /// True for a date with its year ("in May 2026", "2026-05-01"); false for a date relative to today ("yesterday",
    /// "last week", "in May").
    pub explicit: bool,
}

impl DateRange {
    /// Returns true if the range contains the day.
    #[must_use]
    pub fn contains(&self, day: Date) -> bool {
        self.start <= day && day <= self.end
    }
}

/// Returns the days in a question asked on `today`, or `None` if it contains no date.
///
/// If the question contains several dates, the first one with a year is used. If none has a year, the first one is
/// used.
#[must_use]
pub fn date_range(query: &str, today: Date) -> Option<DateRange> {
    let words = words(query, WORDS);
    let mut first = None;
    let mut at = 0;
    while at < words.len() {
        let Some((range, length)) = expression(&words, at, today) else {
            at += 1;
            continue;
        };
        if range.explicit {
            return Some(range);
        }
        first = first.or(Some(range));
        at += length.max(1);
    }
    first
}

/// Returns true if a question asks for everything of the days of its only date: "what happened on 10 May",
/// "2026-05-10".
#[must_use]
pub fn is_only_dates(query: &str, today: Date) -> bool {
    let mut runs = query.split(|mark: char| !mark.is_alphanumeric());
    if runs.any(|run| run.len() > LONGEST_WORD) {
        return false;
    }
    let words = words(query, WORDS);
    let is_date = |word: &Word| {
        let letters: String = word.text.chars().filter(|mark| mark.is_alphabetic()).collect();
        !word.text.starts_with(|mark: char| mark.is_ascii_digit()) || IN_DATES.contains(&letters.as_str())
    };
    let mut has_date = false;
    let mut at = 0;
    while at < words.len() {
        if let Some((range, length)) = expression(&words, at, today) {
            let end = at + length.max(1);
            if has_date || range.start == Date::MIN || !words[at..end].iter().all(is_date) {
                return false;
            }
            has_date = true;
            at = end;
        } else if ANYTHING.contains(&words[at].text.as_str()) {
            at += 1;
        } else {
            return false;
        }
    }
    has_date
}

/// Parses the date expression that starts at word `at`. Returns the range of days, and the length of the expression in
/// words.
fn expression(words: &[Word], at: usize, today: Date) -> Option<(DateRange, usize)> {
    let lead = words[at].text.as_str();
    let leads = ["between", "from", "since", "after", "until", "till", "before"];
    let led = usize::from(leads.contains(&lead));
    let first = at + led;
    let found = match lead {
        "since" | "after" | "until" | "till" | "before" => find(words, first, today)?,
        "between" => pair(words, first, today)?,
        _ => pair(words, first, today).or_else(|| find(words, first, today))?,
    };
    let Days { start, end } = found.days;
    let (start, end) = match lead {
        "since" => (start, today.max(end)),
        "after" => {
            let start = end.tomorrow().unwrap_or(Date::MAX);
            (start, today.max(start))
        }
        "until" | "till" => (Date::MIN, end),
        "before" => (Date::MIN, start.yesterday().unwrap_or(Date::MIN)),
        _ => (start, end),
    };
    let explicit = found.explicit;
    Some((DateRange { start, end, explicit }, found.length + led))
}

/// Parses "X and Y" or "X to Y". The range is from the first day of X to the last day of Y.
fn pair(words: &[Word], at: usize, today: Date) -> Option<DateMatch> {
    let one = find(words, at, today)?;
    let link = at + one.length;
    let linked = match words.get(link)?.text.as_str() {
        "to" | "until" | "till" | "through" => true,
        "and" => at > 0 && words[at - 1].text == "between",
        _ => false,
    };
    let other = find(words, link + 1, today).filter(|_| linked)?;
    let length = one.length + 1 + other.length;
    // In "between May and July 2023", the year applies to both months.
    let one = if other.explicit && !one.explicit {
        find(words, at, other.days.end)?
    } else {
        one
    };
    let start = one.days.start.min(other.days.start);
    let end = one.days.end.max(other.days.end);
    Some(DateMatch {
        days: Days::new(start, end),
        explicit: other.explicit,
        length,
    })
}

#[cfg(test)]
mod tests;
