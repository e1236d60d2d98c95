//! How is a topic written into the daily log, within so many bytes?

use jiff::civil::Date;

use crate::redact::without_secrets;
use crate::text::{clip, floor};

use super::called::Touch;
use super::said::harmless;
use super::topic::Topic;

/// Bytes of all sections of a day, about.
const DAY: usize = 8 << 10;
/// Bytes of one section, at least and at most.
const LEAST: usize = 480;
const MOST: usize = 1_600;
/// Bytes of the list of references.
const REFERENCES: usize = 400;
/// Bytes of the list of tools.
const TOOLS: usize = 160;

/// A section of the daily log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// The day on which it was said, where the messages tell.
    pub day: Option<Date>,
    /// Its title, without its type.
    pub title: String,
    /// All of it: the heading and a list of fields.
    pub text: String,
}

/// The fields in the order in which they stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Field {
    Request,
    Analysis,
    Decision,
    Outcome,
    Errors,
    Feedback,
    References,
    Tools,
}

impl Field {
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

impl Section {
    /// The section of a topic, one of `count` of its day.
    pub(super) fn of(topic: &Topic, count: usize) -> Self {
        let room = (DAY / count.max(1)).clamp(LEAST, MOST);
        let mut title = if topic.title.is_empty() {
            "Session".to_owned()
        } else {
            // What was cut out of it may leave a mark behind.
            harmless(&topic.title)
        };
        if topic.continued && !topic.title.is_empty() && !title.ends_with("(continued)") {
            title.push_str(" (continued)");
        }
        let mut left = room.saturating_sub(title.len());
        let mut lines: Vec<(Field, usize, String)> = Vec::new();
        for (place, (field, text)) in by_worth(topic).into_iter().enumerate() {
            let line = format!("- {}: {text}", field.name());
            // The first one is always there.
            if line.len() >= left && place > 0 {
                continue;
            }
            left = left.saturating_sub(line.len() + 1);
            lines.push((field, place, line));
        }
        lines.sort();
        // Each part is without secrets already; what came together on a line is looked at once more.
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

/// What there is to tell, the most needed first.
fn by_worth(topic: &Topic) -> Vec<(Field, String)> {
    let mut lines: Vec<(Field, String)> = Vec::new();
    let mut requests = topic.requests.iter();
    lines.extend(requests.next().map(|text| (Field::Request, text.clone())));
    let outcome = topic.outcome();
    if !outcome.is_empty() {
        lines.push((Field::Outcome, outcome));
    }
    let decisions = topic.decisions.best(3);
    lines.extend(
        decisions
            .iter()
            .take(1)
            .map(|text| (Field::Decision, (*text).to_owned())),
    );
    lines.extend(topic.feedback.iter().map(|text| (Field::Feedback, text.clone())));
    let references = references(topic);
    if !references.is_empty() {
        lines.push((Field::References, references));
    }
    for trouble in topic.troubles.iter().rev().take(3).rev() {
        let times = if trouble.times > 1 {
            format!(" ({} times)", trouble.times)
        } else {
            String::new()
        };
        let end = if trouble.over {
            "later it went well"
        } else {
            "no later success seen"
        };
        let text = format!("{}: `{}`{times}; {end}", trouble.called(), trouble.line);
        lines.push((Field::Errors, text));
    }
    let analysis = topic.analysis.best(2);
    lines.extend(
        analysis
            .into_iter()
            .map(|text| (Field::Analysis, text.to_owned())),
    );
    lines.extend(
        decisions
            .iter()
            .skip(1)
            .map(|text| (Field::Decision, (*text).to_owned())),
    );
    lines.extend(requests.map(|text| (Field::Request, text.clone())));
    if topic.more > 0 {
        lines.push((Field::Request, format!("({} more)", topic.more)));
    }
    let tools = tools(topic);
    if !tools.is_empty() {
        lines.push((Field::Tools, tools));
    }
    // What was said in two kinds stands once.
    let mut seen: Vec<String> = Vec::new();
    lines.retain(|(_, text)| {
        let new = !seen.iter().any(|known| known.contains(text.as_str()));
        seen.push(text.clone());
        new
    });
    lines
}

/// Files and addresses; what was changed first.
fn references(topic: &Topic) -> String {
    let mut files: Vec<(&str, Touch)> = topic
        .files
        .iter()
        .map(|(path, touch)| (path.as_str(), *touch))
        .collect();
    files.sort_by_key(|(path, touch)| (*touch == Touch::Read, *path));
    let files = files
        .iter()
        .map(|(path, touch)| format!("{path} ({})", touch.name()));
    listed(
        files.chain(topic.addresses.iter().cloned()),
        REFERENCES,
        topic.more_files,
    )
}

/// Tools with the number of their calls, the most called first.
fn tools(topic: &Topic) -> String {
    let mut tools: Vec<(&String, &u64)> = topic.tools.iter().collect();
    tools.sort_by_key(|(tool, count)| (std::cmp::Reverse(**count), *tool));
    listed(
        tools.into_iter().map(|(tool, count)| format!("{tool} {count}")),
        TOOLS,
        0,
    )
}

/// A list on one line, at most so many bytes; what has no room is counted.
fn listed(items: impl Iterator<Item = String>, most: usize, mut more: usize) -> String {
    let mut text = String::new();
    for item in items {
        let between = if text.is_empty() { "" } else { ", " };
        if text.len() + between.len() + item.len() > most {
            if text.is_empty() {
                text = clip(&item, most);
                text.truncate(floor(&text, most));
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
