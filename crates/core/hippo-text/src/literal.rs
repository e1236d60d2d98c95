//! Scanner for literals in text: paths, URLs, identifiers, numbers.
//!
//! The scan is a single pass with a byte table, because every byte of a transcript or tool result is scanned. Words may
//! contain letters of any script: bytes from 0x80 on belong to a word, except for non-ASCII punctuation and symbols.
//! Letters of scripts without spaces, such as Chinese, do not begin a word. They belong to a word only inside it, after
//! a character such as `/` or `_`.

mod class;
mod sort;
#[cfg(test)]
mod tests;

use std::ops::Range;

use class::{
    CJK, CLASSES, DIGIT, DOT, HYPHEN, LETTERS, LOOSE, LOWER, OTHER, SLASH, STOPS, UNDER, UPPER, char_width,
    is_mark,
};

/// Minimum bytes of a literal, because shorter words are not distinctive.
const LEAST: usize = 3;
/// Maximum bytes of a literal, because longer words are data.
const MOST: usize = 160;
/// Maximum bytes of a URL scheme before its last word (`git+` of `git+https`).
const SCHEME: usize = 16;

/// Kind of a literal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LiteralKind {
    /// A URL with a scheme.
    Url,
    /// A path or file name.
    Path,
    /// An identifier: `snake_case`, `camelCase`, `HAT-110`, `a.b_c`.
    Id,
    /// A number of three or more digits, a date, an IP address.
    Number,
    /// A word in capitals or with several hyphens: `README`, `copy-on-write`.
    Term,
}

/// Receiver of the words and literals that [`scan`] finds.
pub trait LiteralVisitor<'t> {
    /// Receives the offset of each word.
    fn word(&mut self, at: usize) {
        let _ = at;
    }
    /// Receives each literal, with its kind and the offset of its first byte.
    fn literal(&mut self, literal: &'t str, sort: LiteralKind, at: usize);
}

/// Scans a text, and reports its words and literals to the visitor.
pub fn scan<'t>(text: &'t str, finds: &mut impl LiteralVisitor<'t>) {
    let bytes = text.as_bytes();
    // Position of the scan, and end of the last literal that was reported.
    let (mut at, mut told_to) = (0, 0);
    while let Some(&byte) = bytes.get(at) {
        let class = CLASSES[usize::from(byte)];
        if class == 0 && byte < 0x80 {
            at += 1;
            continue;
        }
        if class == 0 || class & CJK != 0 {
            at = skip_non_word(bytes, at, finds);
            continue;
        }
        let start = at;
        finds.word(start);
        // Most words consist of lower-case letters only.
        at = lower_case_end(bytes, at);
        let first = if at > start { LOWER } else { 0 };
        // Character classes and end of the word, without trailing characters of the class `LOOSE`.
        let (mut classes, mut end) = (first, at);
        let (mut loose, mut before, mut camel) = (0_u16, first, false);
        while let Some(&byte) = bytes.get(at) {
            let mut class = CLASSES[usize::from(byte)];
            if class == 0 {
                break;
            }
            if class & (OTHER | CJK) != 0 {
                let follows = before & (SLASH | UNDER | OTHER) != 0 || before & LOOSE != 0 && classes != 0;
                if class & CJK != 0 && (!follows || is_mark(bytes, at)) {
                    break;
                }
                class = OTHER;
                at += char_width(byte);
            } else {
                at += 1;
            }
            if class & LOOSE == 0 {
                camel |= before == LOWER && class == UPPER;
                classes |= loose | class;
                (loose, end) = (0, at);
            } else {
                loose |= class;
            }
            before = class;
        }
        if classes & !(LETTERS | DIGIT | HYPHEN | DOT) == 0 && end == at && bytes[at..].starts_with(b"://") {
            at = scan_url(text, start.saturating_sub(SCHEME).max(told_to)..start, at, finds);
            told_to = at;
            continue;
        }
        if classes & !LETTERS == 0 {
            let told = classes != LOWER && classes & OTHER == 0 && (camel || classes == UPPER);
            if told && (4..=MOST).contains(&(end - start)) {
                let sort = if camel { LiteralKind::Id } else { LiteralKind::Term };
                finds.literal(&text[start..end], sort, start);
                told_to = end;
            }
            continue;
        }
        let from = find_word_start(bytes, start, end);
        let word = &text[from..end];
        // If a prefix was removed, classify the rest like a separate word.
        let is = if from == start {
            sort::classify
        } else {
            classify_literal
        };
        if (LEAST..=MOST).contains(&word.len())
            && let Some(sort) = is(word)
        {
            finds.literal(word, sort, from);
            told_to = end;
        }
    }
}

/// Returns the end of a run of lower-case letters. Compares eight bytes at a time, because a processor cannot predict
/// well at which byte a word ends.
fn lower_case_end(bytes: &[u8], from: usize) -> usize {
    const EACH: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x80 * EACH;
    let mut at = from;
    while let Some(eight) = bytes.get(at..).and_then(|rest| rest.first_chunk()) {
        let eight = u64::from_le_bytes(*eight);
        let low = eight & !HIGH;
        // The high bit of each byte in `from_a` is set if the letter is `a` or later, in `beyond_z` if it is later than
        // `z`.
        let from_a = low + (0x80 - 0x61) * EACH;
        let beyond_z = low + (0x80 - 0x7b) * EACH;
        let others = !(from_a & !beyond_z & !eight) & HIGH;
        if others != 0 {
            return at + others.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    let rest = bytes.get(at..).unwrap_or_default();
    at + rest.iter().take_while(|byte| byte.is_ascii_lowercase()).count()
}

/// Returns the kind of a word that is a literal as a whole. Returns `None` for an ordinary word, and for a word of
/// which only a part is a literal.
#[must_use]
pub fn classify_literal(word: &str) -> Option<LiteralKind> {
    struct WholeWord(usize, Option<LiteralKind>);
    impl LiteralVisitor<'_> for WholeWord {
        fn literal(&mut self, literal: &str, sort: LiteralKind, _: usize) {
            if literal.len() == self.0 {
                self.1 = Some(sort);
            }
        }
    }
    let mut whole = WholeWord(word.len(), None);
    if word.len() <= MOST {
        scan(word, &mut whole);
    }
    whole.1
}

/// Returns the end of the location suffix after a path that ends at this byte: `:12`, `:12:3`, `#L12`. Returns `end` if
/// there is no suffix.
#[must_use]
pub fn location_end(text: &str, end: usize) -> usize {
    let digits = |from: usize| {
        let rest = text.as_bytes().get(from..).unwrap_or_default();
        rest.iter()
            .take(8)
            .take_while(|byte| byte.is_ascii_digit())
            .count()
    };
    let mut behind = end;
    for mark in [&[":", "#L"][..], &[":"]] {
        let rest = text.get(behind..).unwrap_or_default();
        let Some(mark) = mark.iter().find(|mark| rest.starts_with(**mark)) else {
            break;
        };
        match digits(behind + mark.len()) {
            count @ 1..=7 => behind += mark.len() + count,
            _ => break,
        }
    }
    behind
}

/// Returns the end of a character that is not part of a word. Skips and reports a whole run of letters of a script
/// without spaces as one word.
fn skip_non_word<'t>(bytes: &[u8], at: usize, finds: &mut impl LiteralVisitor<'t>) -> usize {
    let is_run = |at: usize| {
        let class = bytes.get(at).map_or(0, |byte| CLASSES[usize::from(*byte)]);
        class & CJK != 0 && !is_mark(bytes, at)
    };
    if !is_run(at) {
        return at + char_width(bytes[at]);
    }
    finds.word(at);
    let mut end = at;
    while is_run(end) {
        end += char_width(bytes[end]);
    }
    end
}

/// Returns the start of a word after leading hyphens, after the dot of a call (`.unwrap_or(`), and after the dots of a
/// spread (`...props`).
fn find_word_start(bytes: &[u8], start: usize, end: usize) -> usize {
    let before = start.checked_sub(1).and_then(|at| bytes.get(at));
    let called = || {
        matches!(before, Some(b')' | b']' | b'}' | b'?' | b'>'))
            || matches!(bytes.get(end), Some(b'(' | b'!'))
            || bytes[end..].starts_with(b"::")
    };
    let mut from = start;
    loop {
        from += bytes[from..end].iter().take_while(|byte| **byte == b'-').count();
        let dots = bytes[from..end].iter().take_while(|byte| **byte == b'.').count();
        match bytes.get(from + dots) {
            _ if dots == 0 => return from,
            None | Some(b'/') => return from,
            Some(b'-') => {}
            Some(_) if dots == 1 && !called() => return from,
            Some(_) => {}
        }
        from += dots;
    }
}

/// Reports the URL whose scheme ends at `colon`, and returns the end of the URL. The scheme may begin in the bytes
/// `before` its last word: `git+` of `git+https`. A URL that is too long is not reported.
fn scan_url<'t>(
    text: &'t str,
    before: Range<usize>,
    colon: usize,
    finds: &mut impl LiteralVisitor<'t>,
) -> usize {
    let bytes = text.as_bytes();
    let first = colon + "://".len();
    let stop = bytes[first..].iter().position(|byte| STOPS[usize::from(*byte)]);
    let end = stop.map_or(bytes.len(), |stop| first + stop);
    let scheme = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'+';
    let start = before.end;
    let before = bytes[before].iter().rev();
    let from = start - before.take_while(|byte| scheme(byte)).count();
    let letter = bytes[from..colon].iter().position(u8::is_ascii_alphabetic);
    let told = text[..end].trim_end_matches(['.', ':', '!', '?', '*', '_']).len();
    if let Some(letter) = letter
        && told > first + 2
        && told - (from + letter) <= MOST
    {
        finds.literal(&text[from + letter..told], LiteralKind::Url, from + letter);
    }
    end
}
