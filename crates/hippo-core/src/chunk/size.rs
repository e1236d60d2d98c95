//! How large is a chunk? Tiny pieces are joined, long ones are cut.

use super::line::{is_space, trim};
use super::{Chunk, ChunkKind, ContentHash, Speaker};

/// Longest text in bytes; longer ones are cut at the ends of sentences. 256 word pieces hold about as much.
const TEXT: usize = 1_000;
/// Longest code in bytes; longer code is cut at blank lines, else between lines.
const CODE: usize = 1_600;
/// A piece shorter than this (bytes) says too little alone to be found by.
const TINY: usize = 60;
/// The same for an assistant's answers, which are wordy.
const TINY_IN_ANSWER: usize = 120;
/// Joined pieces grow to at most this many bytes.
const JOINED: usize = 300;

/// A block of the file, before it is joined or cut.
#[derive(Debug, Clone, Copy)]
pub(super) struct Piece {
    pub kind: ChunkKind,
    pub section: u32,
    pub speaker: Speaker,
    /// Line of `start`.
    pub line: u32,
    pub start: usize,
    pub end: usize,
    /// Lies inside a list item.
    pub nested: bool,
}

impl Piece {
    const fn len(&self) -> usize {
        self.end - self.start
    }

    /// Whether `next` is better read together with this piece, whose last part is `last`.
    ///
    /// Inside a list item tiny things belong to what they are about. An assistant's answers are wordy lists: there
    /// tiny items and the labels above lists are joined too, but no paragraph to the list before it. Everywhere else
    /// each item is a unit of its own.
    fn takes(&self, next: &Self, last: &Self) -> bool {
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

/// Makes chunks from pieces.
#[derive(Debug)]
pub(super) struct Chunks<'a> {
    bytes: &'a [u8],
    open: Option<Piece>,
    /// The last piece that went into `open`.
    last: Option<Piece>,
    done: Vec<Chunk>,
}

impl<'a> Chunks<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self {
            bytes,
            open: None,
            last: None,
            done: Vec::new(),
        }
    }

    /// Takes the next piece of the file.
    pub fn push(&mut self, piece: Piece) {
        let last = self.last.replace(piece);
        if let (Some(open), Some(last)) = (&mut self.open, last) {
            if open.takes(&piece, &last) {
                open.end = piece.end;
                return;
            }
            let whole = *open;
            self.cut(&whole);
        }
        self.open = Some(piece);
    }

    /// Nothing that follows is joined to what came: something between them is in no chunk.
    pub fn part(&mut self) {
        self.last = None;
        if let Some(open) = self.open.take() {
            self.cut(&open);
        }
    }

    /// All chunks, in order.
    pub fn finish(mut self) -> Vec<Chunk> {
        self.part();
        self.done
    }

    fn cut(&mut self, piece: &Piece) {
        let code = matches!(piece.kind, ChunkKind::Code);
        let by_lines = code || matches!(piece.kind, ChunkKind::Table | ChunkKind::Quote);
        let limit = if code { CODE } else { TEXT };
        let (mut start, mut line) = (piece.start, piece.line);
        while start < piece.end {
            let rest = &self.bytes[start..piece.end];
            let length = if rest.len() <= limit {
                rest.len()
            } else if by_lines {
                line_cut(&rest[..limit])
            } else {
                sentence_cut(&rest[..=limit])
            };
            let end = start + length;
            self.add(piece, start, end, line);
            line += newlines(&self.bytes[start..end]);
            start = end;
        }
    }

    /// Adds the part of a piece between two offsets, without the blank lines around it.
    fn add(&mut self, piece: &Piece, mut start: usize, mut end: usize, mut line: u32) {
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
            end_line: line + newlines(bytes),
            start_byte: start as u64,
            end_byte: end as u64,
            hash: ContentHash::of(bytes),
            speaker: piece.speaker,
        });
    }
}

fn newlines(bytes: &[u8]) -> u32 {
    u32::try_from(bytes.iter().filter(|&&byte| byte == b'\n').count()).unwrap_or(u32::MAX)
}

/// Where to cut text that is longer than fits: after a blank line, else after a line, else anywhere.
fn line_cut(window: &[u8]) -> usize {
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
    line_end.unwrap_or_else(|| boundary(window, window.len()))
}

/// Where to cut text that is longer than fits: after a sentence, else after a line or word, else anywhere.
/// The window is one byte longer than the part may be.
fn sentence_cut(window: &[u8]) -> usize {
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
    line_end.or(word_end).unwrap_or_else(|| boundary(window, limit))
}

/// The last place at or before `at` that is not inside a UTF-8 character.
fn boundary(bytes: &[u8], at: usize) -> usize {
    // Without looking at the byte after the window, a character that ends exactly there cannot be told from a cut
    // one: it moves to the next part, which is as good.
    let inside = |at: usize| {
        let tail = &bytes[..at];
        (1..=3).find(|&back| {
            let Some(&byte) = at.checked_sub(back).and_then(|lead| tail.get(lead)) else {
                return false;
            };
            let width = match byte {
                0xC0..=0xDF => 2,
                0xE0..=0xEF => 3,
                0xF0..=0xFF => 4,
                _ => 0,
            };
            width > back
        })
    };
    at - inside(at).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_prefers_sentences_then_lines_then_words() {
        assert_eq!(sentence_cut(b"One two three. Four\nfive"), 14);
        assert_eq!(sentence_cut(b"One two three\nfour five"), 14);
        assert_eq!(sentence_cut(b"one two three fours"), 14);
        assert_eq!(sentence_cut("一二三。四五六".as_bytes()), 12);
    }

    #[test]
    fn a_cut_never_splits_a_character() {
        for text in ["ééééé", "日本語日本語", "🦛🦛🦛🦛"] {
            for limit in 4..text.len() {
                let at = boundary(text.as_bytes(), limit);
                assert!(text.is_char_boundary(at) && at + 4 > limit, "{text} {limit} {at}");
            }
        }
        assert_eq!(boundary(&[0x80; 10], 9), 9);
    }

    #[test]
    fn code_is_cut_at_blank_lines() {
        assert_eq!(line_cut(b"fn a() {}\n\nfn b() {}\nfn "), 11);
        assert_eq!(line_cut(b"fn a() {}\nfn b() {}\nfn "), 20);
        assert_eq!(line_cut(b"abcdefgh"), 8);
    }
}
