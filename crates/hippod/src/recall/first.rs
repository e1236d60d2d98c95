//! First ranking of a workspace's chunks, by words and vectors.

use std::sync::Arc;

use hippo_proto::{RpcError, SearchMode};
use hippo_rank::collapse;
use hippo_rank::rank::{self, Postings, RankInput, RankMode, RankedChunk, VectorHits, WordHits};
use hippo_rank::rerank::CANDIDATES;
use hippo_store::vector::PreparedQuery;

use super::scratch::with_scratch;
use super::{OVERFETCH, SearchState, search_error};
use crate::tasks::OneAtATimeGuard;
use crate::view::SearchSnapshot;

/// Maximum number of candidate chunks from the vector index.
const VECTOR_CANDIDATES: usize = 300;
/// Number of the nearest chunks whose similarity is computed again from exact vectors.
const RESCORED: usize = 40;

/// A function that returns true if a chunk may be in the result.
type Admits<'a> = dyn Fn(u32) -> bool + Sync + 'a;

/// Chunks that were found by the words of a query while its vector was computed.
pub struct FoundByWords {
    hits: WordHits,
    /// Generation of the index.
    generation: u64,
    /// Keeps other queries from finding chunks early.
    _turn: OneAtATimeGuard,
}

impl SearchState {
    /// Looks up the words of the query, and finds the chunks that contain them, for a ranking with a vector. Returns
    /// `None` if another query does this at the moment, because the memory that it needs grows with the workspace, or if
    /// the query asks for everything of some days.
    pub(super) fn find_by_words(&self) -> Result<Option<FoundByWords>, RpcError> {
        let snapshot = self.view.snapshot();
        let lists = self.look_up_words(&snapshot)?;
        let turn = self.searcher.early.enter_if_free();
        let Some(turn) = turn.filter(|_| !self.question.only_dates) else {
            return Ok(None);
        };
        let later = VectorHits::default();
        let passes = |chunk: u32| self.question.filter.passes(&snapshot, chunk);
        let postings = self.pair_with_terms(&lists);
        let input = RankInput {
            vectors: Some(&later),
            ..self.rank_input(&snapshot, &postings, &passes)
        };
        let hits = with_scratch(|scratch| rank::find_by_words(&input, &mut scratch.first));
        Ok(Some(FoundByWords {
            hits,
            generation: snapshot.generation,
            _turn: turn,
        }))
    }

    /// Ranks chunks by relevance. If `within` is given, only the chunks for which it returns true are ranked.
    pub(super) fn rank(
        &self,
        snapshot: &SearchSnapshot,
        vector: Option<&[f32]>,
        within: Option<&Admits<'_>>,
    ) -> Result<Vec<RankedChunk>, RpcError> {
        self.rank_found(snapshot, vector, within, None)
    }

    /// Ranks chunks by relevance. `found` is used if it is from this state of the index.
    pub(super) fn rank_found(
        &self,
        snapshot: &SearchSnapshot,
        vector: Option<&[f32]>,
        within: Option<&Admits<'_>>,
        found: Option<FoundByWords>,
    ) -> Result<Vec<RankedChunk>, RpcError> {
        let passes = |chunk: u32| {
            within.is_none_or(|within| within(chunk)) && self.question.filter.passes(snapshot, chunk)
        };
        let filter = &self.question.filter;
        let filtered = within.is_some() || filter.is_set() || filter.hides_some(snapshot);
        let prepared = vector.and_then(|vector| PreparedQuery::new(vector).ok());
        let vectors = match &prepared {
            Some(query) => Some(self.nearest(snapshot, query, filtered.then_some(&passes))?),
            None => None,
        };
        let cosines = |chunks: &[u32]| match &prepared {
            Some(query) => snapshot.vectors.scores(query, chunks).unwrap_or_default(),
            None => vec![f32::NAN; chunks.len()],
        };
        let found = found.filter(|found| vectors.is_some() && found.generation == snapshot.generation);
        let lists = match found {
            Some(_) => Vec::new(),
            None => self.look_up_words(snapshot)?,
        };
        let postings = self.pair_with_terms(&lists);
        let input = RankInput {
            vectors: vectors.as_ref(),
            neighbour_scores: &cosines,
            ..self.rank_input(snapshot, &postings, &passes)
        };
        let ranked = with_scratch(|scratch| match found {
            Some(found) => rank::rank_found(&input, found.hits, &mut scratch.first),
            None => rank::rank(&input, &mut scratch.first),
        });
        Ok(collapse::collapse(&ranked, &snapshot.corpus, input.limit))
    }

    /// Returns the input of a ranking without vectors.
    fn rank_input<'a>(
        &self,
        snapshot: &'a SearchSnapshot,
        postings: &'a [Postings<'a>],
        filter: &'a Admits<'a>,
    ) -> RankInput<'a> {
        RankInput {
            corpus: &snapshot.corpus,
            mode: match self.question.mode {
                SearchMode::Hybrid => RankMode::Hybrid,
                SearchMode::Lexical | SearchMode::Index => RankMode::Lexical,
                SearchMode::Vector => RankMode::Vector,
            },
            postings,
            vectors: None,
            neighbour_scores: &|chunks| vec![f32::NAN; chunks.len()],
            filter,
            dates: self.question.dates,
            limit: (self.question.limit * OVERFETCH + 20).max(CANDIDATES),
        }
    }

    /// Returns for each term of the query the chunks that contain it. In mode `vector`, the list is empty.
    fn look_up_words(&self, snapshot: &SearchSnapshot) -> Result<Vec<Arc<[u32]>>, RpcError> {
        if self.question.mode == SearchMode::Vector {
            return Ok(Vec::new());
        }
        let lists = self.question.postings(&self.view, snapshot);
        lists.map_err(|error| search_error(&self.searcher, &self.view, error))
    }

    fn pair_with_terms<'a>(&'a self, lists: &'a [Arc<[u32]>]) -> Vec<Postings<'a>> {
        let terms = self.question.terms.iter().zip(lists);
        terms.map(|(term, chunks)| Postings { term, chunks }).collect()
    }

    fn nearest(
        &self,
        snapshot: &SearchSnapshot,
        query: &PreparedQuery,
        filter: Option<&Admits<'_>>,
    ) -> Result<VectorHits, RpcError> {
        // Approximate similarities have an error of up to 0.01. Only the best results need higher accuracy, because
        // their order matters.
        let rescore = |chunks: &[u32]| {
            let exact = &chunks[..chunks.len().min(RESCORED)];
            self.view
                .with_reader(|reader| reader.vectors(exact))
                .unwrap_or_default()
        };
        let found = snapshot
            .vectors
            .search(query, VECTOR_CANDIDATES, filter, &rescore);
        found.map(|hits| VectorHits { hits }).map_err(|error| {
            RpcError::internal(format!("could not search by meaning: {error}"))
                .hint("to search by keyword, use mode lexical; for details: hippoctl service logs")
        })
    }
}
