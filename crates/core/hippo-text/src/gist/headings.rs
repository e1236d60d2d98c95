//! Significance of headings.

use std::collections::{BTreeMap, BTreeSet};

use crate::terms::is_stop;

/// Minimum number of files with the same heading for the heading to be insignificant.
const RECURRING: usize = 4;

/// Headings without meaning outside their context.
const GENERIC: &str = "\
    about abstract agenda am appendix architecture archive background board changes chat checklist commands company \
    configuration conclusion content contents context conversation core daily day decisions description details discussion \
    docs documentation done evening example examples faq features files first general getting-started gmt goals \
    guide history how-it-works ideas index info information installation intro introduction issues item items \
    known lessons links list log logs main meeting memory message misc morning new next notes open options other \
    overview parts plan pm preparation prerequisites problem problems project purpose quickstart questions quirks \
    readme reference references release releases requirements resources results risks roadmap rules schedule \
    scratchpad section session sessions setup skill solution status step steps structure summary support tasks \
    team test testing tests todo today tomorrow tools topic topics trouble troubleshooting update updates usage use \
    user using utc version work working";

/// Significance of the workspace's headings.
pub struct HeadingStats {
    generic: BTreeSet<&'static str>,
    recurring: BTreeSet<String>,
}

impl HeadingStats {
    /// Counts headings across the titles of each file.
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
