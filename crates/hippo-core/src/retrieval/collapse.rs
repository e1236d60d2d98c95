//! Which chunks of a ranked list say again what another one says?

use std::collections::hash_map;
use std::collections::{HashMap, HashSet};

use crate::corpus::Corpus;
use crate::retrieval::rank::Ranked;
use crate::source::{NodeKind, SourceKind};
use crate::time::Date;

/// The first `limit` chunks of a ranked list without repetitions, best first: of equal texts the best ranked stays
/// (or its source takes its place and score, where it is a compaction node), and a compaction node gives way to any of its sources in the same answer (raw log before daily before
/// weekly before monthly node before ROOT) unless it has somebody's own words. Texts are told apart by [`crate::corpus::ChunkPlace::mark`].
pub fn collapse(ranked: &[Ranked], corpus: &Corpus, limit: usize) -> Vec<Ranked> {
    let mut marks: HashMap<u32, usize> = HashMap::with_capacity(ranked.len());
    let mut entries: Vec<Entry> = Vec::new();
    for candidate in ranked {
        let Some(place) = corpus.place(candidate.chunk) else {
            continue;
        };
        let document = corpus.document(place.document);
        let entry = Entry {
            hit: *candidate,
            span: document.and_then(|document| Span::of(&document.path)),
            own_words: document.is_some_and(|document| document.own_words),
        };
        match marks.entry(place.mark) {
            hash_map::Entry::Vacant(vacant) => {
                vacant.insert(entries.len());
                entries.push(entry);
            }
            // A node that was copied from its source must not oust it: the source takes the node's place.
            hash_map::Entry::Occupied(occupied) => {
                let kept = &mut entries[*occupied.get()];
                if level(entry.span) < level(kept.span) {
                    let score = kept.hit.score;
                    *kept = entry;
                    kept.hit.score = score;
                }
            }
        }
    }
    // Each round drops at least one node, or is the last; a chunk that moves up may be a source of a kept node.
    loop {
        let answer = &entries[..entries.len().min(limit)];
        let spans: HashSet<Span> = answer.iter().filter_map(|entry| entry.span).collect();
        let nodes = answer.iter().filter(|entry| !entry.own_words);
        let repeats: HashSet<Span> = nodes
            .filter_map(|entry| entry.span)
            .filter(|span| spans.iter().any(|source| span.repeats(source)))
            .collect();
        if repeats.is_empty() {
            return answer.iter().map(|entry| entry.hit).collect();
        }
        let is_repeated = |span| repeats.contains(&span);
        entries.retain(|entry| entry.own_words || !entry.span.is_some_and(is_repeated));
    }
}

/// A chunk of the list, and what its document is.
struct Entry {
    hit: Ranked,
    span: Option<Span>,
    own_words: bool,
}

/// The nodes of the compaction tree that hippod wrote and of which something that they were made from is there as well, among
/// documents by id, path, and whether somebody else wrote them.
#[must_use]
pub fn repeating<'p>(documents: impl Iterator<Item = (u32, &'p str, bool)> + Clone) -> HashSet<u32> {
    let is_node = |path: &str| matches!(SourceKind::from_path(path), SourceKind::Node(_));
    let nodes = documents.clone();
    let nodes = nodes.filter(|(_, path, own_words)| !own_words && is_node(path));
    let nodes: Vec<(u32, Span)> = nodes
        .filter_map(|(id, path, _)| Some((id, Span::of(path)?)))
        .collect();
    if nodes.is_empty() {
        return HashSet::new();
    }
    // For each level the periods in which something lies below it.
    let mut told: HashSet<Span> = HashSet::new();
    for span in documents.filter_map(|(_, path, _)| Span::of(path)) {
        told.extend((span.level + 1..=4).filter_map(|level| span.within(level)));
    }
    let repeats = nodes.into_iter().filter(|(_, span)| told.contains(span));
    repeats.map(|(id, _)| id).collect()
}

fn level(span: Option<Span>) -> u8 {
    span.map_or(0, |span| span.level)
}

/// Remembers the texts of an answer, to leave out what says nearly the same once more.
#[derive(Debug, Default)]
pub struct Said {
    texts: Vec<Vec<u64>>,
}

impl Said {
    /// Texts of fewer different words are never near-duplicates: "yes, on Monday" and "yes, on Tuesday" differ.
    const WORDS: usize = 8;
    /// Of the words of two texts together, the share that both have (Jaccard), from which they say the same.
    const SHARE: f32 = 0.9;

    /// Whether a text says something that none before it said; then it is remembered.
    pub fn is_new(&mut self, text: &str) -> bool {
        let mut words: Vec<u64> = text
            .split(|sign: char| !sign.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .map(|word| {
                let hash = blake3::hash(word.to_lowercase().as_bytes());
                hash.as_bytes()[..8]
                    .iter()
                    .fold(0, |sum, byte| sum << 8 | u64::from(*byte))
            })
            .collect();
        words.sort_unstable();
        words.dedup();
        let new = words.len() < Self::WORDS || !self.texts.iter().any(|said| Self::same(said, &words));
        if new {
            self.texts.push(words);
        }
        new
    }

    fn same(one: &[u64], other: &[u64]) -> bool {
        let (short, long) = (
            one.len().min(other.len()) as f32,
            one.len().max(other.len()) as f32,
        );
        if short < Self::SHARE * long {
            return false;
        }
        let both = one
            .iter()
            .filter(|word| other.binary_search(word).is_ok())
            .count() as f32;
        both >= Self::SHARE * (short + long - both)
    }
}

/// The days of which a log or a compaction node tells, by their first day; `level` rises with the tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Span {
    level: u8,
    first: Option<Date>,
}

impl Span {
    /// `None` for files that are neither a daily log nor a node.
    fn of(path: &str) -> Option<Self> {
        let stem = path.rsplit('/').next()?.strip_suffix(".md")?;
        Some(match SourceKind::from_path(path) {
            SourceKind::DailyLog => Self {
                level: 0,
                first: day(stem.get(..10)?),
            },
            SourceKind::Node(NodeKind::Daily) => Self {
                level: 1,
                first: day(stem),
            },
            SourceKind::Node(NodeKind::Weekly) => Self {
                level: 2,
                first: week(stem),
            },
            SourceKind::Node(NodeKind::Monthly) => Self {
                level: 3,
                first: day(&format!("{stem}-01")),
            },
            SourceKind::Node(NodeKind::Root) => Self {
                level: 4,
                first: None,
            },
            _ => return None,
        })
    }

    /// What a node of a level above says it is of when it is made from this; `None`: nobody knows which days these are.
    fn within(&self, level: u8) -> Option<Self> {
        let first = match level {
            4 => return Some(Self { level, first: None }),
            1 => self.first?,
            2 => monday(self.first?),
            // A week belongs to the month of its Thursday.
            _ => monday(self.first?)
                .saturating_add(jiff::Span::new().days(3))
                .first_of_month(),
        };
        let first = Some(first);
        Some(Self { level, first })
    }

    /// Whether a node of these days was made from `source`.
    fn repeats(&self, source: &Self) -> bool {
        source.level < self.level && source.within(self.level) == Some(*self)
    }
}

fn day(text: &str) -> Option<Date> {
    text.parse().ok()
}

fn monday(date: Date) -> Date {
    let past = i64::from(date.weekday().to_monday_zero_offset());
    date.saturating_sub(jiff::Span::new().days(past))
}

/// The Monday of an ISO week such as `2026-W02`.
fn week(text: &str) -> Option<Date> {
    let (year, number) = text.split_once("-W")?;
    let week = jiff::civil::ISOWeekDate::new(
        year.parse().ok()?,
        number.parse().ok()?,
        jiff::civil::Weekday::Monday,
    );
    Some(week.ok()?.date())
}

#[cfg(test)]
mod tests;
