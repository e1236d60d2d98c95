//! Words of a text and their rarity in the workspace.

use std::collections::{HashMap, HashSet};

use rust_stemmers::{Algorithm, Stemmer};

use crate::terms::is_stop;

/// Maximum number of bytes of a word; longer runs are hashes, encoded data, or scripts without spaces.
const LONGEST: usize = 40;

/// Words of calendars and conversation that are useless as tags.
const EMPTY: &str = "\
    january february march april june july august september october november december jan feb mar apr jun jul aug \
    sep sept oct nov dec monday tuesday wednesday thursday friday saturday sunday mon tue wed thu fri sat sun today \
    tomorrow yesterday tonight week weeks month months day days year years hour hours minute minutes time times date \
    morning afternoon evening night lot lots bit kind class way ways want wants wanted need needs needed think thought \
    know knew see saw look looks looking sound sounds feel felt help helps helped helpful thank thanks thankful great \
    good nice awesome amazing cool wow hey hi hello bye sure glad happy love loved hope really pretty actually \
    definitely maybe probably recently currently lately new old first last next use used using start started try \
    tried trying take took come coming work works working example examples note notes please yeah haha lol http https \
    www com org pic photo image shared share user assistant tip tips etc redacted";

/// Class of a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WordClass {
    Significant,
    /// Stop word without meaning of its own.
    Stop,
    /// Meaningful in a sentence but not as a tag: months and greetings, for example.
    Empty,
    /// Word in which at least half of the bytes are digits, or that is longer than [`LONGEST`].
    Number,
}

/// Word of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScannedWord<'a> {
    /// Original spelling.
    pub text: &'a str,
    /// Id of the stem of the word.
    pub id: u32,
    /// `true` if the word starts with a capital letter.
    pub capital: bool,
    /// `true` if exactly one space separates the word from the preceding word.
    pub joined: bool,
    class: WordClass,
}

impl ScannedWord<'_> {
    /// Returns `true` if the word can be part of a tag.
    pub fn is_taggable(&self) -> bool {
        self.class == WordClass::Significant
    }

    /// Returns `true` if the word is not a stop word.
    pub fn is_significant(&self) -> bool {
        self.class != WordClass::Stop
    }

    /// Returns `true` if the word is a number, date or time.
    pub fn is_number(&self) -> bool {
        self.class == WordClass::Number
    }
}

/// Words of a workspace with the number of text blocks that contain each.
pub struct WordCounts {
    stemmer: Stemmer,
    known: HashMap<Box<str>, (u32, WordClass)>,
    stems: HashMap<Box<str>, u32>,
    blocks_of: Vec<u32>,
    last_block: Vec<u32>,
    blocks: u32,
    empty: HashSet<&'static str>,
}

impl Default for WordCounts {
    fn default() -> Self {
        Self::new()
    }
}

impl WordCounts {
    /// Creates empty counts.
    pub fn new() -> Self {
        Self {
            stemmer: Stemmer::create(Algorithm::English),
            known: HashMap::new(),
            stems: HashMap::new(),
            blocks_of: Vec::new(),
            last_block: Vec::new(),
            blocks: 0,
            empty: EMPTY.split_ascii_whitespace().collect(),
        }
    }

    /// Starts a block of text. [`count`](Self::count) then counts words for this block.
    pub fn begin_block(&mut self) {
        self.blocks += 1;
    }

    /// Counts each distinct word of a text for the current block, at most once per block.
    pub fn count(&mut self, text: &str) {
        let block = self.blocks;
        let mut found = std::mem::take(&mut self.last_block);
        let mut counts = std::mem::take(&mut self.blocks_of);
        self.for_each_word(text, |word| {
            let at = word.id as usize;
            if found.len() <= at {
                found.resize(at + 1, 0);
                counts.resize(at + 1, 0);
            }
            if found[at] != block {
                found[at] = block;
                counts[at] += 1;
            }
        });
        self.last_block = found;
        self.blocks_of = counts;
    }

    /// Returns the rarity of a word: BM25's inverse document frequency over blocks, above 0.
    pub fn rarity(&self, id: u32) -> f32 {
        let with = self.blocks_of.get(id as usize).copied().unwrap_or(0) as f32;
        let all = (self.blocks as f32).max(with);
        (1.0 + (all - with + 0.5) / (with + 0.5)).ln()
    }

    /// Returns the rarity of a word that occurs in only one block.
    pub fn rarest(&self) -> f32 {
        (1.0 + (self.blocks as f32 - 0.5) / 1.5).ln()
    }

    /// Calls `sink` with each word of a line.
    pub fn for_each_word<'a>(&mut self, line: &'a str, mut sink: impl FnMut(ScannedWord<'a>)) {
        let mut before = None;
        let mut rest = line.char_indices().peekable();
        while let Some((start, first)) = rest.next() {
            if !first.is_alphanumeric() {
                continue;
            }
            let mut end = start + first.len_utf8();
            while let Some(&(at, next)) = rest.peek() {
                let joins = matches!(next, '-' | '_' | '\'' | '’' | '.' | '/' | '@' | ':')
                    && line[at + next.len_utf8()..].starts_with(char::is_alphanumeric);
                if !(next.is_alphanumeric() || joins) {
                    break;
                }
                end = at + next.len_utf8();
                rest.next();
            }
            let text = &line[start..end];
            let joined = before.is_some_and(|before: usize| &line[before..start] == " ");
            before = Some(end);
            let (id, class) = self.look_up(text);
            sink(ScannedWord {
                text,
                id,
                capital: first.is_uppercase(),
                joined,
                class,
            });
        }
    }

    fn look_up(&mut self, text: &str) -> (u32, WordClass) {
        let base = text.strip_suffix("'s").or_else(|| text.strip_suffix("’s"));
        let folded: String = (base.unwrap_or(text).chars())
            .flat_map(char::to_lowercase)
            .collect();
        let found = self.known.get(folded.as_str()).copied();
        found.unwrap_or_else(|| self.learn(&folded))
    }

    fn learn(&mut self, folded: &str) -> (u32, WordClass) {
        let digits = folded.bytes().filter(u8::is_ascii_digit).count();
        let bare = folded.replace(['\'', '’'], "");
        let short = bare.chars().count() < 3 && bare.is_ascii();
        let class = if is_stop(&bare) {
            WordClass::Stop
        } else if digits * 2 >= folded.len() || folded.len() > LONGEST {
            WordClass::Number
        } else if self.empty.contains(bare.as_str()) || short || folded.contains("://") {
            WordClass::Empty
        } else {
            WordClass::Significant
        };
        let latin = folded.len() > 2 && folded.bytes().all(|byte| byte.is_ascii_lowercase());
        let stem = if latin {
            self.stemmer.stem(folded).into_owned()
        } else {
            folded.to_owned()
        };
        let next = u32::try_from(self.stems.len()).unwrap_or(u32::MAX);
        let id = *self.stems.entry(stem.into_boxed_str()).or_insert(next);
        self.known.insert(folded.into(), (id, class));
        (id, class)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_keep_inner_punctuation() {
        let mut words = WordCounts::new();
        let mut found = Vec::new();
        words.for_each_word(
            "Ada's pg_dump, at 10:30 of v1.2 — the Café's max.conf",
            |word| {
                found.push((word.text, word.is_taggable(), word.joined));
            },
        );
        let expected = [
            ("Ada's", true, false),
            ("pg_dump", true, true),
            ("at", false, false),
            ("10:30", false, true),
            ("of", false, true),
            ("v1.2", false, true),
            ("the", false, false),
            ("Café's", true, true),
            ("max.conf", true, true),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_word_in_every_block_is_not_rare() {
        let mut words = WordCounts::new();
        for text in ["deploy the map", "deploys again", "deploy and test"] {
            words.begin_block();
            words.count(text);
        }
        let mut ids = Vec::new();
        words.for_each_word("deploying map", |word| ids.push(word.id));
        assert!(words.rarity(ids[0]) < 0.5 * words.rarity(ids[1]));
    }
}
