//! Statements whose value a later text changes.
//!
//! Two lines state the same attribute if they say how something is in the same words except for the values, or if they
//! are `name: value` with the same name below the same heading. The value of the later day holds.

use std::collections::BTreeMap;

use crate::audit::words::split_words;
use crate::consolidation::{ValueConflict, value_conflict};

/// Minimum number of words, without values, of a sentence that a later one can supersede.
const LEAST_WORDS: usize = 4;
/// Minimum number of words of a name without a heading.
const LEAST_NAME: usize = 2;
/// Maximum number of words of a name, and of its value.
const MOST_PAIR: usize = 8;
/// Maximum length in bytes of a line, because comparing values takes more than linear time.
const LONGEST: usize = 400;
/// Verbs of a sentence that says how something is. Other sentences tell events, which no later event changes.
#[rustfmt::skip] // a list is read in lines
const STATES: [&str; 34] = [
    "allows", "are", "belongs", "contains", "costs", "ends", "equals", "expires", "has", "have", "is", "keeps",
    "lasts", "listens", "lives", "means", "needs", "opens", "owns", "pays", "prefers", "remains", "requires", "runs",
    "serves", "sits", "starts", "stays", "supports", "takes", "uses", "weighs", "works", "ist",
];
/// Names that mark the kind or the speaker of a line, and name no attribute.
const LABELS: [&str; 14] = [
    "assistant",
    "decision",
    "done",
    "feedback",
    "fix",
    "issue",
    "lesson",
    "next",
    "note",
    "open",
    "pending",
    "question",
    "todo",
    "user",
];

/// A text with its day and its headings.
#[derive(Debug, Clone, Copy)]
pub struct DatedText<'t> {
    /// Day of the text, `YYYY-MM-DD`; a text without one neither supersedes nor is superseded.
    pub date: Option<&'t str>,
    /// Headings above the text, outermost first.
    pub heading: &'t [String],
    /// Text in one or more lines.
    pub text: &'t str,
}

/// Returns for each text the index of a later text that changes one of its values.
#[must_use]
pub fn find_superseded(texts: &[DatedText<'_>]) -> Vec<Option<usize>> {
    let mut by_attribute: BTreeMap<String, Vec<(&str, usize, &str)>> = BTreeMap::new();
    for (at, text) in texts.iter().enumerate() {
        let Some(date) = text.date else { continue };
        for line in text.text.lines().filter(|line| line.len() <= LONGEST) {
            for attribute in attributes(line, text.heading) {
                by_attribute.entry(attribute).or_default().push((date, at, line));
            }
        }
    }
    let mut superseded = vec![None; texts.len()];
    for lines in by_attribute.into_values().filter(|lines| lines.len() > 1) {
        let last_day = lines.iter().map(|(date, _, _)| *date).max().unwrap_or_default();
        let (last, earlier): (Vec<_>, Vec<_>) = lines.into_iter().partition(|(date, _, _)| *date == last_day);
        for (_, at, line) in earlier {
            // A value that the last day still states holds.
            let changed = last.iter().all(|(_, _, newer)| is_changed(line, newer));
            superseded[at] = superseded[at].or(last.last().filter(|_| changed).map(|(_, newer, _)| *newer));
        }
    }
    superseded
}

/// Returns `true` if two lines about the same attribute have different values. Other wording is no other value.
fn is_changed(line: &str, newer: &str) -> bool {
    value_conflict(line, newer).is_some_and(|conflict| conflict != ValueConflict::Word)
}

/// Returns the attributes of which a line may state the value.
fn attributes(line: &str, heading: &[String]) -> impl Iterator<Item = String> {
    let words = split_words(line).without_values();
    let is_state = words.joined().split(' ').any(|word| STATES.contains(&word));
    let sentence = (is_state && words.len() >= LEAST_WORDS).then(|| words.joined());
    let pair = line.split_once(": ").and_then(|(name, value)| {
        let name = split_words(name);
        let is_label = LABELS.contains(&name.joined().as_str());
        let subject = heading.last().filter(|title| !title.contains(char::is_numeric));
        let named = name.len() >= LEAST_NAME || subject.is_some() && name.len() > 0;
        let short = name.len() <= MOST_PAIR && (1..=MOST_PAIR).contains(&split_words(value).len());
        let subject = subject.map_or("", String::as_str);
        (named && short && !is_label && !name.joined().contains(char::is_numeric))
            .then(|| format!("{}: {}", subject.to_lowercase(), name.joined()))
    });
    sentence.into_iter().chain(pair)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(texts: &[(&str, &str, &str)]) -> Vec<Option<usize>> {
        let headings: Vec<Vec<String>> = texts
            .iter()
            .map(|(_, heading, _)| vec![(*heading).to_owned()])
            .collect();
        let texts = texts
            .iter()
            .zip(&headings)
            .map(|((date, _, text), heading)| DatedText {
                date: Some(*date).filter(|date| !date.is_empty()),
                heading,
                text,
            });
        find_superseded(&texts.collect::<Vec<_>>())
    }

    #[test]
    fn the_value_of_the_later_day_holds() {
        let (early, late) = ("2026-03-02", "2026-03-09");
        let changed = [
            (
                "Deploy",
                "- Staging runs on port 8443 since the renewal.",
                "- Staging runs on port 9001 since the renewal.",
            ),
            ("Depot", "- color of the door: green", "- color of the door: blue"),
            ("Database", "- engine: PostgreSQL", "- engine: SQLite"),
            (
                "Pump",
                "The left pump is enabled in the cellar.",
                "The left pump is not enabled in the cellar.",
            ),
        ];
        for (heading, old, new) in changed {
            assert_eq!(
                of(&[(early, heading, old), (late, heading, new)]),
                [Some(1), None],
                "{old}"
            );
            assert_eq!(
                of(&[(late, heading, new), (early, heading, old)]),
                [None, Some(0)],
                "{old}"
            );
            assert_eq!(
                of(&[(early, heading, old), (early, heading, new)]),
                [None, None],
                "{old}"
            );
            assert_eq!(
                of(&[("", heading, old), (late, heading, new)]),
                [None, None],
                "{old}"
            );
        }
    }

    #[test]
    fn other_subjects_and_repeated_values_supersede_nothing() {
        let (early, late) = ("2026-03-02", "2026-03-09");
        for (one, other) in [
            (
                ("Lease of Ada", "- lease: 30 s"),
                ("Lease of Grace", "- lease: 120 s"),
            ),
            (
                ("Deploy", "- decision: port 80"),
                ("Deploy", "- decision: port 90"),
            ),
            (("Talk", "Ada: 3 apples"), ("2026-03-09", "Ada: 4 apples")),
            (
                ("Talk", "- 10:15: the pump failed"),
                ("Talk", "- 10:20: the valve failed"),
            ),
            (
                ("Deploy", "- port of staging: 80"),
                ("Deploy", "- the port of staging: 80"),
            ),
            (("Deploy", "We met in hall 3"), ("Deploy", "We met in hall 4")),
        ] {
            assert_eq!(
                of(&[(early, one.0, one.1), (late, other.0, other.1)]),
                [None, None],
                "{}",
                one.1
            );
        }
        let again = of(&[
            (early, "Deploy", "- port of staging: 80"),
            (late, "Deploy", "- port of staging: 90"),
            (late, "Deploy", "- port of staging: 80"),
        ]);
        assert_eq!(again, [None, None, None]);
    }
}
