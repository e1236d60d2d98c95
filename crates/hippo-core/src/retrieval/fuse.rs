//! What score do the features of a chunk make together.

use std::collections::HashMap;

use crate::corpus::Corpus;
use crate::retrieval::lexical::{LexicalHit, REACH};
use crate::retrieval::rank::{Features, Mode, RankInput, Ranked};

/// Chunks by words that are looked at more closely.
const CANDIDATES: usize = 300;

/// Scores the candidates of both kinds and orders them.
pub(crate) fn fuse(input: &RankInput<'_>, mut words: Vec<LexicalHit>) -> Vec<Ranked> {
    words.retain(|hit| (input.filter)(hit.chunk));
    let keep = CANDIDATES.max(input.limit);
    if words.len() > keep {
        words.select_nth_unstable_by(keep, |a, b| lexical_sum(b).total_cmp(&lexical_sum(a)));
    }
    let mut candidates: HashMap<u32, Features> = HashMap::new();
    for hit in &words[..words.len().min(keep)] {
        let features = candidates.entry(hit.chunk).or_default();
        features.lexical_unit = hit.unit;
        features.lexical_window = hit.window;
        features.lexical_section = hit.section;
    }
    if let (Some(vectors), true) = (input.vectors, input.mode != Mode::Lexical) {
        let mut by_chunk: HashMap<u32, LexicalHit> = HashMap::new();
        if words.len() > keep {
            by_chunk.extend(words[keep..].iter().map(|hit| (hit.chunk, *hit)));
        }
        for (chunk, _) in &vectors.hits {
            if !(input.filter)(*chunk) || input.corpus.place(*chunk).is_none() {
                continue;
            }
            candidates
                .entry(*chunk)
                .or_insert_with(|| match by_chunk.get(chunk) {
                    Some(hit) => Features {
                        lexical_unit: hit.unit,
                        lexical_window: hit.window,
                        lexical_section: hit.section,
                        ..Features::default()
                    },
                    None => Features::default(),
                });
        }
        add_cosines(input.corpus, input.neighbour_scores, &mut candidates);
    }
    let mut ranked: Vec<Ranked> = candidates
        .into_iter()
        .map(|(chunk, features)| score(input.mode, chunk, features))
        .collect();
    ranked.sort_unstable_by(|a, b| b.score.total_cmp(&a.score).then(a.chunk.cmp(&b.chunk)));
    ranked.truncate(input.limit);
    ranked
}

fn lexical_sum(hit: &LexicalHit) -> f32 {
    hit.unit + hit.window + hit.section
}

/// Asks for the cosines of all candidates and their neighbours at once.
fn add_cosines(
    corpus: &Corpus,
    neighbour_scores: &dyn Fn(&[u32]) -> Vec<f32>,
    candidates: &mut HashMap<u32, Features>,
) {
    let mut wanted: Vec<u32> = Vec::with_capacity(candidates.len() * 3);
    for chunk in candidates.keys() {
        if let Some(place) = corpus.place(*chunk) {
            wanted.extend_from_slice(corpus.window(place, REACH));
        }
    }
    wanted.sort_unstable();
    wanted.dedup();
    let cosines = neighbour_scores(&wanted);
    let cosine_of = |chunk: u32| -> Option<f32> {
        let at = wanted.binary_search(&chunk).ok()?;
        cosines.get(at).copied().filter(|cosine| cosine.is_finite())
    };
    for (chunk, features) in candidates.iter_mut() {
        let Some(place) = corpus.place(*chunk) else {
            continue;
        };
        features.vector_unit = cosine_of(*chunk);
        let near = corpus
            .window(place, REACH)
            .iter()
            .filter_map(|near| cosine_of(*near));
        let (sum, count) = near.fold((0.0, 0.0), |(sum, count), cosine| (sum + cosine, count + 1.0));
        features.vector_window = (count > 0.0).then(|| sum / count);
    }
}

fn score(mode: Mode, chunk: u32, explain: Features) -> Ranked {
    let lexical = (mode != Mode::Vector).then(|| {
        ((explain.lexical_unit + explain.lexical_window + explain.lexical_section) / 3.0).clamp(0.0, 1.0)
    });
    let vector = explain
        .vector_unit
        .map(|unit| (f32::midpoint(unit, explain.vector_window.unwrap_or(unit))).clamp(0.0, 1.0));
    let score = match (lexical, vector) {
        (Some(lexical), Some(vector)) => f32::midpoint(lexical, vector),
        (Some(lexical), None) => lexical / 2.0,
        (None, vector) => vector.unwrap_or(0.0),
    };
    Ranked {
        chunk,
        score,
        lexical,
        vector,
        explain,
    }
}
