//! Significance of headings.

use std::collections::{BTreeMap, BTreeSet};

use crate::terms::is_stop;

/// A heading that occurs in at least this many files is not significant.
const RECURRING: usize = 4;

/// Words that are too general to make a heading meaningful.
const GENERIC: &str = "\
    about abstract action actions active added agenda am analyzed appendix architecture archive background \
    board cause changes chat checklist commands company comparison completed conclusion configuration content \
    contents context conversation core created critical cumulative current daily day decisions description \
    details discussion docs documentation done evening example examples executive faq features files findings \
    first fixed found general getting-started gmt goals guide high highlights history how-it-works ideas \
    immediate improvements index info information installation intro introduction issues item items key known \
    lessons links list log logs low main medium meeting memory message metrics misc modified morning new next \
    notes observations open options other overview parts plan pm preparation prerequisites priority problem \
    problems project purpose questions quick quickstart quirks readme recommendations recommended reference \
    references release releases requirements resources results risks roadmap root rules running schedule \
    scratchpad section session sessions setup skill solution statistics stats status step steps structure \
    summary support take takeaways tasks team test testing tests timeline today todo tomorrow tools topic \
    topics total tracked trouble troubleshooting untracked update updated updates usage use user using utc \
    version work working yesterday";

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
}
