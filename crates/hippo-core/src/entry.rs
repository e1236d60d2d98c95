//! What is an entry of the index file: one topic, where it is told, how strong it is?

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::time::Timestamp;

/// Names an entry within its workspace, such as `acme-deploy`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EntryId(pub String);

impl fmt::Display for EntryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// How much an entry resists decay (v1 §5.2; `high` is v2's).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Priority {
    /// Fades twice as fast.
    Low,
    /// The default.
    #[default]
    Normal,
    /// Named by v2; decays as `normal` does and is shown first.
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

/// Who made an entry (`src`, v1 §5.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// A consolidation run.
    Defrag,
    /// A person or an agent; fades half as fast.
    Manual,
    /// A search that found what no entry pointed at.
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

/// A word that names no value of the kind that was asked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown name {0:?}")]
pub struct UnknownName(pub String);

/// The value that is displayed like this, whatever the case of its letters.
fn named<T: fmt::Display, const N: usize>(all: [T; N], name: &str) -> Result<T, UnknownName> {
    let mut all = all.into_iter();
    let found = all.find(|value| value.to_string().eq_ignore_ascii_case(name));
    found.ok_or_else(|| UnknownName(name.to_owned()))
}

/// Where a topic is told: a file, and a section of it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct Pointer {
    /// Path relative to the workspace, with `/`.
    pub path: String,
    /// Title of the section, without its marks; `None`: the whole file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub section: Option<String>,
}

impl fmt::Display for Pointer {
    /// As people write it: `path §section`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.section {
            Some(section) => write!(f, "{} §{section}", self.path),
            None => f.write_str(&self.path),
        }
    }
}

/// One topic of the index file.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Entry {
    /// Its name.
    pub id: EntryId,
    /// The heading.
    pub topic: String,
    /// One line that says what there is to know.
    pub summary: String,
    /// Where it is told, the most important first.
    pub pointers: Vec<Pointer>,
    /// When it was made.
    pub created: Timestamp,
    /// When it was last accessed, or made.
    pub accessed: Timestamp,
    /// Accesses so far.
    pub hits: u32,
    /// Start of the curve, where a replay moved it beyond the last access: a replay is no access.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replayed_to: Option<Timestamp>,
    /// Strength at the start of the curve (s0), in [0, 1].
    pub strength: f32,
    /// Words that it is known by.
    pub tags: Vec<String>,
    /// Entries that belong to it.
    pub related: Vec<EntryId>,
    /// How it resists decay.
    pub priority: Priority,
    /// The rule that set the priority; `None` where a person or nobody did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority_rule: Option<String>,
    /// Who made it.
    pub origin: Origin,
    /// How often it was modified, from 1.
    pub version: u32,
}

impl Entry {
    /// When it had the strength that it fades from: at its last access, or later by what replays took from its age.
    #[must_use]
    pub fn curve_start(&self) -> Timestamp {
        self.replayed_to.unwrap_or(self.accessed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_written() {
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
