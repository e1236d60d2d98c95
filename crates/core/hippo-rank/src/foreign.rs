//! Scores of passages that are not in the corpus, such as those of a team.
//!
//! A foreign passage has no neighbours, so it counts as a document of its own.

use std::collections::HashSet;

use hippo_text::chunk::Speaker;
use hippo_text::speaker::is_speaker_term;
use hippo_text::terms::QueryTerm;
use hippo_types::time::Date;

use crate::dates::DateRange;
use crate::fuse;
use crate::idf;
use crate::lexical::{B_PASSAGE, B_UNIT, attainable, saturated};
use crate::rank::{Features, RankMode, RankedChunk};

/// A passage that is not in the corpus.
#[derive(Debug, Clone)]
pub struct ForeignPassage {
    /// Distinct index terms of the passage.
    pub terms: HashSet<String>,
    /// Number of index terms.
    pub length: u32,
    /// Cosine of the passage with the query, if known.
    pub cosine: Option<f32>,
    /// Date of the passage.
    pub date: Option<Date>,
    /// Speaker of the passage.
    pub speaker: Speaker,
}

/// A query for foreign passages.
#[derive(Debug, Clone)]
pub struct ForeignQuery<'a> {
    /// Terms of the query, each with the number of foreign passages that contain it.
    pub terms: &'a [(QueryTerm, u64)],
    /// Number of foreign passages.
    pub total: u64,
    /// Evidence to use.
    pub mode: RankMode,
    /// Dates mentioned in the query.
    pub dates: Option<DateRange>,
}

/// Scores passages with the weights of [`crate::rank::rank`], in the order of the argument. The id of each chunk is its
/// position.
#[must_use]
pub fn score(query: &ForeignQuery<'_>, passages: &[ForeignPassage]) -> Vec<RankedChunk> {
    let length: f32 = passages.iter().map(|passage| passage.length as f32).sum();
    let mean = (length / passages.len().max(1) as f32).max(1.0);
    let telling = query.terms.iter().any(|(term, _)| !term.stop);
    let weighed: Vec<(&QueryTerm, f32)> = (query.terms.iter())
        .filter(|(term, _)| !(telling && term.stop || is_speaker_term(&term.term)))
        .map(|(term, with)| (term, idf(query.total, *with)))
        .collect();
    let attainable: f32 = weighed.iter().map(|(_, weight)| attainable(*weight)).sum();
    let share = if attainable > 0.0 { attainable.recip() } else { 0.0 };
    let cosines = || passages.iter().filter_map(|passage| passage.cosine);
    let uses_vectors = query.mode != RankMode::Lexical && cosines().next().is_some();
    // A passage without a vector gets the lowest cosine, as in the corpus.
    let least = cosines().fold(f32::INFINITY, f32::min);
    let ranked = passages.iter().zip(0..).map(|(passage, chunk)| {
        let matched = weighed.iter().filter(|(term, _)| has_term(passage, term));
        let sum: f32 = matched.map(|(_, weight)| weight).sum::<f32>() * share;
        let relative = passage.length as f32 / mean;
        let is_named = |(term, _): &(QueryTerm, u64)| is_speaker_term(&term.term) && has_term(passage, term);
        let cosine = uses_vectors.then(|| passage.cosine.unwrap_or(least));
        let features = Features {
            lexical_unit: sum * saturated(1.0, B_UNIT, relative),
            lexical_window: sum * saturated(1.0, 0.0, 1.0),
            lexical_passage: match passage.speaker {
                Speaker::Assistant => 0.0,
                _ => sum * saturated(1.0, B_PASSAGE, 1.0),
            },
            vector_unit: cosine,
            vector_window: cosine,
            speaker: f32::from(u8::from(
                passage.speaker == Speaker::Other && query.terms.iter().any(is_named),
            )),
            date: 0.0,
            user: f32::from(u8::from(passage.speaker == Speaker::User)),
        };
        fuse::score_one(features, chunk, query.mode, query.dates.zip(passage.date))
    });
    ranked.collect()
}

fn has_term(passage: &ForeignPassage, term: &QueryTerm) -> bool {
    passage.terms.contains(&term.term)
        || term.prefix && passage.terms.iter().any(|other| other.starts_with(&term.term))
}

#[cfg(test)]
mod tests {
    use hippo_text::terms::{index_terms, query_terms};

    use super::*;

    fn passage(text: &str, cosine: Option<f32>) -> ForeignPassage {
        let terms = index_terms(text);
        ForeignPassage {
            length: u32::try_from(terms.len()).unwrap(),
            terms: terms.into_iter().collect(),
            cosine,
            date: None,
            speaker: Speaker::None,
        }
    }

    fn scores(query: &str, mode: RankMode, passages: &[ForeignPassage]) -> Vec<f32> {
        let terms: Vec<_> = query_terms(query).into_iter().map(|term| (term, 3)).collect();
        let query = ForeignQuery {
            terms: &terms,
            total: 1000,
            mode,
            dates: None,
        };
        score(&query, passages)
            .iter()
            .map(|ranked| ranked.score)
            .collect()
    }

    #[test]
    fn words_and_meaning_decide_as_in_the_corpus() {
        let passages = [
            passage("the pump of hall 3 is blue", Some(0.7)),
            passage("the pump of hall 3 is blue", Some(0.1)),
            passage("lunch is at noon", Some(0.1)),
        ];
        let hybrid = scores("which colour has the pump of hall 3", RankMode::Hybrid, &passages);
        assert!(
            hybrid[0] > 0.8 && hybrid[0] > hybrid[1] && hybrid[1] > hybrid[2],
            "{hybrid:?}"
        );
        assert!(hybrid[2] < 0.15, "{hybrid:?}");
        let vector = scores("unrelated", RankMode::Vector, &passages);
        assert!(vector[0] > vector[1] && vector[1] == vector[2], "{vector:?}");
    }

    #[test]
    fn a_passage_without_a_vector_can_be_found_by_its_words() {
        let passages = [
            passage("the relay password is in the safe", None),
            passage("noise", Some(0.2)),
        ];
        let found = scores("relay password", RankMode::Hybrid, &passages);
        assert!(found[0] > 0.5 && found[1] < 0.2, "{found:?}");
        assert!(scores("relay", RankMode::Lexical, &passages[..1])[0] > 0.5);
    }
}
