//! Fields of the `hx` comment.

use std::ops::Range;

use super::IndexFileOptions;
use super::text::{decode, encode, find_bytes};
use super::token::within;
use hippo_types::entry::{Entry, EntryId};
use hippo_types::time::{Timestamp, find_date};

/// Keys in the order in which they are written.
pub(super) const KEYS: [&str; 11] = [
    "id", "created", "accessed", "hits", "str", "tags", "rel", "pri", "rule", "src", "ver",
];

/// Part of a comment between two `|`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct HxField {
    /// Key in lower case; empty if there is no `=`.
    pub key: String,
    /// Raw value.
    pub value: String,
    /// Byte range of the value in the comment.
    span: Range<usize>,
    /// Byte range of the part in the comment.
    part: Range<usize>,
}

/// Parses the fields of a whole comment, including `<!-- hx:` and `-->`.
pub(super) fn parse_fields(comment: &[u8]) -> Vec<HxField> {
    let mut fields = Vec::new();
    let mut start = find_bytes(comment, b"hx:").map_or(comment.len(), |at| at + 3);
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
            fields.push(HxField {
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

/// Returns the comment after setting these keys. A key whose new value is `None` is removed. Everything else is
/// unchanged.
pub(super) fn rewrite_comment(comment: &[u8], changes: &[(&str, Option<String>)]) -> Vec<u8> {
    let fields = parse_fields(comment);
    // Each part has the rank of its key, and its text.
    let mut parts: Vec<(Option<usize>, Vec<u8>)> = Vec::new();
    let rank = |key: &str| KEYS.iter().position(|known| *known == key);
    let mut seen: Vec<&str> = Vec::new();
    for field in &fields {
        let change = changes.iter().find(|(key, _)| *key == field.key);
        match change {
            Some((key, value)) if !seen.contains(key) => {
                seen.push(key);
                let Some(value) = value else { continue };
                let before = &comment[field.part.start..field.span.start];
                let after = &comment[field.span.end..field.part.end];
                parts.push((rank(key), [before, value.as_bytes(), after].concat()));
            }
            _ => parts.push((rank(&field.key), comment[field.part.clone()].to_vec())),
        }
    }
    for (key, value) in changes {
        if let (Some(value), false) = (value, seen.contains(key)) {
            let later = parts.iter().position(|(known, _)| *known > rank(key));
            if let (None, Some((_, last))) = (later, parts.last_mut()) {
                last.truncate(last.trim_ascii_end().len());
                last.push(b' ');
            }
            let part = format!(" {key}={value} ").into_bytes();
            parts.insert(later.unwrap_or(parts.len()), (rank(key), part));
        }
    }
    let start = find_bytes(comment, b"hx:").map_or(comment.len(), |at| at + 3);
    let parts: Vec<Vec<u8>> = parts.into_iter().map(|(_, part)| part).collect();
    let inner = parts.join(&b'|');
    let gap = |byte: Option<&u8>| {
        if byte.is_some_and(u8::is_ascii_whitespace) {
            &b""[..]
        } else {
            b" "
        }
    };
    let (before, after) = (gap(inner.first()), gap(inner.last()));
    [&comment[..start], before, &inner, after, b"-->"].concat()
}

/// Formats a new comment.
pub(super) fn format_comment(entry: &Entry, settings: &IndexFileOptions) -> String {
    let values = format_values(entry, settings).into_iter();
    let stated: Vec<String> = values
        .filter_map(|(key, value)| Some(format!("{key}={}", value?)))
        .collect();
    format!("<!-- hx: {} -->", stated.join(" | "))
}

/// Formats the value of each key; `None` for a default that is omitted.
pub(super) fn format_values(
    entry: &Entry,
    settings: &IndexFileOptions,
) -> Vec<(&'static str, Option<String>)> {
    let list = |items: &mut dyn Iterator<Item = &str>| {
        let items = items.map(|item| encode_value(item, true));
        let items: Vec<String> = items.filter(|item| !item.is_empty()).collect();
        (!items.is_empty()).then(|| items.join(","))
    };
    let named = |text: String, default: &str| (text != default).then_some(text);
    let created = format_day(entry.created, settings);
    let strength = format!("{:.2}", round_strength(entry.strength));
    let rule = entry.priority_rule.as_ref().map(|rule| encode_value(rule, false));
    vec![
        ("id", Some(encode_value(&entry.id.0, true))),
        ("created", Some(created.clone())),
        ("accessed", named(format_day(entry.accessed, settings), &created)),
        ("hits", named(entry.hits.to_string(), "0")),
        ("str", named(strength, "1.00")),
        ("tags", list(&mut entry.tags.iter().map(String::as_str))),
        ("rel", list(&mut entry.related.iter().map(|id| id.0.as_str()))),
        ("pri", named(entry.priority.to_string(), "normal")),
        ("rule", rule.filter(|rule| !rule.is_empty())),
        ("src", named(entry.origin.to_string(), "auto")),
        ("ver", named(entry.version.to_string(), "1")),
    ]
}

/// Rounds a strength as the file shows it: clamped to [0, 1], in hundredths.
pub(super) fn round_strength(strength: f32) -> f32 {
    if strength.is_nan() {
        return 0.0;
    }
    (strength.clamp(0.0, 1.0) * 100.0).round() / 100.0
}

/// Formats the day of a timestamp as the file shows it.
pub(super) fn format_day(moment: Timestamp, settings: &IndexFileOptions) -> String {
    moment.date(settings.offset_seconds).to_string()
}

/// Formats a timestamp in full precision: to the second or, if it has a fraction, to the millisecond.
pub(super) fn format_exact(moment: Timestamp) -> String {
    jiff::Timestamp::from_millisecond(moment.0).map_or_else(|_| String::new(), |moment| moment.to_string())
}

fn encode_value(text: &str, listed: bool) -> String {
    encode(text.trim(), |character| {
        matches!(character, '|' | '<' | '>') || listed && character == ','
    })
}

/// Parses a day or a date-time. Without an offset, both use the offset of the options.
pub(super) fn parse_moment(text: &str, settings: &IndexFileOptions) -> Option<Timestamp> {
    if text.contains(':') {
        if let Ok(exact) = text.parse::<jiff::Timestamp>() {
            return Some(Timestamp(exact.as_millisecond()));
        }
        let civil: jiff::civil::DateTime = text.parse().ok()?;
        let since = civil.duration_since(civil.date().into());
        let start = Timestamp::start_of(civil.date(), settings.offset_seconds);
        return Some(start.plus(i64::try_from(since.as_millis()).ok()?));
    }
    let date = text.parse().ok().or_else(|| find_date(text))?;
    Some(Timestamp::start_of(date, settings.offset_seconds))
}

/// Applies the fields of a comment to `entry`. Returns `true` if the comment contains an id.
///
/// If a key is repeated, the first value is used. An invalid value is skipped; a strength is clamped to [0, 1].
pub(super) fn apply_fields(pairs: &[(&str, &str)], entry: &mut Entry, settings: &IndexFileOptions) -> bool {
    let mut seen: Vec<&str> = Vec::new();
    let (mut created, mut accessed) = (None, None);
    for &(key, text) in pairs {
        if seen.contains(&key) {
            continue;
        }
        seen.push(key);
        match key {
            "id" => entry.id = EntryId(decode(text).trim().to_owned()),
            "created" => created = parse_moment(text, settings),
            "accessed" => accessed = parse_moment(text, settings),
            "hits" => entry.hits = text.parse().unwrap_or(entry.hits),
            "ver" => entry.version = text.parse().unwrap_or(entry.version),
            "str" => {
                let number = text.parse::<f32>().ok().filter(|number| !number.is_nan());
                entry.strength = number.unwrap_or(entry.strength).clamp(0.0, 1.0);
            }
            "tags" => entry.tags = parse_list(text).collect(),
            "rel" => entry.related = parse_list(text).map(EntryId).collect(),
            "pri" => entry.priority = text.parse().unwrap_or(entry.priority),
            "rule" => {
                entry.priority_rule = Some(decode(text).trim().to_owned()).filter(|rule| !rule.is_empty());
            }
            "src" => entry.origin = text.parse().unwrap_or(entry.origin),
            _ => {}
        }
    }
    entry.created = created.or(accessed).unwrap_or(settings.undated);
    entry.accessed = accessed.unwrap_or(entry.created);
    !entry.id.0.is_empty()
}

fn parse_list(text: &str) -> impl Iterator<Item = String> {
    let items = text.split(',').map(|item| decode(item.trim()).trim().to_owned());
    items.filter(|item| !item.is_empty())
}
