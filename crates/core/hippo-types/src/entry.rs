//! Entries of the index file.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::time::Timestamp;

/// Identifier of an entry within its workspace, such as `acme-deploy`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EntryId(pub String);

impl fmt::Display for EntryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Resistance of an entry to decay.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Priority {
    /// Fades twice as fast.
    Low,
    /// The default.
    #[default]
    Normal,
    /// Decays like `normal` and is shown first.
    High,
    /// Never fades.
    Amygdala,
}

impl fmt::Display for Priority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Low => "low",
            Self::Normal => "normal",
            Self::High => "high",
            Self::Amygdala => "amygdala",
        })
    }
}

impl FromStr for Priority {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Self, UnknownName> {
        let all = [Self::Low, Self::Normal, Self::High, Self::Amygdala];
        named(all, name)
    }
}

/// Author of an entry (`src` in the index file).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// A consolidation run.
    Defrag,
    /// A person or an agent; fades half as fast.
    Manual,
    /// A search with a result that no entry pointed to.
    Retrieval,
    /// The scan of a file.
    #[default]
    Auto,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Defrag => "defrag",
            Self::Manual => "manual",
            Self::Retrieval => "retrieval",
            Self::Auto => "auto",
        })
    }
}

impl FromStr for Origin {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Self, UnknownName> {
        let all = [Self::Defrag, Self::Manual, Self::Retrieval, Self::Auto];
        named(all, name)
    }
}

/// Error for a name without a matching value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown name {0:?}")]
pub struct UnknownName(pub String);

/// Returns the value with this display name, compared case-insensitively.
fn named<T: fmt::Display, const N: usize>(all: [T; N], name: &str) -> Result<T, UnknownName> {
    let mut all = all.into_iter();
    let found = all.find(|value| value.to_string().eq_ignore_ascii_case(name));
    found.ok_or_else(|| UnknownName(name.to_owned()))
}

/// Location of a topic: a file, and optionally a section.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct Pointer {
    /// Path relative to the workspace, with `/`.
    pub path: String,
    /// Title of the section, without marks; `None` for the whole file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub section: Option<String>,
}

impl fmt::Display for Pointer {
    /// Formats the pointer as `path §section`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.section {
            Some(section) => write!(f, "{} §{section}", self.path),
            None => f.write_str(&self.path),
        }
    }
}

/// A topic of the index file.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Entry {
    /// Identifier.
    pub id: EntryId,
    /// Heading.
    pub topic: String,
    /// One-line summary.
    pub summary: String,
    /// Locations, the most important first.
    pub pointers: Vec<Pointer>,
    /// Time of creation.
    pub created: Timestamp,
    /// Time of the last access, or of creation.
    pub accessed: Timestamp,
    /// Number of accesses.
    pub hits: u32,
    /// Start of the decay curve if a replay moved it beyond the last access; a replay does not count as an access.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replayed_to: Option<Timestamp>,
    /// Strength at the start of the curve (s0), in [0, 1].
    pub strength: f32,
    /// Tags.
    pub tags: Vec<String>,
    /// Related entries.
    pub related: Vec<EntryId>,
    /// Resistance to decay.
    pub priority: Priority,
    /// Rule that set the priority; `None` if no rule did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority_rule: Option<String>,
    /// Author.
    pub origin: Origin,
    /// Revision number, from 1.
    pub version: u32,
}

impl Entry {
    /// Returns the start of the decay curve: the last access, or a later time set by replays.
    #[must_use]
    pub fn curve_start(&self) -> Timestamp {
        self.replayed_to.unwrap_or(self.accessed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_survive_a_round_trip() {
        for priority in [
            Priority::Low,
            Priority::Normal,
            Priority::High,
            Priority::Amygdala,
        ] {
            assert_eq!(priority.to_string().parse(), Ok(priority));
        }
        for origin in [Origin::Defrag, Origin::Manual, Origin::Retrieval, Origin::Auto] {
            assert_eq!(origin.to_string().parse(), Ok(origin));
        }
        assert_eq!("Amygdala".parse(), Ok(Priority::Amygdala));
        let unknown = "urgent".parse::<Priority>().unwrap_err();
        assert_eq!(unknown.to_string(), "unknown name \"urgent\"");
    }
}
