//! Sections of the index file.

use std::fmt;

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

    /// Returns the comment below the heading in a new file.
    const fn comment(self) -> Option<&'static str> {
        match self {
            Self::QuickAccess => Some("entries by number of accesses; look here first"),
            Self::ByTopic | Self::ByTime => None,
            Self::Associations => Some("which entries belong together"),
            Self::DecayQueue => Some("fading entries; an access brings one back"),
            Self::Meta => Some("state of the index and its maintenance"),
        }
    }

    /// Returns the titles of its subsections in a new file.
    const fn below(self) -> &'static [&'static str] {
        match self {
            Self::ByTime => &["This Week", "This Month", "Older"],
            _ => &[],
        }
    }
}

impl fmt::Display for IndexSection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.title())
    }
}

/// Returns `true` if v1 defines a section with this title.
pub(super) fn is_known(title: &str) -> bool {
    IndexSection::from_title(title).is_some()
}

/// Returns the text of a file with all sections and no header.
pub(super) fn skeleton() -> String {
    let mut out = String::from("# HIPPOCAMPUS.md — Memory Index\n");
    for known in IndexSection::ALL {
        out.push_str(&format!("\n## {known}\n"));
        if let Some(comment) = known.comment() {
            out.push_str(&format!("<!-- {comment} -->\n"));
        }
        for title in known.below() {
            out.push_str(&format!("\n### {title}\n"));
        }
    }
    out
}

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

    /// Compares the titles with a path, ignoring case.
    pub fn is(&self, path: &[&str]) -> bool {
        let same = |(one, other): (&str, &&str)| one.to_lowercase() == other.to_lowercase();
        self.titles().count() == path.len() && self.titles().zip(path).all(same)
    }
}
