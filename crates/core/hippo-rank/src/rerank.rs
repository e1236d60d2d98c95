//! Second ranking: order of the best candidates by a learned model.
//!
//! The first ranking weighs a few features of all chunks. The second ranking computes further features of its best
//! [`CANDIDATES`] chunks from their texts and from the other candidates. Boosted decision trees, which `lab/train`
//! creates, convert these features to the probability that a candidate is relevant.

mod question;
mod text;
mod trees;

use std::panic::resume_unwind;
use std::sync::LazyLock;
use std::thread;

use hippo_text::chunk::Speaker;
use hippo_text::terms::{Analyzer, QueryTerm};

use crate::corpus::{ChunkPlace, SectionPlace};
use crate::rank::RankedChunk;
use question::Question;
use text::{CandidateReader, TextFacts};
pub use trees::BoostedTrees;

/// Name of the model with which the trees were trained. The cosines of other models have other ranges.
pub const MODEL: &str = "minilm-l6-dialogue-int8";
/// Maximum number of candidates of the second ranking.
pub const CANDIDATES: usize = 100;
/// Minimum number of candidates whose texts are read on two threads. For fewer, a thread costs more time than it saves.
const TWO_THREADS: usize = 32;
/// Distance in chunks at which candidates of one passage are neighbours.
const REACH: u32 = 2;

/// A function that compares words by meaning. It receives the words of the question and those of the texts, and returns
/// one cosine per pair: all pairs of the first word of the question come first.
pub type WordSimilarity<'a> = &'a (dyn Fn(&[&str], &[&str]) -> Vec<f32> + Sync);

/// A candidate of the second ranking.
#[derive(Debug, Clone)]
pub struct RerankCandidate<'a> {
    /// The chunk with the score and the features of the first ranking.
    pub ranked: RankedChunk,
    /// Position of the chunk.
    pub place: ChunkPlace,
    /// The chunk's passage.
    pub passage: SectionPlace,
    /// Text of the chunk.
    pub text: &'a str,
    /// Path and headings.
    pub heading: String,
    /// Mean of the three largest cosines with the query in the candidate's passage.
    pub vector_passage: f32,
}

macro_rules! features {
    ($($name:ident,)*) => {
        /// Names of the features, in the order of [`FeatureValues`].
        pub const FEATURES: [&str; [$(stringify!($name)),*].len()] = [$(stringify!($name)),*];

        /// Values of the features of one candidate, by name.
        #[derive(Debug, Clone, Copy, Default)]
        struct NamedFeatures { $($name: f32,)* }

        impl NamedFeatures {
            fn array(self) -> FeatureValues { [$(self.$name),*] }
        }
    };
}

/// Values of one candidate's features, in the order of [`FEATURES`].
pub type FeatureValues = [f32; FEATURES.len()];

features! {
    // Features and score of the first ranking.
    lexical_unit, lexical_window, lexical_passage, vector_unit, vector_window, speaker, date, user, first,
    // Ranks (logarithms), and differences from the best candidate.
    rank, lead, lexical_lead, vector_lead, lexical_rank, vector_rank,
    // Candidates around: scores of the neighbours, shares of the file and of the passage in all scores.
    neighbour, previous, next, vector_around, after_question, file_share, passage_share, passage_best, passage_rank,
    position, passage_length,
    // Words of the question: shares by weight in the text, in its headings, in both, and in the neighbours.
    coverage, coverage_heading, coverage_both, coverage_around, rarest, bigrams, close, names, numbers,
    // The text.
    length, has_number, has_time, capitals, is_question, first_person, assistant,
    // The question.
    asks_when, asks_who, asks_place, asks_count, asks_why, asks_own, query_length,
    // Meaning of single words and of the passage.
    similar, similar_least, similar_around, vector_passage,
}

/// Returns the trees of this version.
///
/// # Panics
/// Panics if the file with the trees is invalid, which a test rules out.
#[must_use]
pub fn built_in() -> &'static BoostedTrees {
    static TREES: LazyLock<BoostedTrees> = LazyLock::new(|| {
        let text = include_str!("../../../../models/ranker.txt");
        BoostedTrees::parse(text, &FEATURES).expect("models/ranker.txt is valid")
    });
    &TREES
}

/// Stems of words, which queries reuse. There is one analyzer for each half of the candidates.
#[derive(Default)]
pub struct RerankScratch {
    analyzers: [Analyzer; 2],
}

/// Computes the features of the candidates, which are in the order of the first ranking. `terms` are the terms of the
/// query with their inverse document frequencies.
#[must_use]
pub fn compute_features(
    query: &str,
    terms: &[(QueryTerm, f32)],
    candidates: &[RerankCandidate<'_>],
    similarity: WordSimilarity<'_>,
    scratch: &mut RerankScratch,
) -> Vec<FeatureValues> {
    let question = Question::new(query, terms);
    let read = read_all(&question, candidates, similarity, scratch);
    let (facts, similar): (Vec<_>, Vec<_>) = read.into_iter().unzip();
    let all = CandidateSet::new(&question, candidates, facts);
    (0..candidates.len())
        .map(|at| {
            let around = all.neighbours(at).map(|(other, _)| similar[other].mean);
            NamedFeatures {
                similar: similar[at].mean,
                similar_least: similar[at].least,
                similar_around: around.fold(similar[at].mean, f32::max),
                ..all.values(at)
            }
            .array()
        })
        .collect()
}

/// Reads the texts of the candidates, on two threads if there are many.
fn read_all(
    question: &Question,
    candidates: &[RerankCandidate<'_>],
    similarity: WordSimilarity<'_>,
    scratch: &mut RerankScratch,
) -> Vec<(TextFacts, TextSimilarity)> {
    let [analyzer, other] = &mut scratch.analyzers;
    if candidates.len() < TWO_THREADS {
        return read(question, candidates, similarity, analyzer);
    }
    let (first, second) = candidates.split_at(candidates.len() / 2);
    thread::scope(|scope| {
        let reading =
            thread::Builder::new().spawn_scoped(scope, move || read(question, second, similarity, other));
        let mut all = read(question, first, similarity, analyzer);
        all.extend(match reading {
            Ok(reading) => reading.join().unwrap_or_else(|panic| resume_unwind(panic)),
            // The system has no thread left.
            Err(_) => read(question, second, similarity, analyzer),
        });
        all
    })
}

/// Reads the texts of the candidates.
fn read(
    question: &Question,
    candidates: &[RerankCandidate<'_>],
    similarity: WordSimilarity<'_>,
    analyzer: &mut Analyzer,
) -> Vec<(TextFacts, TextSimilarity)> {
    let mut reader = CandidateReader::new(analyzer);
    let facts: Vec<TextFacts> = (candidates.iter())
        .map(|candidate| reader.read(question, candidate.text, &candidate.heading))
        .collect();
    let similar = compare(question, &reader.words.words(), &facts, similarity);
    facts.into_iter().zip(similar).collect()
}

/// Returns the similarity of each text to the words of the question. `words` are the words of the texts.
fn compare(
    question: &Question,
    words: &[&str],
    facts: &[TextFacts],
    similarity: WordSimilarity<'_>,
) -> Vec<TextSimilarity> {
    let asked: Vec<&str> = question.words.iter().map(|(word, _)| word.as_str()).collect();
    let cosines = similarity(&asked, words);
    let total: f32 = question.words.iter().map(|(_, weight)| weight).sum();
    if total <= 0.0 || words.is_empty() || cosines.len() != asked.len() * words.len() {
        return vec![TextSimilarity::default(); facts.len()];
    }
    let of_text = |facts: &TextFacts| {
        let rows = question.words.iter().zip(cosines.chunks_exact(words.len()));
        let mut all = TextSimilarity {
            mean: 0.0,
            least: 1.0,
        };
        for ((_, weight), row) in rows {
            let there = facts.words.iter().map(|word| row[*word as usize]);
            let best = there.fold(0.0, f32::max);
            all.mean += weight * best / total;
            all.least = all.least.min(best);
        }
        all
    };
    facts.iter().map(of_text).collect()
}

/// Similarity of a text to the words of the question. For each word of the question, the most similar word of the text
/// counts.
#[derive(Debug, Clone, Copy, Default)]
struct TextSimilarity {
    /// Mean cosine by weight.
    mean: f32,
    /// Smallest cosine.
    least: f32,
}

/// The candidates of one question.
struct CandidateSet<'a> {
    question: &'a Question,
    candidates: &'a [RerankCandidate<'a>],
    facts: Vec<TextFacts>,
    lexical_rank: Vec<usize>,
    vector_rank: Vec<usize>,
    /// Positions of the candidates in the order of the files.
    by_place: Vec<usize>,
    /// Position of each candidate in `by_place`.
    placed: Vec<usize>,
}

impl<'a> CandidateSet<'a> {
    fn new(question: &'a Question, candidates: &'a [RerankCandidate<'a>], facts: Vec<TextFacts>) -> Self {
        let lexical =
            |one: &RerankCandidate<'_>| one.ranked.explain.lexical_unit + one.ranked.explain.lexical_window;
        let mut by_place: Vec<usize> = (0..candidates.len()).collect();
        by_place.sort_by_key(|at| (candidates[*at].place.document, candidates[*at].place.ordinal));
        Self {
            lexical_rank: ranks(candidates, lexical),
            vector_rank: ranks(candidates, cosine),
            placed: invert(&by_place),
            by_place,
            question,
            candidates,
            facts,
        }
    }

    /// Returns the candidates of the same passage within [`REACH`], with their distances.
    fn neighbours(&self, at: usize) -> impl Iterator<Item = (usize, i64)> + '_ {
        let own = &self.candidates[at];
        let place = self.placed[at];
        let reach = REACH as usize;
        let near = place.saturating_sub(reach)..(place + reach + 1).min(self.by_place.len());
        near.filter_map(move |near| {
            let other = self.by_place[near];
            let candidate = &self.candidates[other];
            let distance = i64::from(candidate.place.ordinal) - i64::from(own.place.ordinal);
            let is_near =
                same_passage(own, candidate) && distance != 0 && distance.unsigned_abs() <= u64::from(REACH);
            is_near.then_some((other, distance))
        })
    }

    fn values(&self, at: usize) -> NamedFeatures {
        let (candidate, facts, question) = (&self.candidates[at], &self.facts[at], self.question);
        let first = &candidate.ranked.explain;
        let score = candidate.ranked.score;
        let best = |value: fn(&RerankCandidate<'_>) -> f32| {
            self.candidates.iter().map(value).fold(f32::MIN, f32::max)
        };
        let sum_of = |is_with: &dyn Fn(&RerankCandidate<'_>) -> bool| -> f32 {
            let with = self.candidates.iter().filter(|other| is_with(other));
            with.map(|other| other.ranked.score).sum()
        };
        let all = sum_of(&|_| true).max(f32::MIN_POSITIVE);
        let near: Vec<(usize, i64)> = self.neighbours(at).collect();
        let score_at = |distance: i64| {
            let found = near.iter().find(|(_, other)| *other == distance);
            found.map_or(0.0, |(other, _)| self.candidates[*other].ranked.score)
        };
        let joined = |one: &[bool], other: &[bool]| -> Vec<bool> {
            one.iter().zip(other).map(|(one, other)| *one || *other).collect()
        };
        let around = near.iter().fold(facts.covered.clone(), |covered, (other, _)| {
            joined(&covered, &self.facts[*other].covered)
        });
        let weights = question.terms.iter().map(|(_, weight)| *weight);
        let rarest = (weights.enumerate()).max_by(|one, other| one.1.total_cmp(&other.1));
        let in_passage = |other: &&RerankCandidate<'_>| same_passage(candidate, other);
        let before = near.iter().find(|(_, distance)| *distance == -1);
        let cosines = near.iter().map(|(other, _)| cosine(&self.candidates[*other]));
        NamedFeatures {
            lexical_unit: first.lexical_unit,
            lexical_window: first.lexical_window,
            lexical_passage: first.lexical_passage,
            vector_unit: cosine(candidate),
            vector_window: first.vector_window.unwrap_or(0.0),
            speaker: first.speaker,
            date: first.date,
            user: first.user,
            first: score,
            rank: logarithm(at),
            lead: score - best(|other| other.ranked.score),
            lexical_lead: first.lexical_window - best(|other| other.ranked.explain.lexical_window),
            vector_lead: cosine(candidate) - best(cosine),
            lexical_rank: logarithm(self.lexical_rank[at]),
            vector_rank: logarithm(self.vector_rank[at]),
            neighbour: near
                .iter()
                .map(|(other, _)| self.candidates[*other].ranked.score)
                .fold(0.0, f32::max),
            previous: score_at(-1),
            next: score_at(1),
            vector_around: cosines.fold(cosine(candidate), f32::max),
            after_question: flag(before.is_some_and(|(other, _)| self.facts[*other].is_question)),
            file_share: sum_of(&|other| other.place.document == candidate.place.document) / all,
            passage_share: sum_of(&|other| same_passage(candidate, other)) / all,
            passage_best: (self.candidates.iter().find(in_passage)).map_or(0.0, |other| other.ranked.score),
            passage_rank: logarithm(self.candidates[..at].iter().filter(in_passage).count()),
            position: logarithm(candidate.place.ordinal.saturating_sub(candidate.passage.first) as usize),
            passage_length: logarithm(candidate.passage.end.saturating_sub(candidate.passage.first) as usize),
            coverage: question.share(&facts.covered),
            coverage_heading: question.share(&facts.headed),
            coverage_both: question.share(&joined(&facts.covered, &facts.headed)),
            coverage_around: question.share(&around),
            rarest: flag(rarest.is_some_and(|(term, _)| facts.covered[term])),
            bigrams: facts.bigrams,
            close: facts.close,
            names: facts.names,
            numbers: facts.numbers,
            length: logarithm(facts.length),
            has_number: flag(facts.has_number),
            has_time: flag(facts.has_time),
            capitals: logarithm(facts.capitals),
            is_question: flag(facts.is_question),
            first_person: flag(facts.first_person),
            assistant: flag(candidate.place.speaker == Speaker::Assistant),
            asks_when: flag(question.asks.when),
            asks_who: flag(question.asks.who),
            asks_place: flag(question.asks.place),
            asks_count: flag(question.asks.count),
            asks_why: flag(question.asks.why),
            asks_own: flag(question.asks.own),
            query_length: logarithm(question.terms.len()),
            vector_passage: candidate.vector_passage,
            ..NamedFeatures::default()
        }
    }
}

fn cosine(candidate: &RerankCandidate<'_>) -> f32 {
    candidate.ranked.explain.vector_unit.unwrap_or(0.0)
}

fn same_passage(one: &RerankCandidate<'_>, other: &RerankCandidate<'_>) -> bool {
    one.place.document == other.place.document && one.passage.first == other.passage.first
}

fn flag(is: bool) -> f32 {
    f32::from(u8::from(is))
}

/// Returns the natural logarithm of 1 + `count`.
fn logarithm(count: usize) -> f32 {
    (count as f32).ln_1p()
}

/// Returns the rank of each candidate by a value, from 0.
fn ranks(candidates: &[RerankCandidate<'_>], value: impl Fn(&RerankCandidate<'_>) -> f32) -> Vec<usize> {
    let mut order: Vec<usize> = (0..candidates.len()).collect();
    order.sort_by(|one, other| value(&candidates[*other]).total_cmp(&value(&candidates[*one])));
    invert(&order)
}

fn invert(order: &[usize]) -> Vec<usize> {
    let mut places = vec![0; order.len()];
    for (place, at) in order.iter().enumerate() {
        places[*at] = place;
    }
    places
}

#[cfg(test)]
mod tests;
