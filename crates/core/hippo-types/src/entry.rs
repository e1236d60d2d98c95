//! Entries of the index file.

use std::fmt;

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

// The order is that of the discriminants: the greater value has the higher resistance to decay.
/// Resistance of an entry to decay.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum EntryPriority {
    /// Never fades.
    Amygdala = 3,
    /// Fades at the standard rate, and is listed before other entries.
    High = 2,
    /// Fades at the standard rate.
    #[default]
    Normal = 1,
    /// Fades faster.
    Low = 0,
}

names!(EntryPriority { Amygdala => "amygdala", High => "high", Normal => "normal", Low => "low" });

/// Creator of an entry (`src` in the index file).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum EntryOrigin {
    /// A consolidation run.
    Defrag,
    /// A user or an agent; the entry decays more slowly.
    Manual,
    /// A search whose result had no entry.
    Retrieval,
    /// The scan of a file.
    #[default]
    Auto,
}

names!(EntryOrigin { Defrag => "defrag", Manual => "manual", Retrieval => "retrieval", Auto => "auto" });

/// Place of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum EntryPlace {
    /// The index file or a topic file.
    Index,
    /// The Decay Queue of the index file.
    Queue,
    /// Archived or forgotten; `index.restore` restores it.
    Archive,
}

names!(EntryPlace { Index => "index", Queue => "queue", Archive => "archive" });

// v1 §6.2. The order is that of the discriminants: the greater value is the stronger band.
/// Band of strength.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum StrengthBand {
    /// From 0.8: the daemon answers from the entry with confidence.
    Strong = 4,
    /// From 0.5: the daemon answers from the entry.
    Moderate = 3,
    /// From 0.3: the daemon answers from the entry and verifies the answer with a search.
    Weak = 2,
    /// From 0.1: the entry moves to the Decay Queue.
    Decaying = 1,
    /// Below 0.1: the daemon does not answer from the entry, but a search still finds the text.
    Silent = 0,
}

names!(StrengthBand {
    Strong => "strong",
    Moderate => "moderate",
    Weak => "weak",
    Decaying => "decaying",
    Silent => "silent",
});

impl StrengthBand {
    /// Returns the band of a strength.
    #[must_use]
    pub fn from_strength(strength: f32) -> Self {
        let found = Self::ALL.into_iter().find(|band| strength >= band.threshold());
        found.unwrap_or(Self::Silent)
    }

    /// Returns the minimum strength of the band.
    #[must_use]
    pub const fn threshold(self) -> f32 {
        match self {
            Self::Strong => 0.8,
            Self::Moderate => 0.5,
            Self::Weak => 0.3,
            Self::Decaying => 0.1,
            Self::Silent => 0.0,
        }
    }
}

/// Location of a topic: a file, and optionally a section.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Pointer {
    /// Path relative to the workspace, with `/`.
    pub path: String,
    /// Title of the section, without the `#` marks; `None` for the whole file.
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

/// A topic of the index file, as it is stored. The type of entries in answers is `IndexEntry`, which also contains
/// the strength at a given time, the band and the place.
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
    /// Time of the last access. If there was none, the time of creation.
    pub accessed: Timestamp,
    /// Number of accesses.
    pub hits: u32,
    /// Start of the decay curve, if it is later than the last access. A consolidation run that keeps the entry's source
    /// sets this field. For an entry of an old file, it limits the initial decay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replayed_to: Option<Timestamp>,
    /// Strength at the start of the curve (s0), in [0, 1].
    pub strength: f32,
    /// Tags.
    pub tags: Vec<String>,
    /// Ids of related entries.
    pub related: Vec<EntryId>,
    /// Resistance to decay.
    pub priority: EntryPriority,
    /// Rule that set the priority; `None` if the priority was not set by a rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority_rule: Option<String>,
    /// Creator of the entry.
    pub origin: EntryOrigin,
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
