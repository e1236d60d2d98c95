//! Selection of statements by score.
//!
//! The score of a sentence is the sum of the weights of its words. A word weighs less if an already chosen part
//! contains it. The sum is divided by a function of the length, and multiplied by factors for the form of the sentence
//! and the kind of line.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::ops::Range;

use super::item::{Statement, StatementKind, is_verbatim};
use super::name;
use hippo_text::chunk::Speaker;
use hippo_text::gist::alone::is_fragment;
use hippo_text::gist::sentence::{SentenceScan, is_reading, refers_back};
use hippo_text::gist::words::WordCounts;

/// Factor by which each earlier occurrence reduces the weight of a word.
const AGAIN: f32 = 0.5;
/// Exponent of the length penalty.
const LENGTH: f32 = 0.8;
/// Bytes added to the length of a sentence that begins a line of the node, when its score is computed.
const OVERHEAD: f32 = 25.0;
/// Bytes added to the length of a name or of a sentence that continues a line, when its score is computed.
const JOINED: f32 = 4.0;
/// Number of source lines within which the sentences of one speaker form one line of the node.
const WINDOW: u32 = 24;
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
    /// True if the part is a name from the text, false for a sentence or clause.
    pub name: bool,
    /// Section, used to spread the choice over sections.
    pub section: u32,
    /// Line of the node to which the part belongs.
    pub line: u32,
    /// True if the part refers to the part before. It can then be chosen only after that part.
    refers: bool,
    words: Range<usize>,
    factor: f32,
}

/// Parts of all statements, with the weights of their words.
pub(super) struct StatementParts {
    pub parts: Vec<StatementPart>,
    words: Vec<(u32, f32)>,
    /// Number of occurrences of each word before any part is chosen.
    said: Vec<u8>,
    /// Number of lines that the parts can form.
    lines: u32,
}

impl StatementParts {
    /// Splits statements into parts. `words` must already contain the word counts of the statements.
    pub fn of<'s>(statements: impl Iterator<Item = (u32, &'s Statement)>, words: &mut WordCounts) -> Self {
        let mut out = Self {
            parts: Vec::new(),
            words: Vec::new(),
            said: Vec::new(),
            lines: 0,
        };
        let mut lines: HashMap<(u32, &str, &str, u32), u32> = HashMap::new();
        for (at, (section, statement)) in (0_u32..).zip(statements) {
            let text = statement.text.as_str();
            let verbatim = is_verbatim(statement.kind);
            let names = statement.kind == StatementKind::Entity;
            let (path, number) = statement.line();
            let speaker = match statement.speaker {
                Speaker::User => Some(""),
                _ => statement.person(),
            };
            let key = match speaker.filter(|_| statement.kind == StatementKind::Note) {
                _ if names => (section, "", "", u32::MAX),
                Some(speaker) => (section, speaker, path, number / WINDOW),
                None => (u32::MAX, "", "", at),
            };
            let line = *lines.entry(key).or_insert(out.lines);
            out.lines = out.lines.max(line + 1);
            let mut add = |range, name| {
                out.add(
                    StatementPart {
                        statement: at,
                        range,
                        name,
                        section,
                        line,
                        refers: false,
                        words: 0..0,
                        factor: 1.0,
                    },
                    statement,
                    words,
                )
            };
            if verbatim {
                add(0..text.len(), false);
            } else if names {
                for range in name::find_listed_names(text) {
                    add(range, true);
                }
            } else {
                for told in statement.sentences() {
                    let Some(start) = offset_in(text, told) else {
                        continue;
                    };
                    for range in clauses(text, start..start + told.len()) {
                        add(range, false);
                    }
                }
            }
        }
        out
    }

    /// Sets the number of earlier occurrences of each word of a text to `number`.
    pub fn mark_said(&mut self, text: &str, words: &mut WordCounts, number: u8) {
        words.for_each_word(text, |word| {
            if let Some(times) = self.said.get_mut(word.id as usize) {
                *times = number;
            }
        });
    }

    /// Multiplies the score of each statement by its factor.
    pub fn weigh(&mut self, factors: &[f32]) {
        for part in &mut self.parts {
            part.factor *= factors.get(part.statement as usize).copied().unwrap_or(1.0);
        }
    }

    /// Adds a part, unless the part has no content.
    fn add(&mut self, mut part: StatementPart, statement: &Statement, words: &mut WordCounts) {
        let text = &statement.text[part.range.clone()];
        let scan = SentenceScan::of(words, text, part.name);
        let plain = statement.kind == StatementKind::Note && !part.name;
        let is_short_reading = plain && text.split(' ').count() < 4 && is_reading(text);
        if scan.words.is_empty() || plain && (!scan.tells() || is_fragment(text)) || is_short_reading {
            return;
        }
        part.refers = plain && refers_back(text);
        part.factor = match statement.kind {
            StatementKind::Entity => 0.45,
            StatementKind::User | StatementKind::Feedback => 1_000.0,
            StatementKind::Decision | StatementKind::Lesson => 4.0,
            StatementKind::Task | StatementKind::Open => 3.0,
            _ if statement.speaker == Speaker::Assistant => 0.3,
            _ => 1.0,
        };
        if !part.name {
            part.factor *= scan.form_factor(text, statement.speaker, statement.aside);
        }
        let known = scan.words.iter().map(|(id, _)| *id as usize + 1).max();
        self.said.resize(self.said.len().max(known.unwrap_or(0)), 0);
        part.words = self.words.len()..self.words.len() + scan.words.len();
        self.words.extend(scan.words);
        self.parts.push(part);
    }

    /// Returns true if a part refers to the part before, and that part is not chosen yet.
    fn waits(&self, at: usize, chosen: &[bool]) -> bool {
        let is_same = |before: &usize| self.parts[*before].statement == self.parts[at].statement;
        let before = at.checked_sub(1).filter(is_same);
        self.parts[at].refers && before.is_none_or(|before| !chosen[before])
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

/// Score and index of a part. The score is stored as the bits of a positive number, which sort like the number itself.
type QueuedPart = (u32, Reverse<usize>);

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
    let mut chosen = vec![false; parts.parts.len()];
    let mut lines: Vec<Vec<usize>> = vec![Vec::new(); parts.lines as usize];
    for (at, part) in parts.parts.iter().enumerate().filter(|(_, part)| !part.name) {
        lines[part.line as usize].push(at);
    }
    let mut begun = vec![false; lines.len()];
    let fair = (bytes as f32 / sections.max(1) as f32).max(1.0);
    let queued = |at: usize, said: &[u8], taken: &[usize], begun: &[bool]| -> QueuedPart {
        let part = &parts.parts[at];
        let sum: f32 = parts.words[part.words.clone()]
            .iter()
            .map(|(id, weight)| {
                let times = said.get(*id as usize).copied().unwrap_or(0);
                weight * AGAIN.powi(i32::from(times))
            })
            .sum();
        let joined = part.name || begun[part.line as usize];
        let overhead = if joined { JOINED } else { OVERHEAD };
        let length = (part.range.len() as f32 + overhead).powf(LENGTH);
        let have = taken.get(part.section as usize).copied().unwrap_or(0) as f32;
        let score = sum * part.factor / length / (1.0 + have / fair);
        (score.to_bits(), Reverse(at))
    };
    let mut heap: BinaryHeap<QueuedPart> = (0..parts.parts.len())
        .filter(|at| !parts.waits(*at, &chosen))
        .map(|at| queued(at, &said, &taken, &begun))
        .collect();
    let mut out = Vec::new();
    let mut left = bytes;
    let mut misses = 0;
    while let Some((_, Reverse(next))) = heap.pop() {
        let part = &parts.parts[next];
        if chosen[next] {
            continue;
        }
        // Scores only decrease as more parts are chosen. Only the first choice in a line raises the scores of the other
        // parts of the line, so those parts are queued again.
        let now = queued(next, &said, &taken, &begun);
        if heap.peek().is_some_and(|other| now.0 < other.0) {
            heap.push(now);
            continue;
        }
        let takes = match part.range.len() > left {
            true => usize::MAX,
            false => cost(part),
        };
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
        out.push(next);
        chosen[next] = true;
        let begins = !std::mem::replace(&mut begun[part.line as usize], true);
        let line = lines[part.line as usize].iter().filter(|_| begins).copied();
        for at in line.chain([next + 1]) {
            let free = |at: &&StatementPart| at.refers || begins;
            if parts.parts.get(at).is_some_and(|part| free(&part)) && !chosen[at] && !parts.waits(at, &chosen)
            {
                heap.push(queued(at, &said, &taken, &begun));
            }
        }
    }
    out
}
