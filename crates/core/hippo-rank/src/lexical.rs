//! BM25 scores of chunks, windows and passages from postings.
//!
//! The index stores which chunks contain a term, but not how often. Chunks are small, so a term nearly always occurs
//! once in a chunk. In a window or passage, the frequency of a term is the number of chunks that contain the term. The
//! score of a passage ignores what an assistant said, because a long answer mentions many subjects. The question of the
//! user names the subject that matters.

use crate::corpus::{ChunkPlace, Corpus};
use crate::rank::{Features, Postings};
use hippo_text::chunk::Speaker;
use hippo_text::speaker::is_speaker_term;

/// Saturation of repeated terms in BM25 (Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009).
const K1: f32 = 1.2;
/// Length normalization of BM25 for a chunk. It is low because the shortest lines contain the least information.
pub(crate) const B_UNIT: f32 = 0.3;
/// Length normalization of BM25 for a passage. This is the usual value.
pub(crate) const B_PASSAGE: f32 = 0.75;
/// A window contains this number of chunks before its chunk, and the same number after it.
pub(crate) const REACH: u32 = 2;

/// Arrays indexed by chunk id. Queries reuse them. Between queries, all values are zero. The values of a passage are at
/// the id of its first chunk.
#[derive(Debug, Default)]
pub struct RankScratch {
    sums: Vec<LexicalSums>,
    counts: Vec<u16>,
    touched: Vec<u32>,
    found: Vec<u32>,
    passages: Vec<u32>,
    /// The weighted sum of each found chunk, with the chunk, while the best chunks are selected.
    pub(crate) weighted: Vec<(f32, u32)>,
    /// Factor from sums to features: the reciprocal of the largest possible sum.
    scale: f32,
}

/// Sums of the term weights of a chunk. Divided by the largest possible sum, they become its [`Features`].
#[derive(Debug, Clone, Copy, Default)]
struct LexicalSums {
    unit: f32,
    window: f32,
    passage: f32,
    speaker: bool,
}

/// Computes the sums of the chunks. Lists the chunks whose window contains a term of the query.
pub(crate) fn score(corpus: &Corpus, postings: &[Postings<'_>], scratch: &mut RankScratch) {
    scratch.grow(corpus.id_bound());
    let telling = postings.iter().any(|posting| !posting.term.stop);
    let mut attainable = 0.0;
    for posting in postings.iter().filter(|posting| !(telling && posting.term.stop)) {
        if is_speaker_term(&posting.term.term) {
            continue;
        }
        let weight = idf(corpus.len() as u64, posting.chunks.len() as u64);
        attainable += self::attainable(weight);
        scratch.add_units_and_windows(corpus, posting.chunks, weight);
        scratch.add_passages(corpus, posting.chunks, weight);
    }
    let named = postings
        .iter()
        .filter(|posting| is_speaker_term(&posting.term.term));
    let is_other = |place: &ChunkPlace| place.speaker == Speaker::Other;
    for chunk in named.flat_map(|posting| posting.chunks) {
        if corpus.place(*chunk).is_some_and(is_other) {
            scratch.sums[*chunk as usize].speaker = true;
            scratch.touched.push(*chunk);
        }
    }
    scratch.scale = if attainable > 0.0 { attainable.recip() } else { 0.0 };
}

impl RankScratch {
    fn grow(&mut self, bound: usize) {
        if self.sums.len() < bound {
            self.sums.resize(bound, LexicalSums::default());
            self.counts.resize(bound, 0);
        }
    }

    fn add_units_and_windows(&mut self, corpus: &Corpus, chunks: &[u32], weight: f32) {
        let mean = corpus.mean_terms();
        for chunk in chunks {
            let Some(place) = corpus.place(*chunk) else {
                continue;
            };
            self.sums[*chunk as usize].unit += weight * saturated(1.0, B_UNIT, f32::from(place.terms) / mean);
            for near in corpus.window(place, REACH) {
                let count = &mut self.counts[*near as usize];
                if *count == 0 {
                    self.touched.push(*near);
                }
                *count += 1;
            }
        }
        for near in self.touched.drain(..) {
            let count = std::mem::take(&mut self.counts[near as usize]);
            let sums = &mut self.sums[near as usize];
            if sums.window == 0.0 {
                self.found.push(near);
            }
            sums.window += weight * saturated(f32::from(count), 0.0, 1.0);
        }
    }

    fn add_passages(&mut self, corpus: &Corpus, chunks: &[u32], weight: f32) {
        let places = chunks.iter().filter_map(|chunk| corpus.place(*chunk));
        let places = places.filter(|place| place.speaker != Speaker::Assistant);
        for first in places.filter_map(|place| first_of_passage(corpus, place)) {
            let count = &mut self.counts[first as usize];
            if *count == 0 {
                self.touched.push(first);
            }
            *count = count.saturating_add(1);
        }
        let mean = corpus.mean_passage_terms();
        for first in self.touched.drain(..) {
            let count = std::mem::take(&mut self.counts[first as usize]);
            let passage = corpus.place(first).and_then(|place| corpus.passage(place));
            let length = passage.map_or(1.0, |passage| passage.terms as f32 / mean);
            let sums = &mut self.sums[first as usize];
            if sums.passage == 0.0 {
                self.passages.push(first);
            }
            sums.passage += weight * saturated(f32::from(count), B_PASSAGE, length);
        }
    }

    /// Returns the chunks whose window contains a term of the query, in no particular order.
    pub(crate) fn found(&self) -> &[u32] {
        &self.found
    }

    /// Returns the lexical features of a chunk at a place.
    pub(crate) fn features(&self, corpus: &Corpus, chunk: u32, place: &ChunkPlace) -> Features {
        let first = first_of_passage(corpus, place);
        let sums_of = |chunk: u32| self.sums.get(chunk as usize).copied().unwrap_or_default();
        let sums = sums_of(chunk);
        Features {
            lexical_unit: sums.unit * self.scale,
            lexical_window: sums.window * self.scale,
            lexical_passage: first.map_or(0.0, |first| sums_of(first).passage) * self.scale,
            speaker: f32::from(u8::from(sums.speaker)),
            ..Features::default()
        }
    }

    /// Resets the arrays to zero.
    pub(crate) fn reset(&mut self) {
        let touched = self.touched.drain(..);
        for chunk in self.found.drain(..).chain(self.passages.drain(..)).chain(touched) {
            self.sums[chunk as usize] = LexicalSums::default();
        }
    }
}

fn first_of_passage(corpus: &Corpus, place: &ChunkPlace) -> Option<u32> {
    let document = corpus.document(place.document)?;
    document
        .chunks()
        .get(corpus.passage(place)?.first as usize)
        .copied()
}

/// Returns the BM25 weight of a term that occurs in `with` of `all` chunks. The weight is above 0.
#[must_use]
pub fn idf(all: u64, with: u64) -> f32 {
    let (all, with) = (all.max(with) as f32, with as f32);
    (1.0 + (all - with + 0.5) / (with + 0.5)).ln()
}

/// Returns the upper bound of the score of a term with this weight.
pub(crate) fn attainable(weight: f32) -> f32 {
    weight * (K1 + 1.0)
}

/// Returns the saturated frequency of BM25, below K1 + 1. `length` is the length divided by the mean length.
pub(crate) fn saturated(count: f32, b: f32, length: f32) -> f32 {
    count * (K1 + 1.0) / (count + K1 * (1.0 - b + b * length))
}
