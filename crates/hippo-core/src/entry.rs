//! What is an entry of the index file: one topic, where it is told, how strong it is?

use std::fmt;

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

/// Where a topic is told: a file, and a section of it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct Pointer {
    /// Path relative to the workspace, with `/`.
    pub path: String,
    /// Title of the section, without its marks; `None`: the whole file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub section: Option<String>,
}

/// One topic of the index file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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
    /// Strength at `accessed` (s0 of the curve), in [0, 1]. An access alone changes it.
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
