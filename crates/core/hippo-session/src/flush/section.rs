//! Formatting of a topic as a section of the daily log.

use jiff::civil::Date;

use hippo_redact::without_secrets;
use hippo_text::text::clip;

use super::called::FileAccess;
use super::said::neutralize_comments;
use super::topic::SessionTopic;

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

/// Fields in the order of the section.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum SectionField {
    Request,
    Analysis,
    Decision,
    Outcome,
    Errors,
    Feedback,
    References,
    Tools,
}

impl SectionField {
    const fn name(self) -> &'static str {
        match self {
            Self::Request => "request",
            Self::Analysis => "analysis",
            Self::Decision => "decision",
            Self::Outcome => "outcome",
            Self::Errors => "errors",
            Self::Feedback => "user feedback",
            Self::References => "references",
            Self::Tools => "tool calls",
        }
    }
}

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
        let mut lines: Vec<(SectionField, usize, String)> = Vec::new();
        for (place, (field, text)) in rank_fields(topic).into_iter().enumerate() {
            let line = format!("- {}: {text}", field.name());
            // The first field is always included.
            if line.len() >= left && place > 0 {
                continue;
            }
            left = left.saturating_sub(line.len() + 1);
            lines.push((field, place, line));
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
fn rank_fields(topic: &SessionTopic) -> Vec<(SectionField, String)> {
    let mut lines: Vec<(SectionField, String)> = Vec::new();
    let mut requests = topic.requests.iter();
    lines.extend(requests.next().map(|text| (SectionField::Request, text.clone())));
    let outcome = topic.outcome();
    if !outcome.is_empty() {
        lines.push((SectionField::Outcome, outcome));
    }
    let decisions = topic.decisions.top(3);
    lines.extend(
        decisions
            .iter()
            .take(1)
            .map(|text| (SectionField::Decision, (*text).to_owned())),
    );
    lines.extend(
        topic
            .feedback
            .iter()
            .map(|text| (SectionField::Feedback, text.clone())),
    );
    let references = format_references(topic);
    if !references.is_empty() {
        lines.push((SectionField::References, references));
    }
    for trouble in topic.troubles.iter().rev().take(3).rev() {
        let times = if trouble.times > 1 {
            format!(" ({} times)", trouble.times)
        } else {
            String::new()
        };
        let end = if trouble.over {
            "a later run succeeded"
        } else {
            "no later run succeeded"
        };
        let text = format!("{}: `{}`{times}; {end}", trouble.label(), trouble.line);
        lines.push((SectionField::Errors, text));
    }
    let analysis = topic.analysis.top(2);
    lines.extend(
        analysis
            .into_iter()
            .map(|text| (SectionField::Analysis, text.to_owned())),
    );
    lines.extend(
        decisions
            .iter()
            .skip(1)
            .map(|text| (SectionField::Decision, (*text).to_owned())),
    );
    lines.extend(requests.map(|text| (SectionField::Request, text.clone())));
    if topic.more > 0 {
        lines.push((SectionField::Request, format!("({} more)", topic.more)));
    }
    let tools = format_tools(topic);
    if !tools.is_empty() {
        lines.push((SectionField::Tools, tools));
    }
    // A sentence may belong to two fields; keep it once.
    let mut seen: Vec<String> = Vec::new();
    lines.retain(|(_, text)| {
        let new = !seen.iter().any(|known| known.contains(text.as_str()));
        seen.push(text.clone());
        new
    });
    lines
}

/// Formats files and URLs; modified files first.
fn format_references(topic: &SessionTopic) -> String {
    let mut files: Vec<(&str, FileAccess)> = topic
        .files
        .iter()
        .map(|(path, touch)| (path.as_str(), *touch))
        .collect();
    files.sort_by_key(|(path, touch)| (*touch == FileAccess::Read, *path));
    let files = files
        .iter()
        .map(|(path, touch)| format!("{path} ({})", touch.name()));
    join_limited(
        files.chain(topic.addresses.iter().cloned()),
        REFERENCES,
        topic.more_files,
    )
}

/// Formats tools with their number of calls, most frequent first.
fn format_tools(topic: &SessionTopic) -> String {
    let mut tools: Vec<(&String, &u64)> = topic.tools.iter().collect();
    tools.sort_by_key(|(tool, count)| (std::cmp::Reverse(**count), *tool));
    join_limited(
        tools.into_iter().map(|(tool, count)| format!("{tool} {count}")),
        TOOLS,
        0,
    )
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
