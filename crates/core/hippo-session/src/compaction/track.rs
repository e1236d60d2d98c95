//! Detection of references to earlier messages, and statistics of words.
//!
//! A single pass with bounded memory: words that have not occurred for a long time are forgotten first. A message is
//! referenced when the agent or the user names a path, an identifier, a number or an address that it introduced, or
//! repeats its first characters.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::ops::Range;

use super::read::hash_text;
use hippo_text::literal::{self, LiteralKind, LiteralVisitor};

/// Maximum words in each of two generations.
const WORDS: usize = 120_000;
/// Maximum message beginnings in each of two generations.
const BEGINNINGS: usize = 500_000;
/// Characters of a beginning, as in the extension.
const BEGINNING: usize = 30;

/// Statistics of a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SeenWord {
    /// Offset in the texts of its generation, and length in bytes.
    at: u32,
    length: u32,
    /// The first and the last message that contain the word.
    pub first: u32,
    /// See [`SeenWord::first`].
    pub last: u32,
    /// Number of messages that contain the word.
    pub count: u32,
    /// Number of messages with the word that are not tool results.
    pub said: u32,
    /// The last message by the agent or the user that contains the word.
    pub last_said: u32,
}

/// Words that occurred since the previous generation was full.
#[derive(Debug, Default)]
struct WordGeneration {
    seen: HashedMap<SeenWord>,
    /// The words, concatenated.
    texts: String,
}

impl WordGeneration {
    fn text(&self, seen: &SeenWord) -> &str {
        let from = seen.at as usize;
        self.texts
            .get(from..from + seen.length as usize)
            .unwrap_or_default()
    }
}

/// Hasher that returns its input, for keys that are hashes already.
#[derive(Debug, Default, Clone)]
pub(super) struct IdentityHasher(u64);

impl Hasher for IdentityHasher {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }
    fn write_u64(&mut self, value: u64) {
        self.0 = value;
    }
}

pub(super) type HashedMap<T> = HashMap<u64, T, BuildHasherDefault<IdentityHasher>>;

/// Words and beginnings of the texts so far.
#[derive(Debug, Default)]
pub struct WordTracker {
    young: WordGeneration,
    old: WordGeneration,
    beginnings: HashedMap<u32>,
    old_beginnings: HashedMap<u32>,
    /// Bitmap of the first bytes of beginnings, so that most words need no lookup.
    marks: Vec<u64>,
}

impl WordTracker {
    /// Scans a text of the message at this index, and calls `refers` with each earlier message that it references.
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

    /// Works like [`Self::scan`], for words that were scanned before.
    pub fn scan_found(
        &mut self,
        index: u32,
        said: bool,
        text: &str,
        words: TextWords<'_>,
        mut refers: impl FnMut(u32),
    ) {
        if self.marks.is_empty() {
            self.marks = vec![0; MARKS];
        }
        for &(mark, at) in words.begins {
            if self.is_marked(mark)
                && let Some(found) = self.find_beginning(index, &text[at as usize..])
            {
                refers(found);
            }
        }
        for &(key, at, length) in words.literals {
            let (from, length) = (at as usize, length as usize);
            if let Some(first) = self.count_word(key, index, said, &text[from..from + length]) {
                refers(first);
            }
        }
    }

    fn is_marked(&self, mark: u32) -> bool {
        let marks = self.marks.get((mark >> 6) as usize);
        marks.is_some_and(|marks| marks >> (mark & 63) & 1 == 1)
    }

    /// Returns the earlier message with the same beginning.
    fn find_beginning(&self, index: u32, text: &str) -> Option<u32> {
        let key = hash_text(beginning(text)?);
        let found = self
            .beginnings
            .get(&key)
            .or_else(|| self.old_beginnings.get(&key));
        found.copied().filter(|found| *found < index)
    }

    /// Stores the beginning of a message.
    pub fn add_beginning(&mut self, index: u32, text: &str) {
        let Some(beginning) = beginning(text.trim_start()) else {
            return;
        };
        if self.beginnings.len() >= BEGINNINGS {
            self.old_beginnings = std::mem::take(&mut self.beginnings);
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
        [&self.young, &self.old]
            .into_iter()
            .flat_map(|words| words.seen.values().map(|seen| (words.text(seen), seen)))
    }

    /// Counts a word. Returns the message that introduced it, if this occurrence is a reference.
    fn count_word(&mut self, key: u64, index: u32, said: bool, text: &str) -> Option<u32> {
        let seen = match self.young.seen.get_mut(&key) {
            Some(seen) => seen,
            None => self.insert_young(key, index, text),
        };
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

    /// Inserts a word into the young generation, with its statistics from the old one.
    fn insert_young(&mut self, key: u64, index: u32, text: &str) -> &mut SeenWord {
        if self.young.seen.len() >= WORDS {
            self.old = std::mem::take(&mut self.young);
        }
        let old = if self.old.seen.is_empty() {
            None
        } else {
            self.old.seen.remove(&key)
        };
        // A generation holds far less than 4 GB: a word has at most 160 bytes.
        let at = to_offset(self.young.texts.len());
        let seen = match old {
            Some(seen) => SeenWord { at, ..seen },
            None => SeenWord {
                at,
                length: to_offset(text.len()),
                first: index,
                last: index,
                count: 0,
                said: 0,
                last_said: index,
            },
        };
        self.young.texts.push_str(text);
        self.young.seen.entry(key).or_insert(seen)
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

/// Number of 64-bit words in the bitmap.
const MARKS: usize = 1 << 11;

/// Returns the bit of a beginning; `None` for a text that is too short.
fn mark_bit(text: &str) -> Option<u32> {
    let first = u64::from_le_bytes(*text.as_bytes().first_chunk()?);
    let mixed = first.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 47;
    u32::try_from(mixed).ok()
}

/// Words of texts that were scanned before the positions of the texts are known.
#[derive(Debug, Default)]
pub struct ScannedWords {
    /// Bit and offset of each word at which a beginning may start.
    begins: Vec<(u32, u32)>,
    /// Hash, offset and length of each literal.
    literals: Vec<(u64, u32, u32)>,
}

/// Position in [`ScannedWords`].
#[derive(Debug, Clone, Copy)]
pub struct WordOffsets {
    begins: usize,
    literals: usize,
}

/// The words of one text.
#[derive(Debug, Clone, Copy)]
pub struct TextWords<'w> {
    begins: &'w [(u32, u32)],
    literals: &'w [(u64, u32, u32)],
}

impl ScannedWords {
    /// Scans a text, which must have less than 4 GB.
    pub fn add(&mut self, text: &str) {
        literal::scan(text, &mut WordCollector { text, words: self });
    }

    /// Returns the position after the last word.
    pub fn end(&self) -> WordOffsets {
        WordOffsets {
            begins: self.begins.len(),
            literals: self.literals.len(),
        }
    }

    /// Returns the words between two positions.
    pub fn between(&self, words: Range<WordOffsets>) -> TextWords<'_> {
        TextWords {
            begins: &self.begins[words.start.begins..words.end.begins],
            literals: &self.literals[words.start.literals..words.end.literals],
        }
    }

    /// Removes all words.
    pub fn clear(&mut self) {
        self.begins.clear();
        self.literals.clear();
    }
}

struct WordCollector<'w, 't> {
    text: &'t str,
    words: &'w mut ScannedWords,
}

fn to_offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

impl<'t> LiteralVisitor<'t> for WordCollector<'_, 't> {
    fn word(&mut self, at: usize) {
        if let Some(mark) = mark_bit(&self.text[at..]) {
            self.words.begins.push((mark, to_offset(at)));
        }
    }

    fn literal(&mut self, literal: &'t str, _: LiteralKind, at: usize) {
        let found = (hash_text(literal), to_offset(at), to_offset(literal.len()));
        self.words.literals.push(found);
    }
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
        if let Some(first) = self
            .tracked
            .count_word(hash_text(literal), self.index, self.said, literal)
        {
            (self.refers)(first);
        }
    }
}
