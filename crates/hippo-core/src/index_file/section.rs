//! Which sections does an index file have, and in which is one?

use std::fmt;

/// The sections that v1 §5.3 names, in its order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Known {
    /// The most accessed entries.
    QuickAccess,
    /// Entries by what they are about.
    ByTopic,
    /// Entries by when they were made.
    ByTime,
    /// Which entries belong together.
    Associations,
    /// Entries that fade.
    DecayQueue,
    /// Counts and dates of the index itself.
    Meta,
}

impl Known {
    /// All of them, in the order of the file.
    pub const ALL: [Self; 6] = [
        Self::QuickAccess,
        Self::ByTopic,
        Self::ByTime,
        Self::Associations,
        Self::DecayQueue,
        Self::Meta,
    ];

    /// The section with this title, whatever the case of its letters.
    #[must_use]
    pub fn of(title: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|known| known.title().eq_ignore_ascii_case(title))
    }

    /// Its title.
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

    /// What a new file says below its heading.
    const fn comment(self) -> Option<&'static str> {
        match self {
            Self::QuickAccess => Some("entries by number of accesses; look here first"),
            Self::ByTopic | Self::ByTime => None,
            Self::Associations => Some("which entries belong together"),
            Self::DecayQueue => Some("fading entries; an access brings one back"),
            Self::Meta => Some("state of the index and its maintenance"),
        }
    }

    /// Sections below it in a new file.
    const fn below(self) -> &'static [&'static str] {
        match self {
            Self::ByTopic => &["Projects", "People", "Infrastructure", "Technical Knowledge"],
            Self::ByTime => &["This Week", "This Month", "Older"],
            _ => &[],
        }
    }
}

impl fmt::Display for Known {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.title())
    }
}

/// Whether v1 names a section of this title.
pub(super) fn is_known(title: &str) -> bool {
    Known::of(title).is_some()
}

/// A file with all sections and no header.
pub(super) fn skeleton() -> String {
    let mut out = String::from("# HIPPOCAMPUS.md — Memory Index\n");
    for known in Known::ALL {
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

/// The sections that are open at some place of the file.
#[derive(Debug, Clone, Default)]
pub(super) struct Path<'a>(Vec<(u8, &'a str)>);

impl<'a> Path<'a> {
    /// Goes on to the section of a heading.
    pub fn enter(&mut self, level: u8, title: &'a str) {
        while self.0.last().is_some_and(|(open, _)| *open >= level) {
            self.0.pop();
        }
        self.0.push((level, title));
    }

    /// Titles, the outermost first, without those of level 1.
    pub fn titles(&self) -> impl Iterator<Item = &'a str> {
        self.0
            .iter()
            .filter(|(level, _)| *level > 1)
            .map(|(_, title)| *title)
    }

    /// Whether it is this path, whatever the case of letters.
    pub fn is(&self, path: &[&str]) -> bool {
        let same = |(one, other): (&str, &&str)| one.to_lowercase() == other.to_lowercase();
        self.titles().count() == path.len() && self.titles().zip(path).all(same)
    }
}
