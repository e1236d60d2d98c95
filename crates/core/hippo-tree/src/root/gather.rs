//! Topics and statements of all days.

use std::collections::HashMap;

use super::ChildNode;
use crate::item::{NodeSource, SourceContent, Statement, StatementKind, is_verbatim, read};
use crate::topic::{SectionTopic, topics};
use hippo_text::chunk::Speaker;
use hippo_text::gist::alone::{continues, is_clear, is_label};
use hippo_text::gist::headings::subject;
use hippo_text::gist::sentence::{OPENING, clause, is_reading};
use hippo_text::gist::words::WordCounts;
use hippo_text::text::clip;
use hippo_types::memory::MemoryType;
use hippo_types::time::Date;

/// Maximum number of topics of a day without reads. Each read of the files of the day raises the limit by one, up to 12
/// reads.
const MOST: usize = 12;
/// Maximum bytes of a clause.
const CLAUSE: usize = 110;
/// Maximum bytes of a decision, a lesson or an open task.
const MARKED: usize = 200;

/// A topic of one day.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct DayTopic {
    pub name: String,
    pub kind: MemoryType,
    /// The name as `ROOT.md` shows it: a heading without its time. Empty if the name is a sentence or says nothing.
    pub shown: String,
    /// A sentence about the topic.
    pub told: String,
    /// File and line of the sentence.
    pub place: Option<(String, u32)>,
}

/// The content of one day.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Day {
    pub date: Date,
    /// Topics, the most important first.
    pub topics: Vec<DayTopic>,
    /// Statements about the user and feedback: type, topic, text.
    pub kept: Vec<(MemoryType, String, String)>,
    /// Decisions, lessons, open tasks and other statements that are clear without their context.
    pub clauses: Vec<Statement>,
}

/// A topic, with the data of all days that mention it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct RootTopic {
    pub name: String,
    pub kind: MemoryType,
    /// The name as `ROOT.md` shows it.
    pub shown: String,
    /// A sentence from the last day that mentions the topic.
    pub told: String,
    /// File and line of the sentence.
    pub place: Option<(String, u32)>,
    pub last: Date,
    /// All days that mention the topic, in order.
    pub days: Vec<Date>,
    /// The topic's best rank on any day, from 0.
    pub rank: usize,
}

/// The content of all days.
pub(super) struct RootContent {
    /// Days in order of date.
    pub days: Vec<Day>,
}

impl RootContent {
    pub fn of(nodes: &[ChildNode<'_>]) -> Self {
        let mut sorted: Vec<&ChildNode<'_>> = nodes.iter().collect();
        sorted.sort_by(|a, b| (a.date, a.path).cmp(&(b.date, b.path)));
        let mut out = Self { days: Vec::new() };
        for node in sorted {
            let reading = read(&NodeSource {
                path: node.path.to_owned(),
                text: node.body.to_owned(),
                first_line: node.first_line,
                date: Some(node.date),
            });
            let day = day(node, &reading);
            match out.days.last_mut().filter(|last| last.date == node.date) {
                Some(last) => {
                    last.topics.extend(day.topics);
                    last.kept.extend(day.kept);
                    last.clauses.extend(day.clauses);
                }
                None => out.days.push(day),
            }
        }
        out
    }

    /// Returns the topics of all days, each once.
    pub fn topics(&self) -> Vec<RootTopic> {
        let mut out: Vec<RootTopic> = Vec::new();
        let mut known: HashMap<String, usize> = HashMap::new();
        for day in &self.days {
            for (rank, told) in day.topics.iter().enumerate() {
                let key = told.name.to_lowercase();
                if let Some(topic) = known.get(&key).and_then(|at| out.get_mut(*at)) {
                    topic.last = day.date;
                    topic.days.push(day.date);
                    topic.rank = topic.rank.min(rank);
                    topic.shown.clone_from(&told.shown);
                    topic.told.clone_from(&told.told);
                    topic.place.clone_from(&told.place);
                    continue;
                }
                known.insert(key, out.len());
                out.push(RootTopic {
                    name: told.name.clone(),
                    kind: told.kind,
                    shown: told.shown.clone(),
                    told: told.told.clone(),
                    place: told.place.clone(),
                    last: day.date,
                    days: vec![day.date],
                    rank,
                });
            }
        }
        out
    }
}

fn day(node: &ChildNode<'_>, reading: &SourceContent) -> Day {
    let title = |statement: &Statement| {
        let section = reading.sections.get(statement.section as usize);
        section.map(|section| section.title.clone()).unwrap_or_default()
    };
    let mut kept = Vec::new();
    for statement in &reading.statements {
        let kind = match statement.kind {
            StatementKind::User => MemoryType::User,
            StatementKind::Feedback => MemoryType::Feedback,
            _ => continue,
        };
        kept.push((kind, title(statement), statement.text.clone()));
    }
    let mut listed = reading.topics.clone();
    let mut words = WordCounts::new();
    for statement in &reading.statements {
        words.begin_block();
        words.count(&statement.text);
    }
    let sections = topics(std::slice::from_ref(reading), &mut words);
    let found = sections.iter().flatten().filter(|topic| topic.is_listed());
    let mut found: Vec<_> = found.collect();
    found.sort_by(|a, b| b.mass.total_cmp(&a.mass));
    for topic in found {
        if !listed.iter().any(|(name, _)| *name == topic.name) {
            listed.push((topic.name.clone(), topic.kind));
        }
    }
    // A file that people or agents read is likely to be needed again, so days with more reads keep more topics.
    let most = MOST + usize::try_from(node.accesses.min(12)).unwrap_or(12);
    listed.truncate(most);
    let clauses = clear_clauses(reading, &sections, &mut words);
    let topics = listed
        .into_iter()
        .map(|(name, kind)| collect_topic(node, reading, name, kind))
        .collect();
    Day {
        date: node.date,
        topics,
        kept,
        clauses,
    }
}

/// Returns the word that marks a statement of this kind in `ROOT.md`.
const fn mark(kind: StatementKind) -> Option<&'static str> {
    match kind {
        StatementKind::Decision => Some("decision"),
        StatementKind::Lesson => Some("lesson"),
        StatementKind::Open => Some("to do"),
        _ => None,
    }
}

/// Returns the statements that are clear without their context, not made by an assistant.
fn clear_clauses(
    reading: &SourceContent,
    sections: &[Option<SectionTopic>],
    words: &mut WordCounts,
) -> Vec<Statement> {
    let mut out = Vec::new();
    for statement in &reading.statements {
        if statement.speaker == Speaker::Assistant || !is_plain(statement) {
            continue;
        }
        let heading = sections.get(statement.section as usize).and_then(Option::as_ref);
        let heading = heading.filter(|heading| heading.is_heading && statement.is_item());
        let about = heading.map_or("", |heading| subject(&heading.name));
        let mut add = |text: String| {
            out.push(Statement {
                text: text.replace(" → ", " -> "),
                ..statement.clone()
            });
        };
        if let Some(mark) = mark(statement.kind) {
            let said = statement
                .text
                .split_once(": ")
                .map_or(&*statement.text, |(_, said)| said);
            if !continues(&statement.text) && !continues(said) && !is_reading(said) {
                let short = clause(&statement.text, MARKED);
                let text = short.map_or_else(|| clip(&statement.text, MARKED), str::to_owned);
                add(format!("{mark}: {text}"));
            }
            continue;
        }
        // A line that begins with a small letter is a part of a sentence, or an order in a chat.
        let is_part = |text: &str| {
            let first = text.split(' ').next().unwrap_or_default();
            first.bytes().all(|letter| letter.is_ascii_lowercase())
        };
        for (_, clause) in statement
            .clauses(words, CLAUSE)
            .filter(|(_, text)| !is_part(text))
        {
            let clause =
                clause.trim_start_matches(|mark: char| !mark.is_alphanumeric() && !OPENING.contains(&mark));
            match about {
                "" => add(clause.to_owned()),
                _ if clause.contains(about) => add(clause.to_owned()),
                _ => add(format!("{about}: {clause}")),
            }
        }
    }
    out
}

/// Returns true for statements that are neither lists of names nor kept word for word.
const fn is_plain(statement: &Statement) -> bool {
    !is_verbatim(statement.kind) && !matches!(statement.kind, StatementKind::Entity)
}

/// Collects the content for a topic from the section with its name, and from lines that contain a part of its name.
fn collect_topic(node: &ChildNode<'_>, reading: &SourceContent, name: String, kind: MemoryType) -> DayTopic {
    let parts: Vec<String> = name.split(" / ").map(str::to_lowercase).collect();
    let of = |statement: &&Statement| {
        let section = reading.sections.get(statement.section as usize);
        let titled = section.is_some_and(|section| section.title == name);
        // For topics about the user and for feedback, use no lines of other sections, because the user did not make
        // those statements.
        let of_the_user = matches!(kind, MemoryType::User | MemoryType::Feedback);
        let named = || {
            let text = statement.text.to_lowercase();
            parts.iter().any(|part| text.contains(part))
        };
        is_plain(statement) && (titled || !of_the_user && named())
    };
    let mut told = String::new();
    let mut taken = None;
    let mut most = 0.0;
    let mut words = WordCounts::new();
    let said = |statement: &&Statement| statement.speaker != Speaker::Assistant;
    for statement in reading.statements.iter().filter(of).filter(said).take(8) {
        // Decisions rank above lessons, tasks and other statements.
        let kind = match statement.kind {
            StatementKind::Decision => 200.0,
            StatementKind::Lesson => 150.0,
            StatementKind::Task => 100.0,
            _ => 1.0,
        };
        for (score, clause) in statement.clauses(&mut words, 200) {
            if score * kind > most {
                most = score * kind;
                taken = Some(statement.line());
                let said = clause.strip_prefix(&format!("{name}: "));
                told = said.unwrap_or(&clause).to_owned();
            }
        }
    }
    // If the name of the topic was taken from the sentence, the sentence would only repeat the name.
    let bare = told.replace([',', '[', ']'], "");
    let heading = subject(&name);
    let mut shown = if is_label(heading) {
        String::new()
    } else {
        heading.to_owned()
    };
    if is_clear(heading) {
        // The name is a sentence, which is among the statements of the day.
        shown.clear();
        told.clear();
    } else if bare.contains(&name) && name.len() * 2 > bare.len()
        || name.contains(bare.trim_end_matches(['.', '!']))
    {
        told.clear();
    }
    if told.starts_with(&format!("{shown}: ")) {
        told.drain(..shown.len() + 2);
    }
    DayTopic {
        name,
        kind,
        shown,
        told: told.replace(" → ", " -> "),
        place: taken.map(|(path, line)| {
            let path = if path.is_empty() { node.path } else { path };
            (path.to_owned(), line)
        }),
    }
}
