//! Which chunks answer a query best, from postings per term and vector candidates.

use crate::corpus::Corpus;
use crate::retrieval::dates::DateRange;
use crate::retrieval::fuse;
use crate::retrieval::lexical::{self, LexicalScratch};
use crate::retrieval::terms::QueryTerm;

/// Which evidence counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// Words and meaning.
    #[default]
    Hybrid,
    /// Words alone.
    Lexical,
    /// Meaning alone.
    Vector,
}

/// The chunks that contain a term.
#[derive(Debug, Clone, Copy)]
pub struct Postings<'a> {
    /// The term as the query has it.
    pub term: &'a QueryTerm,
    /// Ids of the chunks that contain it, ascending.
    pub chunks: &'a [u32],
}

/// What the vector index found for a query.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct VectorHits {
    /// Chunk ids with their cosines in [-1, 1], the nearest first.
    pub hits: Vec<(u32, f32)>,
}

/// What ranking works on.
pub struct RankInput<'a> {
    /// The workspace.
    pub corpus: &'a Corpus,
    /// Which evidence counts.
    pub mode: Mode,
    /// Postings of each term of the query.
    pub postings: &'a [Postings<'a>],
    /// Nearest chunks by vector; `None` where no query vector exists, and then words alone count.
    pub vectors: Option<&'a VectorHits>,
    /// Cosines of chunks with the query, in the order asked for; NaN for a chunk without a vector.
    pub neighbour_scores: &'a dyn Fn(&[u32]) -> Vec<f32>,
    /// Whether a chunk may be returned. A chunk that may not still lends its context to its neighbours.
    pub filter: &'a dyn Fn(u32) -> bool,
    /// Dates that the query speaks of.
    pub dates: Option<DateRange>,
    /// Largest number of chunks to return.
    pub limit: usize,
}

/// One chunk of an answer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ranked {
    /// Its id.
    pub chunk: u32,
    /// How well it answers, in [0, 1].
    pub score: f32,
    /// Its score by words alone, in [0, 1].
    pub lexical: Option<f32>,
    /// Its score by meaning alone, in [0, 1].
    pub vector: Option<f32>,
    /// What the score was made of.
    pub explain: Features,
}

/// What is known of a chunk with respect to a query. The lexical features are shares of the largest sum of term
/// weights that the query allows, in [0, 1]; the vector features are cosines, `None` without a vector.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Features {
    /// BM25 of the chunk.
    pub lexical_unit: f32,
    /// BM25 of the chunk with its neighbours.
    pub lexical_window: f32,
    /// BM25 of its passage.
    pub lexical_passage: f32,
    /// Cosine of the chunk.
    pub vector_unit: Option<f32>,
    /// Mean cosine of the chunk with its neighbours.
    pub vector_window: Option<f32>,
    /// Whether the query names who says it; 0 or 1.
    pub speaker: f32,
    /// How near its date is to those that the query speaks of; 1 within them, 0 far away.
    pub date: f32,
    /// Whether the user of an assistant said it; 0 or 1.
    pub user: f32,
}

impl Features {
    /// The features that are known, by name, for people who ask why.
    pub fn named(&self) -> Vec<(&'static str, f32)> {
        // Taken apart whole, so that a new feature is not forgotten here.
        let Self {
            lexical_unit,
            lexical_window,
            lexical_passage,
            vector_unit,
            vector_window,
            speaker,
            date,
            user,
        } = *self;
        let all = [
            ("lexical_unit", Some(lexical_unit)),
            ("lexical_window", Some(lexical_window)),
            ("lexical_passage", Some(lexical_passage)),
            ("vector_unit", vector_unit),
            ("vector_window", vector_window),
            ("speaker", Some(speaker)),
            ("date", Some(date)),
            ("user", Some(user)),
        ];
        all.into_iter()
            .filter_map(|(name, value)| Some((name, value?)))
            .collect()
    }
}

/// Arrays by chunk id that are kept from query to query.
#[derive(Debug, Default)]
pub struct RankScratch {
    pub(crate) lexical: LexicalScratch,
}

impl RankScratch {
    /// Empty arrays; they grow with the first query.
    pub fn new() -> Self {
        Self::default()
    }
}

/// Ranks the chunks that words or vectors bring up: best first, at most `limit`, each chunk once; ties by path and place.
pub fn rank(input: &RankInput<'_>, scratch: &mut RankScratch) -> Vec<Ranked> {
    let postings = if input.mode == Mode::Vector {
        &[]
    } else {
        input.postings
    };
    let near = input.vectors.filter(|_| input.mode != Mode::Lexical);
    let near = near
        .into_iter()
        .flat_map(|vectors| vectors.hits.iter().map(|(chunk, _)| *chunk));
    let hits = lexical::score(input.corpus, postings, near, &mut scratch.lexical);
    fuse::fuse(input, hits)
}

#[cfg(test)]
mod tests;
