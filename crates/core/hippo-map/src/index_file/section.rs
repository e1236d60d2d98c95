//! Sections of the index file.

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

impl IndexSection {
    /// All sections in file order.
    #[rustfmt::skip] // keep the list compact
    pub const ALL: [Self; 6] = [
        Self::QuickAccess, Self::ByTopic, Self::ByTime, Self::Associations, Self::DecayQueue, Self::Meta,
    ];

    /// Returns the section with this title, ignoring ASCII case.
    #[must_use]
    pub fn from_title(title: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|known| known.title().eq_ignore_ascii_case(title))
    }

    /// Returns the title.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::QuickAccess => "Quick Access",
            Self::ByTopic => "By Topic",
            Self::ByTime => "By Time",
            Self::Associations => "Associations",
            Self::DecayQueue => "Decay Queue",
            Self::Meta => "Meta",
        }
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

/// Compares two paths of titles, ignoring case.
pub(super) fn same_path(one: &[&str], other: &[&str]) -> bool {
    let lower = |path: &[&str]| -> Vec<String> { path.iter().map(|title| title.to_lowercase()).collect() };
    lower(one) == lower(other)
}
