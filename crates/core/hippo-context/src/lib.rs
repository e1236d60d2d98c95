//! Context entries: short pointers in an agent's context to content kept elsewhere.
//!
//! The schema is v2 §14.1, field for field. Time is counted in turns of a session.

#![warn(clippy::disallowed_methods)]

pub mod capture;
pub mod complete;
pub mod extract;
pub mod fade;
pub mod lifecycle;
pub mod policy;
pub mod render;
#[cfg(test)]
mod tests;
pub mod yaml;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use fade::Shown;

/// Tool results with more tokens than this become entries (v2 §6.1); smaller results pass through unchanged.
pub const WORTH_AN_ENTRY: u64 = 1_000;
/// Entries with a lower strength are dormant: out of the context, but still stored (v2 §8.3).
pub const DORMANT_BELOW: f32 = 0.1;

/// Context entry as specified in v2 §14.1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ContextEntry {
    /// Id, unique over all sessions.
    pub id: String,
    /// Type of the content.
    #[serde(rename = "type")]
    pub kind: EntryKind,
    /// Origin of the content.
    pub source: EntrySource,
    /// Summary for people and models, one to a few lines.
    pub summary: String,
    /// Values that are likely to be needed again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_data: Option<Map<String, Value>>,
    /// Strength in [0, 1]. In a store, this is the strength at the last access; in a rendering, the current strength.
    pub strength: f32,
    /// Decay parameters.
    pub decay: Decay,
    /// Factors that change the decay rate.
    pub modifiers: Modifiers,
    /// Creation, expiry and persistence.
    pub lifecycle: Lifecycle,
}

/// Type of a context entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EntryKind {
    /// The result of a tool.
    ToolResult,
    /// A message of the conversation.
    Message,
    /// What the agent is doing.
    State,
    /// Content read from long-term memory.
    Memory,
}

impl EntryKind {
    /// All types.
    pub const ALL: [Self; 4] = [Self::ToolResult, Self::Message, Self::State, Self::Memory];

    /// Returns the name on the wire.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::ToolResult => "tool_result",
            Self::Message => "message",
            Self::State => "state",
            Self::Memory => "memory",
        }
    }

    /// Returns the default loss of strength per turn: v2 §8.1, and §5.1 for `memory`.
    #[must_use]
    pub const fn rate(self) -> f32 {
        match self {
            Self::ToolResult => 0.1,
            Self::Message => 0.05,
            Self::State => 0.02,
            Self::Memory => 0.01,
        }
    }
}

/// Origin of the content of an entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EntrySource {
    /// How the content was produced, and how it can be produced again: `browser.snapshot`, `file`, `exec`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Subject of the source: a path, a command, an address.
    #[serde(rename = "ref")]
    pub reference: String,
    /// Turn in which the content was captured.
    pub turn: u64,
    /// True if the content can be retrieved again.
    pub retrievable: bool,
}

/// Decay parameters of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Decay {
    /// Weight of a turn; at least 0.
    pub rate: f32,
    /// Minimum strength, in [0, 1].
    pub floor: f32,
    /// Turn of the last access.
    pub last_access: u64,
}

/// Factors that change the decay rate (v2 §5.2, §8.2).
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Modifiers {
    /// Importance of the entry.
    pub priority: Priority,
    /// Manual or automatic creation.
    pub encoding: Encoding,
    /// Ids of related entries.
    pub associations: Vec<String>,
}

/// Importance of a context entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Priority {
    /// Never decays.
    Critical,
    /// Decays at 0.3 times the rate.
    High,
    /// Decays at the normal rate.
    #[default]
    Normal,
    /// Decays at twice the rate.
    Low,
}

impl Priority {
    /// All priorities.
    pub const ALL: [Self; 4] = [Self::Critical, Self::High, Self::Normal, Self::Low];

    /// Returns the name on the wire.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Critical => "critical",
            Self::High => "high",
            Self::Normal => "normal",
            Self::Low => "low",
        }
    }
}

/// Manual or automatic creation of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Encoding {
    /// Created on request.
    Manual,
    /// Created automatically because of its size.
    #[default]
    Auto,
}

/// Creation, expiry and persistence of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Lifecycle {
    /// Turn in which the entry was created.
    pub created: u64,
    /// Turn from which the entry is expired, whatever its strength.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<u64>,
    /// True if the entry is written to long-term memory when its session ends.
    pub persist: bool,
}
