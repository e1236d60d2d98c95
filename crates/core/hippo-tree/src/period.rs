//! Periods of nodes: day, ISO week, month and all time.

use std::fmt;

use jiff::ToSpan;
use jiff::civil::{ISOWeekDate, Weekday};

use hippo_text::source::NodeKind;
use hippo_types::time::{Date, days_between};

/// Days after the end of a week or month during which logs are still accepted.
const GRACE_DAYS: i32 = 7;

/// The period of a node. Periods of one level are ordered by time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Period {
    /// A day.
    Day(Date),
    /// An ISO week, identified by its Monday.
    Week(Date),
    /// A month, identified by its first day.
    Month(Date),
    /// All time: the period of `ROOT.md`.
    All,
}

impl Period {
    /// Returns the period of a node from its path relative to the workspace, or `None` if the path does not belong to
    /// a node.
    #[must_use]
    pub fn of_path(path: &str) -> Option<Self> {
        match path.strip_prefix("memory/")?.split_once('/') {
            None => (path == "memory/ROOT.md").then_some(Self::All),
            Some((folder, name)) => {
                let name = name.strip_suffix(".md")?;
                let period = Self::parse(name)?;
                // Names are parsed case-insensitively, but a file must have the exact case: `2026-w02.md` is a note
                // of the user.
                (folder == period.level().name() && name == period.to_string()).then_some(period)
            }
        }
    }

    /// Parses a name: `2026-01-10`, `2026-W02`, `2026-01` or `ROOT`.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        if name.eq_ignore_ascii_case("root") {
            return Some(Self::All);
        }
        let digits = |text: &str, many: usize| {
            let all = text.len() == many && text.bytes().all(|byte| byte.is_ascii_digit());
            all.then(|| text.parse::<i16>().ok()).flatten()
        };
        let (year, rest) = name.split_once('-')?;
        let year = digits(year, 4)?;
        let two = |text: &str| digits(text, 2).and_then(|number| i8::try_from(number).ok());
        if let Some(week) = rest.strip_prefix(['W', 'w']) {
            let week = ISOWeekDate::new(year, two(week)?, Weekday::Monday).ok()?;
            return Some(Self::Week(week.date()));
        }
        match rest.split_once('-') {
            None => Date::new(year, two(rest)?, 1).ok().map(Self::Month),
            Some((month, day)) => Date::new(year, two(month)?, two(day)?).ok().map(Self::Day),
        }
    }

    /// Returns the level of the node.
    #[must_use]
    pub fn level(self) -> NodeKind {
        match self {
            Self::Day(_) => NodeKind::Daily,
            Self::Week(_) => NodeKind::Weekly,
            Self::Month(_) => NodeKind::Monthly,
            Self::All => NodeKind::Root,
        }
    }

    /// Returns the path of the node, relative to the workspace.
    #[must_use]
    pub fn path(self) -> String {
        match self {
            Self::All => "memory/ROOT.md".to_owned(),
            period => format!("memory/{}/{period}.md", period.level().name()),
        }
    }

    /// Returns the parent: the ISO week of a day, the month that contains a week's Thursday, or all time for a month.
    #[must_use]
    pub fn parent(self) -> Option<Self> {
        match self {
            Self::Day(date) => {
                let monday = date.iso_week_date().first_of_week().ok()?;
                Some(Self::Week(monday.date()))
            }
            Self::Week(monday) => {
                let thursday = monday.checked_add(3.days()).ok()?;
                Some(Self::Month(thursday.first_of_month()))
            }
            Self::Month(_) => Some(Self::All),
            Self::All => None,
        }
    }

    /// Returns the first day, or `None` for all time.
    #[must_use]
    pub fn first_day(self) -> Option<Date> {
        match self {
            Self::Day(date) | Self::Week(date) | Self::Month(date) => Some(date),
            Self::All => None,
        }
    }

    /// Returns the last day, or `None` for all time.
    #[must_use]
    pub fn last_day(self) -> Option<Date> {
        match self {
            Self::Day(date) => Some(date),
            Self::Week(monday) => monday.checked_add(6.days()).ok(),
            Self::Month(first) => Some(first.last_of_month()),
            Self::All => None,
        }
    }

    /// Returns true if the period is closed: a day once the next day has begun, a week or month seven days after its
    /// end.
    #[must_use]
    pub fn is_fixed(self, today: Date) -> bool {
        let grace = match self {
            Self::Day(_) => 1,
            Self::Week(_) | Self::Month(_) => GRACE_DAYS,
            Self::All => return false,
        };
        self.last_day()
            .is_some_and(|last| days_between(last, today) >= grace)
    }
}

impl fmt::Display for Period {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Day(date) => write!(f, "{date}"),
            Self::Week(monday) => {
                let week = monday.iso_week_date();
                write!(f, "{:04}-W{:02}", week.year(), week.week())
            }
            Self::Month(first) => write!(f, "{:04}-{:02}", first.year(), first.month()),
            Self::All => f.write_str("ROOT"),
        }
    }
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn period_names_and_paths_survive_a_round_trip() {
        for (name, path, parent) in [
            ("2026-01-10", "memory/daily/2026-01-10.md", Some("2026-W02")),
            ("2026-W02", "memory/weekly/2026-W02.md", Some("2026-01")),
            ("2026-01", "memory/monthly/2026-01.md", Some("ROOT")),
            ("ROOT", "memory/ROOT.md", None),
            // The last days of a year can belong to the first week of the next year.
            ("2024-12-30", "memory/daily/2024-12-30.md", Some("2025-W01")),
            ("2021-01-03", "memory/daily/2021-01-03.md", Some("2020-W53")),
            // A week belongs to the month of its Thursday.
            ("2020-W53", "memory/weekly/2020-W53.md", Some("2020-12")),
            ("2026-W05", "memory/weekly/2026-W05.md", Some("2026-01")),
            ("2026-W09", "memory/weekly/2026-W09.md", Some("2026-02")),
            ("2026-W14", "memory/weekly/2026-W14.md", Some("2026-04")),
        ] {
            let period = Period::parse(name).unwrap();
            assert_eq!(period.to_string(), name);
            assert_eq!(period.path(), path);
            assert_eq!(Period::of_path(path), Some(period));
            assert_eq!(
                period.parent().map(|parent| parent.to_string()).as_deref(),
                parent,
                "{name}"
            );
        }
        for no in [
            "2026-13",
            "2026-W54",
            "2025-W53",
            "2026-02-30",
            "26-01-01",
            "2026-1-1",
            "",
            "ROOTS",
        ] {
            assert_eq!(Period::parse(no), None, "{no}");
        }
        for no in [
            "memory/2026-01-10.md",
            "memory/daily/2026-W02.md",
            "memory/weekly/2026-01.md",
            "memory/daily/x/2026-01-10.md",
            "knowledge/ROOT.md",
            "ROOT.md",
        ] {
            assert_eq!(Period::of_path(no), None, "{no}");
        }
    }

    #[test]
    fn days_are_fixed_at_midnight_and_longer_periods_a_week_later() {
        for (name, open, fixed) in [
            ("2026-03-15", date(2026, 3, 15), date(2026, 3, 16)),
            ("2026-W11", date(2026, 3, 21), date(2026, 3, 22)),
            ("2026-03", date(2026, 4, 6), date(2026, 4, 7)),
        ] {
            let period = Period::parse(name).unwrap();
            assert!(!period.is_fixed(open), "{name}");
            assert!(period.is_fixed(fixed), "{name}");
        }
        assert!(!Period::All.is_fixed(date(2999, 1, 1)));
        assert!(
            !Period::Day(date(2026, 1, 2)).is_fixed(date(2026, 1, 1)),
            "a day in the future"
        );
    }

    proptest! {
        #[test]
        fn every_day_is_in_its_week_and_every_week_in_its_month(offset in 0_i32..200_000) {
            let day = date(1900, 1, 1).checked_add(offset.days()).unwrap();
            let week = Period::Day(day).parent().unwrap();
            prop_assert!(week.first_day().unwrap() <= day && day <= week.last_day().unwrap());
            let month = week.parent().unwrap();
            let within = (0..7).filter(|more| {
                let day = week.first_day().unwrap().checked_add(i64::from(*more).days()).unwrap();
                month.first_day().unwrap() <= day && day <= month.last_day().unwrap()
            });
            prop_assert!(within.count() >= 4, "most of a week lies in its month");
            prop_assert_eq!(Period::parse(&week.to_string()), Some(week));
            prop_assert_eq!(Period::parse(&month.to_string()), Some(month));
        }
    }
}
