//! What is a context entry: a sparse pointer in an agent's context that stands for content kept elsewhere?
//!
//! The schema is v2 §14.1, field for field. Time is counted in turns of a session.

pub mod capture;
pub mod complete;
pub mod fade;
pub mod lifecycle;
pub mod policy;
pub mod render;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use fade::Shown;

/// Tool results of more tokens than this become entries (v2 §6.1); smaller ones pass through.
pub const WORTH_AN_ENTRY: u64 = 1_000;
/// Entries weaker than this are dormant: out of the context, not forgotten (v2 §8.3).
pub const DORMANT_BELOW: f32 = 0.1;

/// An entry as v2 §14.1 has it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ContextEntry {
    /// Names it; unique over all sessions.
    pub id: String,
    /// What it stands for.
    #[serde(rename = "type")]
    pub kind: Kind,
    /// Where it comes from.
    pub source: Source,
    /// One to a few lines for people and models.
    pub summary: String,
    /// Values that one would ask for again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_data: Option<Map<String, Value>>,
    /// In [0, 1]. Where entries are kept: the strength at the last access. Where they are shown: the strength now.
    pub strength: f32,
    /// How it fades.
    pub decay: Decay,
    /// What makes it fade slower or faster.
    pub modifiers: Modifiers,
    /// Its beginning and end.
    pub lifecycle: Lifecycle,
}

/// What an entry stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// What a tool answered.
    ToolResult,
    /// What somebody said.
    Message,
    /// What the agent is doing.
    State,
    /// What was read from long-term memory.
    Memory,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::ToolResult, Self::Message, Self::State, Self::Memory];

    /// The name on the wire.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::ToolResult => "tool_result",
            Self::Message => "message",
            Self::State => "state",
            Self::Memory => "memory",
        }
    }

    /// Strength that is lost per turn when nothing else says so: v2 §8.1, and §5.1 for `memory`.
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

/// Where the content of an entry comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// How it was made, and how it can be made again: `browser.snapshot`, `file`, `exec`.
    #[serde(rename = "type")]
    pub kind: String,
    /// What it is of: a path, a command, an address.
    #[serde(rename = "ref")]
    pub reference: String,
    /// The turn in which it was captured.
    pub turn: u64,
    /// Whether it can be had again.
    pub retrievable: bool,
}

/// How an entry fades.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Decay {
    /// How much a turn counts; at least 0.
    pub rate: f32,
    /// It never gets weaker than this; in [0, 1].
    pub floor: f32,
    /// The turn of the last access.
    pub last_access: u64,
}

/// What makes an entry fade slower or faster (v2 §5.2, §8.2).
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Modifiers {
    /// How much it matters.
    pub priority: Priority,
    /// Whether somebody made it on purpose.
    pub encoding: Encoding,
    /// Ids of related entries.
    pub associations: Vec<String>,
}

/// How much a context entry matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Priority {
    /// Never fades.
    Critical,
    /// Fades at three tenths of the rate.
    High,
    /// The default.
    #[default]
    Normal,
    /// Fades at twice the rate.
    Low,
}

impl Priority {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Critical, Self::High, Self::Normal, Self::Low];

    /// The name on the wire.
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

/// Whether somebody made an entry on purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Encoding {
    /// Somebody did.
    Manual,
    /// It was made because it was large.
    #[default]
    Auto,
}

/// Beginning and end of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Lifecycle {
    /// The turn in which it was made.
    pub created: u64,
    /// From this turn on it is dormant, however strong it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<u64>,
    /// Whether it goes into long-term memory when its session ends.
    pub persist: bool,
}
