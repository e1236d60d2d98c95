//! Topics of sections and nodes.

use std::collections::{BTreeSet, HashMap};

use super::item::{SourceContent, is_verbatim};
use hippo_text::chunk::Speaker;
use hippo_text::gist::headings::HeadingStats;
use hippo_text::gist::words::WordCounts;
use hippo_text::text::clip;
use hippo_types::memory::MemoryType;

/// Maximum bytes of a topic's name.
const NAME: usize = 60;
/// Maximum bytes of a clause that is clear without its section.
const CLAUSE: usize = 200;
/// Maximum bytes of a heading that is repeated before a list item.
const HEADING: usize = 40;
/// Number of bytes of a section's text that are searched for a title.
const LOOKED_AT: usize = 6_000;

/// A topic of a section.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SectionTopic {
    pub name: String,
    pub kind: MemoryType,
    /// True if the name is the heading, not a sentence of the section.
    pub is_heading: bool,
    /// True if the section has a clause that is clear without its context.
    pub tells: bool,
    /// Amount of text about the topic: bytes of statements not made by an assistant.
    pub mass: f32,
}

impl SectionTopic {
    /// Returns `true` if the topic is informative in a list of topics. A short heading is not, if its section has no
    /// clause that is clear without context.
    pub fn is_listed(&self) -> bool {
        self.tells || !self.is_heading || self.kind != MemoryType::Project || self.name.split(' ').count() > 2
    }

    /// Returns `true` if a list item is clearer with this heading before it.
    pub fn explains(&self, item: &str) -> bool {
        self.is_heading && self.name.len() <= HEADING && !item.contains(&self.name)
    }
}

/// Returns the topic of each section of all sources.
pub(super) fn topics<'r>(readings: &'r [SourceContent], words: &mut WordCounts) -> Vec<Option<SectionTopic>> {
    let titles =
        |reading: &'r SourceContent| reading.sections.iter().map(|section| &*section.title).collect();
    let headings = HeadingStats::count(readings.iter().map(titles));
    let statements = || readings.iter().flat_map(|reading| &reading.statements);
    let people = statements().filter_map(|statement| statement.person());
    let speakers: BTreeSet<String> = people
        .flat_map(|person| person.split(' ').map(str::to_lowercase))
        .collect();
    let mut out = Vec::new();
    for reading in readings {
        let mut titles: HashMap<u32, (f32, String)> = HashMap::new();
        let mut masses: HashMap<u32, f32> = HashMap::new();
        let mut telling = BTreeSet::new();
        for statement in &reading.statements {
            if is_verbatim(statement.kind) {
                continue;
            }
            let spoken = statement.speaker == Speaker::Assistant;
            let mass = masses.entry(statement.section).or_default();
            *mass += statement.text.len() as f32 * if spoken { 0.15 } else { 1.0 };
            if !spoken && *mass < LOOKED_AT as f32 {
                if !telling.contains(&statement.section) && statement.clauses(words, CLAUSE).next().is_some()
                {
                    telling.insert(statement.section);
                }
                for (score, title) in statement.clauses(words, NAME) {
                    let best = titles.entry(statement.section).or_default();
                    if score > best.0 {
                        *best = (score, title);
                    }
                }
            }
        }
        for (number, section) in (0_u32..).zip(&reading.sections) {
            let Some(mass) = masses.get(&number) else {
                out.push(None);
                continue;
            };
            let tells = telling.contains(&number);
            let is_heading = headings.is_meaningful(&section.title, &speakers);
            let name = if is_heading {
                clip(&section.title, NAME)
            } else if section.title.is_empty() && *mass < 200.0 {
                String::new()
            } else {
                titles.remove(&number).map(|(_, title)| title).unwrap_or_default()
            };
            let name = name
                .replace(" → ", " -> ")
                .replace([',', '[', ']', '\n', '#', '→'], "");
            let name = name.trim().to_owned();
            out.push((!name.is_empty()).then_some(SectionTopic {
                name,
                kind: section.kind,
                is_heading,
                tells,
                mass: *mass,
            }));
        }
    }
    out
}
