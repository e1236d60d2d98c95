//! Rendering of a node's body as Markdown.

use std::collections::{BTreeMap, HashMap};

use super::item::{NOTES, Statement, StatementKind, StatementOrigin, TOPICS};
use super::salience::StatementPart;
use super::topic::SectionTopic;
use hippo_text::gist::label::title_of;
use hippo_text::source::NodeKind;
use hippo_text::text::take_room;
use hippo_types::memory::MemoryType;

/// Sections of a body, in order.
#[rustfmt::skip] // keep the list compact
const ORDER: [StatementKind; 8] = [
    StatementKind::Decision, StatementKind::Task, StatementKind::Lesson, StatementKind::Open, StatementKind::User, StatementKind::Feedback, StatementKind::Entity,
    StatementKind::Note,
];
/// The list of topics uses at most 1/16 of the body.
const SHARE: usize = 16;

/// Returns the topics that a body lists: those with the largest mass, as many as fit. Merges topics with the same name.
pub(super) fn listed_topics(topics: &[Option<SectionTopic>], room: usize) -> Vec<SectionTopic> {
    let mut known: HashMap<String, usize> = HashMap::new();
    let mut list: Vec<SectionTopic> = Vec::new();
    for topic in topics.iter().flatten().filter(|topic| topic.is_listed()) {
        match known.get(&topic.name.to_lowercase()) {
            Some(at) => list[*at].mass += topic.mass,
            None => {
                known.insert(topic.name.to_lowercase(), list.len());
                list.push(topic.clone());
            }
        }
    }
    list.sort_by(|a, b| b.mass.total_cmp(&a.mass));
    let mut left = room / SHARE;
    list.retain(|topic| take_room(&mut left, topic.name.len() + topic.kind.name().len() + 5));
    list
}

/// A part of a statement that was chosen for a node, with its origin.
pub(super) struct NodeLine<'a> {
    pub part: &'a StatementPart,
    pub source: &'a str,
    pub statement: &'a Statement,
}

/// Layout of a body.
pub(super) struct Body<'a> {
    pub level: NodeKind,
    pub names: &'a [SectionTopic],
    pub topics: &'a [Option<SectionTopic>],
}

/// A line of the body.
struct BodyLine {
    text: String,
    pointer: String,
    /// True if the text is a list item or a row of a table, which a heading can explain.
    is_item: bool,
}

impl Body<'_> {
    pub fn write(&self, mut lines: Vec<NodeLine<'_>>) -> String {
        lines.sort_by_key(|line| (line.part.section, line.part.statement, line.part.range.start));
        let mut notes: BTreeMap<u32, Vec<BodyLine>> = BTreeMap::new();
        let mut others: BTreeMap<StatementKind, Vec<BodyLine>> = BTreeMap::new();
        // For each line number of the node, the index of the line in its list.
        let mut places: HashMap<u32, usize> = HashMap::new();
        for line in &lines {
            let text = &line.statement.text[line.part.range.clone()];
            let kind = if line.part.name {
                StatementKind::Entity
            } else {
                line.statement.kind
            };
            let into = if kind == StatementKind::Note {
                notes.entry(line.part.section).or_default()
            } else {
                others.entry(kind).or_default()
            };
            match places.get(&line.part.line).and_then(|at| into.get_mut(*at)) {
                Some(before) => {
                    before.text.push_str(if line.part.name { ", " } else { " " });
                    before.text.push_str(text);
                }
                None => {
                    let named = line.statement.person().filter(|_| kind == StatementKind::Note);
                    let text = named.map_or_else(|| text.to_owned(), |name| format!("{name}: {text}"));
                    places.insert(line.part.line, into.len());
                    into.push(BodyLine {
                        text,
                        pointer: pointer(line),
                        is_item: line.statement.is_item(),
                    });
                }
            }
        }
        self.lay_out(&notes, &others)
    }

    fn lay_out(
        &self,
        notes: &BTreeMap<u32, Vec<BodyLine>>,
        others: &BTreeMap<StatementKind, Vec<BodyLine>>,
    ) -> String {
        let mut out = String::new();
        // Omit a heading with only one line below it. Exception: in a daily node, keep the heading unless the type of
        // its topic is `project`.
        let topic = |section: u32, lines: &[BodyLine]| {
            let topic = self.topics.get(section as usize).and_then(Option::as_ref);
            topic.filter(|topic| {
                lines.len() > 1 || (self.level == NodeKind::Daily && topic.kind != MemoryType::Project)
            })
        };
        let shown: Vec<&str> = notes
            .iter()
            .filter_map(|(section, lines)| Some(topic(*section, lines)?.name.as_str()))
            .collect();
        let names: Vec<String> = self
            .names
            .iter()
            .filter(|topic| !shown.contains(&topic.name.as_str()))
            .map(|topic| format!("{} [{}]", topic.name, topic.kind.name()))
            .collect();
        if !names.is_empty() {
            heading(&mut out, TOPICS);
            out.push_str(&names.join(", "));
            out.push('\n');
        }
        for kind in ORDER {
            if let (Some(title), Some(lines)) = (title_of(kind), others.get(&kind)) {
                heading(&mut out, title);
                lines.iter().for_each(|line| item(&mut out, line));
            }
        }
        if notes.is_empty() {
            return out;
        }
        heading(&mut out, NOTES);
        for (section, lines) in notes {
            if topic(*section, lines).is_none() {
                let heading = self.topics.get(*section as usize).and_then(Option::as_ref);
                for line in lines {
                    match heading.filter(|heading| heading.explains(&line.text) && line.is_item) {
                        Some(heading) => {
                            out.push_str(&format!("- {}: {} → {}\n", heading.name, line.text, line.pointer))
                        }
                        None => item(&mut out, line),
                    }
                }
            }
        }
        for (section, lines) in notes {
            if let Some(topic) = topic(*section, lines) {
                out.push_str(&format!("\n### {} [{}]\n", topic.name, topic.kind.name()));
                lines.iter().for_each(|line| item(&mut out, line));
            }
        }
        out
    }
}

fn heading(out: &mut String, title: &str) {
    if !out.is_empty() {
        out.push('\n');
    }
    out.push_str(&format!("## {title}\n"));
}

fn item(out: &mut String, line: &BodyLine) {
    out.push_str(&format!("- {} → {}\n", line.text, line.pointer));
}

fn pointer(line: &NodeLine<'_>) -> String {
    match &line.statement.place {
        StatementOrigin::Given(given) => given.to_string(),
        StatementOrigin::Line(number) => format!("{}#L{number}", line.source),
    }
}
