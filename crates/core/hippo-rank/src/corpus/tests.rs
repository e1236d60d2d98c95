//! Tests that the corpus follows changes of its documents.

use proptest::prelude::*;

use super::*;

fn chunk(id: u32, section: u32, terms: u32, speaker: Speaker) -> CorpusChunk {
    CorpusChunk {
        id,
        section,
        terms,
        speaker,
        hash: ContentHash::of(&id.to_le_bytes()),
    }
}

/// Returns sections at three levels, `# day` › `## session` › `### step`, followed by a second session.
fn sections() -> [CorpusSection; 5] {
    let day = Some(Date::constant(2026, 5, 1));
    let section = |parent, date| CorpusSection { parent, date };
    [
        section(None, None),
        section(None, day),
        section(Some(1), None),
        section(Some(2), None),
        section(Some(1), None),
    ]
}

#[test]
fn windows_stay_in_their_passage_and_cross_its_subsections() {
    let mut corpus = Corpus::new();
    let numbers = [(10, 1), (11, 2), (12, 2), (13, 3), (14, 4), (15, 4)];
    let chunks = numbers.map(|(id, section)| chunk(id, section, 3, Speaker::None));
    corpus.set_document(7, "memory/2026-05-01.md", None, &sections(), &chunks);
    let window = |id: u32, reach| corpus.window(corpus.place(id).unwrap(), reach).to_vec();
    assert_eq!(window(12, 1), [11, 12, 13], "a subsection belongs to its session");
    assert_eq!(window(13, 9), [11, 12, 13]);
    assert_eq!(window(14, 1), [14, 15]);
    assert_eq!(window(10, 5), [10]);
    let place = corpus.place(13).unwrap();
    assert_eq!((place.section, place.ordinal, place.document), (3, 3, 7));
    assert_eq!(
        corpus.date(place),
        Some(Date::constant(2026, 5, 1)),
        "the date above holds below"
    );
    assert_eq!(corpus.passage(place).map(|passage| passage.terms), Some(9));
    assert!((corpus.mean_passage_terms() - 6.0).abs() < 1e-6);
}

#[test]
fn terms_of_an_assistant_do_not_count_for_the_passage() {
    let mut corpus = Corpus::new();
    let chunks = [
        chunk(0, 2, 5, Speaker::User),
        chunk(1, 2, 100, Speaker::Assistant),
    ];
    corpus.set_document(0, "memory/a.md", None, &sections(), &chunks);
    assert_eq!(
        corpus
            .passage(corpus.place(1).unwrap())
            .map(|passage| passage.terms),
        Some(5)
    );
    assert!((corpus.mean_terms() - 52.5).abs() < 1e-6);
}

#[test]
fn invalid_section_references_are_tolerated() {
    let mut corpus = Corpus::new();
    let odd = [
        CorpusSection {
            parent: Some(0),
            date: None,
        },
        CorpusSection {
            parent: Some(9),
            date: None,
        },
    ];
    corpus.set_document(
        0,
        "a.md",
        None,
        &odd,
        &[chunk(0, 5, 1, Speaker::None), chunk(1, 0, 1, Speaker::None)],
    );
    corpus.set_document(1, "b.md", None, &[], &[chunk(2, 0, 1, Speaker::None)]);
    assert_eq!(corpus.len(), 3);
    assert_eq!(corpus.window(corpus.place(2).unwrap(), 2), [2]);
    assert!(!corpus.remove_document(4));
}

#[test]
fn a_chunk_place_has_at_most_20_bytes() {
    assert!(size_of::<Option<ChunkPlace>>() <= 20);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn any_history_equals_a_fresh_corpus_of_the_remaining_documents(
        changes in prop::collection::vec((0u32..6, prop::option::of(prop::collection::vec((0u32..6, 0u32..50), 0..8))), 1..40),
    ) {
        let mut corpus = Corpus::new();
        let mut living: std::collections::BTreeMap<u32, Vec<CorpusChunk>> = std::collections::BTreeMap::new();
        let mut next = 0;
        for (document, change) in changes {
            living.remove(&document);
            if let Some(lines) = change {
                let chunks: Vec<CorpusChunk> = lines
                    .into_iter()
                    .map(|(section, terms)| {
                        next += 1;
                        chunk(next, section, terms, if terms % 3 == 0 { Speaker::Assistant } else { Speaker::User })
                    })
                    .collect();
                corpus.set_document(document, "x.md", None, &sections(), &chunks);
                living.insert(document, chunks);
            } else {
                corpus.remove_document(document);
            }
        }
        let mut fresh = Corpus::new();
        for (document, chunks) in &living {
            fresh.set_document(*document, "x.md", None, &sections(), chunks);
        }
        prop_assert_eq!(corpus.len(), fresh.len());
        prop_assert_eq!(corpus.mean_terms(), fresh.mean_terms());
        prop_assert_eq!(corpus.mean_passage_terms(), fresh.mean_passage_terms());
        for id in 0..=next {
            prop_assert_eq!(corpus.place(id), fresh.place(id));
            if let Some(place) = corpus.place(id) {
                prop_assert!(corpus.window(place, 2).contains(&id));
                prop_assert_eq!(corpus.window(place, 2), fresh.window(fresh.place(id).unwrap(), 2));
            }
        }
        prop_assert!(corpus.documents().map(|(id, _)| id).eq(living.keys().copied()));
    }
}
