//! Second ranking of a query's best chunks, whose texts have been read from the files.

use std::collections::HashMap;

use hippo_embed::WordVectors;
use hippo_proto::{RpcError, SearchMode};
use hippo_rank::corpus::ChunkPlace;
use hippo_rank::idf;
use hippo_rank::rank::RankedChunk;
use hippo_rank::rerank::{CANDIDATES, RerankCandidate, VectorFacts, built_in, compute_features};
use hippo_store::vector::PreparedQuery;
use hippo_text::terms::QueryTerm;

use super::hit::ChunkHit;
use super::question::SearchQuestion;
use super::{SearchState, search_error};
use crate::embed_worker::EmbeddedQuery;
use crate::verify::VerifiedHit;
use crate::view::SearchSnapshot;

/// Number of candidates at the top whose vectors the others are compared with.
const TOP: usize = 5;
/// Number of chunks of a passage whose cosines count.
const BEST: usize = 3;
/// Maximum number of chunks of a passage that are compared, around the candidate.
const REACH: u32 = 64;

/// Data for the second ranking of one query.
pub struct SecondRanking<'a> {
    words: &'a WordVectors,
    /// Terms of the query with their inverse document frequencies.
    terms: Vec<(QueryTerm, f32)>,
    vectors: HashMap<u32, VectorFacts>,
}

impl SearchState {
    /// Prepares the second ranking. Returns `None` if the model has no vectors of single words, if most of the candidates
    /// have no vector, or if the mode is not hybrid.
    pub(super) fn second_ranking<'a>(
        &self,
        snapshot: &SearchSnapshot,
        ranked: &[RankedChunk],
        embedded: &'a EmbeddedQuery,
    ) -> Result<Option<SecondRanking<'a>>, RpcError> {
        let words = embedded.words.as_deref();
        let Some(words) = words.filter(|_| self.question.mode == SearchMode::Hybrid) else {
            return Ok(None);
        };
        let chunks: Vec<u32> = ranked.iter().take(CANDIDATES).map(|one| one.chunk).collect();
        let embedded_count = chunks
            .iter()
            .filter(|chunk| snapshot.vectors.contains(**chunk))
            .count();
        if 2 * embedded_count < chunks.len() {
            return Ok(None);
        }
        let lists = self
            .question
            .postings(&self.view, snapshot)
            .map_err(|error| search_error(&self.searcher, &self.view, error))?;
        let all = snapshot.corpus.len() as u64;
        let terms = self.question.terms.iter().cloned().zip(&lists);
        let feedback = self.compare_with_best(snapshot, &chunks);
        let passages = compare_passages(snapshot, &chunks, &embedded.vector);
        let vectors = chunks.iter().zip(feedback.into_iter().zip(passages));
        Ok(Some(SecondRanking {
            words,
            terms: terms
                .map(|(term, list)| (term, idf(all, list.len() as u64)))
                .collect(),
            vectors: vectors
                .map(|(chunk, (feedback, passage))| (*chunk, VectorFacts { passage, feedback }))
                .collect(),
        }))
    }

    /// Returns for each chunk the cosine with the sum of the first [`TOP`] other chunks; 0 without vectors.
    fn compare_with_best(&self, snapshot: &SearchSnapshot, chunks: &[u32]) -> Vec<f32> {
        let top = &chunks[..chunks.len().min(TOP)];
        let vectors = self
            .view
            .with_reader(|reader| reader.vectors(top))
            .unwrap_or_default();
        let compare = |without: Option<usize>, chunks: &[u32]| -> Vec<f32> {
            let others = vectors.iter().enumerate().filter(|(at, _)| Some(*at) != without);
            let mut sum = vec![0.0; vectors.iter().flatten().map(Vec::len).max().unwrap_or_default()];
            for vector in others.filter_map(|(_, vector)| vector.as_ref()) {
                sum.iter_mut().zip(vector).for_each(|(sum, value)| *sum += value);
            }
            let norm = sum.iter().map(|value| value * value).sum::<f32>().sqrt();
            sum.iter_mut().for_each(|value| *value /= norm);
            cosines(snapshot, &sum, chunks)
        };
        let mut all: Vec<f32> = (0..top.len())
            .flat_map(|at| compare(Some(at), &top[at..=at]))
            .collect();
        all.extend(compare(None, &chunks[top.len()..]));
        all
    }
}

/// Returns for each chunk the mean of the [`BEST`] largest cosines of its passage with the query.
fn compare_passages(snapshot: &SearchSnapshot, chunks: &[u32], query: &[f32]) -> Vec<f32> {
    let window = |chunk: &u32| {
        let place: Option<&ChunkPlace> = snapshot.corpus.place(*chunk);
        place.map_or(&[][..], |place| snapshot.corpus.window(place, REACH))
    };
    let mut wanted: Vec<u32> = chunks.iter().flat_map(window).copied().collect();
    wanted.sort_unstable();
    wanted.dedup();
    let all = cosines(snapshot, query, &wanted);
    let of_chunk = |chunk: &u32| {
        let around = window(chunk)
            .iter()
            .filter_map(|near| wanted.binary_search(near).ok());
        let mut around: Vec<f32> = around.map(|at| all[at]).collect();
        around.sort_unstable_by(|one, other| other.total_cmp(one));
        around.truncate(BEST);
        around.iter().sum::<f32>() / around.len().max(1) as f32
    };
    chunks.iter().map(of_chunk).collect()
}

/// Returns the cosine of each chunk with a vector of unit length; 0 for a chunk without a vector.
fn cosines(snapshot: &SearchSnapshot, vector: &[f32], chunks: &[u32]) -> Vec<f32> {
    let prepared = PreparedQuery::new(vector).ok();
    let scores = prepared.and_then(|query| snapshot.vectors.scores(&query, chunks).ok());
    let scores = scores.unwrap_or_else(|| vec![0.0; chunks.len()]);
    scores
        .into_iter()
        .map(|score| if score.is_nan() { 0.0 } else { score })
        .collect()
}

impl SecondRanking<'_> {
    /// Computes the scores of the second ranking, and sorts the hits by them. `hits` are in the order of the first
    /// ranking.
    pub(super) fn order(
        &self,
        question: &SearchQuestion,
        mut hits: Vec<(ChunkHit, VerifiedHit)>,
    ) -> Vec<(ChunkHit, VerifiedHit)> {
        let candidates: Vec<RerankCandidate<'_>> = (hits.iter())
            .map(|(hit, verified)| RerankCandidate {
                ranked: hit.ranked,
                place: hit.position,
                passage: hit.passage,
                text: &verified.text,
                heading: format!("{} {}", hit.path, hit.heading.join(" ")),
                vectors: self.vectors.get(&hit.ranked.chunk).copied().unwrap_or_default(),
            })
            .collect();
        let similarity = |words: &[&str], others: &[&str]| self.words.similarities(words, others);
        let query = &question.request.query;
        let features = compute_features(query, &self.terms, &candidates, &similarity);
        let trees = built_in();
        for ((hit, _), values) in hits.iter_mut().zip(features) {
            if !trees.is_empty() {
                hit.ranked.score = trees.score(&values);
            }
            hit.second = Some(values);
        }
        hits.sort_by(|(one, _), (other, _)| other.ranked.score.total_cmp(&one.ranked.score));
        hits
    }
}
