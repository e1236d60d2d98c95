//! Chunk sizes: short blocks are joined, long ones are split.

use super::line::{is_space, trim};
use super::{Chunk, ChunkKind, ContentHash, Speaker};

/// Maximum bytes of a text chunk, about 256 word pieces; longer text is split at the ends of sentences.
const TEXT: usize = 1_000;
/// Maximum bytes of a code chunk; longer code is split at blank lines, otherwise between lines.
const CODE: usize = 1_600;
/// Blocks with fewer bytes have too little content to be found alone.
const TINY: usize = 60;
/// Same limit as [`TINY`], for the answers of an assistant, which are verbose.
const TINY_IN_ANSWER: usize = 120;
/// Maximum bytes of joined blocks.
const JOINED: usize = 300;

/// Block of the file, before joining and splitting.
#[derive(Debug, Clone, Copy)]
pub(super) struct SourceBlock {
    pub kind: ChunkKind,
    pub section: u32,
    pub speaker: Speaker,
    /// Line number of `start`.
    pub line: u32,
    pub start: usize,
    pub end: usize,
    /// True for a block inside a list item.
    pub nested: bool,
}

impl SourceBlock {
    const fn len(&self) -> usize {
        self.end - self.start
    }

    /// Returns true if `next` should be joined to this block, whose last part is `last`.
    ///
    /// Inside a list item, short blocks are joined to the item. In the answers of an assistant, which are verbose,
    /// short items and the labels above lists are joined too, but a paragraph is not joined to the list before it.
    /// Elsewhere, each item stays separate.
    fn joins(&self, next: &Self, last: &Self) -> bool {
        let joinable = |kind: ChunkKind| matches!(kind, ChunkKind::Item | ChunkKind::Paragraph);
        if !joinable(self.kind) || !joinable(next.kind) {
            return false;
        }
        let answer = next.speaker == Speaker::Assistant;
        let apart = last.kind == ChunkKind::Item && next.kind == ChunkKind::Paragraph;
        let close = next.nested || (answer && !apart);
        let tiny = if answer { TINY_IN_ANSWER } else { TINY };
        self.section == next.section
            && self.speaker == next.speaker
            && close
            && last.len().min(next.len()) < tiny
            && next.end - self.start <= JOINED
    }
}

/// Builder that turns blocks into chunks.
#[derive(Debug)]
pub(super) struct ChunkBuilder<'a> {
    bytes: &'a [u8],
    open: Option<SourceBlock>,
    /// Last block that was joined to `open`.
    last: Option<SourceBlock>,
    done: Vec<Chunk>,
}

impl<'a> ChunkBuilder<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self {
            bytes,
            open: None,
            last: None,
            done: Vec::new(),
        }
    }

    /// Adds the next block of the file.
    pub fn push(&mut self, piece: SourceBlock) {
        let last = self.last.replace(piece);
        if let (Some(open), Some(last)) = (&mut self.open, last) {
            if open.joins(&piece, &last) {
                open.end = piece.end;
                return;
            }
            let whole = *open;
            self.split(&whole);
        }
        self.open = Some(piece);
    }

    /// Ends the current chunk. The parser calls this method when it skips a part of the file, so that the blocks before
    /// and after that part are not joined.
    pub fn separate(&mut self) {
        self.last = None;
        if let Some(open) = self.open.take() {
            self.split(&open);
        }
    }

    /// Returns all chunks in order.
    pub fn finish(mut self) -> Vec<Chunk> {
        self.separate();
        self.done
    }

    fn split(&mut self, piece: &SourceBlock) {
        let code = matches!(piece.kind, ChunkKind::Code);
        let by_lines = code || matches!(piece.kind, ChunkKind::Table | ChunkKind::Quote);
        let limit = if code { CODE } else { TEXT };
        let (mut start, mut line) = (piece.start, piece.line);
        while start < piece.end {
            let rest = &self.bytes[start..piece.end];
            let length = if rest.len() <= limit {
                rest.len()
            } else if by_lines {
                find_line_split(&rest[..limit])
            } else {
                find_sentence_split(&rest[..=limit])
            };
            let end = start + length;
            self.add_chunk(piece, start, end, line);
            line += count_newlines(&self.bytes[start..end]);
            start = end;
        }
    }

    /// Adds the part of a block between two offsets, without surrounding blank lines.
    fn add_chunk(&mut self, piece: &SourceBlock, mut start: usize, mut end: usize, mut line: u32) {
        while end > start && is_space(self.bytes[end - 1]) {
            end -= 1;
        }
        let mut at = start;
        while at < end && is_space(self.bytes[at]) {
            at += 1;
            if self.bytes[at - 1] == b'\n' {
                start = at;
                line += 1;
            }
        }
        // Code keeps the indentation of its first line.
        if !matches!(piece.kind, ChunkKind::Code) {
            start = at;
        }
        if start == end {
            return;
        }
        let bytes = &self.bytes[start..end];
        self.done.push(Chunk {
            kind: piece.kind,
            section: piece.section,
            start_line: line,
            end_line: line + count_newlines(bytes),
            start_byte: start as u64,
            end_byte: end as u64,
            hash: ContentHash::of(bytes),
            speaker: piece.speaker,
        });
    }
}

fn count_newlines(bytes: &[u8]) -> u32 {
    u32::try_from(bytes.iter().filter(|&&byte| byte == b'\n').count()).unwrap_or(u32::MAX)
}

/// Returns the position at which to split code, a table or a quote: after a blank line, otherwise after a line,
/// otherwise anywhere.
fn find_line_split(window: &[u8]) -> usize {
    let mut line_end = None;
    for at in (window.len() / 4..window.len()).rev() {
        if window[at] == b'\n' {
            let before = window[..at]
                .iter()
                .rposition(|&byte| byte == b'\n')
                .map_or(0, |start| start + 1);
            if trim(&window[before..at]).is_empty() {
                return at + 1;
            }
            line_end = line_end.or(Some(at + 1));
        }
    }
    line_end.unwrap_or_else(|| floor_char_boundary(window, window.len()))
}

/// Returns the position at which to split a text: after a sentence, otherwise after a line or word, otherwise
/// anywhere. The window has one byte more than the maximum length.
fn find_sentence_split(window: &[u8]) -> usize {
    let limit = window.len() - 1;
    let (mut line_end, mut word_end) = (None, None);
    for at in (limit / 3..limit).rev() {
        let ends = match window[at] {
            b'.' | b'!' | b'?' => is_space(window[at + 1]),
            // The last bytes of the full-width marks 。！？
            0x82 => window[..at].ends_with(b"\xE3\x80"),
            0x81 | 0x9F => window[..at].ends_with(b"\xEF\xBC"),
            _ => false,
        };
        if ends {
            return at + 1;
        }
        if window[at] == b'\n' {
            line_end = line_end.or(Some(at + 1));
        } else if is_space(window[at]) {
            word_end = word_end.or(Some(at + 1));
        }
    }
    line_end
        .or(word_end)
        .unwrap_or_else(|| floor_char_boundary(window, limit))
}

/// Returns the last position up to `at` that is not inside a UTF-8 character.
fn floor_char_boundary(bytes: &[u8], at: usize) -> usize {
    // A character is cut if it is longer than the distance from its first byte to `at`.
    let is_cut = |back: &usize| {
        let width = match at.checked_sub(*back).map(|lead| bytes[lead]) {
            Some(0xC0..=0xDF) => 2,
            Some(0xE0..=0xEF) => 3,
            Some(0xF0..) => 4,
            _ => 0,
        };
        width > *back
    };
    at - (1..=3).find(is_cut).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_split_prefers_sentences_then_lines_then_words() {
        assert_eq!(find_sentence_split(b"One two three. Four\nfive"), 14);
        assert_eq!(find_sentence_split(b"One two three\nfour five"), 14);
        assert_eq!(find_sentence_split(b"one two three fours"), 14);
        assert_eq!(find_sentence_split("一二三。四五六".as_bytes()), 12);
    }

    #[test]
    fn a_split_is_never_inside_a_character() {
        for text in ["ééééé", "日本語日本語", "🦛🦛🦛🦛"] {
            for limit in 4..text.len() {
                let at = floor_char_boundary(text.as_bytes(), limit);
                assert!(text.is_char_boundary(at) && at + 4 > limit, "{text} {limit} {at}");
            }
        }
        assert_eq!(floor_char_boundary(&[0x80; 10], 9), 9);
    }

    #[test]
    fn code_is_split_at_blank_lines() {
        assert_eq!(find_line_split(b"fn a() {}\n\nfn b() {}\nfn "), 11);
        assert_eq!(find_line_split(b"fn a() {}\nfn b() {}\nfn "), 20);
        assert_eq!(find_line_split(b"abcdefgh"), 8);
    }
}
