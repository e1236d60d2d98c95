//! Ranges of days for weeks, months, quarters and years.

use jiff::ToSpan;

use hippo_types::time::Date;

use super::word::Unit;

/// Days from `start` to `end`, both inclusive. Counts of days, weeks and other units have at most four digits, so that
/// no sum overflows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Days {
    pub start: Date,
    pub end: Date,
}

impl Days {
    pub const fn new(start: Date, end: Date) -> Self {
        Self { start, end }
    }

    pub const fn one(day: Date) -> Self {
        Self::new(day, day)
    }

    pub fn month(year: i16, month: i8) -> Option<Self> {
        let start = Date::new(year, month, 1).ok()?;
        Some(Self::new(start, start.last_of_month()))
    }

    pub fn year(year: i16) -> Option<Self> {
        Some(Self::new(
            Date::new(year, 1, 1).ok()?,
            Date::new(year, 12, 31).ok()?,
        ))
    }

    /// Returns the days of a quarter of a year. `quarter` is a number from 1 to 4.
    pub fn quarter(year: i16, quarter: i8) -> Option<Self> {
        let (first, last) = (
            Self::month(year, quarter * 3 - 2)?,
            Self::month(year, quarter * 3)?,
        );
        Some(Self::new(first.start, last.end))
    }

    /// Returns the week of a day, Monday to Sunday.
    pub fn week_of(day: Date) -> Option<Self> {
        let start = add_days(day, -i32::from(day.weekday().to_monday_zero_offset()))?;
        Some(Self::new(start, add_days(start, 6)?))
    }

    /// Returns the week, month, quarter or year that is `steps` units after the one that contains `day`.
    pub fn unit(unit: Unit, day: Date, steps: i32) -> Option<Self> {
        match unit {
            Unit::Day => add_days(day, steps).map(Self::one),
            Unit::Week => Self::week_of(add_days(day, steps * 7)?),
            Unit::Weekend => {
                let end = Self::unit(Unit::Week, day, steps)?.end;
                Some(Self::new(add_days(end, -1)?, end))
            }
            Unit::Month => {
                let day = add_months(day.first_of_month(), steps)?;
                Self::month(day.year(), day.month())
            }
            Unit::Quarter => {
                let day = add_months(day.first_of_month(), steps * 3)?;
                Self::quarter(day.year(), (day.month() - 1) / 3 + 1)
            }
            Unit::Year => Self::year(i16::try_from(i32::from(day.year()) + steps).ok()?),
        }
    }

    /// Returns the days of the last `count` units, up to and including today.
    pub fn rolling(unit: Unit, today: Date, count: i32) -> Option<Self> {
        let start = match unit {
            Unit::Day => add_days(today, -count)?,
            Unit::Week | Unit::Weekend => add_days(today, -count * 7)?,
            Unit::Month => add_months(today, -count)?,
            Unit::Quarter => add_months(today, -count * 3)?,
            Unit::Year => add_months(today, -count * 12)?,
        };
        Some(Self::new(start, today))
    }

    /// Returns the days about `count` units before today. For days, this is one exact day; for weeks, a day with
    /// three days before and after it; otherwise, a calendar unit.
    pub fn ago(unit: Unit, today: Date, count: i32) -> Option<Self> {
        match unit {
            Unit::Week => {
                let day = add_days(today, -count * 7)?;
                Some(Self::new(add_days(day, -3)?, add_days(day, 3)?))
            }
            _ => Self::unit(unit, today, -count),
        }
    }
}

pub(super) fn add_days(day: Date, days: i32) -> Option<Date> {
    day.checked_add(days.days()).ok()
}

fn add_months(day: Date, months: i32) -> Option<Date> {
    day.checked_add(months.months()).ok()
}
