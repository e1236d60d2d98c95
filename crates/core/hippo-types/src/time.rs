//! Time stamps and calendar dates.

use jiff::civil;
use jiff::tz::Offset;
use serde::{Deserialize, Serialize};

/// A calendar day, without a time zone.
pub type Date = civil::Date;

/// Milliseconds in a day.
pub const DAY_MS: i64 = 86_400_000;
/// English names of the months, January first.
#[rustfmt::skip] // keep the list compact
pub const MONTHS: [&str; 12] = [
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october",
    "november", "december",
];
/// English names of the weekdays, Monday first.
#[rustfmt::skip] // keep the list compact
pub const WEEKDAYS: [&str; 7] = [
    "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday",
];
/// Milliseconds in a second.
const SECOND: i64 = 1_000;

/// Time stamp in milliseconds since 1970-01-01T00:00:00Z; negative before that.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// Creates a time stamp from seconds since 1970.
    #[must_use]
    pub const fn from_seconds(seconds: i64) -> Self {
        Self(seconds.saturating_mul(SECOND))
    }

    /// Creates a time stamp from seconds or milliseconds since 1970, depending on the size of the number. Returns
    /// `None` for 0, the value of a clock that was never set.
    #[must_use]
    pub const fn from_clock(number: i64) -> Option<Self> {
        /// Smallest number that is taken for milliseconds. As seconds it means the year 5138, as milliseconds the
        /// year 1973. Programs do not write times in either of these years.
        const MILLISECONDS: u64 = 100_000_000_000;
        match number {
            0 => None,
            number if number.unsigned_abs() >= MILLISECONDS => Some(Self(number)),
            seconds => Some(Self::from_seconds(seconds)),
        }
    }

    /// Returns the start of a day at a fixed offset from UTC, in seconds (east is positive, at most a day).
    #[must_use]
    pub fn start_of(date: Date, offset_seconds: i32) -> Self {
        let days = date.duration_since(civil::date(1970, 1, 1)).as_secs();
        Self::from_seconds(days.saturating_sub(i64::from(offset_seconds)))
    }

    /// Returns the calendar day at a fixed offset from UTC, in seconds (east is positive).
    ///
    /// A time stamp or offset outside the calendar's range is replaced with the nearest valid one.
    #[must_use]
    pub fn date(self, offset_seconds: i32) -> Date {
        let offset = Offset::from_seconds(offset_seconds.clamp(-86_399, 86_399)).unwrap_or(Offset::UTC);
        let moment = jiff::Timestamp::from_millisecond(self.0).unwrap_or(if self.0 < 0 {
            jiff::Timestamp::MIN
        } else {
            jiff::Timestamp::MAX
        });
        offset.to_datetime(moment).date()
    }

    /// Returns the milliseconds from `earlier` to this time stamp. Returns zero if `earlier` is later, which happens
    /// if a clock is set back.
    #[must_use]
    pub const fn since(self, earlier: Self) -> u64 {
        let elapsed = self.0.saturating_sub(earlier.0);
        if elapsed < 0 { 0 } else { elapsed.cast_unsigned() }
    }

    /// Adds milliseconds. A sum outside the range of `i64` saturates.
    #[must_use]
    pub const fn plus(self, milliseconds: i64) -> Self {
        Self(self.0.saturating_add(milliseconds))
    }
}

/// Returns the number of days from `earlier` to `later`. It is negative if `later` is before `earlier`.
#[must_use]
pub fn days_between(earlier: Date, later: Date) -> i32 {
    i32::try_from(later.duration_since(earlier).as_hours() / 24).unwrap_or(i32::MAX)
}

/// Returns true if a day is 31 or more days ahead of `today`. A log with such a date is treated as a mistake.
#[must_use]
pub fn is_far_ahead(today: Date, day: Date) -> bool {
    days_between(today, day) >= 31
}

/// Formats a time stamp as RFC 3339 in UTC, to the second.
#[must_use]
pub fn rfc3339(at: Timestamp) -> String {
    let end = if at.0 < 0 {
        jiff::Timestamp::MIN
    } else {
        jiff::Timestamp::MAX
    };
    let moment = jiff::Timestamp::from_millisecond(at.0.div_euclid(1000).saturating_mul(1000)).unwrap_or(end);
    moment.to_string()
}

/// Finds the first full date in a text: `2026-01-10`, with `-`, `_`, `/` or `.` between the parts, or `20260110`.
///
/// A date within a longer run of digits and an invalid day are ignored.
#[must_use]
pub fn find_date(text: &str) -> Option<Date> {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let run = bytes[at..]
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        let found = match run {
            4 => parse_parted_date(&bytes[at..]),
            8 => calendar_day(
                parse_digits(&bytes[at..at + 4]),
                parse_digits(&bytes[at + 4..at + 6]),
                parse_digits(&bytes[at + 6..at + 8]),
            ),
            _ => None,
        };
        if found.is_some() {
            return found;
        }
        at += run.max(1);
    }
    None
}

/// Parses a date such as `2026-01-10` at the start of `text`. The caller must check that `text` starts with exactly
/// four digits.
fn parse_parted_date(text: &[u8]) -> Option<Date> {
    let mark = *text
        .get(4)
        .filter(|mark| matches!(mark, b'-' | b'_' | b'/' | b'.'))?;
    let digits = |from: usize| {
        text.get(from..from + 2)
            .filter(|part| part.iter().all(u8::is_ascii_digit))
    };
    let (month, day) = (digits(5)?, digits(8)?);
    let apart = text[7] == mark && text.get(10).is_none_or(|byte| !byte.is_ascii_digit());
    if apart {
        calendar_day(parse_digits(&text[..4]), parse_digits(month), parse_digits(day))
    } else {
        None
    }
}

fn parse_digits(digits: &[u8]) -> i16 {
    digits
        .iter()
        .fold(0, |number, digit| number * 10 + i16::from(digit - b'0'))
}

/// Returns a valid day between the years 1900 and 2199.
fn calendar_day(year: i16, month: i16, day: i16) -> Option<Date> {
    if !(1900..2200).contains(&year) {
        return None;
    }
    Date::new(year, i8::try_from(month).ok()?, i8::try_from(day).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;

    #[test]
    fn clock_values_are_seconds_or_milliseconds() {
        for (number, moment) in [
            (1_772_749_800, Some(1_772_749_800_000)),
            (1_772_749_800_000, Some(1_772_749_800_000)),
            (0, None),
            (-5, Some(-5_000)),
            (i64::MIN, Some(i64::MIN)),
        ] {
            assert_eq!(Timestamp::from_clock(number), moment.map(Timestamp), "{number}");
        }
    }

    #[test]
    fn the_day_depends_on_the_offset() {
        let almost_midnight = Timestamp::start_of(date(2026, 1, 10), 0).plus(-1);
        assert_eq!(almost_midnight.date(0), date(2026, 1, 9));
        assert_eq!(almost_midnight.date(3_600), date(2026, 1, 10));
        assert_eq!(almost_midnight.date(-3_600), date(2026, 1, 9));
        assert_eq!(
            Timestamp::start_of(date(2026, 1, 10), 7_200).date(7_200),
            date(2026, 1, 10)
        );
        assert_eq!(Timestamp::start_of(date(1970, 1, 1), 0), Timestamp(0));
    }

    #[test]
    fn out_of_range_time_stamps_do_not_panic() {
        assert!(Timestamp(i64::MAX).date(i32::MAX) >= date(9999, 12, 30));
        assert_eq!(Timestamp(i64::MIN).date(i32::MIN).year(), -9999);
    }

    #[test]
    fn a_clock_set_back_yields_no_elapsed_time() {
        assert_eq!(Timestamp(5).since(Timestamp(9)), 0);
        assert_eq!(Timestamp(9).since(Timestamp(5)), 4);
    }

    #[test]
    fn full_dates_are_found() {
        let table = [
            ("2024-04-25", Some(date(2024, 4, 25))),
            ("Standup 2024-04-25, late", Some(date(2024, 4, 25))),
            ("report_20260202.md", Some(date(2026, 2, 2))),
            ("2026-01-30-1329", Some(date(2026, 1, 30))),
            ("2026/02/03", Some(date(2026, 2, 3))),
            ("2026-02-30", None),
            ("2026-02/03", None),
            ("12026-02-03", None),
            ("2026-02-034", None),
            ("1769779331278", None),
            ("2026-02", None),
            ("v1.24.4", None),
            ("日2024-04-25日", Some(date(2024, 4, 25))),
        ];
        for (text, expected) in table {
            assert_eq!(find_date(text), expected, "{text}");
        }
    }

    #[test]
    fn days_are_counted_across_months() {
        assert_eq!(days_between(date(2026, 2, 27), date(2026, 3, 2)), 3);
        assert_eq!(days_between(date(2026, 3, 2), date(2026, 2, 27)), -3);
    }
}
