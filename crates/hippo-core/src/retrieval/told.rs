//! Where in a ranked list do the passages stand that the compaction tree tells of?
//!
//! A node keeps the lines of a day that say most, and a question may meet such a line among few others more easily than its
//! source among all. The passages that nodes lead to are a second list beside that of the search: a passage stands where the
//! better of the two places puts it. Ranks are held against each other and not scores: a line of a node has other neighbours,
//! and so another score, than the line that it was taken from.

use std::collections::HashSet;

use crate::corpus::Corpus;
use crate::retrieval::rank::{Features, Ranked};

/// A chunk that a line of a node was taken from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Told {
    /// Its id.
    pub chunk: u32,
    /// How well the line of the node answers, in [0, 1].
    pub score: f32,
}

/// The ranked chunks, with those in between that nodes tell of (`told`, best first): the passage that is the n-th of `told`
/// stands as if search had it at the place n / `weight`, behind what search has there; one that search has further up stays
/// where it is. No chunk is in the list twice, no score rises along it, and without `told` or weight it is `ranked`.
///
/// `weight` is in [0, 1]: 0.5 gives nodes at most one passage for each two of the search.
#[must_use]
pub fn tell(ranked: Vec<Ranked>, told: &[Told], weight: f32, corpus: &Corpus) -> Vec<Ranked> {
    if told.is_empty() || weight.is_nan() || weight <= 0.0 {
        return ranked;
    }
    let passage = |chunk: u32| {
        let place = corpus.place(chunk)?;
        let section = corpus
            .document(place.document)?
            .sections()
            .get(place.section as usize)?;
        Some((place.document, section.passage))
    };
    // The first chunk of each passage, with the place among those of search from which on it may stand.
    let mut named = HashSet::new();
    let mut waiting: Vec<(f32, Told, (u32, u32))> = Vec::new();
    for one in told {
        if let Some(key) = passage(one.chunk).filter(|key| named.insert(*key)) {
            waiting.push((named.len() as f32 / weight, *one, key));
        }
    }
    let mut waiting = waiting.into_iter().peekable();
    let (mut seen, mut taken) = (HashSet::new(), HashSet::new());
    let mut rank = 0_u32;
    let mut out: Vec<Ranked> = Vec::with_capacity(ranked.len() + told.len());
    let known = |chunk: u32| ranked.iter().find(|hit| hit.chunk == chunk).copied();
    let lifted = |one: &Told, out: &[Ranked]| {
        let hit = known(one.chunk).unwrap_or(Ranked {
            chunk: one.chunk,
            score: one.score,
            lexical: None,
            vector: None,
            explain: Features::default(),
        });
        Ranked {
            // The order is that of the list.
            score: out
                .last()
                .map_or(one.score, |before| before.score.min(hit.score.max(one.score))),
            explain: Features {
                tree: Some(one.score),
                ..hit.explain
            },
            ..hit
        }
    };
    for hit in &ranked {
        if let Some(key) = passage(hit.chunk).filter(|key| !seen.contains(key)) {
            while let Some((_, one, other)) = waiting.next_if(|(place, _, _)| *place < (rank + 1) as f32) {
                if seen.insert(other) && taken.insert(one.chunk) {
                    let one = lifted(&one, &out);
                    out.push(one);
                }
            }
            rank += 1;
            seen.insert(key);
        }
        if taken.insert(hit.chunk) {
            out.push(Ranked {
                score: out.last().map_or(hit.score, |before| hit.score.min(before.score)),
                ..*hit
            });
        }
    }
    for (_, one, key) in waiting {
        if seen.insert(key) && taken.insert(one.chunk) {
            let one = lifted(&one, &out);
            out.push(one);
        }
    }
    out
}

/// The places that lines of a node name at their ends: `… → path#L12`.
pub fn places(text: &str) -> impl Iterator<Item = (&str, u32)> {
    text.lines()
        .filter_map(|line| place(line.trim_end().rsplit_once(" → ")?.1))
}

/// The file and the line that a pointer `path#L12` names.
pub fn place(pointer: &str) -> Option<(&str, u32)> {
    let (path, line) = pointer.rsplit_once("#L")?;
    Some((path, line.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::chunk::{ContentHash, Speaker};
    use crate::corpus::{CorpusChunk, CorpusSection};

    /// A document of passages of two chunks each: passage n has the chunks 2n and 2n + 1.
    fn world(passages: u32) -> Corpus {
        let mut corpus = Corpus::new();
        let sections: Vec<CorpusSection> = (0..passages)
            .map(|_| CorpusSection {
                parent: None,
                date: None,
            })
            .collect();
        let chunks: Vec<CorpusChunk> = (0..passages * 2)
            .map(|id| CorpusChunk {
                id,
                section: id / 2,
                terms: 3,
                speaker: Speaker::Other,
                hash: ContentHash::of(&id.to_le_bytes()),
            })
            .collect();
        corpus.set_document(0, "memory/2026-01-10.md", None, &sections, &chunks);
        corpus
    }

    fn ranked(chunks: &[u32]) -> Vec<Ranked> {
        let scores = (0_u16..).map(|at| 0.9 - f32::from(at) * 0.01);
        let hits = chunks.iter().zip(scores);
        hits.map(|(chunk, score)| Ranked {
            chunk: *chunk,
            score,
            lexical: Some(score),
            vector: None,
            explain: Features::default(),
        })
        .collect()
    }

    fn told(chunks: &[u32]) -> Vec<Told> {
        chunks
            .iter()
            .map(|chunk| Told {
                chunk: *chunk,
                score: 0.4,
            })
            .collect()
    }

    fn order(list: &[Ranked]) -> Vec<u32> {
        list.iter().map(|hit| hit.chunk).collect()
    }

    #[test]
    fn one_passage_of_the_nodes_follows_two_of_the_search() {
        let corpus = world(20);
        let list = tell(ranked(&[0, 1, 2, 4, 6, 8]), &told(&[20, 22, 24]), 0.5, &corpus);
        assert_eq!(order(&list), [0, 1, 2, 20, 4, 6, 22, 8, 24]);
        assert_eq!(list[3].explain.tree, Some(0.4));
        assert_eq!((list[0].explain.tree, list[3].lexical), (None, None));
    }

    #[test]
    fn what_search_has_further_up_stays_and_what_it_has_further_down_comes_up() {
        let corpus = world(20);
        // Passage 0 is the first of both; passage 4 is the fifth of search and the second of the nodes.
        let list = tell(ranked(&[0, 2, 4, 6, 8, 10, 9]), &told(&[1, 9]), 0.5, &corpus);
        assert_eq!(order(&list), [0, 2, 4, 6, 9, 8, 10]);
        assert!(list[4].lexical.is_some(), "what search knows of it stays known");
        assert_eq!(tell(ranked(&[0, 2]), &told(&[5]), 0.0, &corpus), ranked(&[0, 2]));
    }

    #[test]
    fn lines_of_nodes_name_their_places() {
        let text = "- moved to pier 3 → memory/2026-01-10.md#L12\n- no place\n- a → b → knowledge/a b.md#L3\n- a day → 2026-01-10\n- odd → x#Lx\n";
        let found: Vec<_> = places(text).collect();
        assert_eq!(found, [("memory/2026-01-10.md", 12), ("knowledge/a b.md", 3)]);
    }

    proptest! {
        #[test]
        fn no_chunk_is_lost_or_twice_and_the_order_is_that_of_the_scores(found in prop::collection::hash_set(0_u32..60, 0..40), nodes in prop::collection::vec(0_u32..80, 0..40), weight in 0.0_f32..=1.0) {
            let corpus = world(30);
            let found: Vec<u32> = found.into_iter().collect();
            let list = tell(ranked(&found), &told(&nodes), weight, &corpus);
            let chunks: HashSet<u32> = order(&list).into_iter().collect();
            prop_assert_eq!(chunks.len(), list.len());
            prop_assert!(found.iter().all(|chunk| chunks.contains(chunk)));
            prop_assert!(list.windows(2).all(|pair| pair[0].score >= pair[1].score));
            prop_assert!(list.iter().all(|hit| corpus.place(hit.chunk).is_some()));
            // What search has first is first, and as long as it has more, nodes have their share alone.
            if let (Some(first), Some(last)) = (found.first(), found.last()) {
                prop_assert_eq!(list[0].chunk, *first);
                let before = list.iter().take_while(|hit| hit.chunk != *last);
                let (nodes, search): (Vec<&Ranked>, Vec<&Ranked>) = before.partition(|hit| hit.explain.tree.is_some());
                let search: HashSet<u32> = search.iter().map(|hit| hit.chunk / 2).collect();
                prop_assert!(nodes.len() as f32 <= weight * (search.len() + nodes.len() + 1) as f32);
            }
        }
    }
}
