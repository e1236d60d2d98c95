//! Benchmarks of ranking in a large workspace.

use divan::{Bencher, counter::ItemsCount};
use hippo_rank::corpus::{Corpus, CorpusChunk, CorpusSection};
use hippo_rank::rank::{Postings, RankInput, RankMode, RankScratch, VectorHits, rank};
use hippo_text::chunk::{ContentHash, Speaker};
use hippo_text::terms::QueryTerm;

const CHUNKS: u32 = 120_000;
const DOCUMENTS: u32 = 100;
/// Number of chunks in a session.
const SESSION: u32 = 60;

fn main() {
    divan::main();
}

fn corpus() -> Corpus {
    let mut corpus = Corpus::new();
    let per_document = CHUNKS / DOCUMENTS;
    for document in 0..DOCUMENTS {
        let mut sections = vec![CorpusSection {
            parent: None,
            date: None,
        }];
        sections.extend((0..per_document / SESSION).map(|_| CorpusSection {
            parent: Some(0),
            date: None,
        }));
        let chunks: Vec<CorpusChunk> = (0..per_document)
            .map(|ordinal| CorpusChunk {
                id: document * per_document + ordinal,
                section: 1 + ordinal / SESSION,
                terms: 10 + ordinal % 40,
                speaker: if ordinal % 8 == 0 {
                    Speaker::User
                } else {
                    Speaker::Assistant
                },
                hash: ContentHash::of(&(document * per_document + ordinal).to_le_bytes()),
            })
            .collect();
        corpus.set_document(
            document,
            &format!("memory/{document}.md"),
            None,
            &sections,
            &chunks,
        );
    }
    corpus
}

/// Returns `count` ids that look random and are the same in each run (a linear congruential generator).
fn ids(seed: u32, count: usize) -> Vec<u32> {
    let mut state = seed;
    let mut ids: Vec<u32> = (0..count)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) % CHUNKS
        })
        .collect();
    ids.sort_unstable();
    ids.dedup();
    ids
}

#[divan::bench(args = [RankMode::Lexical, RankMode::Hybrid])]
fn twelve_terms_of_2000_chunks(bencher: Bencher<'_, '_>, mode: RankMode) {
    let corpus = corpus();
    let terms: Vec<QueryTerm> = (0..12)
        .map(|number| QueryTerm {
            term: format!("t{number}"),
            stop: false,
            prefix: false,
        })
        .collect();
    let lists: Vec<Vec<u32>> = (0..12).map(|seed| ids(seed, 2_000)).collect();
    let postings: Vec<Postings<'_>> = terms
        .iter()
        .zip(&lists)
        .map(|(term, chunks)| Postings { term, chunks })
        .collect();
    let vectors = VectorHits {
        hits: ids(99, 300).into_iter().map(|chunk| (chunk, 0.3)).collect(),
    };
    let mut scratch = RankScratch::default();
    bencher.counter(ItemsCount::new(24_000usize)).bench_local(|| {
        let input = RankInput {
            corpus: &corpus,
            mode,
            postings: &postings,
            vectors: Some(&vectors),
            neighbour_scores: &|chunks| chunks.iter().map(|chunk| (chunk % 100) as f32 / 200.0).collect(),
            filter: &|_| true,
            dates: None,
            limit: 60,
        };
        rank(&input, &mut scratch).len()
    });
}
