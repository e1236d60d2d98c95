//! Tests of repeated texts in a ranked list.

use proptest::prelude::*;

use super::*;
use crate::corpus::CorpusChunk;
use crate::rank::Features;
use hippo_text::chunk::{ContentHash, Speaker};

/// Creates one chunk for each path and text. The chunks are ranked in this order.
fn world(chunks: &[(&str, &str)]) -> (Corpus, Vec<RankedChunk>) {
    let mut corpus = Corpus::new();
    for (id, (path, text)) in (0u32..).zip(chunks) {
        let hash = ContentHash::of(text.as_bytes());
        let chunk = CorpusChunk {
            id,
            section: 0,
            terms: 1,
            speaker: Speaker::None,
            hash,
        };
        corpus.set_document(id, path, None, &[], &[chunk]);
    }
    let ranked = (0u32..).zip(chunks).map(|(chunk, _)| RankedChunk {
        chunk,
        score: 1.0 / (chunk as f32 + 1.0),
        lexical: None,
        vector: None,
        copies: 0,
        explain: Features::default(),
    });
    let ranked = ranked.collect();
    (corpus, ranked)
}

fn kept(chunks: &[(&str, &str)], limit: usize) -> Vec<u32> {
    let (corpus, ranked) = world(chunks);
    collapse(&ranked, &corpus, limit)
        .iter()
        .map(|hit| hit.chunk)
        .collect()
}

#[test]
fn the_best_of_equal_texts_is_kept() {
    assert_eq!(
        kept(&[("a.md", "x"), ("b.md", "y"), ("c.md", "x"), ("d.md", "z")], 3),
        [0, 1, 3]
    );
}

#[test]
fn copies_are_counted_without_nodes() {
    let node = "memory/daily/2026-05-01.md";
    let paths = [node, "a.md", "b.md", node, "c.md", "d.md"];
    let chunks = paths.map(|path| (path, if path == "d.md" { "other" } else { "same" }));
    let (corpus, ranked) = world(&chunks);
    let kept = collapse(&ranked, &corpus, 10);
    let copies: Vec<_> = kept.iter().map(|hit| (hit.chunk, hit.copies)).collect();
    assert_eq!(copies, [(1, 2), (5, 0)]);
}

#[test]
fn a_nearly_identical_text_is_not_new() {
    let mut said = AnswerTexts::default();
    let text = "the backup of the gauge archive runs at two in the night on every odd day of the week";
    assert!(said.is_new(text));
    assert!(
        !said.is_new(&format!("- The **backup** {}!", &text[11..])),
        "marks and letter case do not count"
    );
    assert!(said.is_new("the restore of the camera archive failed at noon on every even day of the month"));
    assert!(said.is_new("yes, on Monday") && said.is_new("yes, on Tuesday") && said.is_new("yes, on Monday"));
}

#[test]
fn a_source_replaces_its_copy_in_a_node() {
    let chunks = [
        ("memory/daily/2026-05-01.md", "same"),
        ("memory/2026-05-01.md", "other"),
        ("memory/2026-05-01.md", "same"),
    ];
    assert_eq!(kept(&chunks, 10), [2, 1], "the source takes the node's place");
}

proptest! {
    #[test]
    fn collapsing_selects_ranked_chunks_in_order_and_is_idempotent(
        chunks in prop::collection::vec((0usize..6, 0u8..9), 0..20),
        limit in 0usize..12,
    ) {
        let paths = [
            "memory/2026-05-01.md", "memory/daily/2026-05-01.md", "memory/weekly/2026-W18.md",
            "memory/monthly/2026-05.md", "memory/ROOT.md", "notes.md",
        ];
        let texts: Vec<String> = chunks.iter().map(|(_, text)| text.to_string()).collect();
        let chunks: Vec<(&str, &str)> =
            chunks.iter().zip(&texts).map(|((path, _), text)| (paths[*path], text.as_str())).collect();
        let (corpus, ranked) = world(&chunks);
        let answer = collapse(&ranked, &corpus, limit);
        prop_assert!(answer.len() <= limit);
        prop_assert!(answer.is_sorted_by(|a, b| a.score >= b.score));
        let mut once: Vec<u32> = answer.iter().map(|one| one.chunk).collect();
        once.sort_unstable();
        once.dedup();
        prop_assert_eq!(once.len(), answer.len());
        prop_assert!(once.iter().all(|chunk| ranked.iter().any(|one| one.chunk == *chunk)));
        prop_assert_eq!(collapse(&answer, &corpus, limit), answer.clone());
        if limit > 0 && !ranked.is_empty() {
            prop_assert!(!answer.is_empty());
        }
    }
}
