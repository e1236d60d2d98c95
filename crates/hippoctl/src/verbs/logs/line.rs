//! When was a line of the log written, at which level, and is it wanted?

use jiff::civil::{Date, DateTime, Time};
use jiff::{SignedDuration, Timestamp, Zoned};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use hippoctl::args::Level;

/// The level of a name, as it stands in the log.
fn named(name: &str) -> Option<Level> {
    match name {
        "ERROR" => Some(Level::Error),
        "WARN" => Some(Level::Warn),
        "INFO" => Some(Level::Info),
        "DEBUG" => Some(Level::Debug),
        "TRACE" => Some(Level::Trace),
        _ => None,
    }
}

/// Which lines are wanted.
pub struct Filter {
    from: Option<Timestamp>,
    level: Option<Level>,
    /// What holds for lines without a stamp: they go on with the one before.
    goes_on: bool,
}

impl Filter {
    /// Those since a moment, and as bad as a level at least.
    pub fn new(from: Option<Timestamp>, level: Option<Level>) -> Self {
        Self {
            from,
            level,
            goes_on: from.is_none() && level.is_none(),
        }
    }

    /// Since when.
    pub fn from(&self) -> Option<Timestamp> {
        self.from
    }

    /// Whether a line is wanted; they are asked about in their order.
    pub fn admits(&mut self, line: &str) -> bool {
        if let Some((at, level)) = stamp(line) {
            self.goes_on =
                self.from.is_none_or(|from| at >= from) && self.level.is_none_or(|least| level <= least);
        }
        self.goes_on
    }
}

/// Time and level of a line, as text or as JSON; none where it goes on with the one before.
fn stamp(line: &str) -> Option<(Timestamp, Level)> {
    #[derive(Deserialize)]
    struct Json<'a> {
        #[serde(borrow)]
        timestamp: std::borrow::Cow<'a, str>,
        #[serde(borrow)]
        level: std::borrow::Cow<'a, str>,
    }
    if line.starts_with('{') {
        let Json { timestamp, level } = serde_json::from_str(line).ok()?;
        return Some((timestamp.parse().ok()?, named(&level)?));
    }
    let (at, level, _) = parts(line)?;
    Some((at.parse().ok()?, named(level)?))
}

/// Time, level and words of a line of text; none where it goes on with the one before.
fn parts(line: &str) -> Option<(&str, &str, &str)> {
    let (at, rest) = line.trim().split_once(' ')?;
    let rest = rest.trim_start();
    let (level, words) = rest.split_once(' ').unwrap_or((rest, ""));
    at.parse::<Timestamp>().ok()?;
    named(level).map(|_| (at, level, words))
}

/// A line as the object that it would be in a log that is written as JSON. What goes on with the line before has its words alone.
pub fn object(line: &str) -> String {
    if line.starts_with('{') && serde_json::from_str::<Map<String, Value>>(line).is_ok() {
        return line.to_owned();
    }
    let object = match parts(line) {
        Some((at, level, words)) => json!({"timestamp": at, "level": level, "fields": {"message": words}}),
        None => json!({"fields": {"message": line.trim_end()}}),
    };
    format!("{object}\n")
}

/// The moment that is meant: an age, a time of today, a day, or a moment, by the zone of `now`.
pub fn since(text: &str, now: Zoned) -> Option<Timestamp> {
    let text = text.trim();
    if let Some(age) = age(text) {
        return now.timestamp().checked_sub(age).ok();
    }
    if let Ok(at) = text.parse::<Timestamp>() {
        return Some(at);
    }
    let zone = now.time_zone().clone();
    let civil = if !text.contains('-') {
        now.date().to_datetime(text.parse::<Time>().ok()?)
    } else if text.len() == "2026-01-10".len() {
        text.parse::<Date>().ok()?.to_datetime(Time::midnight())
    } else {
        text.parse::<DateTime>().ok()?
    };
    civil.to_zoned(zone).ok().map(|at| at.timestamp())
}

fn age(text: &str) -> Option<SignedDuration> {
    let (number, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let seconds = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3_600,
        "d" => 86_400,
        _ => return None,
    };
    let number: u32 = number.parse().ok()?;
    Some(SignedDuration::from_secs(i64::from(number) * seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINES: [&str; 5] = [
        "2026-03-01T10:00:00.123456Z  INFO hippod answers socket=/s\n",
        "2026-03-01T11:00:00.5Z ERROR request{id=1-2 method=\"search\"}: a request failed\n",
        "thread 'engine' panicked\n",
        "{\"timestamp\":\"2026-03-01T12:00:00Z\",\"level\":\"WARN\",\"fields\":{\"message\":\"x\"},\"target\":\"t\"}\n",
        "2026-03-01T13:00:00Z DEBUG a request was answered\n",
    ];

    fn wanted(from: Option<&str>, level: Option<Level>) -> Vec<usize> {
        let mut filter = Filter::new(from.map(|from| from.parse().unwrap()), level);
        let numbered = LINES.iter().enumerate();
        numbered
            .filter(|(_, line)| filter.admits(line))
            .map(|(at, _)| at)
            .collect()
    }

    #[test]
    fn lines_are_told_apart_by_level_and_time_and_go_on_with_the_one_before() {
        assert_eq!(wanted(None, None), [0, 1, 2, 3, 4]);
        assert_eq!(wanted(None, Some(Level::Warn)), [1, 2, 3]);
        assert_eq!(wanted(None, Some(Level::Error)), [1, 2]);
        assert_eq!(wanted(None, Some(Level::Trace)), [0, 1, 2, 3, 4]);
        assert_eq!(wanted(Some("2026-03-01T11:30:00Z"), None), [3, 4]);
        assert_eq!(wanted(Some("2026-03-01T11:00:00Z"), Some(Level::Info)), [1, 2, 3]);
    }

    #[test]
    fn every_line_is_an_object() {
        let object = |line: &str| serde_json::from_str::<Value>(&object(line)).unwrap();
        let first = object(LINES[0]);
        assert_eq!(first["timestamp"], "2026-03-01T10:00:00.123456Z");
        assert_eq!(
            (&first["level"], &first["fields"]["message"]),
            (&json!("INFO"), &json!("hippod answers socket=/s"))
        );
        let second = "request{id=1-2 method=\"search\"}: a request failed";
        assert_eq!(object(LINES[1])["fields"]["message"], second);
        let panic = json!({"fields": {"message": "thread 'engine' panicked"}});
        assert_eq!(object(LINES[2]), panic);
        assert_eq!(object(LINES[3])["target"], "t");
        for odd in [
            "{no json\n",
            "\n",
            "a \"b\" \u{7}\n",
            "2026-03-01T13:00:00Z\n",
            "[1]\n",
        ] {
            assert_eq!(object(odd)["fields"]["message"], odd.trim_end());
        }
    }

    #[test]
    fn moments_are_read_as_people_write_them() {
        let now: Zoned = "2026-03-10T14:00:00+01:00[Europe/Berlin]".parse().unwrap();
        for (text, expected) in [
            ("90s", "2026-03-10T12:58:30Z"),
            ("10m", "2026-03-10T12:50:00Z"),
            ("2h", "2026-03-10T11:00:00Z"),
            ("3d", "2026-03-07T13:00:00Z"),
            ("09:30", "2026-03-10T08:30:00Z"),
            ("2026-03-09", "2026-03-08T23:00:00Z"),
            ("2026-03-09 10:00", "2026-03-09T09:00:00Z"),
            ("2026-03-09T10:00", "2026-03-09T09:00:00Z"),
            ("2026-03-09T10:00:00Z", "2026-03-09T10:00:00Z"),
        ] {
            let expected: Timestamp = expected.parse().unwrap();
            assert_eq!(since(text, now.clone()), Some(expected), "{text}");
        }
        for text in ["", "m", "yesterday", "-3h", "2026-13-01", "99999999999d", "é"] {
            assert_eq!(since(text, now.clone()), None, "{text}");
        }
    }
}
