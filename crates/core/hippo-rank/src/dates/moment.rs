//! Date expressions such as "last week" or "3 May 2023".

use jiff::civil::{ISOWeekDate, Weekday};

use hippo_types::time::{Date, find_date};

use super::calendar::{Days, add_days};
use super::word::{self, Month, Unit, Word};

/// A parsed date expression.
#[derive(Debug, Clone, Copy)]
pub(super) struct DateMatch {
    pub days: Days,
    /// True if the expression contains a year.
    pub explicit: bool,
    /// Length of the expression in words.
    pub length: usize,
}

impl DateMatch {
    /// Creates a match for an expression without a year.
    fn relative(days: Option<Days>, length: usize) -> Option<Self> {
        Some(Self {
            days: days?,
            explicit: false,
            length,
        })
    }

    /// Creates a match for an expression with a year.
    fn explicit(days: Option<Days>, length: usize) -> Option<Self> {
        Some(Self {
            explicit: true,
            ..Self::relative(days, length)?
        })
    }
}

/// Words that introduce a date.
#[rustfmt::skip] // keep the list compact
const LEADS: [&str; 16] = [
    "in", "during", "since", "until", "till", "before", "after", "of", "from", "by", "between", "early",
    "mid", "late", "throughout", "around",
];

/// Words for countable things. A number from 1950 to 2100 before one of these words is a quantity, not a year.
#[rustfmt::skip] // keep the list compact
const COUNTED: [&str; 16] = [
    "words", "tokens", "lines", "bytes", "chars", "characters", "ms", "milliseconds", "seconds", "minutes",
    "hours", "requests", "files", "people", "steps", "px",
];

/// Returns the date expression that starts at word `at`.
pub(super) fn find(words: &[Word], at: usize, today: Date) -> Option<DateMatch> {
    // Skip prepositions and articles before the date, as in "since the 3rd of May" and "after last week".
    let skipped = words
        .get(at..)?
        .iter()
        .take(2)
        .take_while(|word| is_filler(word))
        .count();
    let cursor = Cursor {
        words,
        at: at + skipped,
        today,
    };
    let found = cursor
        .relative()
        .or_else(|| cursor.numeric())
        .or_else(|| cursor.named())
        .or_else(|| cursor.year())?;
    Some(DateMatch {
        length: found.length + skipped,
        ..found
    })
}

fn is_filler(word: &Word) -> bool {
    matches!(
        word.text.as_str(),
        "the" | "in" | "on" | "of" | "during" | "early" | "mid" | "late" | "around"
    )
}

#[derive(Clone, Copy)]
struct Cursor<'a> {
    words: &'a [Word],
    at: usize,
    today: Date,
}

impl<'a> Cursor<'a> {
    fn text(&self, offset: usize) -> &'a str {
        self.words
            .get(self.at + offset)
            .map_or("", |word| word.text.as_str())
    }

    fn before(&self, back: usize) -> &'a str {
        self.at
            .checked_sub(back)
            .map_or("", |at| self.words[at].text.as_str())
    }

    /// Returns true if the preceding word introduces a date.
    fn led(&self) -> bool {
        LEADS.contains(&self.before(1))
            || (self.before(1) == "and" && self.at >= 3)
            || (self.before(1) == "the" && LEADS.contains(&self.before(2)))
    }

    /// Parses expressions relative to today.
    fn relative(&self) -> Option<DateMatch> {
        let unit = |offset: usize| word::unit(self.text(offset));
        let one = |steps: i32| Days::unit(Unit::Day, self.today, steps);
        match self.text(0) {
            "today" | "tonight" | "heute" | "hoy" | "сегодня" => DateMatch::relative(one(0), 1),
            "yesterday" | "gestern" | "ayer" | "вчера" => DateMatch::relative(one(-1), 1),
            "vorgestern" | "anteayer" | "позавчера" => DateMatch::relative(one(-2), 1),
            "tomorrow" => DateMatch::relative(one(1), 1),
            "day" if self.text(1) == "before" && self.text(2) == "yesterday" => {
                DateMatch::relative(one(-2), 3)
            }
            which @ ("last" | "past" | "previous" | "this" | "current" | "next") => self.which(which),
            text => {
                // "two weeks ago", "a couple of days ago"
                let count = word::count(text)?;
                let (count, at) = match self.text(1) {
                    "couple" | "few" if count == 1 => (word::count(self.text(1))?, 2),
                    _ => (count, 1),
                };
                let at = at + usize::from(self.text(at) == "of");
                if matches!(self.text(at + 1), "ago" | "earlier" | "back") {
                    return DateMatch::relative(Days::ago(unit(at)?, self.today, count), at + 2);
                }
                None
            }
        }
    }

    /// Parses the words after "last", "this" or "next".
    fn which(&self, which: &str) -> Option<DateMatch> {
        let today = self.today;
        let steps = match which {
            "this" | "current" => 0,
            "next" => 1,
            _ => -1,
        };
        let name = self.text(1);
        if steps == -1 && name == "night" {
            return DateMatch::relative(Days::unit(Unit::Day, today, -1), 2);
        }
        if steps == 0 && matches!(name, "morning" | "afternoon" | "evening") {
            return DateMatch::relative(Some(Days::one(today)), 2);
        }
        if let Some(unit) = word::unit(name) {
            // "in the last week" means the last seven days, whereas "last week" means the previous calendar week.
            let rolling = which == "past"
                || (self.before(1) == "the"
                    && matches!(self.before(2), "in" | "over" | "during" | "within" | "for"));
            let days = if steps == -1 && rolling && unit != Unit::Weekend {
                Days::rolling(unit, today, 1)
            } else {
                Days::unit(unit, today, steps)
            };
            return DateMatch::relative(days, 2);
        }
        if let Some(weekday) = word::weekday(name) {
            let ahead = i32::from(weekday) - i32::from(today.weekday().to_monday_zero_offset());
            let days = match steps {
                // If the weekday is today's weekday, go back a whole week.
                -1 => ahead.rem_euclid(7) - 7,
                0 => ahead,
                _ => (ahead - 1).rem_euclid(7) + 1,
            };
            return DateMatch::relative(add_days(today, days).map(Days::one), 2);
        }
        if let Some(month) = word::month(name) {
            let latest = self.latest_month(month.number)?;
            let days = match steps {
                -1 if latest.end >= today => Days::month(latest.start.year() - 1, month.number),
                1 if latest.end < today => Days::month(latest.start.year() + 1, month.number),
                0 => Days::month(today.year(), month.number),
                _ => Some(latest),
            };
            return DateMatch::relative(days, 2);
        }
        // "last 10 days", "past couple of weeks"
        let count = word::count(name).filter(|_| steps == -1)?;
        let at = 2 + usize::from(self.text(2) == "of");
        DateMatch::relative(Days::rolling(word::unit(self.text(at))?, today, count), at + 1)
    }

    /// Parses numeric dates: `2026-05-01`, `2026-05`, `2026-W11`, `3.5.2026`, `Q1 2026`.
    fn numeric(&self) -> Option<DateMatch> {
        let text = self.text(0);
        if let Some(quarter) = quarter(text) {
            if let Some(year) = word::year(self.text(1)) {
                return DateMatch::explicit(Days::quarter(year, quarter), 2);
            }
            let latest = |year| Days::quarter(year, quarter).filter(|days| days.start <= self.today);
            let year = self.today.year();
            return DateMatch::relative(latest(year).or_else(|| latest(year - 1)), 1);
        }
        if !text.starts_with(|first: char| first.is_ascii_digit()) {
            return None;
        }
        if let (Some(year), Some(quarter)) = (word::year(text), quarter(self.text(1))) {
            return DateMatch::explicit(Days::quarter(year, quarter), 2);
        }
        if text.len() >= 8
            && let Some(day) = find_date(text)
            && (text.len() == 8 || text.as_bytes().get(4).is_some_and(|mark| !mark.is_ascii_digit()))
        {
            return DateMatch::explicit(Some(Days::one(day)), 1);
        }
        if let Some((year, rest)) = text.split_once('-') {
            let year = word::year(year)?;
            if let Some(week) = rest.strip_prefix('w') {
                let week = ISOWeekDate::new(year, week.parse().ok()?, Weekday::Monday).ok()?;
                return DateMatch::explicit(Days::week_of(week.date()), 1);
            }
            let month = rest.parse().ok().filter(|_| rest.len() == 2)?;
            return DateMatch::explicit(Days::month(year, month), 1);
        }
        let mark = if text.contains('.') { '.' } else { '/' };
        let mut parts = text.split(mark);
        let (one, two, year) = (parts.next()?, parts.next()?, word::year(parts.next()?)?);
        let (one, two): (i8, i8) = (one.parse().ok()?, two.parse().ok()?);
        // In a date with dots, the day is first. In a date with slashes, the order varies by country, so it is only
        // clear if one of the numbers is above 12.
        let (day, month) = match (mark, one > 12, two > 12) {
            ('.', ..) | ('/', true, false) => (one, two),
            ('/', false, true) => (two, one),
            _ => return None,
        };
        DateMatch::explicit(Date::new(year, month, day).ok().map(Days::one), 1)
    }

    /// Parses dates that contain the name of a month or weekday.
    fn named(&self) -> Option<DateMatch> {
        let text = self.text(0);
        if let Some(weekday) = word::weekday(text) {
            // "Which Friday" asks for a date.
            if ["which", "what"].contains(&self.before(1)) {
                return None;
            }
            let back = i32::from(self.today.weekday().to_monday_zero_offset()) - i32::from(weekday);
            let day = add_days(self.today, -back.rem_euclid(7))?;
            // In "Friday, 3 May 2023", the date is more specific than the weekday, so the date is used.
            let date = Self {
                at: self.at + 1,
                ..*self
            }
            .named()
            .filter(|found| found.days.start == found.days.end);
            return match date {
                Some(found) => Some(DateMatch {
                    length: found.length + 1,
                    ..found
                }),
                None => DateMatch::relative(Some(Days::one(day)), 1),
            };
        }
        if let Some((day, _)) = word::day(text) {
            let of = usize::from(self.text(1) == "of");
            let month = word::month(self.text(1 + of))?;
            return self.day(month, day, 2 + of);
        }
        let month = word::month(text)?;
        let capital = self.words[self.at].capital;
        if let Some((day, ordinal)) = word::day(self.text(1)) {
            let sure =
                !month.doubtful || ordinal || capital || self.led() || word::year(self.text(2)).is_some();
            if sure {
                return self.day(month, day, 2);
            }
        }
        let of = usize::from(self.text(1) == "of");
        if let Some(year) = word::year(self.text(1 + of)) {
            return DateMatch::explicit(Days::month(year, month.number), 2 + of);
        }
        let led = self.led() && !self.text(1).starts_with("not");
        if month.doubtful && !led {
            return None;
        }
        DateMatch::relative(self.latest_month(month.number), 1)
    }

    /// Parses the year of a date whose day and month are known. The year, if there is one, is `length` words after the
    /// start of the expression.
    fn day(&self, month: Month, day: i8, length: usize) -> Option<DateMatch> {
        if let Some(year) = word::year(self.text(length)) {
            let day = Date::new(year, month.number, day).ok();
            return DateMatch::explicit(day.map(Days::one), length + 1);
        }
        // The latest 29 February can be several years ago.
        let years = (0..8).filter_map(|back| Date::new(self.today.year() - back, month.number, day).ok());
        let day = years.into_iter().find(|day| *day <= self.today);
        DateMatch::relative(day.map(Days::one), length)
    }

    /// Parses a number that the words around it identify as a year.
    fn year(&self) -> Option<DateMatch> {
        let year = word::year(self.text(0))?;
        let led = self.led() || matches!(self.before(1), "year" | "to" | "through");
        if !led || year > self.today.year() + 10 || COUNTED.contains(&self.text(1)) {
            return None;
        }
        DateMatch::explicit(Days::year(year), 1)
    }

    /// Returns the latest month with this number whose first day is not after today.
    fn latest_month(&self, month: i8) -> Option<Days> {
        let year = self.today.year();
        let begun = Days::month(year, month).filter(|days| days.start <= self.today);
        begun.or_else(|| Days::month(year - 1, month))
    }
}

/// Parses `q1` to `q4`.
fn quarter(text: &str) -> Option<i8> {
    let number = text.strip_prefix('q')?.parse().ok()?;
    (1..=4).contains(&number).then_some(number)
}
