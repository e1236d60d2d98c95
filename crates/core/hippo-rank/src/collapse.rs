//! Removal of repeated texts from a ranked list.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use crate::corpus::Corpus;
use crate::rank::RankedChunk;
use hippo_text::source::SourceKind;

/// Returns the first `limit` chunks of a ranked list, best first, without repeated texts.
///
/// If several chunks have the same text, the one with the best rank is kept. If that chunk is from a compaction tree
/// node, the chunk of the node's source file is returned in its place, with the node's rank and score. Texts are
/// compared by [`crate::corpus::ChunkPlace::mark`].
pub fn collapse(ranked: &[RankedChunk], corpus: &Corpus, limit: usize) -> Vec<RankedChunk> {
    let is_node = |hit: &RankedChunk| {
        let place = corpus.place(hit.chunk);
        let document = place.and_then(|place| corpus.document(place.document));
        document.is_some_and(|document| matches!(SourceKind::from_path(&document.path), SourceKind::Node(_)))
    };
    let mut marks: HashMap<u32, usize> = HashMap::with_capacity(ranked.len());
    let mut kept: Vec<RankedChunk> = Vec::new();
    for hit in ranked {
        let Some(place) = corpus.place(hit.chunk) else {
            continue;
        };
        match marks.entry(place.mark) {
            Entry::Vacant(vacant) => {
                vacant.insert(kept.len());
                kept.push(*hit);
            }
            Entry::Occupied(occupied) => {
                let before = &mut kept[*occupied.get()];
                if is_node(before) && !is_node(hit) {
                    *before = RankedChunk {
                        score: before.score,
                        ..*hit
                    };
                }
            }
        }
    }
    kept.truncate(limit);
    kept
}

/// The texts already in an answer, to detect near-duplicates.
#[derive(Debug, Default)]
pub struct AnswerTexts {
    texts: Vec<Vec<u64>>,
}

impl AnswerTexts {
    /// Minimum number of distinct words for a near-duplicate. Shorter texts, such as "yes, on Monday" and "yes, on
    /// Tuesday", are never near-duplicates.
    const WORDS: usize = 8;
    /// Minimum Jaccard similarity between the word sets of two near-duplicates.
    const SHARE: f32 = 0.9;

    /// Returns true if no earlier text is a near-duplicate of the text. In that case, stores the text.
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

#[cfg(test)]
mod tests;
