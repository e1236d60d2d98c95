//! What is a context entry on the wire? Field for field as v2 §14.1 has it.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A sparse pointer in an agent's context that stands for content kept elsewhere. Time is counted in turns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ContextEntry {
    /// Names it; unique over all sessions.
    pub id: String,
    /// What it stands for.
    #[serde(rename = "type")]
    pub type_: ContextType,
    /// Where its content comes from.
    pub source: ContextSource,
    /// One to a few lines for people and models.
    pub summary: String,
    /// Values that will be asked for again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_data: Option<Map<String, Value>>,
    /// In the turn asked for, 0 to 1.
    pub strength: f32,
    /// How it fades.
    pub decay: ContextDecay,
    /// What makes it fade slower or faster.
    pub modifiers: ContextModifiers,
    /// Its beginning and end.
    pub lifecycle: ContextLifecycle,
}

/// What an entry stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ContextType {
    /// What a tool answered.
    #[default]
    ToolResult,
    /// What somebody said.
    Message,
    /// What the agent is doing.
    State,
    /// What was read from long-term memory.
    Memory,
}

impl ContextType {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::ToolResult, Self::Message, Self::State, Self::Memory];

    /// Its name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            ContextType::ToolResult => "tool_result",
            ContextType::Message => "message",
            ContextType::State => "state",
            ContextType::Memory => "memory",
        }
    }
}

/// Where the content of an entry comes from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ContextSource {
    /// How it was made, and how it can be made again: `browser.snapshot`, `file`, `exec`.
    #[serde(rename = "type")]
    pub type_: String,
    /// What it is of: a path, a command, an address; may be empty.
    #[serde(rename = "ref")]
    pub reference: String,
    /// The turn in which it was captured.
    pub turn: u64,
    /// Whether the content can be had again.
    pub retrievable: bool,
}

/// How an entry fades.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ContextDecay {
    /// How much a turn counts; at least 0.
    pub rate: f32,
    /// It never gets weaker than this; 0 to 1.
    pub floor: f32,
    /// The turn of the last access.
    pub last_access: u64,
}

/// What makes an entry fade slower or faster.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ContextModifiers {
    /// How much it matters.
    pub priority: ContextPriority,
    /// Whether somebody made it on purpose.
    pub encoding: ContextEncoding,
    /// Ids of related entries.
    pub associations: Vec<String>,
}

/// How much a context entry matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ContextPriority {
    /// Never fades.
    Critical,
    /// Fades slowly.
    High,
    /// The default.
    #[default]
    Normal,
    /// Fades twice as fast.
    Low,
}

impl ContextPriority {
    /// All of them, the most lasting first.
    pub const ALL: [Self; 4] = [Self::Critical, Self::High, Self::Normal, Self::Low];

    /// Its name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            ContextPriority::Critical => "critical",
            ContextPriority::High => "high",
            ContextPriority::Normal => "normal",
            ContextPriority::Low => "low",
        }
    }
}

/// Whether somebody made an entry on purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ContextEncoding {
    /// Somebody did; it fades more slowly.
    Manual,
    /// It was made because its content was large.
    #[default]
    Auto,
}

impl ContextEncoding {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Manual, Self::Auto];

    /// Its name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            ContextEncoding::Manual => "manual",
            ContextEncoding::Auto => "auto",
        }
    }
}

/// Beginning and end of an entry.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ContextLifecycle {
    /// The turn in which it was made.
    pub created: u64,
    /// From this turn on it is out of the context, however strong it is; absent: never for this reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<u64>,
    /// Whether it goes into long-term memory when its session ends.
    pub persist: bool,
}

/// Whether an entry is part of the context in a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ContextState {
    /// It is.
    Active,
    /// It is too weak, and comes back by an access.
    Dormant,
    /// Its turns are over.
    Expired,
}

impl ContextState {
    /// Its name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            ContextState::Active => "active",
            ContextState::Dormant => "dormant",
            ContextState::Expired => "expired",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_are_those_on_the_wire() {
        for type_ in ContextType::ALL {
            assert_eq!(serde_json::to_value(type_).unwrap(), type_.name());
        }
        for priority in ContextPriority::ALL {
            assert_eq!(serde_json::to_value(priority).unwrap(), priority.name());
        }
        for encoding in ContextEncoding::ALL {
            assert_eq!(serde_json::to_value(encoding).unwrap(), encoding.name());
        }
        for state in [ContextState::Active, ContextState::Dormant, ContextState::Expired] {
            assert_eq!(serde_json::to_value(state).unwrap(), state.name());
        }
    }
}
