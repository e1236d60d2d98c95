//! When does a cron line come round again, in a zone whose clocks are put forward and back?
//!
//! A parser of our own: the known crates bring a second calendar library beside `jiff`, and their errors name no
//! position. Five fields (minute, hour, day of month, month, day of week) or six (seconds first).

use jiff::civil::{Date, DateTime, Time};
use jiff::tz::TimeZone;
use jiff::{Span, ToSpan};

use crate::time::Timestamp;

/// Days that are looked through for the next match: a leap day may be eight years away.
const DAYS: usize = 366 * 9;
/// Milliseconds around a change of the clocks within which local times are out of order: a zone has skipped a day.
const NEAR: i64 = 26 * 3_600_000;

const MONTHS: [&str; 12] = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
];
const WEEKDAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

/// Lines with a name.
const NAMED: [(&str, &str); 5] = [
    ("@hourly", "0 * * * *"),
    ("@daily", "0 0 * * *"),
    ("@midnight", "0 0 * * *"),
    ("@weekly", "0 0 * * 0"),
    ("@monthly", "0 0 1 * *"),
];

/// A checked cron line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cron {
    seconds: u64,
    minutes: u64,
    hours: u64,
    days: u64,
    months: u64,
    weekdays: u64,
    /// Days of month and days of week are both limited: a day of either kind fits, as in every cron.
    either_day: bool,
}

/// A line that is no cron line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("could not read the cron line: {reason} at column {column}")]
pub struct CronError {
    /// Column of the first character of what is wrong, from 1.
    pub column: usize,
    /// What is wrong.
    pub reason: String,
}

struct Field {
    name: &'static str,
    least: u8,
    most: u8,
    names: &'static [&'static str],
}

const FIELDS: [Field; 6] = [
    Field {
        name: "second",
        least: 0,
        most: 59,
        names: &[],
    },
    Field {
        name: "minute",
        least: 0,
        most: 59,
        names: &[],
    },
    Field {
        name: "hour",
        least: 0,
        most: 23,
        names: &[],
    },
    Field {
        name: "day of month",
        least: 1,
        most: 31,
        names: &[],
    },
    Field {
        name: "month",
        least: 1,
        most: 12,
        names: &MONTHS,
    },
    Field {
        name: "day of week",
        least: 0,
        most: 7,
        names: &WEEKDAYS,
    },
];

impl Cron {
    /// Reads a line such as `30 2 * * *` or `@weekly`.
    ///
    /// # Errors
    /// [`CronError`] names the column and what is wrong there. A line that never comes round, such as 30 February, is
    /// an error too.
    pub fn parse(line: &str) -> Result<Self, CronError> {
        let name = line.trim();
        if name.starts_with('@') {
            let known = NAMED.iter().find(|(known, _)| name.eq_ignore_ascii_case(known));
            let column = column(line, name);
            return match known {
                Some((_, line)) => Self::parse(line),
                None => Err(error(column, format!("unknown name {name:?}"))),
            };
        }
        let fields: Vec<&str> = line.split_whitespace().collect();
        let skipped = match fields.len() {
            6 => 0,
            5 => 1,
            count if count > 6 => {
                return Err(error(column(line, fields[6]), "more than six fields".to_owned()));
            }
            count => {
                return Err(error(
                    line.len() + 1,
                    format!("five or six fields are needed, there are {count}"),
                ));
            }
        };
        let mut sets = [1_u64; 6];
        for (text, at) in fields.iter().zip(skipped..) {
            sets[at] = field(line, text, &FIELDS[at])?;
        }
        let [seconds, minutes, hours, days, months, weekdays] = sets;
        let limited = |text: &str| !text.starts_with('*');
        let cron = Self {
            seconds,
            minutes,
            hours,
            days,
            months,
            // 7 is Sunday as well.
            weekdays: (weekdays | (weekdays >> 7)) & 0x7f,
            either_day: limited(fields[3 - skipped]) && limited(fields[5 - skipped]),
        };
        let start = Date::constant(2024, 1, 1);
        if cron.local_from(start.to_datetime(Time::midnight())).is_none() {
            return Err(error(
                column(line, fields[3 - skipped]),
                "no year has such a day".to_owned(),
            ));
        }
        Ok(cron)
    }

    /// The first moment after `after` that fits; `None` where the calendar ends.
    ///
    /// A local time that the clocks skip comes as much later as they were put forward. A local time that comes twice
    /// counts once, the first time, unless every hour fits: an hourly job runs in each hour that passes.
    #[must_use]
    pub fn next_after(&self, after: Timestamp, zone: &TimeZone) -> Option<Timestamp> {
        let moment = jiff::Timestamp::from_millisecond(after.0).ok()?;
        let back = after.plus(-NEAR);
        let disturbed = jiff::Timestamp::from_millisecond(back.0)
            .ok()
            .is_some_and(|from| {
                let next = zone.following(from).next();
                next.is_some_and(|change| change.timestamp().as_millisecond() < after.plus(NEAR).0)
            });
        let local = zone.to_datetime(moment);
        let reach: Span = 26.hours();
        let mut from = if disturbed {
            local.checked_sub(reach).ok()?
        } else {
            local
        };
        let mut best: Option<i64> = None;
        loop {
            let next = self.local_from(from)?;
            let ambiguous = zone.to_ambiguous_timestamp(next);
            let mut moments = [ambiguous.compatible().ok(), None];
            if self.hours.count_ones() == 24 {
                moments[1] = ambiguous.later().ok();
            }
            for found in moments.into_iter().flatten().map(jiff::Timestamp::as_millisecond) {
                if found > after.0 && best.is_none_or(|best| found < best) {
                    best = Some(found);
                }
            }
            // Beyond the reach of the change no later local time can be an earlier moment.
            let settled = !disturbed || next.checked_sub(reach).is_ok_and(|next| next > local);
            if let Some(best) = best.filter(|_| settled) {
                return Some(Timestamp(best));
            }
            from = next.checked_add(1.second()).ok()?;
        }
    }

    /// The first local time that fits, at `from` or later.
    fn local_from(&self, from: DateTime) -> Option<DateTime> {
        let rounded = if from.subsec_nanosecond() > 0 {
            from.checked_add(1.second()).ok()?
        } else {
            from
        };
        let mut date = rounded.date();
        let mut time = rounded.time().with().subsec_nanosecond(0).build().ok();
        for _ in 0..DAYS {
            if self.fits_day(date)
                && let Some(found) = self.time_from(time.take().unwrap_or(Time::midnight()))
            {
                return Some(date.to_datetime(found));
            }
            time = Some(Time::midnight());
            date = date.tomorrow().ok()?;
        }
        None
    }

    fn fits_day(&self, date: Date) -> bool {
        let day = has(self.days, date.day());
        let weekday = has(self.weekdays, date.weekday().to_sunday_zero_offset());
        let fits = if self.either_day {
            day || weekday
        } else {
            day && weekday
        };
        fits && has(self.months, date.month())
    }

    /// The first time of a day that fits, at `from` or later.
    fn time_from(&self, from: Time) -> Option<Time> {
        for hour in (from.hour()..24).filter(|hour| has(self.hours, *hour)) {
            let same = hour == from.hour();
            let first = if same { from.minute() } else { 0 };
            for minute in (first..60).filter(|minute| has(self.minutes, *minute)) {
                let first = if same && minute == from.minute() {
                    from.second()
                } else {
                    0
                };
                if let Some(second) = (first..60).find(|second| has(self.seconds, *second)) {
                    return Time::new(hour, minute, second, 0).ok();
                }
            }
        }
        None
    }
}

fn has(set: u64, number: i8) -> bool {
    set & (1 << number) != 0
}

fn error(column: usize, reason: String) -> CronError {
    CronError { column, reason }
}

/// Column of a part of a line.
fn column(line: &str, part: &str) -> usize {
    let offset = (part.as_ptr() as usize).saturating_sub(line.as_ptr() as usize);
    line.get(..offset).map_or(1, |before| before.chars().count() + 1)
}

/// The numbers that a field names.
fn field(line: &str, text: &str, field: &Field) -> Result<u64, CronError> {
    let mut set = 0;
    for part in text.split(',') {
        let at = column(line, part);
        let (range, step) = match part.split_once('/') {
            Some((range, step)) => {
                let number: u8 = step.parse().ok().filter(|step| *step > 0).ok_or_else(|| {
                    error(
                        column(line, step),
                        format!("a step is a number from 1, not {step:?}"),
                    )
                })?;
                (range, Some(number))
            }
            None => (part, None),
        };
        let (first, last) = if range == "*" {
            (field.least, if field.names.len() == 7 { 6 } else { field.most })
        } else if let Some((first, last)) = range.split_once('-') {
            let (first, last) = (number(line, first, field)?, number(line, last, field)?);
            if first > last {
                return Err(error(at, format!("the range {range:?} runs backwards")));
            }
            (first, last)
        } else {
            let first = number(line, range, field)?;
            // `5/15` is "from 5 on".
            (first, if step.is_some() { field.most } else { first })
        };
        for number in (first..=last).step_by(usize::from(step.unwrap_or(1))) {
            set |= 1 << number;
        }
    }
    Ok(set)
}

fn number(line: &str, text: &str, field: &Field) -> Result<u8, CronError> {
    let named = field
        .names
        .iter()
        .position(|name| text.eq_ignore_ascii_case(name));
    let base = if field.names.len() == 12 { 1 } else { 0 };
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let value = match named {
        Some(at) => u8::try_from(at).ok().map(|at| at + base),
        None if digits => text.parse().ok(),
        None => None,
    };
    let (least, most) = (field.least, field.most);
    value
        .filter(|value| (least..=most).contains(value))
        .ok_or_else(|| {
            let reason = format!("{} must be {least} to {most}, not {text:?}", field.name);
            error(column(line, text), reason)
        })
}
