//! Words of a question, and their values as numbers or dates.

use hippo_types::time::{MONTHS, WEEKDAYS};

/// A word of a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    /// The word in lower case.
    pub text: String,
    /// True if the word is capitalized.
    pub capital: bool,
}

/// Returns the first words of a text. Numbers keep the marks inside them, as in `2026-05-01`.
pub(super) fn words(text: &str, limit: usize) -> Vec<Word> {
    let mut words = Vec::new();
    let split = |mark: char| !(mark.is_alphanumeric() || matches!(mark, '-' | '/' | '.' | ':'));
    for part in text.split(split) {
        if words.len() >= limit {
            break;
        }
        let part = part.trim_matches(['-', '/', '.', ':']);
        let number = part.starts_with(|first: char| first.is_ascii_digit());
        let pieces = part.split(move |mark: char| !number && !mark.is_alphanumeric());
        for piece in pieces.filter(|piece| !piece.is_empty() && piece.len() <= 40) {
            let capital = piece.starts_with(char::is_uppercase);
            words.push(Word {
                text: piece.to_lowercase(),
                capital,
            });
        }
    }
    words
}

/// A month name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Month {
    /// Number of the month, 1 to 12.
    pub number: i8,
    /// True if the word is a short form or has another meaning: `dec`, `mar`, `may`, `march`.
    pub doubtful: bool,
}

/// Parses the name of a month.
pub(super) fn month(text: &str) -> Option<Month> {
    let at = MONTHS
        .iter()
        .position(|name| *name == text || text.get(..3) == name.get(..3) && is_short(text))?;
    // June, April and August are also names of people, but they are more often months.
    let doubtful = matches!(text, "march" | "may") || is_short(text);
    let number = i8::try_from(at + 1).ok()?;
    Some(Month { number, doubtful })
}

/// Returns true if the text is as long as the short form of a month name, such as `dec` or `sept`.
fn is_short(text: &str) -> bool {
    text.len() == 3 || text == "sept"
}

/// Parses the name of a weekday; Monday is 0. The plural, as in "on Tuesdays", is a habit and not a date.
pub(super) fn weekday(text: &str) -> Option<i8> {
    let at = WEEKDAYS.iter().position(|name| *name == text)?;
    i8::try_from(at).ok()
}

/// Parses a small number in digits or words.
pub(super) fn count(text: &str) -> Option<i32> {
    const WORDS: [&str; 13] = [
        "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
        "twelve",
    ];
    match text {
        "a" | "an" => Some(1),
        "couple" => Some(2),
        "few" | "several" => Some(3),
        _ if text.len() <= 4 && text.bytes().all(|byte| byte.is_ascii_digit()) => text.parse().ok(),
        _ => i32::try_from(WORDS.iter().position(|word| *word == text)?).ok(),
    }
}

/// Parses a day of the month such as `3` or `3rd`. The second value is true for an ordinal such as `3rd`.
pub(super) fn day(text: &str) -> Option<(i8, bool)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let ordinal = match &text[digits..] {
        "" => false,
        "st" | "nd" | "rd" | "th" => true,
        _ => return None,
    };
    let day: i8 = text[..digits].parse().ok()?;
    (digits <= 2 && (1..=31).contains(&day)).then_some((day, ordinal))
}

/// Parses a year within a plausible range.
pub(super) fn year(text: &str) -> Option<i16> {
    let year: i16 =
        (text.len() == 4 && text.bytes().all(|byte| byte.is_ascii_digit())).then(|| text.parse().ok())??;
    (1950..2100).contains(&year).then_some(year)
}

/// A unit of the calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Day,
    Week,
    Weekend,
    Month,
    Quarter,
    Year,
}

/// Parses the singular or plural name of a unit.
pub(super) fn unit(text: &str) -> Option<Unit> {
    match text.strip_suffix('s').unwrap_or(text) {
        "day" => Some(Unit::Day),
        "week" => Some(Unit::Week),
        "weekend" => Some(Unit::Weekend),
        "month" => Some(Unit::Month),
        "quarter" => Some(Unit::Quarter),
        "year" => Some(Unit::Year),
        _ => None,
    }
}
