//! Passages of the days that a question names.

use std::collections::HashMap;

use hippo_text::chunk::Speaker;
use hippo_text::source::date_in_name;

use super::{Features, RankedChunk};
use crate::corpus::Corpus;
use crate::dates::DateRange;

/// Score of a passage of the days. The days are the whole question, so each of their passages answers it.
const SCORE: f32 = 0.9;

/// Returns the passages of some days: the first passage of each day, then the second of each, and so on. Texts whose
/// path or heading contains the date come before other files with the date, and words of an assistant come last.
/// Without a date in a path or heading, returns nothing: the other files may only have been copied on the day. `filter`
/// returns true if a chunk may be in the result.
pub fn passages_of_days(
    corpus: &Corpus,
    days: &DateRange,
    filter: &dyn Fn(u32) -> bool,
    limit: usize,
) -> Vec<RankedChunk> {
    let mut found = Vec::new();
    for (_, document) in corpus.documents() {
        let named = date_in_name(&document.path);
        for chunk in document.chunks() {
            let Some(place) = corpus.place(*chunk) else {
                continue;
            };
            let date = corpus.date(place).filter(|date| days.contains(*date));
            let Some(date) = date.filter(|_| filter(*chunk)) else {
                continue;
            };
            let section = document.sections().get(place.section as usize);
            let is_other = named != Some(date) && section.is_none_or(|section| section.date.is_none());
            let group = (is_other, place.speaker == Speaker::Assistant);
            found.push((group, date, &document.path, place.ordinal, *chunk));
        }
    }
    found.sort_unstable();
    if found.first().is_none_or(|((is_other, _), ..)| *is_other) {
        return Vec::new();
    }
    let mut counts: HashMap<_, u32> = HashMap::new();
    let mut turns: Vec<_> = Vec::with_capacity(found.len());
    for (group, date, _, _, chunk) in found {
        let count = counts.entry((group, date)).or_default();
        turns.push((group, *count, date, chunk));
        *count += 1;
    }
    // Chunks of the same day have different counts, so the order does not depend on their ids.
    turns.sort_unstable();
    turns.truncate(limit);
    let chunks = turns.into_iter().map(|(.., chunk)| chunk);
    let ranked = |chunk| RankedChunk {
        chunk,
        score: SCORE,
        lexical: Some(0.0),
        vector: None,
        copies: 0,
        explain: Features {
            date: 1.0,
            ..Features::default()
        },
    };
    chunks.map(ranked).collect()
}
