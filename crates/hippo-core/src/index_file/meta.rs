//! Which fields does an `hx` comment hold, and how are they changed without touching the others?

use std::ops::Range;

use super::text::{decode, encode, find};
use super::token::within;
use super::{Diagnostic, Problem, Settings};
use crate::entry::{Entry, EntryId};
use crate::time::{Timestamp, find_date};

/// The keys in the order in which they are written.
pub(super) const KEYS: [&str; 11] = [
    "id", "created", "accessed", "hits", "str", "tags", "rel", "pri", "rule", "src", "ver",
];

/// One part of a comment between two `|`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Field {
    /// In lower case; empty when there is no `=`.
    pub key: String,
    /// As it is written.
    pub value: String,
    /// Where the value stands in the comment.
    span: Range<usize>,
    /// Where the part stands in the comment.
    part: Range<usize>,
}

/// The fields of a whole comment, `<!-- hx:` and `-->` included.
pub(super) fn fields(comment: &[u8]) -> Vec<Field> {
    let mut fields = Vec::new();
    let mut start = find(comment, b"hx:").map_or(comment.len(), |at| at + 3);
    let end = comment.len().saturating_sub(3).max(start);
    while start <= end && start < comment.len() {
        let length = comment[start..end].iter().position(|&byte| byte == b'|');
        let stop = length.map_or(end, |length| start + length);
        let part = &comment[start..stop];
        let equals = part.iter().position(|&byte| byte == b'=');
        let (key, value) = match equals {
            Some(at) => (
                within(comment, start..start + at),
                within(comment, start + at + 1..stop),
            ),
            None => (start..start, within(comment, start..stop)),
        };
        let text = |span: &Range<usize>| String::from_utf8_lossy(&comment[span.clone()]).into_owned();
        if !key.is_empty() || !value.is_empty() {
            fields.push(Field {
                key: text(&key).to_ascii_lowercase(),
                value: text(&value),
                span: value,
                part: start..stop,
            });
        }
        start = stop + 1;
    }
    fields
}

/// The comment with these keys set, or removed where the value is `None`; what else is in it stays.
pub(super) fn rewrite(comment: &[u8], changes: &[(&str, Option<String>)]) -> Vec<u8> {
    let fields = fields(comment);
    let mut parts: Vec<Vec<u8>> = Vec::new();
    let mut seen: Vec<&str> = Vec::new();
    for field in &fields {
        let change = changes.iter().find(|(key, _)| *key == field.key);
        match change {
            Some((key, value)) if !seen.contains(key) => {
                seen.push(key);
                let Some(value) = value else { continue };
                let mut part = comment[field.part.start..field.span.start].to_vec();
                part.extend_from_slice(value.as_bytes());
                part.extend_from_slice(&comment[field.span.end..field.part.end]);
                parts.push(part);
            }
            _ => parts.push(comment[field.part.clone()].to_vec()),
        }
    }
    for (key, value) in changes {
        if let (Some(value), false) = (value, seen.contains(key)) {
            if let Some(last) = parts.last_mut() {
                last.truncate(last.trim_ascii_end().len());
                last.push(b' ');
            }
            parts.push(format!(" {key}={value} ").into_bytes());
        }
    }
    let start = find(comment, b"hx:").map_or(comment.len(), |at| at + 3);
    let mut out = comment[..start].to_vec();
    let mut inner = parts.join(&b'|');
    if !inner.first().is_some_and(u8::is_ascii_whitespace) {
        inner.insert(0, b' ');
    }
    if !inner.last().is_some_and(u8::is_ascii_whitespace) {
        inner.push(b' ');
    }
    out.extend(inner);
    out.extend_from_slice(b"-->");
    out
}

/// A new comment.
pub(super) fn comment(entry: &Entry, settings: &Settings) -> String {
    let mut out = String::from("<!-- hx:");
    let mut mark = " ";
    for (key, value) in values(entry, settings) {
        if let Some(value) = value {
            out.push_str(mark);
            out.push_str(key);
            out.push('=');
            out.push_str(&value);
            mark = " | ";
        }
    }
    out.push_str(" -->");
    out
}

/// The value of each key as it is written; `None` for defaults that are left out.
pub(super) fn values(entry: &Entry, settings: &Settings) -> Vec<(&'static str, Option<String>)> {
    let list = |items: &mut dyn Iterator<Item = &str>| {
        let items: Vec<String> = items
            .map(|item| value(item, true))
            .filter(|item| !item.is_empty())
            .collect();
        (!items.is_empty()).then(|| items.join(","))
    };
    let named = |text: String, default: &str| (text != default).then_some(text);
    let rule = entry.priority_rule.as_deref().map(|rule| value(rule, false));
    vec![
        ("id", Some(value(&entry.id.0, true))),
        ("created", Some(day(entry.created, settings))),
        ("accessed", Some(day(entry.accessed, settings))),
        ("hits", Some(entry.hits.to_string())),
        ("str", Some(format!("{:.2}", shown(entry.strength)))),
        ("tags", list(&mut entry.tags.iter().map(String::as_str))),
        ("rel", list(&mut entry.related.iter().map(|id| id.0.as_str()))),
        ("pri", named(entry.priority.to_string(), "normal")),
        ("rule", rule.filter(|rule| !rule.is_empty())),
        ("src", named(entry.origin.to_string(), "auto")),
        ("ver", named(entry.version.to_string(), "1")),
    ]
}

/// A strength as the file shows it: in [0, 1], in hundredths.
pub(super) fn shown(strength: f32) -> f32 {
    if strength.is_nan() {
        return 0.0;
    }
    (strength.clamp(0.0, 1.0) * 100.0).round() / 100.0
}

/// The day of a moment, as the file shows it.
pub(super) fn day(moment: Timestamp, settings: &Settings) -> String {
    moment.date(settings.offset_seconds).to_string()
}

/// A moment to the second, for a file that showed it so.
pub(super) fn second(moment: Timestamp) -> String {
    let seconds = moment.0.div_euclid(1_000);
    jiff::Timestamp::from_second(seconds).map_or_else(|_| String::new(), |moment| moment.to_string())
}

/// To the millisecond, where there is a part of a second.
pub(super) fn exact(moment: Timestamp) -> String {
    jiff::Timestamp::from_millisecond(moment.0).map_or_else(|_| String::new(), |moment| moment.to_string())
}

fn value(text: &str, listed: bool) -> String {
    encode(text.trim(), |character| {
        matches!(character, '|' | '<' | '>') || listed && character == ','
    })
}

/// A day or a date-time; both without an offset are those of the settings.
pub(super) fn moment(text: &str, settings: &Settings) -> Option<Timestamp> {
    if text.contains(':') {
        let exact = text.parse::<jiff::Timestamp>().ok();
        return exact
            .map(|moment| Timestamp(moment.as_millisecond()))
            .or_else(|| {
                let civil: jiff::civil::DateTime = text.parse().ok()?;
                let since = civil.duration_since(civil.date().to_datetime(jiff::civil::Time::midnight()));
                let start = Timestamp::start_of(civil.date(), settings.offset_seconds);
                Some(start.plus(i64::try_from(since.as_millis()).ok()?))
            });
    }
    let date = text.parse().ok().or_else(|| find_date(text))?;
    Some(Timestamp::start_of(date, settings.offset_seconds))
}

/// Sets the fields of `entry` that the comment states; `true` when it states an id. `line` is the comment's.
pub(super) fn apply(
    pairs: &[(&str, &str)],
    entry: &mut Entry,
    settings: &Settings,
    line: u32,
    diagnostics: &mut Vec<Diagnostic>,
) -> bool {
    let mut seen: Vec<&str> = Vec::new();
    let mut report = |problem| diagnostics.push(Diagnostic { line, problem });
    let (mut created, mut accessed) = (None, None);
    for &(key, text) in pairs {
        let Some(&key) = KEYS.iter().find(|known| **known == key) else {
            continue;
        };
        if seen.contains(&key) {
            report(Problem::RepeatedKey(key));
            continue;
        }
        seen.push(key);
        let good = match key {
            "id" => {
                entry.id = EntryId(decode(text).trim().to_owned());
                !entry.id.0.is_empty()
            }
            "created" => {
                created = moment(text, settings);
                created.is_some()
            }
            "accessed" => {
                accessed = moment(text, settings);
                accessed.is_some()
            }
            "hits" => text.parse().map(|hits| entry.hits = hits).is_ok(),
            "ver" => text.parse().map(|version| entry.version = version).is_ok(),
            "str" => strength(text, &mut entry.strength),
            "tags" => {
                entry.tags = list(text).collect();
                true
            }
            "rel" => {
                entry.related = list(text).map(EntryId).collect();
                true
            }
            "pri" => text.parse().map(|priority| entry.priority = priority).is_ok(),
            "rule" => {
                entry.priority_rule = Some(decode(text).trim().to_owned()).filter(|rule| !rule.is_empty());
                true
            }
            _ => text.parse().map(|origin| entry.origin = origin).is_ok(),
        };
        if !good {
            report(Problem::BadValue(key));
        }
    }
    entry.created = created.or(accessed).unwrap_or(settings.undated);
    entry.accessed = accessed.unwrap_or(entry.created);
    !entry.id.0.is_empty()
}

/// `false` when the text is no number or beyond [0, 1]; the nearest end counts then, or what was there.
fn strength(text: &str, out: &mut f32) -> bool {
    let Some(number) = text.parse::<f32>().ok().filter(|number| !number.is_nan()) else {
        return false;
    };
    *out = number.clamp(0.0, 1.0);
    *out == number
}

fn list(text: &str) -> impl Iterator<Item = String> {
    let items = text.split(',').map(|item| decode(item.trim()).trim().to_owned());
    items.filter(|item| !item.is_empty())
}
