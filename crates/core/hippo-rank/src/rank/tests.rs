//! Tests of ranking on small and on arbitrary corpora.

use proptest::prelude::*;

use super::*;
use crate::corpus::{CorpusChunk, CorpusSection};
use hippo_text::chunk::{ContentHash, Speaker};
use hippo_text::terms;

/// A corpus for tests. Each document consists of passages, and each passage of lines. Ids are consecutive. The inverted
/// index is built as in the store.
struct World {
    corpus: Corpus,
    lines: Vec<(u32, String)>,
}

impl World {
    fn new(documents: &[&[&[&str]]]) -> Self {
        let mut world = Self {
            corpus: Corpus::new(),
            lines: Vec::new(),
        };
        for (number, document) in (0u32..).zip(documents) {
            let mut sections = vec![CorpusSection {
                parent: None,
                date: None,
            }];
            let mut chunks = Vec::new();
            for (passage, lines) in (1u32..).zip(*document) {
                sections.push(CorpusSection {
                    parent: Some(0),
                    date: None,
                });
                for line in *lines {
                    let id = u32::try_from(world.lines.len()).unwrap();
                    let terms = u32::try_from(terms::index_terms(line).len()).unwrap();
                    let speaker = match line.split(':').next() {
                        Some("User") => Speaker::User,
                        Some("Assistant") => Speaker::Assistant,
                        Some(name) if name.len() < line.len() => Speaker::Other,
                        _ => Speaker::None,
                    };
                    let hash = ContentHash::of(line.as_bytes());
                    chunks.push(CorpusChunk {
                        id,
                        section: passage,
                        terms,
                        speaker,
                        hash,
                    });
                    world.lines.push((id, (*line).to_owned()));
                }
            }
            world
                .corpus
                .set_document(number, &format!("memory/{number}.md"), None, &sections, &chunks);
        }
        world
    }

    fn postings(&self, query: &str) -> Vec<(QueryTerm, Vec<u32>)> {
        let mut analyzer = terms::Analyzer::new();
        let indexed: Vec<Vec<String>> = self
            .lines
            .iter()
            .map(|(_, line)| {
                let mut out = String::new();
                analyzer.index_terms(line, &mut out);
                out.split(' ').map(str::to_owned).collect()
            })
            .collect();
        let lookup = |term: &QueryTerm| -> Vec<u32> {
            let lines = self.lines.iter().zip(&indexed);
            lines
                .filter(|(_, terms)| terms.contains(&term.term))
                .map(|((id, _), _)| *id)
                .collect()
        };
        terms::query_terms(query)
            .into_iter()
            .map(|term| (term.clone(), lookup(&term)))
            .collect()
    }

    fn rank(
        &self,
        query: &str,
        mode: RankMode,
        cosines: Option<&[f32]>,
        filter: &dyn Fn(u32) -> bool,
    ) -> Vec<RankedChunk> {
        self.with_input(query, mode, cosines, filter, |input| {
            rank(input, &mut RankScratch::default())
        })
    }

    /// Calls a function with the input of a ranking.
    fn with_input<T>(
        &self,
        query: &str,
        mode: RankMode,
        cosines: Option<&[f32]>,
        filter: &dyn Fn(u32) -> bool,
        run: impl FnOnce(&RankInput<'_>) -> T,
    ) -> T {
        let found = self.postings(query);
        let postings: Vec<Postings<'_>> = found
            .iter()
            .map(|(term, chunks)| Postings { term, chunks })
            .collect();
        let vectors = cosines.map(|cosines| {
            let mut hits: Vec<(u32, f32)> = (0u32..)
                .zip(cosines.iter().copied())
                .filter(|hit| !hit.1.is_nan())
                .collect();
            hits.sort_by(|a, b| b.1.total_cmp(&a.1));
            hits.truncate(3);
            VectorHits { hits }
        });
        let scores = |chunks: &[u32]| -> Vec<f32> {
            chunks
                .iter()
                .map(|chunk| cosines.map_or(f32::NAN, |cosines| cosines[*chunk as usize]))
                .collect()
        };
        run(&RankInput {
            corpus: &self.corpus,
            mode,
            postings: &postings,
            vectors: vectors.as_ref(),
            neighbour_scores: &scores,
            filter,
            dates: None,
            limit: 100,
        })
    }

    fn first(&self, query: &str) -> &str {
        let ranked = self.rank(query, RankMode::Lexical, None, &|_| true);
        &self.lines[ranked[0].chunk as usize].1
    }
}

#[test]
fn context_and_speaker_decide_between_equal_lines() {
    let world = World::new(&[
        &[&[
            "The trip to Norway was long.",
            "We stayed two weeks.",
            "The fish was great.",
        ]],
        &[&[
            "My new oven came today.",
            "We stayed two weeks.",
            "Bread is next.",
        ]],
        &[&[
            "Ada: I went to the museum.",
            "Ben: I heard Ada went to the museum.",
        ]],
    ]);
    // The texts of both lines are equal, and only their neighbours differ.
    let ranked = world.rank(
        "How many weeks did we stay in Norway?",
        RankMode::Lexical,
        None,
        &|_| true,
    );
    let at = |chunk: u32| ranked.iter().position(|hit| hit.chunk == chunk).unwrap();
    assert!(at(1) < at(4), "{ranked:?}");
    assert_eq!(
        world.first("When did Ada go to the museum?"),
        "Ada: I went to the museum."
    );
    assert_eq!(
        world.first("When did Ben go to the museum?"),
        "Ben: I heard Ada went to the museum."
    );
}

#[test]
fn each_mode_ranks_by_words_vectors_or_both() {
    let world = World::new(&[&[&["red apples"], &["green pears"], &["blue plums"], &["a car"]]]);
    let cosines = [0.1, 0.2, 0.7, -0.1];
    let order = |mode, cosines| -> Vec<u32> {
        world
            .rank("apples", mode, cosines, &|_| true)
            .iter()
            .map(|hit| hit.chunk)
            .collect()
    };
    assert_eq!(order(RankMode::Lexical, Some(&cosines[..])), [0]);
    assert_eq!(order(RankMode::Vector, Some(&cosines[..])), [2, 1, 0]);
    assert_eq!(order(RankMode::Hybrid, Some(&cosines[..])), [0, 2, 1]);
    assert_eq!(
        order(RankMode::Hybrid, None),
        [0],
        "without a vector of the query, words answer"
    );
    let missing = [f32::NAN, 0.2, 0.7, -0.1];
    assert_eq!(
        order(RankMode::Hybrid, Some(&missing[..]))[0],
        0,
        "a chunk without a vector still counts by its words"
    );
}

#[test]
fn a_chunk_that_the_reader_may_no_longer_see_is_not_ranked() {
    let world = World::new(&[&[&["red apples", "green apples", "a car"]]]);
    let found = world.postings("apples");
    let postings: Vec<Postings<'_>> = found
        .iter()
        .map(|(term, chunks)| Postings { term, chunks })
        .collect();
    let mut scratch = RankScratch::default();
    let before = RankInput {
        corpus: &world.corpus,
        mode: RankMode::Hybrid,
        postings: &postings,
        vectors: Some(&VectorHits::default()),
        neighbour_scores: &|chunks| vec![0.5; chunks.len()],
        filter: &|_| true,
        dates: None,
        limit: 100,
    };
    let found = find_by_words(&before, &mut scratch);
    let after = RankInput {
        filter: &|chunk| chunk != 1,
        ..before
    };
    let ranked = rank_found(&after, found, &mut scratch);
    assert_eq!(ranked.iter().map(|hit| hit.chunk).collect::<Vec<_>>(), [0, 2]);
}

#[test]
fn chunks_near_the_date_of_the_question_rank_higher() {
    let mut world = World::new(&[&[&["lunch with Eve"]], &[&["lunch with Eve"]]]);
    let day = |day| hippo_types::time::Date::constant(2026, 5, day);
    world.corpus.set_date(0, Some(day(1)));
    world.corpus.set_date(1, Some(day(8)));
    let found = world.postings("lunch");
    let postings: Vec<Postings<'_>> = found
        .iter()
        .map(|(term, chunks)| Postings { term, chunks })
        .collect();
    let input = RankInput {
        corpus: &world.corpus,
        mode: RankMode::Lexical,
        postings: &postings,
        vectors: None,
        neighbour_scores: &|chunks| vec![f32::NAN; chunks.len()],
        filter: &|_| true,
        dates: Some(DateRange {
            start: day(7),
            end: day(9),
            explicit: true,
        }),
        limit: 1,
    };
    let ranked = rank(&input, &mut RankScratch::default());
    assert_eq!(ranked.iter().map(|hit| hit.chunk).collect::<Vec<_>>(), [1]);
    // A nearby day counts partly, and a distant day does not count.
    let date = |range: (i8, i8)| {
        let dates = Some(DateRange {
            start: day(range.0),
            end: day(range.1),
            explicit: true,
        });
        let ranked = rank(&RankInput { dates, ..input }, &mut RankScratch::default());
        ranked[0].explain.date
    };
    assert!((0.4..0.6).contains(&date((12, 14))), "{}", date((12, 14)));
    assert!(date((25, 26)).abs() < f32::EPSILON);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn results_are_ordered_scored_filtered_and_deterministic(
        lines in prop::collection::vec("(User: |Ada: )?([a-d]x ){1,4}", 1..40),
        query in "([a-d]x ){1,3}",
        cosines in prop::collection::vec(-1.0f32..1.0, 40),
        banned in 0u32..40,
    ) {
        let passages: Vec<Vec<&str>> = lines.chunks(7).map(|lines| lines.iter().map(String::as_str).collect()).collect();
        let document: Vec<&[&str]> = passages.iter().map(Vec::as_slice).collect();
        let world = World::new(&[&document]);
        for mode in [RankMode::Hybrid, RankMode::Lexical, RankMode::Vector] {
            let filter = |chunk: u32| chunk != banned;
            let ranked = world.rank(&query, mode, Some(&cosines[..]), &filter);
            prop_assert!(ranked.iter().all(|hit| hit.chunk != banned && (0.0..=1.0).contains(&hit.score)));
            prop_assert!(ranked.is_sorted_by(|a, b| a.score >= b.score));
            let mut ids: Vec<u32> = ranked.iter().map(|hit| hit.chunk).collect();
            ids.sort_unstable();
            prop_assert!(ids.is_sorted_by(|a, b| a < b), "no chunk twice");
            for hit in &ranked {
                let features = [hit.explain.lexical_unit, hit.explain.lexical_window, hit.explain.lexical_passage];
                prop_assert!(features.iter().all(|share| (0.0..=1.0).contains(share)), "{:?}", hit);
            }
            prop_assert_eq!(&ranked, &world.rank(&query, mode, Some(&cosines[..]), &filter));
            let in_two_steps = world.with_input(&query, mode, Some(&cosines[..]), &filter, |input| {
                let later = VectorHits::default();
                let mut scratch = RankScratch::default();
                let found = find_by_words(&RankInput { vectors: Some(&later), ..*input }, &mut scratch);
                rank_found(&RankInput { postings: &[], ..*input }, found, &mut scratch)
            });
            prop_assert_eq!(&ranked, &in_two_steps);
            if mode != RankMode::Vector {
                let found = world.postings(&query);
                let with_word = found.iter().filter(|(term, _)| !term.term.starts_with('@')).flat_map(|(_, ids)| ids);
                for chunk in with_word.filter(|chunk| **chunk != banned) {
                    prop_assert!(ids.binary_search(chunk).is_ok(), "{chunk} has a word of the query");
                }
            }
        }
    }

    #[test]
    fn reused_buffers_do_not_change_the_ranking(
        lines in prop::collection::vec("(User: |Ada: )?([a-d]x ){1,4}", 1..30),
        first in "([a-d]x ){1,3}",
        second in "([a-d]x ){1,3}",
    ) {
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let world = World::new(&[&[&lines]]);
        let mut scratch = RankScratch::default();
        let run = |query: &str, scratch: &mut RankScratch| {
            let found = world.postings(query);
            let postings: Vec<Postings<'_>> =
                found.iter().map(|(term, chunks)| Postings { term, chunks }).collect();
            let input = RankInput {
                corpus: &world.corpus,
                mode: RankMode::Lexical,
                postings: &postings,
                vectors: None,
                neighbour_scores: &|chunks| vec![f32::NAN; chunks.len()],
                filter: &|_| true,
                dates: None,
                limit: 100,
            };
            rank(&input, scratch)
        };
        run(&first, &mut scratch);
        prop_assert_eq!(run(&second, &mut scratch), run(&second, &mut RankScratch::default()));
    }
}
