//! Which words of a text must be known to the letter: paths, addresses, names of a program, numbers?
//!
//! One pass with a table of bytes, as every byte of a transcript or a tool result goes through it. Words may have letters of
//! any script: bytes from 0x80 on belong to a word, but for punctuation and symbols beyond ASCII. Scripts without spaces
//! neither begin nor end a word; they may stand in one, after a mark.

mod class;
mod sort;
#[cfg(test)]
mod tests;

use std::ops::Range;

use class::{
    CJK, CLASSES, DIGIT, DOT, HYPHEN, LETTERS, LOOSE, LOWER, OTHER, SLASH, STOPS, UNDER, UPPER, is_mark,
    width,
};

/// Bytes of such a word: below the least nothing is told apart, above the most it is data.
const LEAST: usize = 3;
const MOST: usize = 160;
/// Bytes that a scheme may have before what a word is (`git+` of `git+https`).
const SCHEME: usize = 16;

/// What such a word is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Sort {
    /// An address with a scheme.
    Url,
    /// A path, or the name of a file.
    Path,
    /// A name that a program knows: `snake_case`, `camelCase`, `HAT-110`, `a.b_c`.
    Id,
    /// A number of three digits or more, a date, an address of numbers.
    Number,
    /// A word that nothing but capitals or hyphens mark: `README`, `copy-on-write`.
    Term,
}

/// What is found in a text.
pub trait Finds<'t> {
    /// A word begins at this byte.
    fn word(&mut self, at: usize) {
        let _ = at;
    }
    /// A word that must be known to the letter, and the byte where it begins.
    fn literal(&mut self, literal: &'t str, sort: Sort, at: usize);
}

/// Goes through the words of a text.
pub fn scan<'t>(text: &'t str, finds: &mut impl Finds<'t>) {
    let bytes = text.as_bytes();
    // The last word that was told ends at `told_to`.
    let (mut at, mut told_to) = (0, 0);
    while let Some(&byte) = bytes.get(at) {
        let class = CLASSES[usize::from(byte)];
        if class == 0 && byte < 0x80 {
            at += 1;
            continue;
        }
        if class == 0 || class & CJK != 0 {
            at = skip(bytes, at, finds);
            continue;
        }
        let start = at;
        finds.word(start);
        // Most words are nothing but small letters.
        at = behind_small_letters(bytes, at);
        let first = if at > start { LOWER } else { 0 };
        // Of the word without loose bytes at its end.
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
                at += width(byte);
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
            at = address(text, start.saturating_sub(SCHEME).max(told_to)..start, at, finds);
            told_to = at;
            continue;
        }
        if classes & !LETTERS == 0 {
            let told = classes != LOWER && classes & OTHER == 0 && (camel || classes == UPPER);
            if told && (4..=MOST).contains(&(end - start)) {
                let sort = if camel { Sort::Id } else { Sort::Term };
                finds.literal(&text[start..end], sort, start);
                told_to = end;
            }
            continue;
        }
        let from = begin(bytes, start, end);
        let word = &text[from..end];
        // What is left of a word without what stood before it is what it is alone.
        let is = if from == start { sort::of } else { sort_of };
        if (LEAST..=MOST).contains(&word.len())
            && let Some(sort) = is(word)
        {
            finds.literal(word, sort, from);
            told_to = end;
        }
    }
}

/// Where the small letters end that begin here. Eight bytes at a time: where a word ends is hard to foresee, byte for byte.
fn behind_small_letters(bytes: &[u8], from: usize) -> usize {
    const EACH: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x80 * EACH;
    let mut at = from;
    while let Some(eight) = bytes.get(at..).and_then(|rest| rest.first_chunk()) {
        let eight = u64::from_le_bytes(*eight);
        let low = eight & !HIGH;
        // The high bit of each byte says whether it is at least `a`, and whether it is beyond `z`.
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

/// What a word is; nothing for one that is plain, or of which only a part must be known to the letter.
#[must_use]
pub fn sort_of(word: &str) -> Option<Sort> {
    struct Whole(usize, Option<Sort>);
    impl Finds<'_> for Whole {
        fn literal(&mut self, literal: &str, sort: Sort, _: usize) {
            if literal.len() == self.0 {
                self.1 = Some(sort);
            }
        }
    }
    let mut whole = Whole(word.len(), None);
    if word.len() <= MOST {
        scan(word, &mut whole);
    }
    whole.1
}

/// The end of the place that is written behind a path which ends at this byte: `:12`, `:12:3`, `#L12`. The byte itself where
/// there is none.
#[must_use]
pub fn place_end(text: &str, end: usize) -> usize {
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

/// Passes over what is no word here; a run of a script without spaces is told as one.
fn skip<'t>(bytes: &[u8], at: usize, finds: &mut impl Finds<'t>) -> usize {
    let is_run = |at: usize| {
        let class = bytes.get(at).map_or(0, |byte| CLASSES[usize::from(*byte)]);
        class & CJK != 0 && !is_mark(bytes, at)
    };
    if !is_run(at) {
        return at + width(bytes[at]);
    }
    finds.word(at);
    let mut end = at;
    while is_run(end) {
        end += width(bytes[end]);
    }
    end
}

/// Where a word begins that stands from `start` to `end`: without hyphens, and without the dot of a call (`.unwrap_or(`) or of
/// what is spread (`...props`).
fn begin(bytes: &[u8], start: usize, end: usize) -> usize {
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

/// Takes the address whose scheme ends at `colon` and may begin in the bytes `before` its last word, and answers with its end.
/// One that is too long to be told is passed over as a whole.
fn address<'t>(text: &'t str, before: Range<usize>, colon: usize, finds: &mut impl Finds<'t>) -> usize {
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
        finds.literal(&text[from + letter..told], Sort::Url, from + letter);
    }
    end
}
