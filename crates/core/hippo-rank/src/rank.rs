//! Ranking of chunks from term postings and vector candidates.

mod days;

use crate::corpus::Corpus;
use crate::dates::DateRange;
use crate::fuse::{self, Candidate};
use crate::lexical;
pub use crate::lexical::RankScratch;
pub use days::passages_of_days;
use hippo_text::terms::QueryTerm;

/// Evidence used for ranking. Unlike `SearchMode`, it has no mode for the index file, because entries are not ranked
/// here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RankMode {
    /// Words and vectors.
    #[default]
    Hybrid,
    /// Words only.
    Lexical,
    /// Vectors only.
    Vector,
}

/// The chunks that contain a term.
#[derive(Debug, Clone, Copy)]
pub struct Postings<'a> {
    /// The term of the query.
    pub term: &'a QueryTerm,
    /// Ids of the chunks that contain the term, ascending.
    pub chunks: &'a [u32],
}

/// Results of the vector index for a query.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct VectorHits {
    /// Chunk ids with their cosines in [-1, 1], in descending order of the cosines.
    pub hits: Vec<(u32, f32)>,
}

/// Input of a ranking.
pub struct RankInput<'a> {
    /// Corpus of the workspace.
    pub corpus: &'a Corpus,
    /// Evidence to use: words, vectors or both.
    pub mode: RankMode,
    /// Postings of each term of the query.
    pub postings: &'a [Postings<'a>],
    /// Chunks whose vectors are nearest to the vector of the query. `None` if the query has no vector; then only words
    /// count.
    pub vectors: Option<&'a VectorHits>,
    /// Returns the cosine of each given chunk with the query, in the order of the argument; NaN for a chunk without a
    /// vector.
    pub neighbour_scores: &'a dyn Fn(&[u32]) -> Vec<f32>,
    /// Returns true if a chunk may be in the result. A chunk that is not allowed in the result still counts as a
    /// neighbour of other chunks.
    pub filter: &'a dyn Fn(u32) -> bool,
    /// Dates mentioned in the query.
    pub dates: Option<DateRange>,
    /// Maximum number of chunks in the result.
    pub limit: usize,
}

/// A ranked chunk.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RankedChunk {
    /// Id of the chunk.
    pub chunk: u32,
    /// Score in [0, 1].
    pub score: f32,
    /// Score by words alone, in [0, 1].
    pub lexical: Option<f32>,
    /// Score by vectors alone, in [0, 1].
    pub vector: Option<f32>,
    /// Number of other chunks with the same text, without chunks of compaction tree nodes. [`crate::collapse`] counts
    /// them.
    pub copies: u32,
    /// Features that the score was computed from.
    pub explain: Features,
}

/// Features of a chunk for a query.
///
/// A lexical feature is a share, in [0, 1], of the largest sum of term weights that the query allows. A vector feature
/// is a cosine, or `None` without a vector.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Features {
    /// BM25 of the chunk.
    pub lexical_unit: f32,
    /// BM25 of the chunk with its neighbours.
    pub lexical_window: f32,
    /// BM25 of the chunk's passage.
    pub lexical_passage: f32,
    /// Cosine of the chunk.
    pub vector_unit: Option<f32>,
    /// Mean cosine of the chunk with its neighbours.
    pub vector_window: Option<f32>,
    /// 1 if the query names the speaker of the chunk, otherwise 0.
    pub speaker: f32,
    /// Proximity of the chunk's date to the dates in the query: 1 within the dates, 0 far from them.
    pub date: f32,
    /// 1 if the speaker is the user of an assistant, otherwise 0.
    pub user: f32,
}

impl Features {
    /// Returns the features that have a value, with their names.
    pub fn named(&self) -> Vec<(&'static str, f32)> {
        let all = [
            ("lexical_unit", Some(self.lexical_unit)),
            ("lexical_window", Some(self.lexical_window)),
            ("lexical_passage", Some(self.lexical_passage)),
            ("vector_unit", self.vector_unit),
            ("vector_window", self.vector_window),
            ("speaker", Some(self.speaker)),
            ("date", Some(self.date)),
            ("user", Some(self.user)),
        ];
        all.into_iter()
            .filter_map(|(name, value)| Some((name, value?)))
            .collect()
    }
}

/// The chunks that the words of a query find.
#[derive(Debug)]
pub struct WordHits {
    candidates: Vec<Candidate>,
    /// The sums of all chunks.
    scratch: RankScratch,
}

/// Finds the chunks that contain words of the query. This part of the ranking needs no vectors: of `input.vectors`,
/// only its presence matters. The result takes the arrays out of `scratch`.
pub fn find_by_words(input: &RankInput<'_>, scratch: &mut RankScratch) -> WordHits {
    let postings = match input.mode {
        RankMode::Vector => &[],
        RankMode::Hybrid | RankMode::Lexical => input.postings,
    };
    let mut scratch = std::mem::take(scratch);
    lexical::score(input.corpus, postings, &mut scratch);
    WordHits {
        candidates: fuse::best_by_words(input, &mut scratch),
        scratch,
    }
}

/// Ranks the chunks found by words or vectors. Returns at most `limit` chunks, each once, best first. Equal scores
/// are ordered by path and position. `found` is from the same corpus and the same query, but the filter may have
/// changed. The arrays of `found` return to `scratch`.
pub fn rank_found(input: &RankInput<'_>, found: WordHits, scratch: &mut RankScratch) -> Vec<RankedChunk> {
    *scratch = found.scratch;
    let ranked = fuse::fuse(input, found.candidates, scratch);
    scratch.reset();
    ranked
}

/// Finds chunks by the words of the query, and ranks them together with those found by vectors. See [`rank_found`].
pub fn rank(input: &RankInput<'_>, scratch: &mut RankScratch) -> Vec<RankedChunk> {
    let found = find_by_words(input, scratch);
    rank_found(input, found, scratch)
}

#[cfg(test)]
mod tests;
