//! Sections of the index file.

use hippo_text::text::one_line;
use hippo_types::names;

/// Section defined by v1 §5.3, in file order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum IndexSection {
    /// Most accessed entries.
    QuickAccess,
    /// Entries by subject.
    ByTopic,
    /// Entries by creation time.
    ByTime,
    /// Groups of related entries.
    Associations,
    /// Fading entries.
    DecayQueue,
    /// Counts and dates of the index.
    Meta,
}

names!(IndexSection {
    QuickAccess => "Quick Access", ByTopic => "By Topic", ByTime => "By Time", Associations => "Associations",
    DecayQueue => "Decay Queue", Meta => "Meta",
});

impl IndexSection {
    /// Returns the section with this title, ignoring ASCII case.
    #[must_use]
    pub fn from_title(title: &str) -> Option<Self> {
        title.parse().ok()
    }
}

/// Text of a file with all sections and no header.
pub(super) const SKELETON: &str = "\
# HIPPOCAMPUS.md — Memory Index

## Quick Access
<!-- entries by number of accesses; look here first -->

## By Topic

## By Time

### This Week

### This Month

### Older

## Associations
<!-- which entries belong together -->

## Decay Queue
<!-- fading entries; an access brings one back -->

## Meta
<!-- state of the index and its maintenance -->
";

/// Titles of the sections that enclose the current position.
#[derive(Debug, Clone, Default)]
pub(super) struct SectionPath<'a>(Vec<(u8, &'a str)>);

impl<'a> SectionPath<'a> {
    /// Enters the section of a heading.
    pub fn enter(&mut self, level: u8, title: &'a str) {
        while self.0.last().is_some_and(|(open, _)| *open >= level) {
            self.0.pop();
        }
        self.0.push((level, title));
    }

    /// Returns the titles, outermost first, without those of level 1.
    pub fn titles(&self) -> impl Iterator<Item = &'a str> {
        self.0
            .iter()
            .filter(|(level, _)| *level > 1)
            .map(|(_, title)| *title)
    }
}

/// Compares two paths of titles, ignoring case and white space.
pub(super) fn same_path(one: &[&str], other: &[&str]) -> bool {
    let normal = |title: &&str| one_line(title).to_lowercase();
    one.iter().map(normal).eq(other.iter().map(normal))
}
