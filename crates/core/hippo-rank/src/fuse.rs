//! Combination of features into a score.
//!
//! The score is a logistic model over features with absolute scales: cosines, and BM25 scores as shares of the
//! largest score that the query allows. The model combines scores rather than ranks, because the distance between two
//! hits carries information. The scale does not depend on the other results, so scores of different queries are
//! comparable.

use std::cmp::Ordering;

use foldhash::HashSet;

use crate::corpus::Corpus;
use crate::dates::DateRange;
use crate::lexical::{REACH, RankScratch};
use crate::rank::{Features, RankInput, RankMode, RankedChunk, VectorHits};
use hippo_text::chunk::Speaker;
use hippo_types::time::{Date, days_between};

/// Distance in days at which the proximity of two dates falls to 0. It was chosen together with the weight of `date`,
/// in runs that left out one conversation each. Most runs chose 7 days and a weight of 2.5.
const NEAR_DAYS: f32 = 7.0;
/// Number of chunks with the best lexical features that get a full score. Chunks found by their vectors also get one.
const CANDIDATES: usize = 300;

/// Weights of the features.
///
/// The score is the logistic function of (weighted sum of the features − `middle`) / 2.5. The divisor does not change
/// the order of the results. It adjusts the scale for thresholds: noise (a cosine of 0.1) scores below 0.1, a hit
/// without common words and with a cosine of 0.5 scores about 0.2, and a hit that matches in words and meaning scores
/// above 0.8.
#[derive(Debug)]
struct FeatureWeights {
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

/// Weights for words and vectors. A fit of a softmax over the chunks of each question, with one conversation left out
/// at a time, gave the approximate values. The final values are from a coarse grid over conversations and assistant
/// logs, in a region where small changes have little effect. The weight of `cosine` was chosen again for the default
/// model with its adapter: from 7 to 10, the results hardly differ.
const HYBRID: FeatureWeights = FeatureWeights {
    unit: 6.5,
    window: 8.0,
    passage: 5.0,
    speaker: 2.5,
    user: 3.0,
    date: 2.5,
    cosine: 8.0,
    cosine_window: 2.0,
    middle: 8.2,
};
/// Weights for words only.
const LEXICAL: FeatureWeights = FeatureWeights {
    user: 0.5,
    cosine: 0.0,
    cosine_window: 0.0,
    middle: 6.0,
    ..HYBRID
};
/// Weights for vectors only.
const VECTOR: FeatureWeights = FeatureWeights {
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

impl FeatureWeights {
    fn for_mode(mode: RankMode, has_vectors: bool) -> &'static Self {
        match (mode, has_vectors) {
            (RankMode::Vector, _) => &VECTOR,
            (_, true) => &HYBRID,
            (_, false) => &LEXICAL,
        }
    }

    fn rank(&self, chunk: u32, features: Features, mode: RankMode, has_vectors: bool) -> RankedChunk {
        let vector = features.vector_unit.filter(|_| has_vectors);
        RankedChunk {
            chunk,
            score: self.score(&features),
            lexical: (mode != RankMode::Vector).then(|| LEXICAL.score(&features)),
            vector: vector.map(|_| VECTOR.score(&features)),
            copies: 0,
            explain: features,
        }
    }

    /// Returns the part of the weighted sum that does not depend on cosines.
    fn words(&self, features: &Features) -> f32 {
        self.unit * features.lexical_unit
            + self.window * features.lexical_window
            + self.passage * features.lexical_passage
            + self.speaker * features.speaker
            + self.user * features.user
            + self.date * features.date
    }

    /// Returns the score in [0, 1].
    fn score(&self, features: &Features) -> f32 {
        let meaning = self.cosine * features.vector_unit.unwrap_or(0.0)
            + self.cosine_window * features.vector_window.unwrap_or(0.0);
        let logit = (self.words(features) + meaning - self.middle) / 2.5;
        1.0 / (1.0 + (-logit).exp())
    }
}

impl RankInput<'_> {
    /// Returns the vector hits if the mode uses them.
    fn used_vectors(&self) -> Option<&VectorHits> {
        self.vectors.filter(|_| self.mode != RankMode::Lexical)
    }

    fn weights(&self) -> &'static FeatureWeights {
        FeatureWeights::for_mode(self.mode, self.used_vectors().is_some())
    }
}

/// Returns the chunks with the best lexical features, in no particular order.
pub(crate) fn best_by_words(input: &RankInput<'_>, scratch: &mut RankScratch) -> Vec<Candidate> {
    let keep = CANDIDATES.max(input.limit);
    // The features of all found chunks would need much memory, so they are computed again for the best.
    let mut weighted = std::mem::take(&mut scratch.weighted);
    let found = scratch.found().iter().filter(|chunk| (input.filter)(**chunk));
    weighted.extend(found.filter_map(|chunk| Some((Candidate::new(input, scratch, *chunk)?.words, *chunk))));
    if weighted.len() > keep {
        weighted.select_nth_unstable_by(keep, |(words, chunk), (others, other)| {
            others
                .total_cmp(words)
                .then_with(|| in_place(input.corpus, *chunk, *other))
        });
        weighted.truncate(keep);
    }
    let chunks = weighted.drain(..).map(|(_, chunk)| chunk);
    let best = chunks
        .filter_map(|chunk| Candidate::new(input, scratch, chunk))
        .collect();
    scratch.weighted = weighted;
    best
}

/// Scores and sorts the candidates found by words, together with those found by vectors.
pub(crate) fn fuse(
    input: &RankInput<'_>,
    mut candidates: Vec<Candidate>,
    scratch: &RankScratch,
) -> Vec<RankedChunk> {
    let weights = input.weights();
    if let Some(vectors) = input.used_vectors() {
        let known: HashSet<u32> = candidates.iter().map(|one| one.chunk).collect();
        let near = vectors.hits.iter().map(|(chunk, _)| *chunk);
        let near = near.filter(|chunk| !known.contains(chunk));
        candidates.extend(near.filter_map(|chunk| Candidate::new(input, scratch, chunk)));
        add_cosines(input, &mut candidates);
    }
    let has_vectors = input.used_vectors().is_some();
    let mut ranked: Vec<RankedChunk> = (candidates.iter())
        .filter(|one| (input.filter)(one.chunk))
        .map(|one| weights.rank(one.chunk, one.features, input.mode, has_vectors))
        .collect();
    ranked.sort_unstable_by(|a, b| {
        b.score
            .total_cmp(&a.score)
            .then_with(|| in_place(input.corpus, a.chunk, b.chunk))
    });
    ranked.truncate(input.limit);
    ranked
}

/// Scores one chunk by its features, and by its date if the query has dates.
pub(crate) fn score_one(
    features: Features,
    chunk: u32,
    mode: RankMode,
    dates: Option<(DateRange, Date)>,
) -> RankedChunk {
    let features = Features {
        date: dates.map_or(0.0, |(range, date)| nearness(&range, date)),
        ..features
    };
    let has_vectors = features.vector_unit.is_some();
    FeatureWeights::for_mode(mode, has_vectors).rank(chunk, features, mode, has_vectors)
}

/// Compares two chunks with equal scores by path and position. An order by id would depend on the history of the index.
fn in_place(corpus: &Corpus, a: u32, b: u32) -> Ordering {
    let key = |chunk| {
        let place = corpus.place(chunk)?;
        Some((&corpus.document(place.document)?.path, place.ordinal))
    };
    key(a).cmp(&key(b))
}

/// A chunk with its features for the query.
#[derive(Debug)]
pub(crate) struct Candidate {
    chunk: u32,
    /// The part of the weighted sum that does not depend on cosines.
    words: f32,
    features: Features,
}

impl Candidate {
    /// Computes the features of a chunk from the sums in `scratch`. Returns `None` if the corpus has no such chunk.
    fn new(input: &RankInput<'_>, scratch: &RankScratch, chunk: u32) -> Option<Self> {
        let place = input.corpus.place(chunk)?;
        let dates = input.dates.as_ref().zip(input.corpus.date(place));
        let features = Features {
            date: dates.map_or(0.0, |(range, date)| nearness(range, date)),
            user: f32::from(u8::from(place.speaker == Speaker::User)),
            ..scratch.features(input.corpus, chunk, place)
        };
        Some(Self {
            chunk,
            words: input.weights().words(&features),
            features,
        })
    }
}

/// Returns the proximity of a date to a range: 1 within the range, falling to 0 at a distance of [`NEAR_DAYS`].
/// Events are often written down some days later, so a nearby date still counts.
fn nearness(range: &DateRange, date: Date) -> f32 {
    let gap = days_between(date, range.start)
        .max(days_between(range.end, date))
        .max(0);
    #[expect(clippy::cast_precision_loss, reason = "calendar days are far below 2^24")]
    let gap = gap as f32;
    (1.0 - gap / NEAR_DAYS).max(0.0)
}

/// Computes the cosines of all candidates and of their neighbours in a single call.
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
    // A chunk without a vector gets the lowest cosine of the vector hits.
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
