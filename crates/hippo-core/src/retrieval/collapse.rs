//! Which chunks of a ranked list say again what another one says?

use std::collections::HashSet;

use crate::corpus::Corpus;
use crate::retrieval::rank::Ranked;
use crate::source::{NodeKind, SourceKind};
use crate::time::Date;

/// The first `limit` chunks of a ranked list without repetitions, in the same order: of equal texts the best ranked
/// stays, and a compaction node gives way to any of its sources in the same answer (raw log before daily before
/// weekly before monthly node before ROOT). Texts are told apart by [`crate::corpus::Place::mark`].
pub fn collapse(ranked: &[Ranked], corpus: &Corpus, limit: usize) -> Vec<Ranked> {
    let mut marks = HashSet::with_capacity(ranked.len());
    let mut entries: Vec<(Ranked, Option<Span>)> = Vec::new();
    for candidate in ranked {
        let Some(place) = corpus.place(candidate.chunk) else {
            continue;
        };
        if marks.insert(place.mark) {
            let path = corpus
                .document(place.document)
                .map_or("", |document| &*document.path);
            entries.push((*candidate, Span::of(path)));
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

    /// Whether a node of these days was made from `source`.
    fn repeats(&self, source: &Self) -> bool {
        if source.level >= self.level {
            return false;
        }
        let (Some(first), Some(source_first)) = (self.first, source.first) else {
            return self.level == 4;
        };
        match self.level {
            1 => first == source_first,
            2 => first == monday(source_first),
            // A week belongs to the month of its Thursday.
            _ => {
                let thursday = monday(source_first).saturating_add(jiff::Span::new().days(3));
                first.first_of_month() == thursday.first_of_month()
            }
        }
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
