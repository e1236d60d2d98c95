//! Does a node give way to what it was made from, and nothing else?

use proptest::prelude::*;

use super::*;
use crate::chunk::{ContentHash, Speaker};
use crate::corpus::CorpusChunk;
use crate::retrieval::rank::Features;

/// One chunk for each path and text, ranked in this order.
fn world(chunks: &[(&str, &str)]) -> (Corpus, Vec<Ranked>) {
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
    let ranked = (0u32..).zip(chunks).map(|(chunk, _)| Ranked {
        chunk,
        score: 1.0 / (chunk as f32 + 1.0),
        lexical: None,
        vector: None,
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
fn the_best_of_equal_texts_stays() {
    assert_eq!(
        kept(&[("a.md", "x"), ("b.md", "y"), ("c.md", "x"), ("d.md", "z")], 3),
        [0, 1, 3]
    );
}

#[test]
fn nodes_give_way_to_their_sources() {
    let log = ("memory/2026-05-01.md", "log");
    let table: [(&str, bool); 9] = [
        ("memory/daily/2026-05-01.md", true),
        ("memory/daily/2026-05-02.md", false),
        ("memory/weekly/2026-W18.md", true),
        ("memory/weekly/2026-W19.md", false),
        // The week of Thursday 30 April belongs to April.
        ("memory/monthly/2026-04.md", true),
        ("memory/monthly/2026-05.md", false),
        ("memory/ROOT.md", true),
        ("knowledge/2026-05-01.md", false),
        ("MEMORY.md", false),
    ];
    for (node, repeats) in table {
        let expected: &[u32] = if repeats { &[1] } else { &[0, 1] };
        assert_eq!(kept(&[(node, "node"), log], 10), expected, "{node}");
    }
    let chain = [
        ("memory/ROOT.md", "r"),
        ("memory/monthly/2026-04.md", "m"),
        ("memory/weekly/2026-W18.md", "w"),
    ];
    assert_eq!(kept(&chain, 10), [2], "the most detailed level that was found");
}

#[test]
fn a_node_repeats_what_is_there() {
    let repeats = |paths: &[&str]| -> Vec<u32> {
        let documents = (0u32..).zip(paths).map(|(id, path)| (id, *path, false));
        let mut found: Vec<u32> = repeating(documents).into_iter().collect();
        found.sort_unstable();
        found
    };
    let all = [
        "memory/2026-05-01.md",
        "memory/daily/2026-05-01.md",
        "memory/daily/2026-05-02.md",
        "memory/weekly/2026-W18.md",
        "memory/weekly/2026-W19.md",
        "memory/monthly/2026-04.md",
        "memory/monthly/2026-05.md",
        "memory/ROOT.md",
        "MEMORY.md",
    ];
    assert_eq!(repeats(&all), [1, 3, 5, 6, 7]);
    // Logs that are gone are told of by their days, and these by what is above them.
    assert_eq!(repeats(&all[1..]), [2, 4, 5, 6], "by position without the log");
    assert_eq!(repeats(&all[3..5]), Vec::<u32>::new());
    assert_eq!(repeats(&["MEMORY.md", "memory/ROOT.md"]), Vec::<u32>::new());
}

#[test]
fn what_somebody_wrote_repeats_nothing_and_is_repeated() {
    let paths = [
        "memory/2026-05-01.md",
        "memory/weekly/2026-W18.md",
        "memory/monthly/2026-04.md",
    ];
    let of = |own: u32| {
        let documents = (0u32..).zip(paths);
        let mut found: Vec<u32> = repeating(documents.map(|(id, path)| (id, path, id == own)))
            .into_iter()
            .collect();
        found.sort_unstable();
        found
    };
    assert_eq!((of(9), of(1), of(2)), (vec![1, 2], vec![2], vec![1]));

    let chunks = [(paths[2], "month"), (paths[1], "week"), (paths[0], "log")];
    let (mut corpus, ranked) = world(&chunks);
    corpus.set_own_words(1, true);
    let kept: Vec<u32> = collapse(&ranked, &corpus, 10)
        .iter()
        .map(|hit| hit.chunk)
        .collect();
    assert_eq!(kept, [1, 2]);
    // The month repeats the week, whoever wrote that.
    let kept: Vec<u32> = collapse(&ranked[..2], &corpus, 10)
        .iter()
        .map(|hit| hit.chunk)
        .collect();
    assert_eq!(kept, [1]);
}

#[test]
fn a_source_that_is_not_in_the_answer_takes_nothing_out() {
    let chunks = [
        ("memory/daily/2026-05-01.md", "a"),
        ("b.md", "b"),
        ("memory/2026-05-01.md", "c"),
    ];
    assert_eq!(kept(&chunks, 2), [0, 1]);
    assert_eq!(kept(&chunks, 3), [1, 2]);
}

#[test]
fn what_was_said_nearly_so_before_is_not_new() {
    let mut said = Said::default();
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
fn a_copy_in_a_node_does_not_oust_its_source() {
    let chunks = [
        ("memory/daily/2026-05-01.md", "same"),
        ("memory/2026-05-01.md", "other"),
        ("memory/2026-05-01.md", "same"),
    ];
    assert_eq!(kept(&chunks, 10), [2, 1], "the source takes the node's place");
}

proptest! {
    #[test]
    fn answers_are_parts_of_the_list_with_falling_scores_and_settled(
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
