//! Analysis of a candidate's text.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use foldhash::{HashMap, HashSet};
use hippo_text::terms::Analyzer;

use super::question::{Question, content_words};

/// Maximum bytes of a text that are read. A chunk is rarely longer.
const READ: usize = 4096;
/// Length of the longest word in [`TIMES`].
const LONGEST_TIME: usize = 9;
/// Words for points in time.
#[rustfmt::skip] // keep the list compact
static TIMES: LazyLock<HashSet<&str>> = LazyLock::new(|| HashSet::from_iter([
    "yesterday", "today", "tomorrow", "tonight", "ago", "week", "weeks", "weekend", "month", "months", "year",
    "years", "day", "days", "morning", "evening", "night", "summer", "winter", "spring", "autumn", "monday",
    "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday", "january", "february", "march", "april",
    "june", "july", "august", "september", "october", "november", "december", "last", "next", "since", "recently",
    "hours",
]));

/// Numbers for strings, so that words are compared as numbers.
#[derive(Debug, Default)]
pub(super) struct Interner {
    known: HashMap<String, u32>,
}

impl Interner {
    fn number(&mut self, word: &str) -> u32 {
        if let Some(number) = self.known.get(word) {
            return *number;
        }
        let number = u32::try_from(self.known.len()).unwrap_or(u32::MAX);
        self.known.insert(word.to_owned(), number);
        number
    }

    /// Returns the words in the order of their numbers.
    pub fn words(&self) -> Vec<&str> {
        let mut words = vec![""; self.known.len()];
        for (word, number) in &self.known {
            words[*number as usize] = word;
        }
        words
    }
}

/// Facts about a candidate's text.
#[derive(Debug, Default)]
pub(super) struct TextFacts {
    /// For each query term, true if the text contains it.
    pub covered: Vec<bool>,
    /// For each query term, true if the path or a heading contains it.
    pub headed: Vec<bool>,
    /// Share of the adjacent pairs of query terms that are adjacent in the text.
    pub bigrams: f32,
    /// Share of the adjacent pairs of query terms within a distance of 5 terms in the text.
    pub close: f32,
    /// Share of the query's names in the text.
    pub names: f32,
    /// Share of the query's numbers in the text.
    pub numbers: f32,
    /// Number of terms.
    pub length: usize,
    pub has_number: bool,
    pub has_time: bool,
    /// Number of capitalized words within sentences.
    pub capitals: usize,
    pub is_question: bool,
    /// The speaker speaks about themselves: "I", "my".
    pub first_person: bool,
    /// Numbers of the distinct words whose meaning is compared.
    pub words: Vec<u32>,
}

/// Reader of texts. It keeps the numbers of words from text to text.
pub(super) struct CandidateReader<'a> {
    analyzer: &'a mut Analyzer,
    pub words: Interner,
}

impl<'a> CandidateReader<'a> {
    pub fn new(analyzer: &'a mut Analyzer) -> Self {
        Self {
            analyzer,
            words: Interner::default(),
        }
    }

    /// Reads the text of a candidate. `heading` contains its path and its headings.
    pub fn read(&mut self, question: &Question, text: &str, heading: &str) -> TextFacts {
        let text = hippo_text::text::start(text, READ);
        let count = question.terms.len();
        let mut facts = TextFacts {
            covered: vec![false; count],
            headed: vec![false; count],
            ..TextFacts::default()
        };
        let mut buffer = String::new();
        self.analyzer.index_terms(heading, &mut buffer);
        for term in buffer.split_ascii_whitespace() {
            if let Some(at) = question.match_term(term) {
                facts.headed[at] = true;
            }
        }
        buffer.clear();
        self.analyzer.index_terms(text, &mut buffer);
        let mut matches: Vec<(usize, usize)> = Vec::new();
        // For each query term, true if the text contains exactly this term.
        let mut exact = vec![false; count];
        for (place, term) in buffer.split_ascii_whitespace().enumerate() {
            facts.length += 1;
            facts.has_number |= term.starts_with(|mark: char| mark.is_ascii_digit());
            if let Some(at) = question.match_term(term) {
                facts.covered[at] = true;
                matches.push((place, at));
                exact[at] = exact[at] || question.terms[at].0.term == term;
            }
        }
        let share_of = |terms: &BTreeSet<usize>| {
            let there = terms.iter().filter(|at| exact[**at]).count();
            share(there, terms.len())
        };
        facts.names = share_of(&question.names);
        facts.numbers = share_of(&question.numbers);
        let within = |distance: usize| {
            let mut pairs = vec![false; count.saturating_sub(1)];
            for (number, (place, at)) in matches.iter().enumerate() {
                let next = matches[number + 1..].iter();
                for (_, other) in next.take_while(|(other, _)| other - place <= distance) {
                    if at.abs_diff(*other) == 1 {
                        pairs[*at.min(other)] = true;
                    }
                }
            }
            share(pairs.iter().filter(|pair| **pair).count(), pairs.len())
        };
        (facts.bigrams, facts.close) = (within(1), within(5));
        let mut starts = true;
        for word in text.split_whitespace() {
            let bare = word.trim_matches(|mark: char| !mark.is_alphanumeric());
            facts.capitals += usize::from(!starts && bare.len() > 1 && bare.starts_with(char::is_uppercase));
            starts = word.ends_with(['.', '!', '?', ':', '-', '*']);
            facts.first_person = facts.first_person || is_own(bare);
            facts.has_time = facts.has_time || is_time(bare);
        }
        facts.is_question = text.trim_end().ends_with('?');
        facts.words = content_words(text).map(|word| self.words.number(&word)).collect();
        facts.words.sort_unstable();
        facts.words.dedup();
        facts
    }
}

/// Returns whether a speaker uses this word to speak about themselves.
fn is_own(word: &str) -> bool {
    matches!(word, "I" | "my" | "My" | "me" | "mine" | "we" | "our")
        || word.starts_with("I'")
        || word.starts_with("I’")
}

/// Returns whether a word, in upper or lower case, is a point in time.
fn is_time(word: &str) -> bool {
    let mut lower = [0; LONGEST_TIME];
    let Some(lower) = lower.get_mut(..word.len()) else {
        return false;
    };
    lower.copy_from_slice(word.as_bytes());
    lower.make_ascii_lowercase();
    std::str::from_utf8(lower).is_ok_and(|word| TIMES.contains(word))
}

fn share(part: usize, all: usize) -> f32 {
    if all == 0 { 0.0 } else { part as f32 / all as f32 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_for_a_time_is_recognized_in_any_case() {
        for word in TIMES.iter() {
            assert!(is_time(word) && is_time(&word.to_uppercase()), "{word}");
        }
        for word in ["", "Septembers", "dayé", "pump"] {
            assert!(!is_time(word), "{word}");
        }
    }
}
