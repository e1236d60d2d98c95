//! Holders of roles, such as `the on-call engineer is Anna`.
//!
//! A phrase with a definite article names one thing, so a later sentence with the same phrase states its new value.

use std::collections::BTreeMap;

use super::{DatedText, explicit, is_subject};
use hippo_text::source::SourceKind;

/// Maximum number of words of a role.
const MOST_ROLE: usize = 6;
/// Minimum number of words of a role that the heading does not make unique.
const LEAST_ROLE: usize = 2;
/// Maximum number of words of a name.
const MOST_NAME: usize = 3;
/// Nouns of roles that one person or company holds for a long time. Other phrases, such as "the root cause" or "the code
/// reviewer", mean another thing each time.
#[rustfmt::skip] // a list is read in lines
const HOLDERS: [&str; 30] = [
    "admin", "administrator", "boss", "ceo", "cfo", "chair", "contact", "cto", "dentist", "director", "doctor",
    "editor", "engineer", "head", "landlord", "lead", "leader", "maintainer", "manager", "operator", "owner",
    "president", "principal", "provider", "registrar", "secretary", "supplier", "teacher", "treasurer", "vendor",
];
/// Words that can stand before or after the name.
const NOW: [&str; 4] = ["again", "currently", "now", "still"];
/// Words in phrases that mean another thing each time.
#[rustfmt::skip] // a list is read in lines
const CHANGING: [&str; 22] = [
    "answer", "best", "first", "former", "last", "latter", "example", "idea", "key", "next", "one", "only", "other",
    "previous", "problem", "question", "rest", "result", "same", "second", "winner", "worst",
];
/// Maximum length in bytes of a text whose statement can become outdated. A longer text says more than the name.
const LONGEST: usize = 480;

/// A sentence that names the holder of a role.
struct RoleStatement<'t> {
    /// Index of the text that contains the sentence.
    at: usize,
    /// Day of the text, its file, and the line of the sentence.
    date: Option<&'t str>,
    path: &'t str,
    line: u32,
    /// Words of the name, in lower case.
    name: Vec<String>,
}

impl RoleStatement<'_> {
    /// Returns whether the statement is below another one of the same file and day, or on a later day.
    fn is_after(&self, other: &Self) -> bool {
        match (self.date, other.date) {
            (one, other_date) if one == other_date => self.path == other.path && self.line > other.line,
            (Some(one), Some(other)) => one > other,
            _ => false,
        }
    }

    /// Returns whether the names differ. `Anna` and `Anna Meier` may be the same person.
    fn is_other(&self, other: &Self) -> bool {
        let has_all = |one: &[String], other: &[String]| other.iter().all(|word| one.contains(word));
        !has_all(&self.name, &other.name) && !has_all(&other.name, &self.name)
    }
}

/// Returns pairs of a text and a later text that names another holder of the same role. Both texts are below the same
/// headings, and in one file or in daily logs.
pub(super) fn find_replaced(texts: &[DatedText<'_>]) -> Vec<(usize, usize)> {
    let mut by_role: BTreeMap<String, Vec<RoleStatement<'_>>> = BTreeMap::new();
    for (at, text) in texts.iter().enumerate() {
        let is_log = SourceKind::from_path(text.place.0) == SourceKind::DailyLog;
        let place = if is_log { "" } else { text.place.0 };
        for (line, sentence) in explicit::sentences(text) {
            let Some((role, name)) = role(sentence) else {
                continue;
            };
            let subject = subject(text.heading, &role);
            if role.split(' ').count() < LEAST_ROLE && subject.is_empty() {
                continue;
            }
            let statement = RoleStatement {
                at,
                date: text.date,
                path: text.place.0,
                line,
                name,
            };
            by_role
                .entry(format!("{place}\n{subject}\n{role}"))
                .or_default()
                .push(statement);
        }
    }
    let mut found = Vec::new();
    for statements in by_role.into_values() {
        let Some(last) = statements.iter().max_by_key(|one| (one.date, one.line)) else {
            continue;
        };
        let replaced = statements.iter().filter(|older| {
            let is_short = texts[older.at].text.len() <= LONGEST;
            is_short && older.at != last.at && last.is_after(older) && last.is_other(older)
        });
        found.extend(replaced.map(|older| (older.at, last.at)));
    }
    found
}

/// Returns the headings that name a subject, in lower case. A heading that is itself a statement about the role, as
/// `remember` writes it, names none.
fn subject(heading: &[String], stated: &str) -> String {
    let is_statement = |title: &str| role(title).is_some_and(|(role, _)| role == stated);
    let titles = heading
        .iter()
        .filter(|title| is_subject(title) && !is_statement(title));
    let titles: Vec<String> = titles.map(|title| title.to_lowercase()).collect();
    titles.join(" > ")
}

/// Returns the role and the words of the name, in lower case, if a sentence has the form `the ROLE is NAME`.
fn role(sentence: &str) -> Option<(String, Vec<String>)> {
    let sentence = sentence.trim_start_matches(['-', '*', '>', ' ']).trim_end();
    let (subject, rest) = sentence.split_once(" is ")?;
    let subject = subject.to_lowercase();
    let role: Vec<&str> = subject.strip_prefix("the ")?.split(' ').collect();
    let is_word = |word: &&str| {
        let is_plain = |letter: char| letter.is_alphabetic() || letter == '-' || letter == '\'';
        !word.is_empty() && word.chars().all(is_plain) && !CHANGING.contains(word)
    };
    let has_holder = role.iter().any(|word| HOLDERS.contains(word));
    if role.len() > MOST_ROLE || !has_holder || !role.iter().all(is_word) {
        return None;
    }
    let mut words: Vec<&str> = rest.trim_end_matches(['.', '!']).split(' ').collect();
    let is_now = |word: &&str| NOW.contains(&word.trim_end_matches(','));
    if words.first().is_some_and(is_now) {
        words.remove(0);
    }
    if words.last().is_some_and(is_now) {
        words.pop();
    }
    let is_name = |word: &&str| {
        word.starts_with(char::is_uppercase)
            && word.chars().all(|letter| letter.is_alphabetic() || letter == '-')
    };
    let is_name = (1..=MOST_NAME).contains(&words.len()) && words.iter().all(is_name);
    is_name.then(|| {
        (
            role.join(" "),
            words.iter().map(|word| word.to_lowercase()).collect(),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::super::find_superseded;
    use super::*;

    type Statement<'t> = (Option<&'t str>, (&'t str, u32), &'t str, &'t str);

    fn of(statements: &[Statement<'_>]) -> Vec<Option<usize>> {
        let headings: Vec<Vec<String>> = (statements.iter())
            .map(|(.., heading, _)| vec![(*heading).to_owned()])
            .collect();
        let texts: Vec<DatedText<'_>> = (statements.iter().zip(&headings))
            .map(|((date, place, _, text), heading)| DatedText {
                date: *date,
                place: *place,
                heading,
                text,
            })
            .collect();
        find_superseded(&texts, usize::MAX)
    }

    const EARLY: (Option<&str>, (&str, u32)) = (Some("2026-03-02"), ("memory/2026-03-02.md", 3));
    const LATE: (Option<&str>, (&str, u32)) = (Some("2026-03-09"), ("memory/2026-03-09.md", 3));

    #[test]
    fn the_later_holder_of_a_role_holds() {
        for (old, new) in [
            ("The on-call engineer is Anna.", "The on-call engineer is Boris."),
            (
                "- the on-call engineer is Anna",
                "- The on-call engineer is now Boris Novak.",
            ),
            (
                "We all met at noon. The team lead of billing is Ada.",
                "The team lead of billing is Grace now.",
            ),
        ] {
            let both = [(EARLY.0, EARLY.1, "Team", old), (LATE.0, LATE.1, "Team", new)];
            assert_eq!(of(&both), [Some(1), None], "{new}");
            assert_eq!(of(&[both[1], both[0]]), [None, Some(0)], "{new}");
            let note = ("team.md", 3);
            let below = ("team.md", 5);
            for date in [None, Some("2026-03-02")] {
                let one_file = [(date, note, "Team", old), (date, below, "Team", new)];
                assert_eq!(of(&one_file), [Some(1), None], "{new}");
            }
        }
        let (anna, boris) = ("The on-call engineer is Anna", "The on-call engineer is Boris");
        let remembered = [
            (EARLY.0, EARLY.1, anna, anna),
            (EARLY.0, (EARLY.1.0, 7), boris, boris),
        ];
        assert_eq!(of(&remembered), [Some(1), None], "each below its own topic");
        let one_word = |heading| {
            of(&[
                (EARLY.0, EARLY.1, heading, "The engineer is Anna."),
                (LATE.0, LATE.1, heading, "The engineer is Boris."),
            ])
        };
        assert_eq!(one_word("Team red"), [Some(1), None]);
        assert_eq!(one_word("2026-03-02"), [None, None], "any engineer");
    }

    #[test]
    fn a_role_of_another_team_file_or_time_is_kept() {
        let anna = "The engineer on call is Anna.";
        for (one, other) in [
            // Files of two teams.
            (
                (None, ("teams/red.md", 3), "Team", anna),
                (
                    None,
                    ("teams/blue.md", 3),
                    "Team",
                    "The engineer on call is Boris.",
                ),
            ),
            (
                (Some("2026-03-02"), ("teams/red.md", 3), "Team", anna),
                (
                    Some("2026-03-09"),
                    ("teams/blue.md", 3),
                    "Team",
                    "The engineer on call is Boris.",
                ),
            ),
            // Sections of two teams.
            (
                (EARLY.0, EARLY.1, "Team red", anna),
                (LATE.0, LATE.1, "Team blue", "The engineer on call is Boris."),
            ),
            // The same person, another role, another form, and phrases that change each time.
            (
                (EARLY.0, EARLY.1, "Team", anna),
                (LATE.0, LATE.1, "Team", "The engineer on call is Anna Meier."),
            ),
            (
                (EARLY.0, EARLY.1, "Team", anna),
                (LATE.0, LATE.1, "Team", "The engineer on leave is Boris."),
            ),
            (
                (EARLY.0, EARLY.1, "Team", anna),
                (LATE.0, LATE.1, "Team", "The engineer on call is not Boris."),
            ),
            (
                (EARLY.0, EARLY.1, "Team", "An engineer on call is Anna."),
                (LATE.0, LATE.1, "Team", "An engineer on call is Boris."),
            ),
            (
                (EARLY.0, EARLY.1, "Team", "The next speaker is Anna."),
                (LATE.0, LATE.1, "Team", "The next speaker is Boris."),
            ),
            (
                (EARLY.0, EARLY.1, "Team", "The engineer on call is tired."),
                (LATE.0, LATE.1, "Team", "The engineer on call is Boris."),
            ),
            // Things that are others each time.
            (
                (EARLY.0, EARLY.1, "Team", "The root cause is Redis."),
                (LATE.0, LATE.1, "Team", "The root cause is Postgres."),
            ),
            (
                (EARLY.0, EARLY.1, "Team", "The code reviewer is Anna."),
                (LATE.0, LATE.1, "Team", "The code reviewer is Boris."),
            ),
            (
                (EARLY.0, EARLY.1, "Team", "The team dinner is Friday."),
                (LATE.0, LATE.1, "Team", "The team dinner is Tuesday."),
            ),
            // No order.
            (
                (None, ("memory/a.md", 3), "Team", anna),
                (LATE.0, LATE.1, "Team", "The engineer on call is Boris."),
            ),
        ] {
            assert_eq!(of(&[one, other]), [None, None], "{other:?}");
        }
        let again = of(&[
            (EARLY.0, EARLY.1, "Team", anna),
            (
                Some("2026-03-05"),
                ("memory/2026-03-05.md", 3),
                "Team",
                "The engineer on call is Boris.",
            ),
            (LATE.0, LATE.1, "Team", anna),
        ]);
        assert_eq!(again, [None, Some(2), None]);
    }
}
