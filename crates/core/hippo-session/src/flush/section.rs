//! Formatting of a topic as a section of the daily log.

use jiff::civil::Date;

use hippo_redact::without_secrets;
use hippo_text::text::clip;

use super::called::FileAccess;
use super::said::{neutralize_comments, states_rule};
use super::topic::{SessionTopic, ToolError};

/// Approximate maximum total bytes of the sections of a day.
const DAY: usize = 8 << 10;
/// Smallest limit of a section in bytes, on a day with many topics.
const LEAST: usize = 480;
/// Largest limit of a section in bytes, on a day with few topics.
const MOST: usize = 1_600;
/// Maximum bytes of the field `references`.
const REFERENCES: usize = 400;
/// Maximum bytes of the field `tool calls`.
const TOOLS: usize = 160;

/// A section of the daily log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogSection {
    /// Day of the messages, if they have time stamps.
    pub day: Option<Date>,
    /// Title, without the topic type `[project]`.
    pub title: String,
    /// Markdown of the section: the heading and a list of fields.
    pub text: String,
}

/// Names of the fields of a section, in their order.
#[rustfmt::skip] // keep the list compact
const FIELDS: [&str; 9] = [
    "request", "analysis", "decision", "outcome", "errors", "user feedback", "remark", "references", "tool calls",
];

impl LogSection {
    /// Formats a topic as a section. `count` is the number of topics of the same day, which share the room.
    pub(super) fn from_topic(topic: &SessionTopic, count: usize) -> Self {
        let room = (DAY / count.max(1)).clamp(LEAST, MOST);
        let mut title = if topic.title.is_empty() {
            "Session".to_owned()
        } else {
            // A shortened title can contain a part of an HTML comment mark.
            neutralize_comments(&topic.title)
        };
        if topic.continued && !topic.title.is_empty() && !title.ends_with("(continued)") {
            title.push_str(" (continued)");
        }
        let mut left = room.saturating_sub(title.len());
        let mut lines: Vec<(Option<usize>, usize, String)> = Vec::new();
        for (place, (field, text)) in rank_fields(topic).into_iter().enumerate() {
            let line = format!("- {field}: {text}");
            // The most important field is included even if it does not fit.
            if line.len() >= left && place > 0 {
                continue;
            }
            left = left.saturating_sub(line.len() + 1);
            let order = FIELDS.iter().position(|name| *name == field);
            lines.push((order, place, line));
        }
        lines.sort();
        // Redact each line again, because its parts were redacted separately.
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
    // Only lasting rules are feedback, because the memory keeps feedback word for word.
    let (rules, remarks) = topic.feedback.iter().cloned().partition(|said| states_rule(said));
    let troubles = &topic.troubles[topic.troubles.len().saturating_sub(3)..];
    let ranked = [
        ("request", request.to_vec()),
        ("outcome", vec![topic.outcome()]),
        ("decision", owned(decision)),
        ("user feedback", rules),
        ("remark", remarks),
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
            // Keep a sentence only once, although it may belong to two fields.
            if !text.is_empty() && !lines.iter().any(|(_, known)| known.contains(&text)) {
                lines.push((field, text));
            }
        }
    }
    lines
}

/// Formats an error with its number of occurrences. The text says if a later run succeeded.
fn format_trouble(trouble: &ToolError) -> String {
    let times = match trouble.times {
        1 => String::new(),
        times => format!(" ({times} times)"),
    };
    let end = if trouble.over { "a" } else { "no" };
    let ToolError { label, line, .. } = trouble;
    format!("{label}: `{line}`{times}; {end} later run succeeded")
}

/// Lists the files and URLs of a topic, modified files first.
fn format_references(topic: &SessionTopic) -> String {
    let mut files: Vec<(&String, &FileAccess)> = topic.files.iter().collect();
    // The sort is stable, so the files otherwise stay in the order of their paths.
    files.sort_by_key(|(_, touch)| **touch == FileAccess::Read);
    let files = files
        .iter()
        .map(|(path, touch)| format!("{path} ({})", touch.name()));
    let references = files.chain(topic.addresses.iter().cloned());
    join_limited(references, REFERENCES, topic.more_files)
}

/// Lists the tools of a topic with their numbers of calls, most frequent first.
fn format_tools(topic: &SessionTopic) -> String {
    let mut tools: Vec<(&String, &u64)> = topic.tools.iter().collect();
    tools.sort_by_key(|(tool, count)| (std::cmp::Reverse(**count), *tool));
    let tools = tools.into_iter().map(|(tool, count)| format!("{tool} {count}"));
    join_limited(tools, TOOLS, 0)
}

/// Joins items with commas, up to `most` bytes, and appends the number of omitted items. `more` is the number of items
/// that the caller omitted before.
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
