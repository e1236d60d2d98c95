//! Removal of repeated texts from a ranked list.

use std::collections::{BTreeSet, HashMap};

use crate::corpus::Corpus;
use crate::rank::RankedChunk;
use hippo_text::source::SourceKind;

/// Returns the first `limit` chunks of a ranked list, best first, without repeated texts.
///
/// If several chunks have the same text, the one with the best rank is kept, with the number of the others. If that
/// chunk is from a compaction tree node, the chunk of the node's source file is returned in its place, with the node's
/// rank and score. Texts are compared by [`crate::corpus::ChunkPlace::mark`].
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
        let at = *marks.entry(place.mark).or_insert(kept.len());
        match kept.get_mut(at) {
            None => kept.push(*hit),
            Some(before) if is_node(before) && !is_node(hit) => {
                let score = before.score;
                *before = RankedChunk { score, ..*hit };
            }
            Some(before) if !is_node(hit) => before.copies += 1,
            Some(_) => {}
        }
    }
    kept.truncate(limit);
    kept
}

/// The texts already in an answer, to detect near-duplicates.
#[derive(Debug, Default)]
pub struct AnswerTexts {
    texts: Vec<BTreeSet<String>>,
}

impl AnswerTexts {
    /// Minimum number of distinct words for a near-duplicate. Shorter texts, such as "yes, on Monday" and "yes, on
    /// Tuesday", are never near-duplicates.
    const WORDS: usize = 8;
    /// Minimum Jaccard similarity between the word sets of two near-duplicates.
    const SHARE: f32 = 0.9;

    /// Returns true if the text is not a near-duplicate of an earlier text. In that case, stores the text.
    pub fn is_new(&mut self, text: &str) -> bool {
        let words = text.split(|sign: char| !sign.is_alphanumeric());
        let words: BTreeSet<String> = words
            .filter(|word| !word.is_empty())
            .map(str::to_lowercase)
            .collect();
        let new = words.len() < Self::WORDS || !self.texts.iter().any(|said| Self::same(said, &words));
        if new {
            self.texts.push(words);
        }
        new
    }

    fn same(one: &BTreeSet<String>, other: &BTreeSet<String>) -> bool {
        let both = one.intersection(other).count() as f32;
        both >= Self::SHARE * ((one.len() + other.len()) as f32 - both)
    }
}

#[cfg(test)]
mod tests;
