//! Topics, names and verbatim statements of all days.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::ChildNode;
use crate::item::{NodeSource, SourceContent, Statement, StatementKind, is_verbatim, read};
use crate::name::names;
use crate::topic::{is_contracted, topics};
use hippo_text::chunk::Speaker;
use hippo_text::gist::words::WordCounts;
use hippo_text::text::clip;
use hippo_types::memory::MemoryType;
use hippo_types::time::Date;

/// Maximum number of topics of a day without reads. Each read of the files of the day raises the limit by one, up to 12
/// reads.
const MOST: usize = 12;
/// Maximum bytes of a clause.
const CLAUSE: usize = 80;

/// Words that identify a sentence in the first person.
const FIRST_PERSON: [&str; 7] = ["I", "my", "My", "we", "We", "our", "me"];

/// A topic of one day.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct DayTopic {
    pub name: String,
    pub kind: MemoryType,
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
    /// Open tasks.
    pub open: Vec<String>,
    /// Clauses that are clear without their context.
    pub clauses: Vec<Statement>,
}

/// A topic, with the data of all days that mention it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct RootTopic {
    pub name: String,
    pub kind: MemoryType,
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

/// A name with the days that mention it.
struct MentionedName {
    /// The spelling of its first occurrence.
    name: String,
    /// Position of the name among the names of the first day that mentions it.
    place: usize,
    days: Vec<Date>,
}

/// The content of all days.
pub(super) struct RootContent {
    /// Days in order of date.
    pub days: Vec<Day>,
    /// Names by their lower-case form.
    names: BTreeMap<String, MentionedName>,
    /// Words that occur with a small first letter.
    plain: HashSet<String>,
}

impl RootContent {
    pub fn of(nodes: &[ChildNode<'_>]) -> Self {
        let mut sorted: Vec<&ChildNode<'_>> = nodes.iter().collect();
        sorted.sort_by(|a, b| (a.date, a.path).cmp(&(b.date, b.path)));
        let mut out = Self {
            days: Vec::new(),
            names: BTreeMap::new(),
            plain: HashSet::new(),
        };
        // Words are not counted here, so that the weight of a name does not depend on other days.
        let mut words = WordCounts::new();
        for node in sorted {
            let reading = read(&NodeSource {
                path: node.path.to_owned(),
                text: node.body.to_owned(),
                first_line: node.first_line,
                date: Some(node.date),
            });
            out.name(node.date, &reading, &mut words);
            let day = day(node, &reading);
            match out.days.last_mut().filter(|last| last.date == node.date) {
                Some(last) => {
                    last.topics.extend(day.topics);
                    last.kept.extend(day.kept);
                    last.open.extend(day.open);
                    last.clauses.extend(day.clauses);
                }
                None => out.days.push(day),
            }
        }
        out
    }

    fn name(&mut self, date: Date, reading: &SourceContent, words: &mut WordCounts) {
        let mut place = 0;
        for statement in &reading.statements {
            let plain = |word: &&str| word.starts_with(char::is_lowercase);
            let prose = statement.text.split(' ').filter(plain).count() > 2;
            let words_of = statement.text.split(|mark: char| !mark.is_alphanumeric());
            self.plain.extend(words_of.filter(plain).map(str::to_owned));
            // Only words in sentences in the first person count as names. A word at the start of a line or before a
            // colon does not.
            let told = prose
                && statement.kind != StatementKind::Entity
                && statement.speaker != Speaker::Assistant
                && (statement.text.split([' ', '\'', '’'])).any(|word| FIRST_PERSON.contains(&word));
            for range in names(&statement.text) {
                if range.start == 0 || !told {
                    continue;
                }
                let name = &statement.text[range];
                let mut tells = false;
                words.for_each_word(name, |word| tells |= word.is_taggable());
                if !tells || name.len() > 40 || name.contains([':', ',', '(', ')']) || is_contracted(name) {
                    continue;
                }
                place += 1;
                let known = self.names.entry(name.to_lowercase());
                let known = known.or_insert_with(|| MentionedName {
                    name: name.to_owned(),
                    place,
                    days: Vec::new(),
                });
                if known.days.last() != Some(&date) {
                    known.days.push(date);
                }
            }
        }
    }

    /// Returns the number of days on which people said names, among the days for which `meant` returns true.
    pub fn days_with_names(&self, meant: impl Fn(Date) -> bool) -> usize {
        let days = self.names.values().flat_map(|name| &name.days);
        days.filter(|date| meant(**date)).collect::<BTreeSet<_>>().len()
    }

    /// Returns the names that people said on the days for which `meant` returns true. The names are sorted by number of
    /// days, then by their position on the first day.
    pub fn frequent_names(&self, meant: impl Fn(Date) -> bool) -> Vec<&str> {
        let proper = |(name, _): &(&String, _)| !self.plain.contains(*name);
        let counted = self.names.iter().filter(proper).map(|(_, name)| {
            let count = name.days.iter().filter(|date| meant(**date)).count();
            (name, count)
        });
        let mut out: Vec<(&MentionedName, usize)> = counted.filter(|(_, days)| *days > 0).collect();
        out.sort_by_key(|(name, days)| (Reverse(*days), name.place, &name.name));
        out.into_iter().map(|(name, _)| name.name.as_str()).collect()
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
                    topic.told.clone_from(&told.told);
                    topic.place.clone_from(&told.place);
                    continue;
                }
                known.insert(key, out.len());
                out.push(RootTopic {
                    name: told.name.clone(),
                    kind: told.kind,
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
    let open = reading.statements.iter();
    let open = open.filter(|statement| statement.kind == StatementKind::Open);
    let open = open.map(|statement| {
        let text = clip(&statement.text, 200).replace(" → ", " -> ");
        let of = title(statement);
        // Add the heading only if it is a listed topic. Headings such as "Open Items" do not describe a line.
        match listed.iter().any(|(name, _)| *name == of) && !text.starts_with(&of) {
            true => format!("{of}: {text}"),
            false => text,
        }
    });
    let open = open.collect();
    let mut clauses = Vec::new();
    for statement in &reading.statements {
        if statement.speaker != Speaker::Assistant && is_plain(statement) {
            let heading = sections.get(statement.section as usize).and_then(Option::as_ref);
            let heading = heading.filter(|heading| heading.explains(&statement.text) && statement.is_item());
            let about = heading.map_or(String::new(), |heading| format!("{}: ", heading.name));
            clauses.extend(statement.clauses(&mut words, CLAUSE).map(|(_, text)| Statement {
                text: format!("{about}{}", text.replace(" → ", " -> ")),
                ..statement.clone()
            }));
        }
    }
    let topics = listed
        .into_iter()
        .map(|(name, kind)| collect_topic(node, reading, name, kind))
        .collect();
    Day {
        date: node.date,
        topics,
        kept,
        open,
        clauses,
    }
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
    if bare.contains(&name) && name.len() * 2 > bare.len() || name.contains(bare.trim_end_matches(['.', '!']))
    {
        told.clear();
    }
    DayTopic {
        name,
        kind,
        told: told.replace(" → ", " -> "),
        place: taken.map(|(path, line)| {
            let path = if path.is_empty() { node.path } else { path };
            (path.to_owned(), line)
        }),
    }
}
