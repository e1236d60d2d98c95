//! Detection of statements whose value is outdated.
//!
//! Two lines state the same attribute in two cases. Either both are sentences that describe a state in the same words,
//! except for the values. Or both have the form `name: value`, with the same name below the same headings. The value of
//! the later day is valid; within one file, the value of the later line is valid. Also, a later sentence can name the
//! old value (`explicit`), or another holder of a role (`role`).

mod explicit;
mod latest;
mod role;

use std::collections::{BTreeMap, BTreeSet};

use crate::audit::words::split_words;
use crate::consolidation::{ValueConflict, value_conflict};
use hippo_text::gist::machine::is_machine;

pub use latest::{AMONG, order_latest_first, own_date};

/// Minimum number of words, not counting values, of a sentence that a later sentence can supersede.
const LEAST_WORDS: usize = 4;
/// Minimum number of words of a name without a heading above.
const LEAST_NAME: usize = 2;
/// Maximum number of words of a name, and of its value.
const MOST_PAIR: usize = 8;
/// Maximum length of a line in bytes. The limit is needed because comparing values takes more than linear time.
const LONGEST: usize = 240;
/// Minimum number of lines between a value and its change in one file. Nearer lines belong to one list.
const APART: u32 = 20;
/// Words in the headings of days and sessions. Such headings do not name a subject.
const OF_A_DAY: [&str; 4] = ["day", "log", "session", "talk"];
/// Verbs of sentences that describe a state. Other sentences describe events, which later events do not change.
#[rustfmt::skip] // a list is read in lines
const STATES: [&str; 34] = [
    "allows", "are", "belongs", "contains", "costs", "ends", "equals", "expires", "has", "have", "is", "keeps",
    "lasts", "listens", "lives", "means", "needs", "opens", "owns", "pays", "prefers", "remains", "requires", "runs",
    "serves", "sits", "starts", "stays", "supports", "takes", "uses", "weighs", "works", "ist",
];
/// Labels for the kind or the speaker of a line. They do not name an attribute.
#[rustfmt::skip] // a list is read in lines
const LABELS: [&str; 24] = [
    "assistant", "base case", "conclusion", "create", "decision", "done", "example", "expected", "feedback", "fix",
    "issue", "lesson", "modify", "next", "note", "open", "pending", "question", "run", "status", "summary", "test",
    "todo", "user",
];

/// Mark of a line that corrects no other line and that no other line corrects.
const VALID: &str = "<!-- hippod: valid -->";

/// First words of a premise. A premise is valid only for the text that follows.
const PREMISES: [&str; 6] = ["assume", "if", "let", "since", "suppose", "when"];

/// A text with its day and its headings.
#[derive(Debug, Clone, Copy)]
pub struct DatedText<'t> {
    /// Day of the text, `YYYY-MM-DD`. A text without a day neither supersedes other texts nor is superseded, except by a
    /// sentence that names its value as the old one.
    pub date: Option<&'t str>,
    /// File of the text, and its first line.
    pub place: (&'t str, u32),
    /// Headings above the text, outermost first.
    pub heading: &'t [String],
    /// Text in one or more lines.
    pub text: &'t str,
}

/// A line that states the value of an attribute.
struct StatedLine<'t> {
    /// Index of the text that contains the line.
    at: usize,
    date: &'t str,
    place: (&'t str, u32),
    line: &'t str,
}

impl StatedLine<'_> {
    fn is_after(&self, other: &Self) -> bool {
        self.at != other.at && is_after((self.date, self.place), (other.date, other.place))
    }
}

/// Returns `true` if `line` is later than `other`: on a later day, or in the same daily log at least [`APART`] lines
/// below. Each line is given by its day, its file and its number.
fn is_after(line: (&str, (&str, u32)), other: (&str, (&str, u32))) -> bool {
    let ((date, (path, number)), (other_date, (other_path, other_number))) = (line, other);
    let name = path.rsplit('/').next().unwrap_or(path);
    let is_below = path == other_path && number >= other_number + APART && name.contains(date);
    date > other_date || is_below
}

/// Returns, for each text, the index of a later text that states another value for the same attribute, or `None`.
///
/// An attribute with more than `most_values` different lines is ignored. It is probably a form that is filled in
/// repeatedly. The running time is linear in the number of lines if `most_values` is small.
#[must_use]
pub fn find_superseded(texts: &[DatedText<'_>], most_values: usize) -> Vec<Option<usize>> {
    let mut by_attribute: BTreeMap<String, Vec<StatedLine<'_>>> = BTreeMap::new();
    for (at, text) in texts.iter().enumerate() {
        let Some(date) = text.date else { continue };
        let mut is_code = false;
        for (number, line) in (text.place.1..).zip(text.text.lines()) {
            is_code ^= line.trim_start().starts_with("```");
            if is_code || !may_state(line) {
                continue;
            }
            let line = without_number(line);
            let place = (text.place.0, number);
            for attribute in attributes(line, text.heading) {
                let stated = StatedLine {
                    at,
                    date,
                    place,
                    line,
                };
                by_attribute.entry(attribute).or_default().push(stated);
            }
        }
    }
    let mut superseded = vec![None; texts.len()];
    for lines in by_attribute.into_values() {
        let different: BTreeSet<&str> = lines.iter().map(|line| line.line).collect();
        if !(2..=most_values).contains(&different.len()) {
            continue;
        }
        let (mut last, earlier) = split_last(lines);
        let newest = last.last().map(|newer| newer.at);
        // Equal lines are compared only once, so that the time is linear in the number of lines.
        let mut seen = BTreeSet::new();
        last.retain(|newer| seen.insert(newer.line));
        // A text is superseded only if all its values for the attribute have changed.
        let mut holds = BTreeMap::<usize, bool>::new();
        for older in earlier {
            let changed = last
                .iter()
                .all(|newer| newer.is_after(&older) && is_changed(older.line, newer.line));
            *holds.entry(older.at).or_default() |= !changed;
        }
        for (at, _) in holds.into_iter().filter(|(_, holds)| !holds) {
            superseded[at] = superseded[at].or(newest);
        }
    }
    let corrected = explicit::find_corrected(texts).into_iter();
    for (older, newer) in corrected.chain(role::find_replaced(texts)) {
        superseded[older] = superseded[older].or(Some(newer));
    }
    // A text that supersedes another one may itself be superseded. Each text gets the latest one of its chain, which has
    // an end because each step leads to a later text.
    for at in 0..superseded.len() {
        while let Some(next) = superseded[at].and_then(|newer| superseded[newer]) {
            superseded[at] = Some(next);
        }
    }
    superseded
}

/// Splits lines into those of the last day and the earlier ones. If all lines of the last day are in one file, only the
/// last line counts as last, and the others as earlier.
fn split_last(lines: Vec<StatedLine<'_>>) -> (Vec<StatedLine<'_>>, Vec<StatedLine<'_>>) {
    let last_day = lines.iter().map(|line| line.date).max().unwrap_or_default();
    let (last, mut earlier): (Vec<_>, Vec<_>) = lines.into_iter().partition(|line| line.date == last_day);
    let is_one_file = last.iter().all(|line| line.place.0 == last[0].place.0);
    let end = last.iter().map(|line| line.place.1).max().filter(|_| is_one_file);
    let (last, before): (Vec<_>, Vec<_>) = last
        .into_iter()
        .partition(|line| end.is_none_or(|end| line.place.1 == end));
    earlier.extend(before);
    (last, earlier)
}

/// Returns `true` if two lines about the same attribute have different values. Different wording alone does not count.
fn is_changed(line: &str, newer: &str) -> bool {
    value_conflict(line, newer).is_some_and(|conflict| conflict != ValueConflict::Word)
}

/// Returns `false` for lines that state no value: machine output, code, formulas, an assistant's words, questions. Also
/// returns `false` for lines that a person marked with [`VALID`].
pub(crate) fn may_state(line: &str) -> bool {
    let bare = line.trim_start_matches(['-', '*', '>', ' ', '#']);
    let is_said = !line.contains(VALID)
        && !bare.starts_with("Assistant:")
        && !bare.ends_with(['?', '？', ';', '{', ',']);
    let first = bare.split(' ').next().unwrap_or_default().to_lowercase();
    let is_premise = PREMISES.contains(&first.as_str());
    line.len() <= LONGEST && is_said && !is_premise && !is_machine(bare) && !bare.contains(['\\', '^', '$'])
}

/// Returns `true` for a heading that names a subject, not a day or a session.
pub(crate) fn is_subject(title: &str) -> bool {
    let words = title.split(|mark: char| !mark.is_alphanumeric());
    let mut plain = words.filter(|word| !word.is_empty() && !word.contains(char::is_numeric));
    plain.any(|word| !OF_A_DAY.contains(&word.to_lowercase().as_str()))
}

/// Returns a line without the number of a list item, because that number is not a value.
fn without_number(line: &str) -> &str {
    let item = line
        .trim_start()
        .trim_start_matches(|mark: char| mark.is_ascii_digit());
    item.strip_prefix(['.', ')']).unwrap_or(line)
}

/// Returns the attributes whose value a line may state.
fn attributes(line: &str, heading: &[String]) -> impl Iterator<Item = String> {
    let words = split_words(line).without_values().without("now");
    let is_state = words.joined().split(' ').any(|word| STATES.contains(&word));
    let sentence = (is_state && words.len() >= LEAST_WORDS).then(|| words.joined());
    let pair = line.split_once(": ").and_then(|(name, value)| {
        let name = split_words(name);
        let is_label = LABELS.contains(&name.joined().as_str());
        let titles = heading.iter().map(String::as_str);
        let subject: Vec<&str> = titles.filter(|title| is_subject(title)).collect();
        let named = name.len() >= LEAST_NAME || !subject.is_empty() && name.len() > 0;
        let short = name.len() <= MOST_PAIR && (1..=MOST_PAIR).contains(&split_words(value).len());
        (named && short && !is_label && !name.joined().contains(char::is_numeric))
            .then(|| format!("{}: {}", subject.join(" > ").to_lowercase(), name.joined()))
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
            .enumerate()
            .map(|(at, ((date, _, text), heading))| DatedText {
                date: Some(*date).filter(|date| !date.is_empty()),
                place: (["a.md", "b.md", "c.md"][at], 1),
                heading,
                text,
            });
        find_superseded(&texts.collect::<Vec<_>>(), usize::MAX)
    }

    #[test]
    fn a_line_that_a_person_marked_as_valid_takes_part_in_no_correction() {
        let old = "The gate of the harbour listens on port 8080";
        let new = "The gate of the harbour listens on port 8443 now, not 8080";
        let pair = |old: &str, new: &str| of(&[("2026-03-02", "", old), ("2026-03-09", "", new)]);
        assert_eq!(pair(old, new), [Some(1), None]);
        let marked = |line: &str| format!("{line} <!-- hippod: valid -->");
        assert_eq!(pair(&marked(old), new), [None, None]);
        assert_eq!(pair(old, &marked(new)), [None, None]);
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
    fn a_text_is_superseded_by_the_last_of_its_corrections() {
        let found = of(&[
            ("", "Deploy", "Staging listens on port 80."),
            ("2026-03-02", "Deploy", "Staging listens on port 90 now, not 80."),
            ("2026-03-09", "Deploy", "Staging listens on port 95 now, not 90."),
        ]);
        assert_eq!(found, [Some(2), Some(2), None]);
    }

    #[test]
    fn the_later_line_of_a_file_holds() {
        let heading = ["Deploy".to_owned()];
        let text = |line: u32, text: &'static str| DatedText {
            date: Some("2026-03-02"),
            place: ("memory/2026-03-02.md", line),
            heading: &heading,
            text,
        };
        let (old, new) = (
            text(3, "- port of staging: 80\n"),
            text(29, "- port of staging: 90\n"),
        );
        assert_eq!(find_superseded(&[new, old], usize::MAX), [None, Some(0)]);
        let near = text(9, "- port of staging: 90\n");
        assert_eq!(
            find_superseded(&[near, old], usize::MAX),
            [None, None],
            "parts of one list"
        );
        let both = text(3, "- port of staging: 80\n- port of staging: 90\n");
        assert_eq!(
            find_superseded(&[both, new], usize::MAX),
            [None, None],
            "the last value is in the text"
        );
    }

    #[test]
    fn code_numbers_of_items_and_the_words_of_an_assistant_state_no_value() {
        for (one, other) in [
            ("```\nlet port: u16 = 80;\n```", "```\nlet port: u16 = 90;\n```"),
            (
                "3. **The port of staging** is open.",
                "4. **The port of staging** is open.",
            ),
            (
                "Assistant: the port of staging is 80.",
                "Assistant: the port of staging is 90.",
            ),
            ("[message_id: 412]", "[message_id: 413]"),
            ("Session Date: 2026-03-02", "Session Date: 2026-03-09"),
        ] {
            let found = of(&[("2026-03-02", "Talk", one), ("2026-03-09", "Talk", other)]);
            assert_eq!(found, [None, None], "{one}");
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
                ("Task 1: pump", "- path: a.rs"),
                ("Task 2: valve", "- path: b.rs"),
            ),
            (
                ("Proof", "Since 6 is divisible by 6^1, it holds"),
                ("Proof", "Since 4 is divisible by 4^1, it holds"),
            ),
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
