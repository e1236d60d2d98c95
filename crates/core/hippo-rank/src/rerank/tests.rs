//! Tests of the features of the second ranking.

use hippo_text::terms;

use super::*;
use crate::rank::Features;

/// Returns the weighted terms of a query, without stop words.
fn weighted(query: &str) -> Vec<(QueryTerm, f32)> {
    let terms = terms::query_terms(query).into_iter().filter(|term| !term.stop);
    terms.map(|term| (term, 2.0)).collect()
}

/// Returns a candidate of a document with one passage of 10 chunks.
fn candidate(text: &str, document: u32, ordinal: u32, score: f32) -> RerankCandidate<'_> {
    RerankCandidate {
        ranked: RankedChunk {
            chunk: document.wrapping_mul(10).wrapping_add(ordinal),
            score,
            lexical: None,
            vector: None,
            copies: 0,
            explain: Features {
                lexical_window: score,
                vector_unit: Some(score),
                ..Features::default()
            },
        },
        place: ChunkPlace {
            document,
            ordinal,
            section: 0,
            mark: 0,
            terms: 5,
            speaker: Speaker::Other,
        },
        passage: SectionPlace {
            end: 10,
            ..SectionPlace::default()
        },
        text,
        heading: "memory/2026-03-02.md Garden".to_owned(),
        vector_passage: 0.0,
    }
}

/// Words are similar if they begin with the same letter.
fn by_letter(words: &[&str], others: &[&str]) -> Vec<f32> {
    let pairs = words
        .iter()
        .flat_map(|word| others.iter().map(move |other| (word, other)));
    pairs
        .map(|(word, other)| {
            if word.chars().next() == other.chars().next() {
                0.8
            } else {
                0.1
            }
        })
        .collect()
}

fn value(values: &FeatureValues, name: &str) -> f32 {
    values[FEATURES.iter().position(|known| *known == name).unwrap()]
}

#[test]
fn the_trees_of_this_version_are_valid() {
    let mut strong = [1.0; FEATURES.len()];
    strong[FEATURES.iter().position(|name| *name == "rank").unwrap()] = 0.0;
    let scores = built_in().scores(&[[0.0; FEATURES.len()], strong]);
    assert!(scores[0] < scores[1], "{scores:?}");
}

#[test]
fn features_describe_the_text_and_the_candidates_around_it() {
    let query = "When did Ada buy 12 tulip bulbs for the garden?";
    let candidates = [
        candidate("- **Ben:** The bulbs were cheap, Ada.", 1, 4, 0.9),
        candidate("- **Ada:** Yesterday I bought 12 tulip bulbs.", 1, 3, 0.6),
        candidate("Tomatoes need water.", 2, 3, 0.3),
        candidate("- **Ben:** Why?", 1, 7, 0.2),
    ];
    let values = compute_features(
        query,
        &weighted(query),
        &candidates,
        &by_letter,
        &mut RerankScratch::default(),
    );
    let of = |name: &str| -> Vec<f32> { values.iter().map(|values| value(values, name)).collect() };

    assert_eq!(of("first"), [0.9, 0.6, 0.3, 0.2]);
    assert_eq!(of("previous"), [0.6, 0.0, 0.0, 0.0]);
    assert_eq!(of("next"), [0.0, 0.9, 0.0, 0.0]);
    assert_eq!(of("neighbour"), [0.6, 0.9, 0.0, 0.0]);
    assert_eq!(of("passage_best"), [0.9, 0.9, 0.3, 0.9]);
    assert_eq!(of("passage_rank"), [0, 1, 0, 2].map(logarithm));
    assert_eq!(of("first_person"), [0.0, 1.0, 0.0, 0.0]);
    assert!((of("file_share")[1] - 1.7 / 2.0).abs() < 1e-6);
    assert_eq!(of("has_time"), [0.0, 1.0, 0.0, 0.0]);
    assert_eq!(of("numbers"), [0.0, 1.0, 0.0, 0.0]);
    assert_eq!(of("names"), [1.0, 1.0, 0.0, 0.0]);
    assert_eq!(of("is_question"), [0.0, 0.0, 0.0, 1.0]);
    assert_eq!(of("asks_when"), [1.0; 4]);
    let (own, heading, both) = (of("coverage"), of("coverage_heading"), of("coverage_both"));
    assert!(own[1] > own[0] && own[0] > own[2] && own[2] == 0.0);
    assert!(heading[2] > 0.0 && both[1] > own[1] && both[2] == heading[2]);
    assert!(of("bigrams")[1] > 0.0 && of("bigrams")[0] == 0.0);
    assert!(of("similar")[1] > of("similar")[3]);
    assert_eq!(of("similar_around")[0], of("similar")[1]);
}

#[test]
fn every_feature_is_finite() {
    let texts = ["", "\u{0}", "- **Ada:**", "漢字", &"x ".repeat(10_000)];
    for query in ["", "the", "?", "漢字 2026", "Ada"] {
        let candidates: Vec<RerankCandidate<'_>> = (0..)
            .zip(texts)
            .map(|(at, text)| candidate(text, at, u32::MAX, 0.0))
            .collect();
        for similarity in [&by_letter as WordSimilarity<'_>, &|_, _| Vec::new()] {
            let values = compute_features(
                query,
                &weighted(query),
                &candidates,
                similarity,
                &mut RerankScratch::default(),
            );
            assert_eq!(values.len(), texts.len());
            assert!(values.iter().flatten().all(|value| value.is_finite()), "{query}");
            let scores = built_in().scores(&values);
            assert!(scores.iter().all(|score| (0.0..=1.0).contains(score)));
        }
    }
    assert!(compute_features("Ada", &[], &[], &by_letter, &mut RerankScratch::default()).is_empty());
}

#[test]
fn many_texts_are_read_on_two_threads_with_the_same_result() {
    let texts: Vec<String> = (0..TWO_THREADS)
        .map(|at| {
            format!(
                "Ada: Yesterday I planted {at} tulip bulbs behind shed {}.",
                at % 3
            )
        })
        .collect();
    let candidates: Vec<RerankCandidate<'_>> = (0..)
        .zip(&texts)
        .map(|(at, text)| candidate(text, at, 0, 0.5))
        .collect();
    let query = "When did Ada plant 12 tulip bulbs?";
    let question = Question::new(query, &weighted(query));
    let facts = |read: Vec<(TextFacts, TextSimilarity)>| -> Vec<String> {
        read.into_iter()
            .map(|(mut facts, similar)| {
                // The halves number their words on their own.
                facts.words.clear();
                format!("{facts:?} {similar:?}")
            })
            .collect()
    };
    let alone = read(&question, &candidates, &by_letter, &mut Analyzer::new());
    let both = read_all(&question, &candidates, &by_letter, &mut RerankScratch::default());
    assert_eq!(facts(both), facts(alone));
}
