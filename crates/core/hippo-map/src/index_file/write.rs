//! Formatter of new entries.

use super::{IndexFileOptions, meta, pointer, text};
use hippo_types::entry::{Entry, EntryId, Pointer};
use hippo_types::time::Timestamp;

/// Returns an entry in the form in which it is read back after being written to a file.
///
/// White space in topic and summary is collapsed to single spaces, and trimmed in other values. Empty
/// pointers, tags and relations are omitted. Timestamps become days, the strength is rounded to hundredths.
/// An empty id is derived from the topic, and an empty topic from the id.
#[must_use]
pub fn as_written(entry: &Entry, settings: &IndexFileOptions) -> Entry {
    let mut topic = text::one_line(&entry.topic);
    let id = match entry.id.0.trim() {
        "" => text::slug(&topic),
        id => id.to_owned(),
    };
    if topic.is_empty() {
        topic = text::one_line(&id);
    }
    let trim = |text: &String| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
    let day = |moment: Timestamp| {
        let date = moment.date(settings.offset_seconds);
        Timestamp::start_of(date, settings.offset_seconds.clamp(-86_399, 86_399))
    };
    let related = entry.related.iter().filter_map(|id| trim(&id.0));
    let pointers = entry.pointers.iter().filter_map(|pointer| {
        Some(Pointer {
            path: trim(&pointer.path)?,
            section: pointer.section.as_ref().and_then(trim),
        })
    });
    Entry {
        id: EntryId(id),
        topic,
        summary: text::one_line(&entry.summary),
        pointers: pointers.collect(),
        created: day(entry.created),
        accessed: day(entry.accessed),
        replayed_to: None,
        strength: meta::round_strength(entry.strength),
        tags: entry.tags.iter().filter_map(trim).collect(),
        related: related.map(EntryId).collect(),
        priority_rule: entry.priority_rule.as_ref().and_then(trim),
        ..entry.clone()
    }
}

/// Formats a new entry with `line_end` after each line: below a heading of this level, 2 to 6, or as a list item.
///
/// An entry without a pointer is never an item.
#[must_use]
pub fn entry_text(entry: &Entry, level: Option<u8>, line_end: &str, settings: &IndexFileOptions) -> String {
    written_text(&as_written(entry, settings), level, line_end, settings)
}

/// Formats an entry that [`as_written`] returned, as [`entry_text`] does.
pub(crate) fn written_text(
    entry: &Entry,
    level: Option<u8>,
    line_end: &str,
    settings: &IndexFileOptions,
) -> String {
    let level = match level {
        None if !entry.pointers.is_empty() => return item_text(entry, line_end, settings),
        level => level.unwrap_or(4).clamp(2, 6),
    };
    let marks = "#".repeat(usize::from(level));
    let mut out = format!("{marks} {}{line_end}", text::escape_heading(&entry.topic));
    let mut line = |text: &str| out.extend([text, line_end]);
    if !entry.summary.is_empty() {
        line(&text::escape_summary(&entry.summary));
    }
    if !entry.pointers.is_empty() {
        line(&pointer_line(&entry.pointers));
    }
    line(&meta::format_comment(entry, settings));
    out
}

fn item_text(entry: &Entry, line_end: &str, settings: &IndexFileOptions) -> String {
    let comment = meta::format_comment(entry, settings);
    let topic = text::escape_item(&entry.topic);
    let mut out = format!("- {topic} {} {comment}{line_end}", pointer_line(&entry.pointers));
    if !entry.summary.is_empty() {
        out += &format!("  {}{line_end}", text::escape_summary(&entry.summary));
    }
    out
}

/// Formats the line of pointers with its arrow.
#[must_use]
pub fn pointer_line(pointers: &[Pointer]) -> String {
    format!("{} {}", text::ARROW, pointer::format_list(pointers))
}
