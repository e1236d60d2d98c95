//! Wall clock, monotonic clock and time zone of the daemon.
//!
//! Delays within a thread use the operating system's clock directly.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

pub use hippo_types::time::rfc3339;
use hippo_types::time::{Date, Timestamp};
use jiff::tz::TimeZone;
use parking_lot::Mutex;

/// Source of time.
pub trait Clock: Send + Sync {
    /// Returns the wall-clock time, which may jump backwards.
    fn now(&self) -> Timestamp;

    /// Returns the monotonic time, for delays.
    fn monotonic(&self) -> Instant;

    /// Returns the time zone in which days begin.
    fn time_zone(&self) -> TimeZone;

    /// Returns the local date of a moment.
    fn date_of(&self, at: Timestamp) -> Date {
        date_in(at, &self.time_zone())
    }
}

/// Returns the date of a time in a time zone. A time outside the supported range is clamped.
pub fn date_in(at: Timestamp, zone: &TimeZone) -> Date {
    local_time(at, zone).date()
}

/// Returns the local time of a time in a time zone. A time outside the supported range is clamped.
pub fn local_time(at: Timestamp, zone: &TimeZone) -> jiff::civil::DateTime {
    let end = if at.0 < 0 {
        jiff::Timestamp::MIN
    } else {
        jiff::Timestamp::MAX
    };
    let moment = jiff::Timestamp::from_millisecond(at.0).unwrap_or(end);
    zone.to_datetime(moment)
}

/// Parses the time in a request: an RFC 3339 timestamp, or a date, which means midnight in the time zone.
pub fn moment(text: &str, zone: &TimeZone) -> Option<Timestamp> {
    if let Ok(moment) = text.parse::<jiff::Timestamp>() {
        return Some(Timestamp(moment.as_millisecond()));
    }
    let day: Date = text.parse().ok()?;
    let midnight = day.to_zoned(zone.clone()).ok()?;
    Some(Timestamp(midnight.timestamp().as_millisecond()))
}

/// The clocks of the machine.
#[derive(Debug, Clone)]
pub struct SystemClock {
    zone: TimeZone,
}

impl SystemClock {
    /// Creates a clock in the configured time zone. Without one, the clock uses the system's time zone, or UTC if that
    /// is unknown.
    pub fn new(zone: Option<TimeZone>) -> Self {
        Self {
            zone: zone.unwrap_or_else(|| TimeZone::try_system().unwrap_or(TimeZone::UTC)),
        }
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        let milliseconds = match SystemTime::now().duration_since(UNIX_EPOCH) {
            Ok(after) => i64::try_from(after.as_millis()).unwrap_or(i64::MAX),
            Err(before) => i64::try_from(before.duration().as_millis()).map_or(i64::MIN, |ago| -ago),
        };
        Timestamp(milliseconds)
    }

    fn monotonic(&self) -> Instant {
        Instant::now()
    }

    fn time_zone(&self) -> TimeZone {
        self.zone.clone()
    }
}

/// Manually controlled clock for tests.
#[derive(Debug)]
pub struct ManualClock {
    zone: TimeZone,
    at: Mutex<(Timestamp, Instant)>,
}

impl ManualClock {
    /// Creates a clock that shows `now`.
    pub fn new(now: Timestamp, zone: TimeZone) -> Self {
        Self {
            zone,
            at: Mutex::new((now, Instant::now())),
        }
    }

    /// Advances both clocks.
    pub fn advance(&self, by: Duration) {
        let mut at = self.at.lock();
        let milliseconds = i64::try_from(by.as_millis()).unwrap_or(i64::MAX);
        *at = (at.0.plus(milliseconds), at.1 + by);
    }

    /// Sets the wall clock and leaves the monotonic clock unchanged.
    pub fn set_wall(&self, now: Timestamp) {
        self.at.lock().0 = now;
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        self.at.lock().0
    }

    fn monotonic(&self) -> Instant {
        self.at.lock().1
    }

    fn time_zone(&self) -> TimeZone {
        self.zone.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;
    use jiff::tz::Offset;

    #[test]
    fn the_day_begins_at_local_midnight() {
        let moment = Timestamp::start_of(date(2026, 3, 2), 0).plus(-1);
        let clock = ManualClock::new(moment, TimeZone::fixed(Offset::constant(2)));
        assert_eq!(clock.date_of(clock.now()), date(2026, 3, 2));
        assert_eq!(date_in(moment, &TimeZone::UTC), date(2026, 3, 1));
        assert_eq!(date_in(Timestamp(i64::MAX), &TimeZone::UTC).year(), 9999);
        assert_eq!(date_in(Timestamp(i64::MIN), &TimeZone::UTC).year(), -9999);
    }

    #[test]
    fn setting_the_wall_clock_back_does_not_change_delays() {
        let clock = ManualClock::new(Timestamp(10_000_000), TimeZone::UTC);
        let start = clock.monotonic();
        clock.set_wall(Timestamp(0));
        clock.advance(Duration::from_millis(1500));
        assert_eq!(clock.now(), Timestamp(1500));
        assert_eq!(clock.monotonic() - start, Duration::from_millis(1500));
    }

    #[test]
    fn the_system_clock_is_plausible() {
        let clock = SystemClock::new(Some(TimeZone::UTC));
        assert!(clock.now() > Timestamp::start_of(date(2024, 1, 1), 0));
        assert!(clock.date_of(clock.now()) >= date(2024, 1, 1));
        assert!(clock.monotonic() <= clock.monotonic());
    }
}
