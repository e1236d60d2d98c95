//! Scores of statements, and selection by score.
//!
//! The score of a sentence is the sum of its words' weights. Rare words, names and numbers weigh more; words that
//! already chosen parts contain weigh less. The sum is divided by a function of the length and multiplied by factors
//! for the speaker, personal statements, questions and the kind of line.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::ops::Range;

use super::item::{Statement, StatementKind};
use super::name;
use hippo_text::chunk::Speaker;
use hippo_text::gist::summary::split_sentences;
use hippo_text::gist::words::{ScannedWord, WordCounts};
use hippo_text::terms::is_unspaced;

/// Factor for a word's weight for each earlier occurrence.
const AGAIN: f32 = 0.35;
/// Exponent of the length penalty.
const LENGTH: f32 = 0.8;
/// Bytes added to the length of each sentence for the score.
const OVERHEAD: f32 = 25.0;
/// Maximum bytes of a sentence that is not split.
const LONGEST: usize = 480;
/// Maximum number of times that a word's weight is reduced.
const MOST_AGAIN: u8 = 12;

/// A part of a statement that can be chosen separately.
#[derive(Debug, Clone)]
pub(super) struct StatementPart {
    /// Index of the statement.
    pub statement: u32,
    /// Range in the statement's text.
    pub range: Range<usize>,
    /// The part is a name from the text rather than a sentence.
    pub name: bool,
    /// Section, used to spread the choice over sections.
    pub section: u32,
    words: Range<usize>,
    factor: f32,
}

/// Parts of all statements, with the weights of their words.
pub(super) struct StatementParts {
    pub parts: Vec<StatementPart>,
    words: Vec<(u32, f32)>,
    /// Initial number of occurrences of each word.
    said: Vec<u8>,
}

impl StatementParts {
    /// Splits statements into parts. `words` must already contain their counts.
    pub fn of(statements: &[(u32, &Statement)], words: &mut WordCounts) -> Self {
        let mut out = Self {
            parts: Vec::new(),
            words: Vec::new(),
            said: Vec::new(),
        };
        for (at, (section, statement)) in statements.iter().enumerate() {
            let at = u32::try_from(at).unwrap_or(u32::MAX);
            let text = statement.text.as_str();
            if matches!(statement.kind, StatementKind::User | StatementKind::Feedback) {
                out.add(at, *section, 0..text.len(), statement, words, false);
            } else if statement.speaker == Speaker::Assistant || statement.kind == StatementKind::Entity {
                let ranges = if statement.kind == StatementKind::Entity {
                    name::find_listed_names(text)
                } else {
                    name::names(text)
                };
                for range in ranges {
                    out.add(at, *section, range, statement, words, true);
                }
            } else {
                let named = hippo_text::speaker::name(text)
                    .filter(|_| statement.speaker == Speaker::Other)
                    .map_or(0, |name| text.find(name).map_or(0, |at| at + name.len() + 1));
                let named = text.ceil_char_boundary(named.min(text.len()));
                for sentence in split_sentences(&text[named..]) {
                    let Some(start) = offset_in(text, sentence) else {
                        continue;
                    };
                    for range in clauses(text, start..start + sentence.len()) {
                        out.add(at, *section, range, statement, words, false);
                    }
                }
            }
        }
        out
    }

    /// Marks the words of a text as said once.
    pub fn mark_said(&mut self, text: &str, words: &mut WordCounts) {
        words.for_each_word(text, |word| {
            if let Some(times) = self.said.get_mut(word.id as usize) {
                *times = 1;
            }
        });
    }

    /// Multiplies the score of each statement by its factor.
    pub fn weigh(&mut self, factors: &[f32]) {
        for part in &mut self.parts {
            part.factor *= factors.get(part.statement as usize).copied().unwrap_or(1.0);
        }
    }

    fn add(
        &mut self,
        at: u32,
        section: u32,
        range: Range<usize>,
        statement: &Statement,
        words: &mut WordCounts,
        name: bool,
    ) {
        let text = &statement.text[range.clone()];
        let from = self.words.len();
        let mut form = SentenceForm::default();
        let mut found: Vec<(u32, f32)> = Vec::new();
        let mut before = false;
        let mut each: Vec<(u32, f32, bool)> = Vec::new();
        words.for_each_word(text, |word| {
            form.see(&word);
            if word.is_significant() {
                let is_name = is_name(&word) || (word.capital && before);
                each.push((word.id, kind_of_word(&word, is_name, name), word.is_number()));
                before = is_name;
            }
        });
        for (id, weight, number) in each {
            let rarity = if number && !name {
                words.rarest()
            } else {
                words.rarity(id)
            };
            found.push((id, rarity * weight));
        }
        found.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)));
        found.dedup_by_key(|(id, _)| *id);
        if found.is_empty() {
            return;
        }
        let known = found.iter().map(|(id, _)| *id as usize + 1).max().unwrap_or(0);
        self.said.resize(self.said.len().max(known), 0);
        self.words.extend(found);
        self.parts.push(StatementPart {
            statement: at,
            section,
            words: from..self.words.len(),
            factor: form.factor(text, statement, name),
            range,
            name,
        });
    }
}

/// Returns the offset of `part` in `text`, if `part` is a slice of `text`.
fn offset_in(text: &str, part: &str) -> Option<usize> {
    let at = part.as_ptr().addr().checked_sub(text.as_ptr().addr())?;
    text.get(at..at + part.len()).map(|_| at)
}

/// Returns a sentence, or its clauses if it is very long.
fn clauses(text: &str, range: Range<usize>) -> Vec<Range<usize>> {
    if range.len() <= LONGEST {
        return vec![range];
    }
    let mut out = Vec::new();
    let mut start = range.start;
    while range.end - start > LONGEST {
        let most = text.floor_char_boundary(start + LONGEST);
        let window = &text[start..most];
        let least = text.ceil_char_boundary(start + LONGEST / 4);
        let cut = window
            .rfind([';', ',', '，', '、', '；'])
            .or_else(|| window.rfind(' '))
            .filter(|at| start + at > least);
        let end = cut.map_or(most, |at| {
            start + at + text[start + at..].chars().next().map_or(1, char::len_utf8)
        });
        if end <= start {
            break;
        }
        out.push(start..end);
        start = end;
    }
    out.push(start..range.end);
    out
}

/// Returns true if a word is spelled as a name.
fn is_name(word: &ScannedWord<'_>) -> bool {
    (word.capital && word.joined && word.is_taggable()) || word.text.chars().skip(1).any(char::is_uppercase)
}

/// Returns the factor for a word beyond its rarity.
fn kind_of_word(word: &ScannedWord<'_>, is_name: bool, listed: bool) -> f32 {
    let unspaced = word.text.chars().filter(|mark| is_unspaced(*mark)).count();
    if unspaced > 1 {
        // A run of a script without spaces contains several words.
        return (unspaced.min(40) as f32 / 2.0).max(1.0);
    }
    if word.is_number() || (is_name && !listed) {
        1.5
    } else if word.is_taggable() {
        1.0
    } else {
        0.5
    }
}

/// Features of a sentence derived from its words.
#[derive(Debug, Default)]
struct SentenceForm {
    own: bool,
    addressed: bool,
    words: usize,
}

impl SentenceForm {
    fn see(&mut self, word: &ScannedWord<'_>) {
        self.words += 1;
        let head = word.text.split(['\'', '’']).next().unwrap_or(word.text);
        let is = |words: &[&str]| words.iter().any(|own| head.eq_ignore_ascii_case(own));
        self.own |= is(&["I", "my", "mine", "we", "our", "me", "myself"]);
        self.addressed |= is(&["you", "your", "yours"]);
    }

    fn factor(&self, text: &str, statement: &Statement, name: bool) -> f32 {
        if name {
            return if statement.kind == StatementKind::Entity {
                0.45
            } else {
                0.3
            };
        }
        let mut factor = match statement.kind {
            StatementKind::User | StatementKind::Feedback => 1_000.0,
            StatementKind::Decision | StatementKind::Lesson => 4.0,
            StatementKind::Task | StatementKind::Open => 3.0,
            _ => 1.0,
        };
        if statement.speaker == Speaker::User || statement.speaker == Speaker::Other || self.own {
            factor *= if self.own { 1.5 } else { 0.8 };
        }
        if text.ends_with(['?', '？']) {
            factor *= 0.45;
        } else if self.addressed {
            factor *= 0.6;
        }
        if statement.aside {
            factor *= 0.5;
        }
        // Titles in quotation marks, and prices.
        if text.contains(['"', '“', '«', '「', '《', '$', '€', '£', '¥']) {
            factor *= 1.2;
        }
        if self.words < 4 && !text.chars().any(is_unspaced) {
            factor *= 0.6;
        }
        factor
    }
}

struct QueuedPart {
    score: f32,
    part: usize,
}

impl PartialEq for QueuedPart {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}
impl Eq for QueuedPart {}
impl PartialOrd for QueuedPart {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for QueuedPart {
    fn cmp(&self, other: &Self) -> Ordering {
        self.score
            .total_cmp(&other.score)
            .then(other.part.cmp(&self.part))
    }
}

/// Returns the indices of parts in order of score per byte, until `bytes` are used.
///
/// `cost` returns the number of bytes that a chosen part takes. `sections` is the number of sections over which the
/// bytes are spread.
pub(super) fn choose(
    parts: &StatementParts,
    bytes: usize,
    sections: usize,
    mut cost: impl FnMut(&StatementPart) -> usize,
) -> Vec<usize> {
    let mut said = parts.said.clone();
    let mut taken = vec![0_usize; sections.max(1)];
    let fair = (bytes as f32 / sections.max(1) as f32).max(1.0);
    let worth = |part: &StatementPart, said: &[u8], taken: &[usize]| {
        let sum: f32 = parts.words[part.words.clone()]
            .iter()
            .map(|(id, weight)| {
                let times = said.get(*id as usize).copied().unwrap_or(0);
                weight * AGAIN.powi(i32::from(times))
            })
            .sum();
        let overhead = if part.name { 4.0 } else { OVERHEAD };
        let length = (part.range.len() as f32 + overhead).powf(LENGTH);
        let have = taken.get(part.section as usize).copied().unwrap_or(0) as f32;
        sum * part.factor / length / (1.0 + have / fair)
    };
    let mut heap: BinaryHeap<QueuedPart> = (0..parts.parts.len())
        .map(|part| QueuedPart {
            score: worth(&parts.parts[part], &said, &taken),
            part,
        })
        .collect();
    let mut out = Vec::new();
    let mut left = bytes;
    let mut misses = 0;
    while let Some(next) = heap.pop() {
        let part = &parts.parts[next.part];
        // Scores only decrease as more parts are chosen, so a part whose score is still the highest is the best
        // choice.
        let score = worth(part, &said, &taken);
        if heap.peek().is_some_and(|other| score < other.score) {
            heap.push(QueuedPart { score, ..next });
            continue;
        }
        let bytes = part.range.len();
        if bytes > left {
            misses += 1;
            if misses > 200 {
                break;
            }
            continue;
        }
        let takes = cost(part);
        if takes > left {
            misses += 1;
            if misses > 200 {
                break;
            }
            continue;
        }
        left -= takes;
        for (id, _) in &parts.words[part.words.clone()] {
            if let Some(times) = said.get_mut(*id as usize) {
                *times = times.saturating_add(1).min(MOST_AGAIN);
            }
        }
        if let Some(taken) = taken.get_mut(part.section as usize) {
            *taken += takes;
        }
        out.push(next.part);
    }
    out
}
