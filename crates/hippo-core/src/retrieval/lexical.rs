//! How well do the words of a chunk, of its window and of its section match a query: BM25 from postings.

use crate::corpus::Corpus;
use crate::retrieval::rank::Postings;

/// Saturation of repeated terms in BM25 (Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009).
const K1: f32 = 1.2;
/// How much a chunk's length counts in BM25; the same source.
const B: f32 = 0.75;
/// Chunks on either side that make up a window.
pub(crate) const REACH: u32 = 2;

/// Arrays by chunk id, all zero between queries. A section is known by the id of its first chunk.
#[derive(Debug, Default)]
pub(crate) struct LexicalScratch {
    unit: Vec<f32>,
    window: Vec<f32>,
    section: Vec<f32>,
    counts: Vec<u16>,
    touched: Vec<u32>,
    sections: Vec<u32>,
}

/// The lexical features of a chunk, each a share in [0, 1] of what a perfect chunk would have.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct LexicalHit {
    pub chunk: u32,
    pub unit: f32,
    pub window: f32,
    pub section: f32,
}

/// Scores every chunk whose window holds a term of the query; by rising chunk id.
pub(crate) fn score(
    corpus: &Corpus,
    postings: &[Postings<'_>],
    scratch: &mut LexicalScratch,
) -> Vec<LexicalHit> {
    scratch.grow(corpus.id_bound());
    let all_stop = postings.iter().all(|posting| posting.term.stop);
    let mut attainable = 0.0;
    let mut found: Vec<u32> = Vec::new();
    let mut found_sections: Vec<u32> = Vec::new();
    for posting in postings.iter().filter(|posting| all_stop || !posting.term.stop) {
        let weight = idf(corpus.len(), posting.chunks.len());
        attainable += weight * (K1 + 1.0);
        scratch.add_term(corpus, posting.chunks, weight, &mut found, &mut found_sections);
    }
    found.sort_unstable();
    let mut hits = Vec::with_capacity(found.len());
    for chunk in &found {
        let index = *chunk as usize;
        let section = corpus
            .place(*chunk)
            .and_then(|place| corpus.section_chunks(place).first().copied());
        hits.push(LexicalHit {
            chunk: *chunk,
            unit: scratch.unit[index] / attainable,
            window: scratch.window[index] / attainable,
            section: section.map_or(0.0, |first| scratch.section[first as usize]) / attainable,
        });
    }
    for chunk in found {
        scratch.unit[chunk as usize] = 0.0;
        scratch.window[chunk as usize] = 0.0;
    }
    for first in found_sections {
        scratch.section[first as usize] = 0.0;
    }
    hits
}

impl LexicalScratch {
    fn grow(&mut self, bound: usize) {
        if self.unit.len() < bound {
            for array in [&mut self.unit, &mut self.window, &mut self.section] {
                array.resize(bound, 0.0);
            }
            self.counts.resize(bound, 0);
        }
    }

    /// Adds one term: to each chunk that has it, and, by how many of their chunks have it, to windows and sections.
    fn add_term(
        &mut self,
        corpus: &Corpus,
        chunks: &[u32],
        weight: f32,
        found: &mut Vec<u32>,
        found_sections: &mut Vec<u32>,
    ) {
        let mean = corpus.mean_terms();
        for chunk in chunks {
            let Some(place) = corpus.place(*chunk) else {
                continue;
            };
            self.unit[*chunk as usize] += weight * saturated(1.0, f32::from(place.terms) / mean);
            for near in corpus.window(place, REACH) {
                let count = &mut self.counts[*near as usize];
                if *count == 0 {
                    self.touched.push(*near);
                }
                *count += 1;
            }
        }
        for near in self.touched.drain(..) {
            let index = near as usize;
            if self.window[index] == 0.0 {
                found.push(near);
            }
            self.window[index] += weight * saturated(f32::from(self.counts[index]), 1.0);
            self.counts[index] = 0;
        }
        for chunk in chunks {
            let Some(place) = corpus.place(*chunk) else {
                continue;
            };
            let Some(first) = corpus.section_chunks(place).first() else {
                continue;
            };
            let count = &mut self.counts[*first as usize];
            if *count == 0 {
                self.sections.push(*first);
            }
            *count = count.saturating_add(1);
        }
        for first in self.sections.drain(..) {
            let index = first as usize;
            if self.section[index] == 0.0 {
                found_sections.push(first);
            }
            self.section[index] += weight * saturated(f32::from(self.counts[index]), 1.0);
            self.counts[index] = 0;
        }
    }
}

/// BM25's weight of a term that `with` of `all` chunks contain; above 0.
fn idf(all: usize, with: usize) -> f32 {
    let (all, with) = (all.max(with) as f32, with as f32);
    (1.0 + (all - with + 0.5) / (with + 0.5)).ln()
}

/// BM25's saturated count, below K1 + 1; `length` in mean lengths.
fn saturated(count: f32, length: f32) -> f32 {
    count * (K1 + 1.0) / (count + K1 * (1.0 - B + B * length))
}
