//! Corrections that name the old value, such as `staging listens on port 8443 now, not 8080`.

use std::collections::{BTreeMap, BTreeSet};

use super::{DatedText, STATES, may_state};
use crate::audit::words::words;
use hippo_text::gist::sentence::split_sentences;
use hippo_text::speaker::is_speaker_term;
use hippo_text::terms::query_terms;

/// Words before an old value in a sentence that says that something changed.
const BEFORE_OLD: [&str; 5] = ["not", "no longer", "instead of", "rather than", "nicht"];
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
/// Numbers that are written as words.
#[rustfmt::skip] // a list is read in lines
const NUMBERS: [&str; 12] = [
    "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
];
/// Words of advice to a reader, which states no value.
const ADDRESSED: [&str; 4] = ["you", "your", "You", "Your"];
/// Minimum number of words that a correction and the corrected sentence share, not counting values.
const SHARED: usize = 2;
/// Maximum length in bytes of a corrected text. A longer text says more than the old value.
const LONGEST: usize = 480;

/// A sentence that names an old value.
struct Correction {
    /// Index of the text that contains the sentence, and the line of the sentence.
    at: (usize, u32),
    /// Stems of the words that are neither stop words nor values.
    words: BTreeSet<String>,
    /// Values that the sentence states as valid.
    valid: BTreeSet<String>,
}

/// Returns pairs of a text and a later text that corrects it. The corrected text has no day, is of an earlier day, or
/// is above the correction in the same file.
pub(super) fn find_corrected(texts: &[DatedText<'_>]) -> Vec<(usize, usize)> {
    let mut corrections: BTreeMap<String, Vec<Correction>> = BTreeMap::new();
    for (at, text) in texts.iter().enumerate() {
        for (number, sentence) in sentences(text) {
            if let Some((old, valid)) = old_value(sentence) {
                let (at, words) = ((at, number), telling_words(sentence));
                corrections
                    .entry(old)
                    .or_default()
                    .push(Correction { at, words, valid });
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
            for correction in stated.iter().filter_map(|value| corrections.get(value)).flatten() {
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
                    && telling_words(sentence).intersection(&correction.words).count() >= SHARED
                {
                    found.push((at, newer));
                }
            }
        }
    }
    found
}

/// Returns the sentences of a text that may state a value, each with the number of its line.
fn sentences<'t>(text: &DatedText<'t>) -> impl Iterator<Item = (u32, &'t str)> {
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

/// Returns the value that a sentence says is not valid any more, and the values that are valid, in lower case.
fn old_value(sentence: &str) -> Option<(String, BTreeSet<String>)> {
    if let Some(changed) = change(sentence) {
        return Some(changed);
    }
    if !has_any(&CHANGED, words(&sentence.to_lowercase())) {
        return None;
    }
    let after = |mark: &str| {
        let at = sentence.find(&format!(" {mark} "))?;
        Some(&sentence[at + mark.len() + 2..])
    };
    let old = BEFORE_OLD
        .iter()
        .find_map(|mark| single_value(clause(after(mark)?)))?;
    let is_number = |value: &str| value.contains(char::is_numeric);
    let mut valid = values(sentence, false);
    // Other names of the sentence may be its subject.
    valid.retain(|value| *value != old && (is_number(value) || !is_number(&old)));
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
    text.split([',', ';', ':', '(', ')', '—', '–'])
        .next()
        .unwrap_or_default()
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
    let words = words(text).enumerate();
    let is_value = |(at, word): &(usize, &str)| {
        word.contains(char::is_numeric)
            || NUMBERS.contains(word)
            || (*at > 0 || is_phrase) && word.chars().nth(1).is_some() && word.starts_with(char::is_uppercase)
    };
    words
        .filter(is_value)
        .map(|(_, word)| word.to_lowercase())
        .collect()
}

/// Returns the stems of the words that are neither stop words nor numbers.
fn telling_words(sentence: &str) -> BTreeSet<String> {
    let terms = query_terms(sentence).into_iter();
    let telling = terms.filter(|term| {
        let is_marker = CHANGED.contains(&term.term.as_str()) || is_speaker_term(&term.term);
        !term.stop && !is_marker && !term.term.contains(char::is_numeric)
    });
    telling.map(|term| term.term).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text<'t>(date: Option<&'t str>, place: (&'t str, u32), text: &'t str) -> DatedText<'t> {
        DatedText {
            date,
            place,
            heading: &[],
            text,
        }
    }

    #[test]
    fn a_correction_supersedes_the_old_value_in_earlier_texts_only() {
        let table = [
            (
                "Staging listens on port 8080.",
                "Staging listens on port 8443 now, not 8080.",
            ),
            (
                "Staging listens on port 8080.",
                "Staging listens on port 8443 since Monday, and no longer on 8080.",
            ),
            (
                "The billing queue uses RabbitMQ.",
                "Correction: the billing queue uses NATS, not RabbitMQ.",
            ),
            (
                "The nightly backup of billing runs on Hetzner.",
                "We moved the nightly backup of billing from Hetzner to Scaleway.",
            ),
            (
                "Failed webhooks of billing are retried five times.",
                "Correction: failed webhooks of billing are retried six times, not five.",
            ),
            (
                "- Staging listens on port 8080.",
                "- Staging listens on port 8443 now, not 8080.",
            ),
            (
                "The Billing queue takes 30 minutes.",
                "- Changed the Billing queue from 30 minutes to 8 hours.",
            ),
            (
                "- Changed the billing queue from 30 minutes to 8 hours.",
                "- Changed the billing queue from 8 hours to 45 minutes.",
            ),
            (
                "The backend of billing runs on Node 18.",
                "- Upgraded the backend of billing from Node 18 to Node 20 (finally).",
            ),
        ];
        let (log, early, late) = ("memory/2026-03-02.md", Some("2026-03-02"), Some("2026-03-09"));
        for (old, new) in table {
            let old = |date, line| text(date, (log, line), old);
            let new = |date, line| text(date, (log, line), new);
            for (one, other) in [
                (old(None, 3), new(late, 4)),
                (old(early, 3), new(late, 1)),
                (old(late, 3), new(late, 4)),
            ] {
                assert_eq!(find_corrected(&[one, other]), [(0, 1)], "{one:?}");
                assert_eq!(find_corrected(&[other, one]), [(1, 0)], "{one:?}");
            }
            for (one, other) in [
                (old(late, 3), new(early, 4)),
                (old(late, 5), new(late, 4)),
                (old(early, 3), new(None, 4)),
            ] {
                assert_eq!(find_corrected(&[one, other]), [], "{one:?}");
            }
        }
    }

    #[test]
    fn comparisons_advice_and_other_subjects_correct_nothing() {
        for (old, new) in [
            (
                "Billing listens on 8080.",
                "Correction: staging is on port 8443, not 8080.",
            ),
            (
                "Staging listens on port 8080.",
                "Staging listens on port 8443, not 8080.",
            ),
            (
                "Staging listens on port 8080.",
                "Was staging ever on port 8443 now, not 8080?",
            ),
            (
                "Staging moved away from port 8080.",
                "Staging listens on port 8443 now, not 8080.",
            ),
            (
                "Make sure that your staging uses port 8080.",
                "Staging listens on port 8443 now, not 8080.",
            ),
            (
                "You changed your staging port from 5 to 8080.",
                "Staging listens on port 8443 now, not 8080.",
            ),
            (
                "The flight from Boston is on Friday.",
                "There is a direct flight from Boston to Miami that can be upgraded.",
            ),
            (
                "The queue uses NATS, not RabbitMQ.",
                "Correction: the queue uses NATS, not RabbitMQ.",
            ),
        ] {
            let place = ("a.md", 1);
            let texts = [text(None, place, old), text(Some("2026-03-09"), place, new)];
            assert_eq!(find_corrected(&texts), [], "{old}");
        }
    }
}
