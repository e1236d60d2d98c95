//! What score do the features of a chunk make together?
//!
//! A logistic model over features on an absolute scale: shares of the attainable BM25 for words, cosines for meaning.
//! Scores are summed, not ranks, since how much better a hit is than the next one says whether to trust it; and the
//! scale does not depend on what else was found, so that a score of one query can be held against one of another.

use std::cmp::Ordering;

use crate::chunk::Speaker;
use crate::corpus::Corpus;
use crate::retrieval::dates::DateRange;
use crate::retrieval::lexical::{LexicalHit, REACH};
use crate::retrieval::rank::{Features, Mode, RankInput, Ranked};
use crate::time::{Date, days_between};

/// Days from the dates of a question at which a date counts no more. Chosen with the weight of the date, leaving one
/// conversation out at a time: 7 days and 2.5 for most of them.
const NEAR_DAYS: f32 = 7.0;
/// Chunks by words that are looked at more closely.
const CANDIDATES: usize = 300;

/// Weights of the features. The logit is what their sum has above `middle`, divided by 2.5: a scale on which a hit
/// that shares no word with the question and has a cosine of 0.5 scores about 0.2, noise (a cosine of 0.1) below 0.1,
/// and a hit whose words and meaning both fit above 0.8. It orders nothing; it is for thresholds.
#[derive(Debug)]
struct Weights {
    unit: f32,
    window: f32,
    passage: f32,
    speaker: f32,
    user: f32,
    date: f32,
    cosine: f32,
    cosine_window: f32,
    middle: f32,
}

/// Words and meaning. Fitted with a softmax over the chunks of each question of conversations, leaving one conversation
/// out at a time; then chosen on a coarse grid over those and assistant logs together, where the figures are flat.
const HYBRID: Weights = Weights {
    unit: 6.5,
    window: 8.0,
    passage: 5.0,
    speaker: 2.5,
    user: 3.0,
    date: 2.5,
    cosine: 5.0,
    cosine_window: 2.0,
    middle: 7.0,
};
/// Words alone.
const LEXICAL: Weights = Weights {
    user: 0.5,
    cosine: 0.0,
    cosine_window: 0.0,
    middle: 6.0,
    ..HYBRID
};
/// Meaning alone.
const VECTOR: Weights = Weights {
    unit: 0.0,
    window: 0.0,
    passage: 0.0,
    speaker: 0.0,
    user: 1.0,
    date: 1.0,
    cosine: 12.0,
    cosine_window: 6.0,
    middle: 6.5,
};

impl Weights {
    /// The part of the sum that is known before the cosines.
    fn words(&self, features: &Features) -> f32 {
        self.unit * features.lexical_unit
            + self.window * features.lexical_window
            + self.passage * features.lexical_passage
            + self.speaker * features.speaker
            + self.user * features.user
            + self.date * features.date
    }

    /// The score in [0, 1].
    fn score(&self, features: &Features) -> f32 {
        let meaning = self.cosine * features.vector_unit.unwrap_or(0.0)
            + self.cosine_window * features.vector_window.unwrap_or(0.0);
        let logit = (self.words(features) + meaning - self.middle) / 2.5;
        1.0 / (1.0 + (-logit).exp())
    }
}

/// Scores the candidates of both kinds and orders them.
pub(crate) fn fuse(input: &RankInput<'_>, mut hits: Vec<LexicalHit>) -> Vec<Ranked> {
    let vectors = input.vectors.filter(|_| input.mode != Mode::Lexical);
    let weights = match (input.mode, vectors) {
        (Mode::Vector, _) => &VECTOR,
        (_, Some(_)) => &HYBRID,
        (_, None) => &LEXICAL,
    };
    let mut near: Vec<u32> = vectors
        .map(|vectors| vectors.hits.iter().map(|(chunk, _)| *chunk).collect())
        .unwrap_or_default();
    near.sort_unstable();
    hits.retain(|hit| (input.filter)(hit.chunk));
    let keep = CANDIDATES.max(input.limit);
    let mut candidates: Vec<Candidate> = hits
        .iter()
        .filter_map(|hit| {
            let features = features(input, hit)?;
            Some(Candidate {
                chunk: hit.chunk,
                words: weights.words(&features),
                features,
            })
        })
        .collect();
    if candidates.len() > keep {
        candidates.select_nth_unstable_by(keep, |a, b| {
            b.words
                .total_cmp(&a.words)
                .then_with(|| in_place(input.corpus, a.chunk, b.chunk))
        });
        let rest = candidates.split_off(keep);
        candidates.extend(
            rest.into_iter()
                .filter(|one| near.binary_search(&one.chunk).is_ok()),
        );
    }
    if vectors.is_some() {
        add_cosines(input, &mut candidates);
    }
    let mut ranked: Vec<Ranked> = candidates
        .iter()
        .map(|Candidate { chunk, features, .. }| Ranked {
            chunk: *chunk,
            score: weights.score(features),
            lexical: (input.mode != Mode::Vector).then(|| LEXICAL.score(features)),
            vector: features
                .vector_unit
                .filter(|_| vectors.is_some())
                .map(|_| VECTOR.score(features)),
            explain: *features,
        })
        .collect();
    ranked.sort_unstable_by(|a, b| {
        b.score
            .total_cmp(&a.score)
            .then_with(|| in_place(input.corpus, a.chunk, b.chunk))
    });
    ranked.truncate(input.limit);
    ranked
}

/// The order of equals: by path, then by place in the document. Ids would tell how the index came to be.
fn in_place(corpus: &Corpus, a: u32, b: u32) -> Ordering {
    let key = |chunk| {
        let place = corpus.place(chunk)?;
        Some((&corpus.document(place.document)?.path, place.ordinal))
    };
    key(a).cmp(&key(b))
}

struct Candidate {
    chunk: u32,
    words: f32,
    features: Features,
}

fn features(input: &RankInput<'_>, hit: &LexicalHit) -> Option<Features> {
    let place = input.corpus.place(hit.chunk)?;
    let date = input.corpus.date(place);
    let date = input
        .dates
        .as_ref()
        .zip(date)
        .map_or(0.0, |(range, date)| nearness(range, date));
    Some(Features {
        lexical_unit: hit.unit,
        lexical_window: hit.window,
        lexical_passage: hit.passage,
        vector_unit: None,
        vector_window: None,
        speaker: f32::from(u8::from(hit.speaker)),
        date,
        user: f32::from(u8::from(place.speaker == Speaker::User)),
    })
}

/// How near a day is to those that the question speaks of: 1 within them, falling to 0 at [`NEAR_DAYS`] from them. What
/// happened is often written down some days later.
fn nearness(range: &DateRange, date: Date) -> f32 {
    let gap = if date < range.start {
        days_between(date, range.start)
    } else if date > range.end {
        days_between(range.end, date)
    } else {
        0
    };
    #[expect(clippy::cast_precision_loss, reason = "days of a calendar")]
    let gap = gap as f32;
    (1.0 - gap / NEAR_DAYS).max(0.0)
}

/// Asks for the cosines of all candidates and their neighbours at once.
fn add_cosines(input: &RankInput<'_>, candidates: &mut [Candidate]) {
    let corpus = input.corpus;
    let mut wanted: Vec<u32> = Vec::with_capacity(candidates.len() * 4);
    for candidate in candidates.iter() {
        if let Some(place) = corpus.place(candidate.chunk) {
            wanted.extend_from_slice(corpus.window(place, REACH));
        }
    }
    wanted.sort_unstable();
    wanted.dedup();
    let cosines = (input.neighbour_scores)(&wanted);
    let cosine_of = |chunk: u32| -> Option<f32> {
        let at = wanted.binary_search(&chunk).ok()?;
        cosines.get(at).copied().filter(|cosine| cosine.is_finite())
    };
    // A chunk that has no vector yet is taken to be as far as the farthest of the nearest.
    let hits = input.vectors.map_or(&[][..], |vectors| &vectors.hits);
    let floor = hits
        .iter()
        .map(|(_, cosine)| *cosine)
        .fold(f32::INFINITY, f32::min);
    for candidate in candidates {
        let Some(place) = corpus.place(candidate.chunk) else {
            continue;
        };
        let around = corpus
            .window(place, REACH)
            .iter()
            .filter_map(|near| cosine_of(*near));
        let (sum, count) = around.fold((0.0, 0.0), |(sum, count), cosine| (sum + cosine, count + 1.0));
        let missing = floor.is_finite().then_some(floor);
        candidate.features.vector_unit = cosine_of(candidate.chunk).or(missing);
        candidate.features.vector_window = if count > 0.0 { Some(sum / count) } else { missing };
    }
}
