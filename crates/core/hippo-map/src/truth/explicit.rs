//! Corrections that name the old value, such as `staging listens on port 8443 now, not 8080`.

use std::collections::{BTreeMap, BTreeSet};

use super::{DatedText, STATES, may_state};
use crate::audit::words::words;
use hippo_text::gist::sentence::split_sentences;
use hippo_text::speaker::is_speaker_term;
use hippo_text::terms::query_terms;

/// Words before an old value in a sentence that says that something changed.
const BEFORE_OLD: [&str; 3] = ["not", "no longer", "nicht"];
/// Words between the new and the old value in such a sentence.
const REPLACING: [&str; 2] = ["instead of", "rather than"];
/// Words that say that something changed. Without one of them, `not 8080` may compare two things.
#[rustfmt::skip] // a list is read in lines
const CHANGED: [&str; 9] = [
    "correction", "corrected", "korrektur", "now", "longer", "anymore", "jetzt", "mehr", "update",
];
/// Verbs before `from OLD to NEW`.
#[rustfmt::skip] // a list is read in lines
const CHANGES: [&str; 12] = [
    "changed", "downgraded", "lowered", "migrated", "moved", "postponed", "raised", "renamed", "rescheduled",
    "switched", "upgraded", "went",
];
/// Maximum number of words from such a verb to `from`, with the verb.
const BEFORE_FROM: usize = 6;
/// Maximum number of words of an old value.
const LONGEST_VALUE: usize = 4;
/// Words between two old values of a list.
const JOINING: [&str; 2] = [" and", " or"];
/// Maximum number of words of a value in lower case.
const LONGEST_LOWER_CASE: usize = 2;
/// Words before a value in lower case.
const ARTICLES: [&str; 3] = ["a", "an", "the"];
/// Numbers that are written as words.
#[rustfmt::skip] // a list is read in lines
const NUMBERS: [&str; 12] = [
    "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
];
/// Marks inside a value.
const INSIDE: [char; 5] = [':', '.', '-', '_', '/'];
/// Words of advice to a reader, which states no value.
const ADDRESSED: [&str; 4] = ["you", "your", "You", "Your"];
/// Words of a wish or a condition, which states no value.
const SUPPOSED: [&str; 7] = ["could", "if", "might", "should", "unless", "wish", "would"];
/// Minimum number of words that a correction and the corrected sentence share, if the correction lacks a word of the
/// corrected sentence. Values and the verbs of [`STATES`] do not count.
const SHARED: usize = 2;
/// Maximum length in bytes of a corrected text. A longer text says more than the old value.
const LONGEST: usize = 480;

/// A sentence that names an old value.
struct Correction {
    /// Index of the text that contains the sentence, and the line of the sentence.
    at: (usize, u32),
    /// Stems of the words that say what the value is about.
    words: BTreeSet<String>,
    /// Names that are neither the old nor a valid value, in lower case.
    names: BTreeSet<String>,
    /// Values that the sentence states as valid.
    valid: BTreeSet<String>,
}

/// Returns pairs of a text and a later text that corrects it. The corrected text has no day, is of an earlier day, or
/// is above the correction in the same file.
pub(super) fn find_corrected(texts: &[DatedText<'_>]) -> Vec<(usize, usize)> {
    let mut corrections: BTreeMap<String, Vec<Correction>> = BTreeMap::new();
    for (at, text) in texts.iter().enumerate() {
        for (number, sentence) in sentences(text) {
            for (old, valid) in old_values(sentence) {
                let correction = Correction {
                    at: (at, number),
                    words: subject_words(sentence, valid.iter().chain([&old])),
                    names: other_names(sentence, valid.iter().chain([&old])),
                    valid,
                };
                corrections.entry(old).or_default().push(correction);
            }
        }
    }
    let mut found = Vec::new();
    if corrections.is_empty() {
        return found;
    }
    for (at, text) in texts.iter().enumerate() {
        if text.text.len() > LONGEST {
            continue;
        }
        for (number, sentence) in sentences(text) {
            let stated = stated_values(sentence);
            let end = stated_end(sentence).filter(|end| !stated.contains(end));
            let known = stated.iter().map(|value| (value, false));
            let known = known.chain(end.iter().map(|value| (value, true)));
            let of_value = |(value, is_end)| {
                let found = corrections.get(value).into_iter().flatten();
                found.map(move |correction| (value, is_end, correction))
            };
            for (value, is_end, correction) in known.flat_map(of_value) {
                let (newer, line) = correction.at;
                let later = &texts[newer];
                let is_above = text.place.0 == later.place.0 && number < line;
                let is_earlier = match (text.date, later.date) {
                    (one, other) if one == other => is_above,
                    (one, other) => one < other,
                };
                if is_earlier
                    && newer != at
                    && stated.is_disjoint(&correction.valid)
                    && correction.concerns(sentence, value, is_end)
                {
                    found.push((at, newer));
                }
            }
        }
    }
    found
}

impl Correction {
    /// Returns whether a sentence with the old value is about the same thing. `is_end` is true for a value in lower case,
    /// which occurs in many sentences.
    fn concerns(&self, sentence: &str, value: &String, is_end: bool) -> bool {
        let words = subject_words(before_reason(sentence, value), [value].into_iter());
        let has_all = !words.is_empty() && words.is_subset(&self.words);
        let names = other_names(sentence, [value].into_iter());
        let has_others = !names.is_empty() && !self.names.is_empty() && names.is_disjoint(&self.names);
        has_all || !is_end && !has_others && words.intersection(&self.words).count() >= SHARED
    }
}

/// Returns the sentences of a text that may state a value, each with the number of its line.
pub(super) fn sentences<'t>(text: &DatedText<'t>) -> impl Iterator<Item = (u32, &'t str)> {
    let mut is_code = false;
    let lines = (text.place.1..).zip(text.text.lines());
    let stating = lines.filter(move |(_, line)| {
        is_code ^= line.trim_start().starts_with("```");
        !is_code && may_state(line)
    });
    stating.flat_map(|(number, line)| split_sentences(line).map(move |sentence| (number, sentence)))
}

/// Returns the values that a sentence states. A change from OLD to NEW states NEW.
fn stated_values(sentence: &str) -> BTreeSet<String> {
    if has_any(&ADDRESSED, words(sentence)) {
        return BTreeSet::new();
    }
    match change(sentence) {
        Some((_, new)) => new,
        None if has_any(&STATES, words(sentence)) => values(sentence, false),
        None => BTreeSet::new(),
    }
}

/// Returns the last words of a sentence such as `the queue is rabbitmq`, if they follow a verb of [`STATES`] and may be a
/// value in lower case.
fn stated_end(sentence: &str) -> Option<String> {
    if has_any(&ADDRESSED, words(sentence)) {
        return None;
    }
    let all: Vec<&str> = words(sentence).collect();
    let verb = all.iter().rposition(|word| STATES.contains(word))?;
    lower_case_value(&all[verb + 1..])
}

/// Returns a short phrase without values as a value.
fn lower_case_value(phrase: &[&str]) -> Option<String> {
    let is_filler = |word: &&str| CHANGED.contains(word) || ARTICLES.contains(word);
    let phrase: Vec<&str> = phrase.iter().copied().filter(|word| !is_filler(word)).collect();
    let is_short = (1..=LONGEST_LOWER_CASE).contains(&phrase.len());
    let value = phrase.join(" ");
    (is_short && values(&value, true).is_empty()).then_some(value)
}

/// Returns the values that a sentence says are not valid any more, each with the values that are valid, in lower case.
fn old_values(sentence: &str) -> Vec<(String, BTreeSet<String>)> {
    if let Some(changed) = change(sentence) {
        return vec![changed];
    }
    let lower = sentence.to_lowercase();
    if !has_any(&CHANGED, words(&lower)) || has_any(&SUPPOSED, words(&lower)) {
        return Vec::new();
    }
    if let Some(replaced) = REPLACING.iter().find_map(|mark| replacement(sentence, mark)) {
        return vec![replaced];
    }
    let mut by_mark = BEFORE_OLD.iter().map(|mark| values_after(sentence, mark));
    let old = by_mark.find(|old| !old.is_empty()).unwrap_or_default();
    let is_number = |value: &String| value.contains(char::is_numeric);
    let valid_beside = |old_value: &String| {
        let mut valid = values(sentence, false);
        // Other names of the sentence may be its subject.
        valid.retain(|value| !old.contains(value) && (is_number(value) || !is_number(old_value)));
        valid
    };
    old.iter()
        .map(|value| (value.clone(), valid_beside(value)))
        .collect()
}

/// Returns the values after a mark: `30` and `8` for the mark `not` in `not 30 minutes and not 8 hours`.
fn values_after(sentence: &str, mark: &str) -> BTreeSet<String> {
    let mark = format!(" {mark} ");
    let parts: Vec<&str> = sentence.split(&mark).collect();
    let is_listed =
        |part: &str| part.ends_with([',', ';']) || JOINING.iter().any(|word| part.ends_with(word));
    let listed = (1..parts.len()).take_while(|at| *at == 1 || is_listed(parts[at - 1]));
    let phrase = |at: usize| {
        let part = clause(parts[at]);
        JOINING
            .iter()
            .find_map(|word| part.strip_suffix(word))
            .unwrap_or(part)
    };
    listed.filter_map(|at| single_value(phrase(at))).collect()
}

/// Returns OLD and the values of NEW, if a sentence says that something is now NEW instead of OLD. `mark` separates
/// the two.
fn replacement(sentence: &str, mark: &str) -> Option<(String, BTreeSet<String>)> {
    let (before, old) = sentence.split_once(&format!(" {mark} "))?;
    let new: Vec<&str> = words(before).collect();
    if has_any(&BEFORE_OLD, new.iter().copied()) {
        return None;
    }
    let verb = new.iter().rposition(|word| STATES.contains(word));
    let new = new[verb.map_or(0, |verb| verb + 1)..].join(" ");
    let phrase: Vec<&str> = words(clause(old)).collect();
    let old = single_value(clause(old)).or_else(|| {
        // Only a sentence with a verb of state has a value in lower case.
        verb.and_then(|_| lower_case_value(&phrase))
    })?;
    let mut valid = values(&new, true);
    valid.remove(&old);
    Some((old, valid))
}

/// Returns OLD and the values of NEW, if a sentence says that something changed from OLD to NEW.
fn change(sentence: &str) -> Option<(String, BTreeSet<String>)> {
    let (before, rest) = sentence.split_once(" from ")?;
    let (old, new) = rest.split_once(" to ")?;
    let before = before.to_lowercase();
    if !has_any(&CHANGES, words(&before).rev().take(BEFORE_FROM)) || words(old).count() > LONGEST_VALUE {
        return None;
    }
    let new: Vec<&str> = words(clause(new)).take(LONGEST_VALUE).collect();
    let (old, new) = (values(old, true), values(&new.join(" "), true));
    // `Node` in `from Node 18 to Node 20` did not change.
    let mut gone = old.difference(&new);
    let value = gone.next().filter(|_| gone.next().is_none())?;
    Some((value.clone(), new.difference(&old).cloned().collect()))
}

/// Returns the start of a text up to the next punctuation mark within a sentence.
fn clause(text: &str) -> &str {
    let start = text
        .split([',', ';', '(', ')', '—', '–'])
        .next()
        .unwrap_or_default();
    start.split(": ").next().unwrap_or_default()
}

/// Returns a sentence up to the end of the clause with a value: `X starts at 4:30` of `X starts at 4:30, because of Y`.
fn before_reason<'s>(sentence: &'s str, value: &String) -> &'s str {
    let mut ends = sentence
        .match_indices([',', ';', '—'])
        .map(|(at, _)| &sentence[..at]);
    ends.find(|start| values(start, false).contains(value))
        .unwrap_or(sentence)
}

fn has_any<'w>(list: &[&str], mut words: impl Iterator<Item = &'w str>) -> bool {
    words.any(|word| list.contains(&word))
}

/// Returns the value in a short phrase such as `on port 8080 any more`, if the phrase contains exactly one.
fn single_value(phrase: &str) -> Option<String> {
    let mut found = values(phrase, true).into_iter();
    let words = words(phrase).count();
    found
        .next()
        .filter(|_| words <= LONGEST_VALUE && found.next().is_none())
}

/// Returns the numbers and names of a text in lower case. The first word of a sentence is a name only if `is_phrase` is
/// true.
fn values(text: &str, is_phrase: bool) -> BTreeSet<String> {
    let words = joined_words(text).enumerate();
    let is_value = |(at, word): &(usize, &str)| {
        word.contains(char::is_numeric)
            || is_identifier(word)
            || NUMBERS.contains(word)
            || (*at > 0 || is_phrase) && word.chars().nth(1).is_some() && word.starts_with(char::is_uppercase)
    };
    words
        .filter(is_value)
        .map(|(_, word)| word.to_lowercase())
        .collect()
}

/// Returns the words of a text. Times, versions and identifiers such as `4:30` and `node-b` are one word.
fn joined_words(text: &str) -> impl Iterator<Item = &str> {
    let runs = text.split(|mark: char| !mark.is_alphanumeric() && !INSIDE.contains(&mark));
    runs.map(|run| run.trim_matches(INSIDE))
        .filter(|run| !run.is_empty())
}

/// Returns `true` for a word with a part of one letter, such as `node-b`.
fn is_identifier(word: &str) -> bool {
    word.contains(INSIDE) && word.split(INSIDE).any(|part| part.chars().count() == 1)
}

/// Returns the stems of the words that say what the values are about: no stop words, no numbers, no verbs of
/// [`STATES`], and no words of the values.
fn subject_words<'v>(sentence: &str, values: impl Iterator<Item = &'v String>) -> BTreeSet<String> {
    let values: BTreeSet<&str> = values.flat_map(|value| value.split(' ')).collect();
    let is_about = |word: &&str| !STATES.contains(word) && !values.contains(word.to_lowercase().as_str());
    let about: Vec<&str> = words(sentence).filter(is_about).collect();
    let telling = query_terms(&about.join(" ")).into_iter().filter(|term| {
        let is_marker = CHANGED.contains(&term.term.as_str()) || is_speaker_term(&term.term);
        !term.stop && !is_marker && !term.term.contains(char::is_numeric)
    });
    telling.map(|term| term.term).collect()
}

/// Returns the names of a sentence that are not among these values, in lower case.
fn other_names<'v>(sentence: &str, known: impl Iterator<Item = &'v String>) -> BTreeSet<String> {
    let mut names = values(sentence, false);
    for value in known {
        names.remove(value);
    }
    names.retain(|name| !name.contains(char::is_numeric) && !NUMBERS.contains(&name.as_str()));
    names
}

#[cfg(test)]
mod tests;
