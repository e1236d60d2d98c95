//! Formatting of a topic as a section of the daily log.

use jiff::civil::Date;

use hippo_redact::without_secrets;
use hippo_text::text::clip;

use super::called::FileAccess;
use super::said::neutralize_comments;
use super::topic::{SessionTopic, ToolError};

/// Approximate maximum bytes of all sections of a day.
const DAY: usize = 8 << 10;
/// Minimum and maximum bytes of one section.
const LEAST: usize = 480;
const MOST: usize = 1_600;
/// Maximum bytes of the list of references.
const REFERENCES: usize = 400;
/// Maximum bytes of the list of tools.
const TOOLS: usize = 160;

/// Section of the daily log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogSection {
    /// Day of the messages, if they have time stamps.
    pub day: Option<Date>,
    /// Title, without the type.
    pub title: String,
    /// Full text: the heading and a list of fields.
    pub text: String,
}

/// Names of the fields in the order of the section.
#[rustfmt::skip] // keep the list compact
const FIELDS: [&str; 8] = [
    "request", "analysis", "decision", "outcome", "errors", "user feedback", "references", "tool calls",
];

impl LogSection {
    /// Formats a topic, one of `count` topics of its day.
    pub(super) fn from_topic(topic: &SessionTopic, count: usize) -> Self {
        let room = (DAY / count.max(1)).clamp(LEAST, MOST);
        let mut title = if topic.title.is_empty() {
            "Session".to_owned()
        } else {
            // Shortening may leave a part of a comment mark.
            neutralize_comments(&topic.title)
        };
        if topic.continued && !topic.title.is_empty() && !title.ends_with("(continued)") {
            title.push_str(" (continued)");
        }
        let mut left = room.saturating_sub(title.len());
        let mut lines: Vec<(Option<usize>, usize, String)> = Vec::new();
        for (place, (field, text)) in rank_fields(topic).into_iter().enumerate() {
            let line = format!("- {field}: {text}");
            // The first field is always included.
            if line.len() >= left && place > 0 {
                continue;
            }
            left = left.saturating_sub(line.len() + 1);
            let order = FIELDS.iter().position(|name| *name == field);
            lines.push((order, place, line));
        }
        lines.sort();
        // Each part is redacted already; the joined lines are redacted again.
        let title = without_secrets(&title).into_owned();
        let mut text = format!("## {title} [project]\n\n");
        for (_, _, line) in lines {
            text.push_str(&without_secrets(&line));
            text.push('\n');
        }
        Self {
            day: topic.day,
            title,
            text,
        }
    }
}

/// Returns the fields of a topic, most important first.
fn rank_fields(topic: &SessionTopic) -> Vec<(&'static str, String)> {
    let owned = |texts: &[&str]| -> Vec<String> { texts.iter().map(|text| (*text).to_owned()).collect() };
    let decisions = topic.decisions.top(3);
    let (decision, others) = decisions.split_at(decisions.len().min(1));
    let (request, requests) = topic.requests.split_at(topic.requests.len().min(1));
    let more = (topic.more > 0).then(|| format!("({} more)", topic.more));
    let troubles = &topic.troubles[topic.troubles.len().saturating_sub(3)..];
    let ranked = [
        ("request", request.to_vec()),
        ("outcome", vec![topic.outcome()]),
        ("decision", owned(decision)),
        ("user feedback", topic.feedback.clone()),
        ("references", vec![format_references(topic)]),
        ("errors", troubles.iter().map(format_trouble).collect()),
        ("analysis", owned(&topic.analysis.top(2))),
        ("decision", owned(others)),
        ("request", requests.iter().cloned().chain(more).collect()),
        ("tool calls", vec![format_tools(topic)]),
    ];
    let mut lines: Vec<(&str, String)> = Vec::new();
    for (field, texts) in ranked {
        for text in texts {
            // A sentence may belong to two fields; keep it once.
            if !text.is_empty() && !lines.iter().any(|(_, known)| known.contains(&text)) {
                lines.push((field, text));
            }
        }
    }
    lines
}

/// Formats an error with its number of occurrences and its end.
fn format_trouble(trouble: &ToolError) -> String {
    let times = match trouble.times {
        1 => String::new(),
        times => format!(" ({times} times)"),
    };
    let end = if trouble.over { "a" } else { "no" };
    let ToolError { label, line, .. } = trouble;
    format!("{label}: `{line}`{times}; {end} later run succeeded")
}

/// Formats files and URLs; modified files first.
fn format_references(topic: &SessionTopic) -> String {
    let mut files: Vec<(&String, &FileAccess)> = topic.files.iter().collect();
    // The sort is stable.
    files.sort_by_key(|(_, touch)| **touch == FileAccess::Read);
    let files = files
        .iter()
        .map(|(path, touch)| format!("{path} ({})", touch.name()));
    let references = files.chain(topic.addresses.iter().cloned());
    join_limited(references, REFERENCES, topic.more_files)
}

/// Formats tools with their number of calls, most frequent first.
fn format_tools(topic: &SessionTopic) -> String {
    let mut tools: Vec<(&String, &u64)> = topic.tools.iter().collect();
    tools.sort_by_key(|(tool, count)| (std::cmp::Reverse(**count), *tool));
    let tools = tools.into_iter().map(|(tool, count)| format!("{tool} {count}"));
    join_limited(tools, TOOLS, 0)
}

/// Joins items on one line up to a number of bytes, and counts the omitted items.
fn join_limited(items: impl Iterator<Item = String>, most: usize, mut more: usize) -> String {
    let mut text = String::new();
    for item in items {
        let between = if text.is_empty() { "" } else { ", " };
        if text.len() + between.len() + item.len() > most {
            if text.is_empty() {
                text = clip(&item, most);
                text.truncate(text.floor_char_boundary(most));
            } else {
                more += 1;
            }
            continue;
        }
        text.push_str(between);
        text.push_str(&item);
    }
    if more > 0 && !text.is_empty() {
        text.push_str(&format!(", and {more} more"));
    }
    text
}
