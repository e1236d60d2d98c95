//! Time of the second ranking.

use divan::{Bencher, black_box};
use hippo_rank::corpus::{ChunkPlace, SectionPlace};
use hippo_rank::rank::{Features, RankedChunk};
use hippo_rank::rerank::{CANDIDATES, FEATURES, RerankCandidate, RerankScratch, built_in, compute_features};
use hippo_text::chunk::Speaker;
use hippo_text::terms;

const QUERY: &str = "When did Nora mention the pottery workshop in Porto last summer?";

fn main() {
    divan::main();
}

/// Returns texts of about 1,000 bytes with words that repeat, as in notes.
fn texts() -> Vec<String> {
    let words: Vec<&str> = include_str!("../../../../docs/benchmarks.md")
        .split_whitespace()
        .collect();
    (0..CANDIDATES)
        .map(|at| {
            let words = words.iter().cycle().skip(at * 37).step_by(3).take(160);
            words.copied().collect::<Vec<_>>().join(" ")
        })
        .collect()
}

fn candidate((at, text): (u32, &String)) -> RerankCandidate<'_> {
    RerankCandidate {
        ranked: RankedChunk {
            chunk: at,
            score: 1.0 / (at + 1) as f32,
            lexical: Some(0.5),
            vector: Some(0.5),
            copies: 0,
            explain: Features::default(),
        },
        place: ChunkPlace {
            document: at / 4,
            ordinal: at % 4,
            section: 0,
            mark: at,
            terms: 150,
            speaker: Speaker::None,
        },
        passage: SectionPlace {
            end: 4,
            ..SectionPlace::default()
        },
        text,
        heading: "memory/2026-03-02.md 2026-03-02 Pottery".to_owned(),
        vector_passage: 0.4,
    }
}

fn candidates(texts: &[String]) -> Vec<RerankCandidate<'_>> {
    (0..).zip(texts).map(candidate).collect()
}

#[divan::bench]
fn features_of_100_texts(bencher: Bencher<'_, '_>) {
    let texts = texts();
    let candidates = candidates(&texts);
    let terms: Vec<_> = terms::query_terms(QUERY)
        .into_iter()
        .map(|term| (term, 3.0))
        .collect();
    let mut scratch = RerankScratch::default();
    let similarity = |words: &[&str], others: &[&str]| vec![0.1; words.len() * others.len()];
    bencher.bench_local(|| {
        compute_features(QUERY, &terms, black_box(&candidates), &similarity, &mut scratch).len()
    });
}

#[divan::bench]
fn trees_of_100_candidates(bencher: Bencher<'_, '_>) {
    let mut state = 7u32;
    let mut value = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 24) as f32
    };
    let features: Vec<[f32; FEATURES.len()]> = (0..CANDIDATES)
        .map(|_| std::array::from_fn(|_| value()))
        .collect();
    bencher.bench_local(|| built_in().scores(black_box(&features)).len());
}
