//! Topics of sections and nodes.

use std::collections::{BTreeSet, HashMap};

use super::item::{SourceContent, StatementKind};
use hippo_text::chunk::Speaker;
use hippo_text::gist::headings::HeadingStats;
use hippo_text::gist::words::WordCounts;
use hippo_text::text::clip;
use hippo_types::memory::MemoryType;

/// Maximum bytes of a topic's name.
const NAME: usize = 60;
/// Bytes of a section's text in which its title is searched.
const LOOKED_AT: usize = 6_000;

/// A topic of a section.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SectionTopic {
    pub name: String,
    pub kind: MemoryType,
    /// Amount of text about the topic: bytes of statements not made by an assistant.
    pub mass: f32,
}

/// Returns the topic of each section of all sources.
pub(super) fn topics(readings: &[SourceContent], words: &mut WordCounts) -> Vec<Option<SectionTopic>> {
    let headings = HeadingStats::count(readings.iter().map(|reading| {
        reading
            .sections
            .iter()
            .map(|section| section.title.as_str())
            .collect()
    }));
    let statements = || readings.iter().flat_map(|reading| &reading.statements);
    let people = statements().filter_map(|statement| statement.person());
    let speakers: BTreeSet<String> = people
        .flat_map(|person| person.split(' ').map(str::to_lowercase))
        .collect();
    let mut out = Vec::new();
    for reading in readings {
        let mut titles: HashMap<u32, (f32, String)> = HashMap::new();
        let mut masses: HashMap<u32, f32> = HashMap::new();
        for statement in &reading.statements {
            if matches!(statement.kind, StatementKind::User | StatementKind::Feedback) {
                continue;
            }
            let spoken = statement.speaker == Speaker::Assistant;
            let mass = masses.entry(statement.section).or_default();
            *mass += statement.text.len() as f32 * if spoken { 0.15 } else { 1.0 };
            if !spoken && *mass < LOOKED_AT as f32 {
                let best = titles.entry(statement.section).or_default();
                for (score, title) in statement.clauses(words, NAME) {
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
            let name = if headings.is_meaningful(&section.title, &speakers) {
                clip(&section.title, NAME)
            } else if section.title.is_empty() && *mass < 200.0 {
                String::new()
            } else {
                titles.remove(&number).map(|(_, title)| title).unwrap_or_default()
            };
            let name = name.replace([',', '[', ']', '\n', '#', '→'], "");
            let name = name.trim().to_owned();
            out.push((!name.is_empty()).then_some(SectionTopic {
                name,
                kind: section.kind,
                mass: *mass,
            }));
        }
    }
    out
}

/// Returns true if the phrase contains a contraction such as "we've", which names no topic.
pub(super) fn is_contracted(phrase: &str) -> bool {
    phrase.split(' ').any(|word| {
        let parts = word.split_once(['\'', '’']);
        parts.is_some_and(|(_, tail)| matches!(tail, "ve" | "ll" | "re" | "d" | "m" | "t"))
    })
}
