//! Significance of headings.

use std::collections::{BTreeMap, BTreeSet};

use super::sentence::OPENING;
use crate::terms::is_stop;

/// A heading that occurs in at least this many files is not significant.
const RECURRING: usize = 4;

/// Words that are too general to make a heading meaningful.
const GENERIC: &str = "\
    about abstract action actions active added agenda am analyzed appendix architecture archive attention background \
    behind board brought built cause changes chat checklist commands company comparison completed conclusion configuration content \
    contents context conversation core created critical cumulative current daily day decisions description \
    details discussion docs documentation done evening example examples executive faq features files findings \
    first fixed forward found general getting-started gmt goals guide high highlights history how-it-works ideas \
    happened immediate improvements index info information installation intro introduction issues item items key known \
    left lessons links list log logs low main medium meeting memory message metrics mid misc modified month morning new next \
    notes observations open options other overview parts pending plan planned pm preparation prerequisites priority problem \
    problems progress project purpose questions quick quickstart quirks readme recommendations recommended reference \
    references release releases required requirements resources results risks roadmap root rules running schedule \
    scratchpad section session sessions setup skill solution statistics stats status step steps structure \
    summary support take takeaways tasks team technical test testing tests timeline today todo tomorrow tools topic \
    topics total tracked trouble troubleshooting untracked update updated updates usage use user using utc \
    version week work working yesterday";

/// Data for deciding which headings of a workspace are significant.
pub struct HeadingStats {
    generic: BTreeSet<&'static str>,
    recurring: BTreeSet<String>,
}

impl HeadingStats {
    /// Counts in how many files each heading occurs. `files` yields the headings of one file at a time.
    pub fn count<'a>(files: impl Iterator<Item = Vec<&'a str>>) -> Self {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for titles in files {
            let mut names: Vec<String> = titles.into_iter().map(normalize).collect();
            names.sort_unstable();
            names.dedup();
            for name in names {
                *counts.entry(name).or_default() += 1;
            }
        }
        let recurring = counts.into_iter().filter(|(_, count)| *count >= RECURRING);
        Self {
            generic: GENERIC.split_ascii_whitespace().collect(),
            recurring: recurring.map(|(name, _)| name).collect(),
        }
    }

    /// Returns `true` if a heading is meaningful on its own. Dates, times, numbers, ids and speaker names
    /// are not.
    pub fn is_meaningful(&self, title: &str, names: &BTreeSet<String>) -> bool {
        if self.recurring.contains(&normalize(title)) {
            return false;
        }
        title
            .split(|mark: char| !(mark.is_alphanumeric() || matches!(mark, '\'' | '’')))
            .map(str::to_lowercase)
            .any(|word| {
                word.chars().count() > 1
                    && !word.chars().any(|mark| mark.is_ascii_digit())
                    && !is_stop(&word)
                    && !self.generic.contains(word.as_str())
                    && !names.contains(&word)
            })
    }
}

/// Returns `true` if a word, in lower case, is too general to make a heading meaningful.
pub fn is_generic(word: &str) -> bool {
    is_stop(word) || GENERIC.split_ascii_whitespace().any(|known| known == word)
}

/// Returns a heading without its marks, and without the date or the time at its start or in brackets at its end:
/// `07:09 UTC — Pump repaired (10:08 AM)` is about `Pump repaired`.
pub fn subject(title: &str) -> &str {
    let is_mark = |mark: char| !mark.is_alphanumeric();
    let opens = |mark: char| is_mark(mark) && !OPENING.contains(&mark);
    let mut rest = title.trim();
    if let Some((before, note)) = rest.strip_suffix(')').and_then(|rest| rest.rsplit_once('('))
        && note.split([' ', ',']).any(is_clock_or_date)
    {
        rest = before;
    }
    loop {
        rest = rest.trim_start_matches(opens);
        let (word, behind) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        let zone =
            matches!(word.trim_matches(is_mark), "UTC" | "GMT" | "AM" | "PM") && rest.len() < title.len();
        if !(is_clock_or_date(word) || zone) {
            break;
        }
        rest = behind;
    }
    rest.trim_end_matches([':', ' ', '-', '–', '—'])
}

/// Returns `true` for a word such as `07:09`, `7:05` or `2026-02-11`.
fn is_clock_or_date(word: &str) -> bool {
    let word = word.trim_matches(|mark: char| !mark.is_ascii_digit());
    let marks = word.bytes().filter(|mark| !mark.is_ascii_digit());
    marks.clone().all(|mark| b":-./".contains(&mark)) && marks.count() > 0 && word.len() >= 4 && {
        let parts: Vec<&str> = word.split([':', '-', '.', '/']).collect();
        word.contains(':') && parts.iter().all(|part| part.len() <= 2)
            || parts.len() == 3 && parts[0].len() == 4
    }
}

fn normalize(title: &str) -> String {
    let letters = title
        .chars()
        .filter(|mark| mark.is_alphanumeric() || *mark == ' ');
    letters.collect::<String>().trim().to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generic_and_recurring_headings_are_not_meaningful() {
        let headings = HeadingStats::count((0..4).map(|_| vec!["Board", "Slots alarm again"]));
        let names = BTreeSet::from(["caroline".to_owned(), "melanie".to_owned()]);
        for title in [
            "Overview",
            "Session s0470",
            "2026-03-18",
            "15:31 Caroline and Melanie",
            "Next steps",
            "Slots alarm again",
            "",
        ] {
            assert!(!headings.is_meaningful(title, &names), "{title}");
        }
        for title in [
            "Slots alarm",
            "PostgreSQL tuning",
            "Zweckverband Otterbachtal",
            "データベース",
        ] {
            assert!(headings.is_meaningful(title, &names), "{title}");
        }
    }

    #[test]
    fn the_subject_of_a_heading_has_no_time() {
        let table = [
            ("07:09 UTC — Pump repaired", "Pump repaired"),
            ("✅ Gate checked (7:05 PM)", "Gate checked"),
            ("2026-02-11: Night shift", "Night shift"),
            ("Rules (updated 11:04)", "Rules"),
            ("Harbour (Porto)", "Harbour (Porto)"),
            ("\"Brave\" is on", "\"Brave\" is on"),
            ("09:55", ""),
        ];
        for (title, expected) in table {
            assert_eq!(subject(title), expected, "{title}");
        }
    }
}
