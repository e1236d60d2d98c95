//! Which chunks of a ranked list say again what another one says?

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use crate::corpus::Corpus;
use crate::retrieval::rank::Ranked;
use crate::source::{NodeKind, SourceKind};
use crate::time::Date;

/// The first `limit` chunks of a ranked list without repetitions, best first: of equal texts the best ranked stays
/// (or its source takes its place and score, where it is a compaction node), and a compaction node gives way to any of its sources in the same answer (raw log before daily before
/// weekly before monthly node before ROOT). Texts are told apart by [`crate::corpus::Place::mark`].
pub fn collapse(ranked: &[Ranked], corpus: &Corpus, limit: usize) -> Vec<Ranked> {
    let mut marks: HashMap<u32, usize> = HashMap::with_capacity(ranked.len());
    let mut entries: Vec<(Ranked, Option<Span>)> = Vec::new();
    for candidate in ranked {
        let Some(place) = corpus.place(candidate.chunk) else {
            continue;
        };
        let path = corpus
            .document(place.document)
            .map_or("", |document| &*document.path);
        let span = Span::of(path);
        match marks.entry(place.mark) {
            Entry::Vacant(vacant) => {
                vacant.insert(entries.len());
                entries.push((*candidate, span));
            }
            // A node that was copied from its source must not oust it: the source takes the node's place.
            Entry::Occupied(occupied) => {
                let (kept, kept_span) = &mut entries[*occupied.get()];
                if level(span) < level(*kept_span) {
                    *kept = Ranked {
                        score: kept.score,
                        ..*candidate
                    };
                    *kept_span = span;
                }
            }
        }
    }
    // Each round drops at least one node, or is the last; a chunk that moves up may be a source of a kept node.
    loop {
        let answer = &entries[..entries.len().min(limit)];
        let spans: HashSet<Span> = answer.iter().filter_map(|(_, span)| *span).collect();
        let repeats: HashSet<Span> = spans
            .iter()
            .filter(|span| spans.iter().any(|source| span.repeats(source)))
            .copied()
            .collect();
        if repeats.is_empty() {
            return answer.iter().map(|(candidate, _)| *candidate).collect();
        }
        entries.retain(|(_, span)| span.is_none_or(|span| !repeats.contains(&span)));
    }
}

/// The nodes of the compaction tree of which something that they were made from is there as well, among documents by id and
/// path.
#[must_use]
pub fn repeating<'p>(documents: impl Iterator<Item = (u32, &'p str)> + Clone) -> HashSet<u32> {
    let is_node = |path: &str| matches!(SourceKind::of(path), SourceKind::Node(_));
    let nodes = documents.clone().filter(|(_, path)| is_node(path));
    let nodes: Vec<(u32, Span)> = nodes
        .filter_map(|(id, path)| Some((id, Span::of(path)?)))
        .collect();
    if nodes.is_empty() {
        return HashSet::new();
    }
    // For each level the periods in which something lies below it.
    let mut told: HashSet<Span> = HashSet::new();
    for span in documents.filter_map(|(_, path)| Span::of(path)) {
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
        Some(match SourceKind::of(path) {
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
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::chunk::{ContentHash, Speaker};
    use crate::corpus::NewChunk;
    use crate::retrieval::rank::Features;

    /// One chunk for each path and text, ranked in this order.
    fn world(chunks: &[(&str, &str)]) -> (Corpus, Vec<Ranked>) {
        let mut corpus = Corpus::new();
        for (id, (path, text)) in (0u32..).zip(chunks) {
            let hash = ContentHash::of(text.as_bytes());
            let chunk = NewChunk {
                id,
                section: 0,
                terms: 1,
                speaker: Speaker::None,
                hash,
            };
            corpus.set_document(id, path, None, &[], &[chunk]);
        }
        let ranked = (0u32..).zip(chunks).map(|(chunk, _)| Ranked {
            chunk,
            score: 1.0 / (chunk as f32 + 1.0),
            lexical: None,
            vector: None,
            explain: Features::default(),
        });
        let ranked = ranked.collect();
        (corpus, ranked)
    }

    fn kept(chunks: &[(&str, &str)], limit: usize) -> Vec<u32> {
        let (corpus, ranked) = world(chunks);
        collapse(&ranked, &corpus, limit)
            .iter()
            .map(|hit| hit.chunk)
            .collect()
    }

    #[test]
    fn the_best_of_equal_texts_stays() {
        assert_eq!(
            kept(&[("a.md", "x"), ("b.md", "y"), ("c.md", "x"), ("d.md", "z")], 3),
            [0, 1, 3]
        );
    }

    #[test]
    fn nodes_give_way_to_their_sources() {
        let log = ("memory/2026-05-01.md", "log");
        let table: [(&str, bool); 9] = [
            ("memory/daily/2026-05-01.md", true),
            ("memory/daily/2026-05-02.md", false),
            ("memory/weekly/2026-W18.md", true),
            ("memory/weekly/2026-W19.md", false),
            // The week of Thursday 30 April belongs to April.
            ("memory/monthly/2026-04.md", true),
            ("memory/monthly/2026-05.md", false),
            ("memory/ROOT.md", true),
            ("knowledge/2026-05-01.md", false),
            ("MEMORY.md", false),
        ];
        for (node, repeats) in table {
            let expected: &[u32] = if repeats { &[1] } else { &[0, 1] };
            assert_eq!(kept(&[(node, "node"), log], 10), expected, "{node}");
        }
        let chain = [
            ("memory/ROOT.md", "r"),
            ("memory/monthly/2026-04.md", "m"),
            ("memory/weekly/2026-W18.md", "w"),
        ];
        assert_eq!(kept(&chain, 10), [2], "the most detailed level that was found");
    }

    #[test]
    fn a_node_repeats_what_is_there() {
        let repeats = |paths: &[&str]| -> Vec<u32> {
            let mut found: Vec<u32> = repeating((0u32..).zip(paths.iter().copied()))
                .into_iter()
                .collect();
            found.sort_unstable();
            found
        };
        let all = [
            "memory/2026-05-01.md",
            "memory/daily/2026-05-01.md",
            "memory/daily/2026-05-02.md",
            "memory/weekly/2026-W18.md",
            "memory/weekly/2026-W19.md",
            "memory/monthly/2026-04.md",
            "memory/monthly/2026-05.md",
            "memory/ROOT.md",
            "MEMORY.md",
        ];
        assert_eq!(repeats(&all), [1, 3, 5, 6, 7]);
        // Logs that are gone are told of by their days, and these by what is above them.
        assert_eq!(repeats(&all[1..]), [2, 4, 5, 6], "by position without the log");
        assert_eq!(repeats(&all[3..5]), Vec::<u32>::new());
        assert_eq!(repeats(&["MEMORY.md", "memory/ROOT.md"]), Vec::<u32>::new());
    }

    #[test]
    fn a_source_that_is_not_in_the_answer_takes_nothing_out() {
        let chunks = [
            ("memory/daily/2026-05-01.md", "a"),
            ("b.md", "b"),
            ("memory/2026-05-01.md", "c"),
        ];
        assert_eq!(kept(&chunks, 2), [0, 1]);
        assert_eq!(kept(&chunks, 3), [1, 2]);
    }

    #[test]
    fn what_was_said_nearly_so_before_is_not_new() {
        let mut said = Said::default();
        let text = "the backup of the gauge archive runs at two in the night on every odd day of the week";
        assert!(said.is_new(text));
        assert!(
            !said.is_new(&format!("- The **backup** {}!", &text[11..])),
            "marks and letter case do not count"
        );
        assert!(
            said.is_new("the restore of the camera archive failed at noon on every even day of the month")
        );
        assert!(
            said.is_new("yes, on Monday") && said.is_new("yes, on Tuesday") && said.is_new("yes, on Monday")
        );
    }

    #[test]
    fn a_copy_in_a_node_does_not_oust_its_source() {
        let chunks = [
            ("memory/daily/2026-05-01.md", "same"),
            ("memory/2026-05-01.md", "other"),
            ("memory/2026-05-01.md", "same"),
        ];
        assert_eq!(kept(&chunks, 10), [2, 1], "the source takes the node's place");
    }

    proptest! {
        #[test]
        fn answers_are_parts_of_the_list_with_falling_scores_and_settled(
            chunks in prop::collection::vec((0usize..6, 0u8..9), 0..20),
            limit in 0usize..12,
        ) {
            let paths = [
                "memory/2026-05-01.md", "memory/daily/2026-05-01.md", "memory/weekly/2026-W18.md",
                "memory/monthly/2026-05.md", "memory/ROOT.md", "notes.md",
            ];
            let texts: Vec<String> = chunks.iter().map(|(_, text)| text.to_string()).collect();
            let chunks: Vec<(&str, &str)> =
                chunks.iter().zip(&texts).map(|((path, _), text)| (paths[*path], text.as_str())).collect();
            let (corpus, ranked) = world(&chunks);
            let answer = collapse(&ranked, &corpus, limit);
            prop_assert!(answer.len() <= limit);
            prop_assert!(answer.is_sorted_by(|a, b| a.score >= b.score));
            let mut once: Vec<u32> = answer.iter().map(|one| one.chunk).collect();
            once.sort_unstable();
            once.dedup();
            prop_assert_eq!(once.len(), answer.len());
            prop_assert!(once.iter().all(|chunk| ranked.iter().any(|one| one.chunk == *chunk)));
            prop_assert_eq!(collapse(&answer, &corpus, limit), answer.clone());
            if limit > 0 && !ranked.is_empty() {
                prop_assert!(!answer.is_empty());
            }
        }
    }
}
