//! Assignment of neighbouring texts to passes.

use std::ops::Range;

/// A part of a text that is embedded in one pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TextPart {
    /// Index of the text.
    pub(crate) text: usize,
    /// Byte range in that text.
    pub(crate) bytes: Range<usize>,
    /// Length in word pieces.
    pub(crate) pieces: usize,
}

/// Groups parts into as few passes as possible, of at most `room` pieces each. The passes have similar lengths,
/// because the parts in a short last pass would lack neighbours. Returns ranges of `parts`. A part longer than `room`
/// gets a pass of its own.
pub(crate) fn group_into_passes(parts: &[TextPart], room: usize) -> Vec<Range<usize>> {
    let fewest = group_greedily(parts, room).len();
    let (mut low, mut high) = (1, room.max(1));
    while low < high {
        let middle = low.midpoint(high);
        if group_greedily(parts, middle).len() <= fewest {
            high = middle
        } else {
            low = middle + 1
        }
    }
    group_greedily(parts, high)
}

fn group_greedily(parts: &[TextPart], room: usize) -> Vec<Range<usize>> {
    let mut passes = Vec::new();
    let (mut start, mut pieces) = (0, 0);
    for (i, part) in parts.iter().enumerate() {
        if i > start && pieces + part.pieces > room {
            passes.push(start..i);
            (start, pieces) = (i, 0);
        }
        pieces += part.pieces;
    }
    if start < parts.len() {
        passes.push(start..parts.len());
    }
    passes
}

/// One word piece of a text: its byte range and the number of its word.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WordPiece {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) word: Option<u32>,
}

impl WordPiece {
    /// Returns whether this piece belongs to the same word as the previous piece.
    pub(crate) fn continues_word(&self, before: &Self) -> bool {
        self.word.is_some() && self.word == before.word
    }
}

/// Cuts a text into parts of at most `room` pieces. The parts have similar lengths. They end at word boundaries, so
/// that the tokenizer finds the same pieces in each part as in the whole text.
pub(crate) fn split_text(text: usize, length: usize, pieces: &[WordPiece], room: usize) -> Vec<TextPart> {
    let even = pieces
        .len()
        .div_ceil(pieces.len().div_ceil(room.max(1)).max(1))
        .max(1);
    let mut parts = Vec::new();
    let (mut first, mut byte) = (0, 0);
    while pieces.len() - first > even {
        let mut cut = first + even;
        while cut > first + 1 && pieces[cut].continues_word(&pieces[cut - 1]) {
            cut -= 1;
        }
        if pieces[cut].continues_word(&pieces[cut - 1]) {
            // The word is longer than the part. For some tokenizers, a text without spaces is one word.
            cut = first + even;
        }
        let end = pieces[cut].start.max(pieces[cut - 1].end).max(byte);
        parts.push(TextPart {
            text,
            bytes: byte..end,
            pieces: cut - first,
        });
        (first, byte) = (cut, end);
    }
    parts.push(TextPart {
        text,
        bytes: byte..length,
        pieces: pieces.len() - first,
    });
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parts(lengths: &[usize]) -> Vec<TextPart> {
        lengths
            .iter()
            .enumerate()
            .map(|(text, &pieces)| TextPart {
                text,
                bytes: 0..0,
                pieces,
            })
            .collect()
    }

    proptest! {
        #[test]
        fn passes_cover_all_parts_once_and_fit(lengths in prop::collection::vec(0usize..300, 0..40)) {
            let parts = parts(&lengths);
            let passes = group_into_passes(&parts, 200);
            let covered: Vec<usize> = passes.iter().cloned().flatten().collect();
            prop_assert_eq!(covered, (0..parts.len()).collect::<Vec<_>>());
            for pass in &passes {
                let pieces: usize = parts[pass.clone()].iter().map(|p| p.pieces).sum();
                prop_assert!(pieces <= 200 || pass.len() == 1);
            }
            prop_assert_eq!(passes.len(), group_greedily(&parts, 200).len());
        }

        #[test]
        fn a_split_text_is_whole_and_cut_between_words(
            words in prop::collection::vec(1usize..4, 1..200), room in 4usize..40,
        ) {
            let mut pieces = Vec::new();
            for (word, count) in words.iter().enumerate() {
                for _ in 0..*count {
                    let start = pieces.len() * 3 + word;
                    pieces.push(WordPiece { start, end: start + 3, word: Some(word as u32) });
                }
            }
            let length = pieces.last().map_or(0, |p| p.end);
            let parts = split_text(7, length, &pieces, room);
            prop_assert_eq!(parts.iter().map(|p| p.pieces).sum::<usize>(), pieces.len());
            prop_assert_eq!((parts[0].bytes.start, parts.last().unwrap().bytes.end), (0, length));
            let mut first = 0;
            for pair in parts.windows(2) {
                first += pair[0].pieces;
                prop_assert!(pair[0].pieces <= room);
                prop_assert_eq!(pair[0].bytes.end, pair[1].bytes.start);
                prop_assert_ne!(pieces[first - 1].word, pieces[first].word);
            }
        }
    }

    #[test]
    fn a_word_without_an_end_is_cut_into_parts_of_full_length() {
        let place = |i: usize| WordPiece {
            start: i * 3,
            end: i * 3 + 3,
            word: Some(0),
        };
        let pieces: Vec<WordPiece> = (0..100).map(place).collect();
        let parts = split_text(0, 300, &pieces, 40);
        let lengths: Vec<usize> = parts.iter().map(|part| part.pieces).collect();
        assert_eq!(lengths, [34, 34, 32]);
        assert_eq!((parts[1].bytes.start, parts[2].bytes.end), (102, 300));
    }

    #[test]
    fn passes_are_even() {
        let lengths = [50; 6];
        let ranges = group_into_passes(&parts(&lengths), 254);
        assert_eq!(ranges, [0..3, 3..6]);
    }
}
