//! Second ranking of a query's best chunks, whose texts have been read from the files.

use std::collections::HashMap;

use hippo_embed::WordVectors;
use hippo_proto::{RpcError, SearchMode};
use hippo_rank::idf;
use hippo_rank::rank::RankedChunk;
use hippo_rank::rerank::{CANDIDATES, RerankCandidate, built_in, compute_features};
use hippo_store::vector::PreparedQuery;
use hippo_text::terms::QueryTerm;

use super::hit::ChunkHit;
use super::question::SearchQuestion;
use super::scratch::with_scratch;
use super::{SearchState, search_error};
use crate::embed_worker::EmbeddedQuery;
use crate::verify::VerifiedHit;
use crate::view::SearchSnapshot;

/// Minimum best score with which the hits are ordered by the second ranking. Lower scores mean that the trees have seen
/// nothing like these texts. `lab/train/train.py` measures this rule.
const CONFIDENT: f32 = 0.1;
/// Number of chunks of a passage whose cosines count.
const BEST: usize = 3;
/// Maximum number of chunks of a passage that are compared, around the candidate.
const REACH: u32 = 64;

/// Data for the second ranking of one query.
pub struct SecondRanking<'a> {
    words: &'a WordVectors,
    /// Terms of the query with their inverse document frequencies.
    terms: Vec<(QueryTerm, f32)>,
    /// Mean of the largest cosines in the passage of each chunk.
    passages: HashMap<u32, f32>,
}

impl SearchState {
    /// Prepares the second ranking. Returns `None` if the trees were trained with another model, if most of the
    /// candidates have no vector, or if the mode is not hybrid.
    pub(super) fn second_ranking<'a>(
        &self,
        snapshot: &SearchSnapshot,
        ranked: &[RankedChunk],
        embedded: &'a EmbeddedQuery,
    ) -> Result<Option<SecondRanking<'a>>, RpcError> {
        let is_hybrid = self.question.mode == SearchMode::Hybrid;
        let Some(words) = embedded.words.as_deref().filter(|_| is_hybrid) else {
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
        let passages = compare_passages(snapshot, &chunks, &embedded.vector);
        Ok(Some(SecondRanking {
            words,
            terms: terms
                .map(|(term, list)| (term, idf(all, list.len() as u64)))
                .collect(),
            passages: chunks.into_iter().zip(passages).collect(),
        }))
    }
}

/// Returns for each chunk the mean of the [`BEST`] largest cosines of its passage with the query.
fn compare_passages(snapshot: &SearchSnapshot, chunks: &[u32], query: &[f32]) -> Vec<f32> {
    let windows: Vec<&[u32]> = (chunks.iter())
        .map(|chunk| {
            let place = snapshot.corpus.place(*chunk);
            place.map_or(&[][..], |place| snapshot.corpus.window(place, REACH))
        })
        .collect();
    let mut wanted = windows.concat();
    wanted.sort_unstable();
    wanted.dedup();
    let mut known = vec![0.0; wanted.last().map_or(0, |last| *last as usize + 1)];
    for (chunk, cosine) in wanted.iter().zip(cosines(snapshot, query, &wanted)) {
        known[*chunk as usize] = cosine;
    }
    let mean_of_best = |window: &&[u32]| {
        let mut best = [f32::MIN; BEST];
        for chunk in *window {
            let mut cosine = known[*chunk as usize];
            for place in &mut best {
                if cosine > *place {
                    std::mem::swap(place, &mut cosine);
                }
            }
        }
        let count = window.len().min(BEST);
        best[..count].iter().sum::<f32>() / count.max(1) as f32
    };
    windows.iter().map(mean_of_best).collect()
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
    /// Computes the scores of the second ranking, and sorts the hits by them if one is at least [`CONFIDENT`]. `hits` are
    /// in the order of the first ranking.
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
                vector_passage: (self.passages.get(&hit.ranked.chunk).copied())
                    .or(hit.ranked.explain.vector_unit)
                    .unwrap_or_default(),
            })
            .collect();
        let similarity = |words: &[&str], others: &[&str]| self.words.similarities(words, others);
        let query = &question.request.query;
        let features = with_scratch(|scratch| {
            let scratch = &mut scratch.second;
            compute_features(query, &self.terms, &candidates, &similarity, scratch)
        });
        let scores = built_in().scores(&features);
        for ((hit, _), (values, score)) in hits.iter_mut().zip(features.into_iter().zip(scores)) {
            hit.ranked.score = score;
            hit.second_features = Some(values);
        }
        if hits.iter().all(|(hit, _)| hit.ranked.score < CONFIDENT) {
            return hits;
        }
        hits.sort_by(|(one, _), (other, _)| other.ranked.score.total_cmp(&one.ranked.score));
        hits
    }
}
