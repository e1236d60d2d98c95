//! Ranges of days for weeks, months, quarters and years.

use jiff::ToSpan;

use hippo_types::time::Date;

use super::word::Unit;

/// Days from `start` to `end`, both inclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Days {
    pub start: Date,
    pub end: Date,
}

impl Days {
    pub const fn one(day: Date) -> Self {
        Self { start: day, end: day }
    }

    pub fn month(year: i16, month: i8) -> Option<Self> {
        let start = Date::new(year, month, 1).ok()?;
        Some(Self {
            start,
            end: start.last_of_month(),
        })
    }

    pub fn year(year: i16) -> Option<Self> {
        Some(Self {
            start: Date::new(year, 1, 1).ok()?,
            end: Date::new(year, 12, 31).ok()?,
        })
    }

    /// Returns a quarter from 1 to 4.
    pub fn quarter(year: i16, quarter: i8) -> Option<Self> {
        let start = Self::month(year, quarter.checked_sub(1)?.checked_mul(3)?.checked_add(1)?)?.start;
        Some(Self {
            start,
            end: add_months(start, 2)?.last_of_month(),
        })
    }

    /// Returns the week of a day, Monday to Sunday.
    pub fn week_of(day: Date) -> Option<Self> {
        let start = add_days(day, -i32::from(day.weekday().to_monday_zero_offset()))?;
        Some(Self {
            start,
            end: add_days(start, 6)?,
        })
    }

    /// Returns the week, month, quarter or year that is `steps` units after the one that contains `day`.
    pub fn unit(unit: Unit, day: Date, steps: i32) -> Option<Self> {
        match unit {
            Unit::Day => add_days(day, steps).map(Self::one),
            Unit::Week => Self::week_of(add_days(day, steps.checked_mul(7)?)?),
            Unit::Weekend => {
                let week = Self::week_of(add_days(day, steps.checked_mul(7)?)?)?;
                Some(Self {
                    start: add_days(week.end, -1)?,
                    end: week.end,
                })
            }
            Unit::Month => {
                let day = add_months(day.first_of_month(), steps)?;
                Self::month(day.year(), day.month())
            }
            Unit::Quarter => {
                let day = add_months(day.first_of_month(), steps.checked_mul(3)?)?;
                Self::quarter(day.year(), (day.month() - 1) / 3 + 1)
            }
            Unit::Year => Self::year(i16::try_from(i32::from(day.year()).checked_add(steps)?).ok()?),
        }
    }

    /// Returns the days of the last `count` units, up to and including today.
    pub fn rolling(unit: Unit, today: Date, count: i32) -> Option<Self> {
        let back = count.checked_neg()?;
        let start = match unit {
            Unit::Day => add_days(today, back)?,
            Unit::Week | Unit::Weekend => add_days(today, back.checked_mul(7)?)?,
            Unit::Month => add_months(today, back)?,
            Unit::Quarter => add_months(today, back.checked_mul(3)?)?,
            Unit::Year => add_months(today, back.checked_mul(12)?)?,
        };
        Some(Self { start, end: today })
    }

    /// Returns the days about `count` units before today. For days, this is one exact day; for weeks, a day with
    /// three days before and after it; otherwise, a calendar unit.
    pub fn ago(unit: Unit, today: Date, count: i32) -> Option<Self> {
        match unit {
            Unit::Week => {
                let day = add_days(today, count.checked_mul(-7)?)?;
                Some(Self {
                    start: add_days(day, -3)?,
                    end: add_days(day, 3)?,
                })
            }
            _ => Self::unit(unit, today, count.checked_neg()?),
        }
    }
}

pub(super) fn add_days(day: Date, days: i32) -> Option<Date> {
    day.checked_add(i64::from(days.clamp(-7_000_000, 7_000_000)).days())
        .ok()
}

fn add_months(day: Date, months: i32) -> Option<Date> {
    day.checked_add(i64::from(months.clamp(-200_000, 200_000)).months())
        .ok()
}
