//! Detection of references to earlier messages, and statistics of words.
//!
//! The tracker reads each text once, in bounded RAM. To save room, it removes words that have not occurred for a long
//! time.
//! An earlier message counts as referenced if the agent or the user repeats a path, an identifier, a number or an
//! address that this message introduced, or if any message repeats its first characters.

use std::collections::HashMap;

use super::read::hash_text;
use hippo_text::literal::{self, LiteralKind, LiteralVisitor};

/// Maximum number of words in each of the two generations of a [`WordTracker`].
const WORDS: usize = 120_000;
/// Maximum number of message beginnings that are kept. If there are more, all are removed.
const BEGINNINGS: usize = 500_000;
/// Number of characters of a message beginning, as in the hippocampus.md extension.
const BEGINNING: usize = 30;

/// Statistics of a word.
#[derive(Debug, Clone, Copy, Default)]
pub struct SeenWord {
    /// Index of the first message that contains the word.
    pub first: u32,
    /// Index of the last message that contains the word.
    pub last: u32,
    /// Number of messages that contain the word.
    pub count: u32,
    /// Number of messages with the word that are not tool results.
    pub said: u32,
    /// Index of the last message that contains the word and is not a tool result.
    pub last_said: u32,
}

/// Words and beginnings of all messages so far.
#[derive(Debug, Default)]
pub struct WordTracker {
    /// Words that occurred since the last change of generation. A full generation becomes `old`.
    young: HashMap<Box<str>, SeenWord>,
    old: HashMap<Box<str>, SeenWord>,
    /// Hash of each beginning, with the index of the last message that has it.
    beginnings: HashMap<u64, u32>,
    /// Bitmap of the hashed first bytes of all beginnings. Most words are not in it, and need no lookup.
    marks: Vec<u64>,
}

impl WordTracker {
    /// Scans a text of message `index`, and calls `refers` with the index of each earlier message that the text
    /// references. `said` is false for a tool result.
    pub fn scan(&mut self, index: u32, said: bool, text: &str, mut refers: impl FnMut(u32)) {
        if self.marks.is_empty() {
            self.marks = vec![0; MARKS];
        }
        let mut pass = ReferenceScan {
            tracked: self,
            index,
            said,
            text,
            refers: &mut refers,
        };
        literal::scan(text, &mut pass);
    }

    fn is_marked(&self, mark: u32) -> bool {
        let marks = self.marks.get((mark >> 6) as usize);
        marks.is_some_and(|marks| marks >> (mark & 63) & 1 == 1)
    }

    /// Returns the index of the last earlier message with the same beginning.
    fn find_beginning(&self, index: u32, text: &str) -> Option<u32> {
        let key = hash_text(beginning(text)?);
        self.beginnings.get(&key).copied().filter(|found| *found < index)
    }

    /// Stores the beginning of a message.
    pub fn add_beginning(&mut self, index: u32, text: &str) {
        let Some(beginning) = beginning(text.trim_start()) else {
            return;
        };
        if self.beginnings.len() >= BEGINNINGS {
            self.beginnings.clear();
        }
        if let Some(mark) = mark_bit(beginning)
            && let Some(marks) = self.marks.get_mut((mark >> 6) as usize)
        {
            *marks |= 1 << (mark & 63);
        }
        self.beginnings.insert(hash_text(beginning), index);
    }

    /// Returns all stored words, in no particular order.
    pub fn words(&self) -> impl Iterator<Item = (&str, &SeenWord)> {
        self.young
            .iter()
            .chain(&self.old)
            .map(|(word, seen)| (&**word, seen))
    }

    /// Counts a word. Returns the index of the message that introduced the word, if this occurrence is a reference.
    fn count_word(&mut self, index: u32, said: bool, word: &str) -> Option<u32> {
        if !self.young.contains_key(word) {
            if self.young.len() >= WORDS {
                self.old = std::mem::take(&mut self.young);
            }
            let seen = self.old.remove(word).unwrap_or(SeenWord {
                first: index,
                last_said: index,
                ..SeenWord::default()
            });
            self.young.insert(word.into(), seen);
        }
        let seen = self.young.get_mut(word)?;
        if seen.last == index && seen.count > 0 {
            return None;
        }
        seen.last = index;
        seen.count += 1;
        if said {
            seen.said += 1;
            seen.last_said = index;
        }
        (said && seen.first < index).then_some(seen.first)
    }
}

/// Returns the first characters of a text; `None` for a shorter text, which would match too often.
fn beginning(text: &str) -> Option<&str> {
    if text.as_bytes().get(..BEGINNING).is_some_and(<[u8]>::is_ascii) {
        return Some(&text[..BEGINNING]);
    }
    let mut ends = text.char_indices().map(|(at, _)| at).chain([text.len()]);
    ends.nth(BEGINNING).map(|end| &text[..end])
}

/// Number of 64-bit integers in the bitmap of beginnings.
const MARKS: usize = 1 << 11;

/// Returns the position of a beginning in the bitmap; `None` for a text that is too short.
fn mark_bit(text: &str) -> Option<u32> {
    let first = u64::from_le_bytes(*text.as_bytes().first_chunk()?);
    let mixed = first.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 47;
    u32::try_from(mixed).ok()
}

/// Scan of one text for references.
struct ReferenceScan<'p, 't> {
    tracked: &'p mut WordTracker,
    index: u32,
    said: bool,
    text: &'t str,
    refers: &'p mut dyn FnMut(u32),
}

impl<'t> LiteralVisitor<'t> for ReferenceScan<'_, 't> {
    fn word(&mut self, at: usize) {
        let rest = &self.text[at..];
        if mark_bit(rest).is_some_and(|mark| self.tracked.is_marked(mark))
            && let Some(found) = self.tracked.find_beginning(self.index, rest)
        {
            (self.refers)(found);
        }
    }

    fn literal(&mut self, literal: &'t str, _: LiteralKind, _: usize) {
        if let Some(first) = self.tracked.count_word(self.index, self.said, literal) {
            (self.refers)(first);
        }
    }
}
