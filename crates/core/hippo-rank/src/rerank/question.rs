//! Words and kind of a question.

use std::borrow::Cow;
use std::collections::BTreeSet;

use foldhash::HashMap;
use hippo_text::speaker::is_speaker_term;
use hippo_text::terms::{self, Analyzer, QueryTerm};

/// Minimum number of bytes of a word whose meaning is compared.
const WORD: usize = 3;
/// Maximum number of words whose meaning is compared.
const MOST_WORDS: usize = 32;

/// A question with weights for its terms.
#[derive(Debug)]
pub(super) struct Question {
    /// Terms without speakers, in order, with their weights (inverse document frequencies).
    pub terms: Vec<(QueryTerm, f32)>,
    /// Position of each term in `terms`.
    places: HashMap<String, usize>,
    /// Positions of the terms that also match as a prefix.
    prefixes: Vec<usize>,
    /// Positions of the terms of the capitalized words after the first word.
    pub names: BTreeSet<usize>,
    /// Positions of the numbers.
    pub numbers: BTreeSet<usize>,
    /// Words whose meaning is compared, with their weights.
    pub words: Vec<(String, f32)>,
    pub asks: Asks,
}

/// Kinds of answers that a question asks for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Asks {
    pub when: bool,
    pub who: bool,
    pub place: bool,
    pub count: bool,
    pub why: bool,
    /// The person asks about themselves: "my", "I".
    pub own: bool,
}

impl Question {
    /// Creates a question from its text, and its terms with their weights.
    pub fn new(query: &str, weighted: &[(QueryTerm, f32)]) -> Self {
        let terms: Vec<(QueryTerm, f32)> = (weighted.iter())
            .filter(|(term, _)| !is_speaker_term(&term.term))
            .cloned()
            .collect();
        let places: HashMap<String, usize> = (0..)
            .zip(&terms)
            .map(|(at, (term, _))| (term.term.clone(), at))
            .collect();
        let is_capital = |word: &&str| word.starts_with(char::is_uppercase);
        let names = query.split_whitespace().skip(1).filter(is_capital);
        let names = names.flat_map(terms::index_terms);
        let names = names.filter_map(|term| places.get(&term).copied()).collect();
        let is_number = |at: &usize| terms[*at].0.term.starts_with(|mark: char| mark.is_ascii_digit());
        let numbers = (0..terms.len()).filter(is_number).collect();
        let mut analyzer = Analyzer::new();
        let weight = |word: &str, analyzer: &mut Analyzer| {
            let mut term = String::new();
            analyzer.index_terms(word, &mut term);
            places.get(&term).map(|at| terms[*at].1)
        };
        let mut words: Vec<(String, f32)> = Vec::new();
        for word in content_words(query) {
            if let Some(weight) = weight(&word, &mut analyzer)
                && words.iter().all(|(known, _)| *known != word)
            {
                words.push((word.into_owned(), weight));
            }
        }
        words.sort_by(|(_, one), (_, other)| other.total_cmp(one));
        words.truncate(MOST_WORDS);
        Self {
            prefixes: (0..terms.len()).filter(|at| terms[*at].0.prefix).collect(),
            numbers,
            names,
            words,
            asks: Asks::of(query),
            places,
            terms,
        }
    }

    /// Returns the position of the query term that an index term matches.
    pub fn match_term(&self, found: &str) -> Option<usize> {
        let is_prefix = |at: &usize| found.starts_with(&self.terms[*at].0.term);
        let prefixed = || self.prefixes.iter().copied().find(is_prefix);
        self.places.get(found).copied().or_else(prefixed)
    }

    /// Returns the share of the total weight that a set of terms has. `covered` has a flag for each term.
    pub fn share(&self, covered: &[bool]) -> f32 {
        let all: f32 = self.terms.iter().map(|(_, weight)| weight).sum();
        let there = self.terms.iter().zip(covered).filter(|(_, covered)| **covered);
        let sum: f32 = there.map(|((_, weight), _)| weight).sum();
        if all > 0.0 { sum / all } else { 0.0 }
    }
}

impl Asks {
    fn of(query: &str) -> Self {
        let lower = query.to_lowercase();
        let words: Vec<&str> = lower
            .split(|mark: char| !mark.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .collect();
        let has = |list: &[&str]| words.iter().any(|word| list.contains(word));
        let pair = |first: &str, second: &[&str]| {
            words
                .windows(2)
                .any(|two| two[0] == first && second.contains(&two[1]))
        };
        Self {
            when: has(&["when"])
                || pair("what", &["date", "day", "time", "year", "month"])
                || pair("how", &["long"]),
            who: has(&["who", "whom", "whose"]),
            place: has(&["where"]) || pair("what", &["city", "country", "place"]),
            count: pair("how", &["many", "much", "often", "old"]),
            why: has(&["why"]),
            own: has(&["i", "my", "me", "mine", "we", "our"]),
        }
    }
}

/// Returns the words of a text that are not stop words, in lower case.
pub(super) fn content_words(text: &str) -> impl Iterator<Item = Cow<'_, str>> {
    let words = text.split(|mark: char| !mark.is_alphabetic());
    let lower = |word| match str::bytes(word).all(|byte| byte.is_ascii_lowercase()) {
        true => Cow::Borrowed(word),
        false => Cow::Owned(word.to_lowercase()),
    };
    let words = words.filter(|word| word.len() >= WORD).map(lower);
    words.filter(|word| !terms::is_stop(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_has_names_numbers_and_a_kind() {
        let query = "When did Caroline visit the Blue Lake with 12 friends?";
        let weighted: Vec<(QueryTerm, f32)> = terms::query_terms(query)
            .into_iter()
            .filter(|term| !term.stop)
            .map(|term| (term, 1.0))
            .collect();
        let question = Question::new(query, &weighted);
        assert!(question.asks.when && !question.asks.own);
        let term = |at: &usize| question.terms[*at].0.term.as_str();
        let names: Vec<&str> = question.names.iter().map(term).collect();
        assert_eq!(names, ["carolin", "blue", "lake"]);
        let numbers: Vec<&str> = question.numbers.iter().map(term).collect();
        assert_eq!(numbers, ["12"]);
        assert!(
            question
                .terms
                .iter()
                .all(|(term, _)| !is_speaker_term(&term.term))
        );
        let at = question.match_term("visit").unwrap();
        let mut covered = vec![false; question.terms.len()];
        assert_eq!(question.share(&covered), 0.0);
        covered[at] = true;
        assert!(question.share(&covered) > 0.1);
    }
}
