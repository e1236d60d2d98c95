//! Types of memories.

use serde::{Deserialize, Serialize};

/// Type of a memory, as in `## Topic [feedback]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum MemoryType {
    /// Facts about a project.
    #[default]
    Project,
    /// Corrections of the agent's behaviour, in entries that never fade.
    Feedback,
    /// Facts about the user, and the user's preferences, in entries that never fade.
    User,
    /// Locations of external information, which should be checked again after a month.
    Reference,
}

names!(MemoryType {
    Project => "project",
    Feedback => "feedback",
    User => "user",
    Reference => "reference",
});
