//! Groups of entries within By Topic and By Time.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use hippo_text::source::SourceKind;
use hippo_types::names;
use hippo_types::time::{Date, days_between, find_date};

/// Minimum number of files in a folder that becomes a group of its own.
const OWN_GROUP: usize = 5;
/// Maximum number of groups that are named after folders.
const MOST_OWN: usize = 16;

/// Group of entries about projects (v1 §5.3).
pub const PROJECTS: &str = "Projects";
/// Group of entries about people (v1 §5.3).
pub const PEOPLE: &str = "People";
/// Group of entries about infrastructure (v1 §5.3).
pub const INFRASTRUCTURE: &str = "Infrastructure";
/// Group of entries about technical knowledge, and of entries that fit no other group (v1 §5.3).
pub const TECHNICAL: &str = "Technical Knowledge";
/// Group of entries from daily logs.
pub const DAILY_LOGS: &str = "Daily Logs";

/// Words that mark a path or heading as being about people.
#[rustfmt::skip] // keep the list compact
const OF_PEOPLE: [&str; 14] = [
    "people", "person", "team", "family", "contact", "contacts", "user", "users", "customer", "customers",
    "friends", "soul", "identity", "relationships",
];

/// Words that mark a path or heading as being about infrastructure.
#[rustfmt::skip] // keep the list compact
const OF_INFRASTRUCTURE: [&str; 32] = [
    "infra", "infrastructure", "server", "servers", "host", "hosts", "hosting", "deploy", "deployment",
    "deployments", "runbook", "ops", "network", "networking", "dns", "docker", "kubernetes", "k8s", "backup",
    "backups", "monitoring", "incident", "incidents", "postgres", "database", "databases", "homelab", "vps",
    "ci", "tools", "hardware", "ssh",
];

/// Heading in the section By Time (v1 §5.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum TimeBand {
    /// The last seven days including today, and future days.
    ThisWeek,
    /// 7 to 29 days ago.
    ThisMonth,
    /// 30 or more days ago.
    Older,
}

names!(TimeBand { ThisWeek => "This Week", ThisMonth => "This Month", Older => "Older" });

impl TimeBand {
    /// Returns the band of a day relative to `today`. The bands count days back from `today`. With calendar weeks, an
    /// entry made on the last day of a week would leave This Week after one day.
    #[must_use]
    pub fn from_date(date: Date, today: Date) -> Self {
        match days_between(date, today) {
            ..=6 => Self::ThisWeek,
            7..=29 => Self::ThisMonth,
            _ => Self::Older,
        }
    }
}

/// Groups of entries that the folders of a workspace define.
pub(super) struct Groups {
    /// Group names by folder.
    own: BTreeMap<String, String>,
}

impl Groups {
    /// Derives groups from the folders of the files.
    pub fn from_paths<'a>(files: impl Iterator<Item = (&'a str, SourceKind)>) -> Self {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for (path, kind) in files {
            if kind == SourceKind::Other
                && let Some((folder, _)) = path.split_once('/')
                && folder != "memory"
            {
                *counts.entry(folder).or_default() += 1;
            }
        }
        let large = counts.into_iter().filter(|(_, count)| *count >= OWN_GROUP);
        let mut large: Vec<(&str, usize)> = large.collect();
        large.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let largest = large.into_iter().take(MOST_OWN);
        let own = largest.map(|(folder, _)| (folder.to_owned(), title(folder)));
        Self { own: own.collect() }
    }

    /// Returns the group for the content below `headings` in the file `path`.
    pub fn group(&self, path: &str, kind: SourceKind, headings: &[&str]) -> String {
        if let SourceKind::DailyLog | SourceKind::Node(_) | SourceKind::Session = kind {
            return DAILY_LOGS.to_owned();
        }
        let headed =
            |of: &[&str]| !headings.is_empty() && headings.iter().all(|heading| has_word(heading, of));
        if headed(&OF_PEOPLE) {
            return PEOPLE.to_owned();
        }
        if matches!(kind, SourceKind::Project | SourceKind::Plan) {
            return PROJECTS.to_owned();
        }
        if kind == SourceKind::Other
            && let Some((folder, _)) = path.split_once('/')
            && let Some(own) = self.own.get(folder)
        {
            return own.clone();
        }
        if has_word(path, &OF_PEOPLE) {
            return PEOPLE.to_owned();
        }
        if headed(&OF_INFRASTRUCTURE) || has_word(path, &OF_INFRASTRUCTURE) {
            return INFRASTRUCTURE.to_owned();
        }
        TECHNICAL.to_owned()
    }
}

fn has_word(text: &str, of: &[&str]) -> bool {
    text.split(|mark: char| !mark.is_alphanumeric())
        .any(|word| of.iter().any(|known| word.eq_ignore_ascii_case(known)))
}

/// Formats a name as a heading: `design-system` becomes `Design System`, and `2026_03_28` becomes `2026-03-28`.
pub(super) fn title(name: &str) -> String {
    let date = name.get(..10).and_then(find_date).map(|date| date.to_string());
    let date = date.filter(|date| *date == name[..10].replace(['_', '.'], "-"));
    let name = &name[if date.is_some() { 10 } else { 0 }..];
    let words = name.split(['-', '_', ' ', '.']).filter(|word| !word.is_empty());
    let mut out = date.unwrap_or_default();
    for word in words {
        if !out.is_empty() {
            out.push(' ');
        }
        let mut letters = word.chars();
        out.extend(letters.next().into_iter().flat_map(char::to_uppercase));
        // File names in capitals, such as `TOOLS`, are a convention and not acronyms.
        let capitals = word.len() > 3 && word.chars().all(char::is_uppercase);
        let rest = letters.as_str();
        out += &if capitals {
            rest.to_lowercase()
        } else {
            rest.to_owned()
        };
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;

    #[test]
    fn groups_are_derived_from_paths_and_headings() {
        let paths = ["a", "b", "c", "d", "e"].map(|name| format!("skills/{name}/SKILL.md"));
        let files = paths.iter().map(|path| (path.as_str(), SourceKind::Other));
        let groups = Groups::from_paths(files);
        let table: [(&str, &[&str], &str); 9] = [
            ("memory/2026-01-10.md", &["Server"], DAILY_LOGS),
            ("projects/alpha/PROJECT.md", &["Next"], PROJECTS),
            ("projects/alpha/PROJECT.md", &["The team"], PEOPLE),
            ("knowledge/deploy-runbook.md", &["Steps"], INFRASTRUCTURE),
            ("knowledge/lora.md", &["Range"], TECHNICAL),
            ("USER.md", &["Habits"], PEOPLE),
            ("TOOLS.md", &["Quirks"], INFRASTRUCTURE),
            ("MEMORY.md", &["People"], PEOPLE),
            ("skills/a/SKILL.md", &["Usage"], "Skills"),
        ];
        for (path, headings, expected) in table {
            assert_eq!(
                groups.group(path, SourceKind::from_path(path), headings),
                expected,
                "{path}"
            );
        }
    }

    #[test]
    fn time_bands_use_rolling_days() {
        let today = date(2026, 3, 2);
        let table = [
            (date(2026, 3, 9), TimeBand::ThisWeek),
            (date(2026, 3, 2), TimeBand::ThisWeek),
            (date(2026, 2, 24), TimeBand::ThisWeek),
            (date(2026, 2, 23), TimeBand::ThisMonth),
            (date(2026, 2, 1), TimeBand::ThisMonth),
            (date(2026, 1, 31), TimeBand::Older),
        ];
        for (day, band) in table {
            assert_eq!(TimeBand::from_date(day, today), band, "{day}");
        }
        assert_eq!(title("design-system"), "Design System");
        assert_eq!(title("TOOLS"), "Tools");
        assert_eq!(title("2026_03_28"), "2026-03-28");
        assert_eq!(title("2026-03-28-harbour"), "2026-03-28 Harbour");
    }
}
