//! Cron lines in time zones with daylight saving time.
//!
//! croner parses a line and finds its next local time. Clock changes are handled here, because croner's own search
//! skips the repeated hour and can return a time before its start. A line has five fields (minute, hour, day of
//! month, month, day of week) or six (seconds first).

use chrono::{DateTime as ChronoTime, Utc};
use croner::parser::{CronParser, Seconds, Year};
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{Span, ToSpan};

use hippo_types::time::Timestamp;

/// Period, in milliseconds, around a clock change in which local times can be out of order. It exceeds a day, because
/// one time zone skipped a whole day.
const NEAR: i64 = 26 * 3_600_000;
/// Time at which the search for the first match of a line starts. The year is a leap year.
const START: DateTime = DateTime::constant(2024, 1, 1, 0, 0, 0, 0);

/// A parsed cron line.
#[derive(Debug, Clone, PartialEq)]
pub struct Cron(croner::Cron);

impl Cron {
    /// Parses a line such as `30 2 * * *` or `@weekly`.
    ///
    /// # Errors
    /// Returns the reason. A line without any matching date, such as 30 February, is also an error.
    pub fn parse(line: &str) -> Result<Self, String> {
        let parser = CronParser::builder().seconds(Seconds::Optional);
        let parser = parser.year(Year::Disallowed).build();
        let cron = Self(parser.parse(line).map_err(|error| error.to_string())?);
        match cron.local_from(START) {
            Some(_) => Ok(cron),
            None => Err("this date does not exist in any year".to_owned()),
        }
    }

    /// Returns the first matching time after `after`, or `None` at the end of the calendar.
    ///
    /// A local time skipped by a clock change is delayed by the size of the change. A repeated local time counts
    /// once, at its first occurrence, unless every hour matches: an hourly job runs in each elapsed hour.
    #[must_use]
    pub fn next_after(&self, after: Timestamp, zone: &TimeZone) -> Option<Timestamp> {
        let moment = jiff::Timestamp::from_millisecond(after.0).ok()?;
        let back = after.plus(-NEAR);
        let disturbed = jiff::Timestamp::from_millisecond(back.0).is_ok_and(|from| {
            let next = zone.following(from).next();
            next.is_some_and(|change| change.timestamp().as_millisecond() < after.plus(NEAR).0)
        });
        let local = zone.to_datetime(moment);
        let reach: Span = 26.hours();
        let hourly = self.0.pattern.hours.is_all_set();
        let mut from = if disturbed {
            local.checked_sub(reach).ok()?
        } else {
            local
        };
        let mut best: Option<i64> = None;
        loop {
            let next = self.local_from(from)?;
            let ambiguous = zone.to_ambiguous_timestamp(next);
            let later = ambiguous.later().ok().filter(|_| hourly);
            let moments = ambiguous.compatible().ok().into_iter().chain(later);
            let found = moments.map(|moment| moment.as_millisecond());
            best = found.filter(|found| *found > after.0).chain(best).min();
            // After the clock change, a later local time cannot be an earlier moment.
            let settled = !disturbed || next.checked_sub(reach).is_ok_and(|next| next > local);
            if let Some(best) = best.filter(|_| settled) {
                return Some(Timestamp(best));
            }
            from = next.checked_add(1.second()).ok()?;
        }
    }

    /// Returns the first matching local time at or after `from`. croner receives the local time as if it were UTC,
    /// because UTC has no clock changes.
    fn local_from(&self, from: DateTime) -> Option<DateTime> {
        let whole = match from.subsec_nanosecond() {
            0 => from,
            _ => from.checked_add(1.second()).ok()?,
        };
        let utc = TimeZone::UTC.to_timestamp(whole).ok()?;
        let start = ChronoTime::<Utc>::from_timestamp(utc.as_second(), 0)?;
        let found = self.0.find_next_occurrence(&start, true).ok()?;
        let found = jiff::Timestamp::from_second(found.timestamp()).ok()?;
        Some(TimeZone::UTC.to_datetime(found))
    }
}
