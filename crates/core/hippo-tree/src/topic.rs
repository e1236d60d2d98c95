//! Topics of sections and nodes.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::item::{SourceContent, StatementKind};
use hippo_text::chunk::{ChunkKind, Speaker};
use hippo_text::gist::headings::HeadingStats;
use hippo_text::gist::line::WeightedLine;
use hippo_text::gist::phrases::choose_phrases;
use hippo_text::gist::words::WordCounts;
use hippo_text::text::clip;
use hippo_types::memory::MemoryType;

/// Maximum bytes of a topic's name.
const NAME: usize = 60;
/// Maximum bytes of a section's text that are searched for its name.
const LOOKED_AT: usize = 6_000;

/// A topic of a section.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SectionTopic {
    pub name: String,
    pub kind: MemoryType,
    /// Amount of text about the topic: bytes of statements not made by an assistant.
    pub mass: f32,
}

/// Returns the topic of each section of all sources; `bases` has the index of the first section of each source.
pub(super) fn topics(
    readings: &[SourceContent],
    bases: &[u32],
    words: &mut WordCounts,
) -> Vec<Option<SectionTopic>> {
    let headings = HeadingStats::count(readings.iter().map(|reading| {
        reading
            .sections
            .iter()
            .map(|section| section.title.as_str())
            .collect()
    }));
    let speakers = BTreeSet::new();
    let mut out = Vec::new();
    for (reading, _) in readings.iter().zip(bases) {
        let mut lines: HashMap<u32, Vec<WeightedLine>> = HashMap::new();
        let mut masses: HashMap<u32, (usize, f32)> = HashMap::new();
        for statement in &reading.statements {
            if matches!(statement.kind, StatementKind::User | StatementKind::Feedback) {
                continue;
            }
            let spoken = statement.speaker == Speaker::Assistant;
            let weight = if spoken { 0.15 } else { 1.0 };
            let (heard, mass) = masses.entry(statement.section).or_default();
            *mass += statement.text.len() as f32 * weight;
            *heard += statement.text.len();
            if *heard < LOOKED_AT || (!spoken && *mass < LOOKED_AT as f32) {
                lines.entry(statement.section).or_default().push(WeightedLine {
                    text: statement.text.clone(),
                    weight,
                    section: statement.section,
                    kind: ChunkKind::Paragraph,
                    speaker: statement.speaker,
                });
            }
        }
        for (number, section) in (0_u32..).zip(&reading.sections) {
            let mass = masses.get(&number).map_or(0.0, |(_, mass)| *mass);
            if !lines.contains_key(&number) && section.title.is_empty() {
                out.push(None);
                continue;
            }
            let name = if headings.is_meaningful(&section.title, &speakers) {
                clip(&section.title, NAME)
            } else if section.title.is_empty() && mass < 200.0 {
                String::new()
            } else {
                let lines = lines.get(&number).map(Vec::as_slice).unwrap_or_default();
                let said: Vec<String> = choose_phrases(words, lines, &HashSet::new(), 6)
                    .into_iter()
                    .map(|phrase| phrase.text)
                    .filter(|phrase| !is_contracted(phrase))
                    .take(2)
                    .collect();
                clip(&said.join(" / "), NAME)
            };
            let name = name.replace([',', '[', ']', '\n', '#', '→'], "");
            let name = name.trim().to_owned();
            out.push((!name.is_empty()).then_some(SectionTopic {
                name,
                kind: section.kind,
                mass,
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
