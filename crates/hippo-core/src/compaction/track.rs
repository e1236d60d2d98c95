//! Which message is referred to by a later one, and which words will be needed again?
//!
//! One pass over the texts, with bounded memory: what has not been met for long is forgotten first. A message is referred to when the
//! agent or the user names a path, an identifier, a number or an address that it brought up, or repeats its beginning.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::ops::Range;

use super::read::hash;
use crate::literal::{self, Finds, Sort};

/// Words that are remembered in each of two generations.
const WORDS: usize = 120_000;
/// Beginnings that are remembered in each of two generations.
const BEGINNINGS: usize = 500_000;
/// Characters of a beginning, as the extension compares them.
const BEGINNING: usize = 30;

/// A word that was met.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seen {
    /// Where it stands among the texts of its generation, and its length in bytes.
    at: u32,
    length: u32,
    /// The first and the last message that has it.
    pub first: u32,
    /// See [`Seen::first`].
    pub last: u32,
    /// Messages that have it.
    pub count: u32,
    /// Those of them that are no answers of tools.
    pub said: u32,
    /// The last of these.
    pub last_said: u32,
}

/// Words that were met since the generation before was full.
#[derive(Debug, Default)]
struct Generation {
    seen: Hashed<Seen>,
    /// The words, one behind the other.
    texts: String,
}

impl Generation {
    fn text(&self, seen: &Seen) -> &str {
        let from = seen.at as usize;
        self.texts
            .get(from..from + seen.length as usize)
            .unwrap_or_default()
    }
}

/// The hash of a hash is itself.
#[derive(Debug, Default, Clone)]
pub(super) struct AsItIs(u64);

impl Hasher for AsItIs {
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

pub(super) type Hashed<T> = HashMap<u64, T, BuildHasherDefault<AsItIs>>;

/// What is remembered of the texts so far.
#[derive(Debug, Default)]
pub struct Tracked {
    young: Generation,
    old: Generation,
    beginnings: Hashed<u32>,
    old_beginnings: Hashed<u32>,
    /// Marks of the first bytes of beginnings, so that most words need no look.
    marks: Vec<u64>,
}

impl Tracked {
    /// Notes a text of the message at this index, and names each earlier message that it refers to.
    pub fn note(&mut self, index: u32, said: bool, text: &str, mut refers: impl FnMut(u32)) {
        if self.marks.is_empty() {
            self.marks = vec![0; MARKS];
        }
        let mut pass = Pass {
            tracked: self,
            index,
            said,
            text,
            refers: &mut refers,
        };
        literal::scan(text, &mut pass);
    }

    /// The same for words that were found before.
    pub fn note_found(
        &mut self,
        index: u32,
        said: bool,
        text: &str,
        words: Found<'_>,
        mut refers: impl FnMut(u32),
    ) {
        if self.marks.is_empty() {
            self.marks = vec![0; MARKS];
        }
        for &(mark, at) in words.begins {
            if self.is_marked(mark)
                && let Some(found) = self.beginning_of(index, &text[at as usize..])
            {
                refers(found);
            }
        }
        for &(key, at, length) in words.literals {
            let (from, length) = (at as usize, length as usize);
            if let Some(first) = self.meet(key, index, said, &text[from..from + length]) {
                refers(first);
            }
        }
    }

    fn is_marked(&self, mark: u32) -> bool {
        let marks = self.marks.get((mark >> 6) as usize);
        marks.is_some_and(|marks| marks >> (mark & 63) & 1 == 1)
    }

    /// The earlier message that a text begins as.
    fn beginning_of(&self, index: u32, text: &str) -> Option<u32> {
        let key = hash(beginning(text)?);
        let found = self
            .beginnings
            .get(&key)
            .or_else(|| self.old_beginnings.get(&key));
        found.copied().filter(|found| *found < index)
    }

    /// Notes the beginning of a message.
    pub fn begin(&mut self, index: u32, text: &str) {
        let Some(beginning) = beginning(text.trim_start()) else {
            return;
        };
        if self.beginnings.len() >= BEGINNINGS {
            self.old_beginnings = std::mem::take(&mut self.beginnings);
        }
        if let Some(mark) = mark(beginning)
            && let Some(marks) = self.marks.get_mut((mark >> 6) as usize)
        {
            *marks |= 1 << (mark & 63);
        }
        self.beginnings.insert(hash(beginning), index);
    }

    /// All words that are remembered, in no order.
    pub fn words(&self) -> impl Iterator<Item = (&str, &Seen)> {
        [&self.young, &self.old]
            .into_iter()
            .flat_map(|words| words.seen.values().map(|seen| (words.text(seen), seen)))
    }

    /// Notes a word; answers with the message that brought it up, when this one refers to that.
    fn meet(&mut self, key: u64, index: u32, said: bool, text: &str) -> Option<u32> {
        let seen = match self.young.seen.get_mut(&key) {
            Some(seen) => seen,
            None => self.bring(key, index, text),
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

    /// Brings a word into the young generation, from the old one or as a new one.
    fn bring(&mut self, key: u64, index: u32, text: &str) -> &mut Seen {
        if self.young.seen.len() >= WORDS {
            self.old = std::mem::take(&mut self.young);
        }
        let old = if self.old.seen.is_empty() {
            None
        } else {
            self.old.seen.remove(&key)
        };
        // A generation holds far less than 4 GB: a word has at most 160 bytes.
        let at = place(self.young.texts.len());
        let seen = match old {
            Some(seen) => Seen { at, ..seen },
            None => Seen {
                at,
                length: place(text.len()),
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

/// The first characters of a text; none of a shorter one, which would be found anywhere.
fn beginning(text: &str) -> Option<&str> {
    if text.as_bytes().get(..BEGINNING).is_some_and(<[u8]>::is_ascii) {
        return Some(&text[..BEGINNING]);
    }
    let mut ends = text.char_indices().map(|(at, _)| at).chain([text.len()]);
    ends.nth(BEGINNING).map(|end| &text[..end])
}

/// Words of marks, 64 in each.
const MARKS: usize = 1 << 11;

/// The number of the mark of a beginning; none for what is too short to be one.
fn mark(text: &str) -> Option<u32> {
    let first = u64::from_le_bytes(*text.as_bytes().first_chunk()?);
    let mixed = first.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 47;
    u32::try_from(mixed).ok()
}

/// Words of texts, found before the places of these among the messages are known.
#[derive(Debug, Default)]
pub struct Words {
    /// The mark of what begins with a word, and where in its text.
    begins: Vec<(u32, u32)>,
    /// Hash, place and length of words that must be known to the letter.
    literals: Vec<(u64, u32, u32)>,
}

/// How many words of each sort there are.
#[derive(Debug, Clone, Copy)]
pub struct Place {
    begins: usize,
    literals: usize,
}

/// The words of one text.
#[derive(Debug, Clone, Copy)]
pub struct Found<'w> {
    begins: &'w [(u32, u32)],
    literals: &'w [(u64, u32, u32)],
}

impl Words {
    /// Adds those of a text, which has less than 4 GB.
    pub fn add(&mut self, text: &str) {
        literal::scan(text, &mut Finding { text, words: self });
    }

    /// Behind the last ones.
    pub fn end(&self) -> Place {
        Place {
            begins: self.begins.len(),
            literals: self.literals.len(),
        }
    }

    /// Those between two places.
    pub fn found(&self, words: Range<Place>) -> Found<'_> {
        Found {
            begins: &self.begins[words.start.begins..words.end.begins],
            literals: &self.literals[words.start.literals..words.end.literals],
        }
    }

    /// Forgets all of them.
    pub fn clear(&mut self) {
        self.begins.clear();
        self.literals.clear();
    }
}

struct Finding<'w, 't> {
    text: &'t str,
    words: &'w mut Words,
}

fn place(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

impl<'t> Finds<'t> for Finding<'_, 't> {
    fn word(&mut self, at: usize) {
        if let Some(mark) = mark(&self.text[at..]) {
            self.words.begins.push((mark, place(at)));
        }
    }

    fn literal(&mut self, literal: &'t str, _: Sort, at: usize) {
        let found = (hash(literal), place(at), place(literal.len()));
        self.words.literals.push(found);
    }
}

/// One pass over one text.
struct Pass<'p, 't> {
    tracked: &'p mut Tracked,
    index: u32,
    said: bool,
    text: &'t str,
    refers: &'p mut dyn FnMut(u32),
}

impl<'t> Finds<'t> for Pass<'_, 't> {
    fn word(&mut self, at: usize) {
        let rest = &self.text[at..];
        if mark(rest).is_some_and(|mark| self.tracked.is_marked(mark))
            && let Some(found) = self.tracked.beginning_of(self.index, rest)
        {
            (self.refers)(found);
        }
    }

    fn literal(&mut self, literal: &'t str, _: Sort, _: usize) {
        if let Some(first) = self.tracked.meet(hash(literal), self.index, self.said, literal) {
            (self.refers)(first);
        }
    }
}
