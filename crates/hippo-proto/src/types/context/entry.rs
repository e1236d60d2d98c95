//! Context entries on the wire.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A sparse pointer in an agent's context to content stored elsewhere. Time is counted in turns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ContextEntry {
    /// Id, unique over all sessions.
    pub id: String,
    /// The kind of content.
    #[serde(rename = "type")]
    pub type_: ContextType,
    /// The source of the content.
    pub source: ContextSource,
    /// Summary in one to a few lines.
    pub summary: String,
    /// Values that are likely to be needed again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_data: Option<Map<String, Value>>,
    /// Strength in the requested turn, 0 to 1.
    pub strength: f32,
    /// Decay parameters.
    pub decay: ContextDecay,
    /// Factors that slow or speed up the decay.
    pub modifiers: ContextModifiers,
    /// Creation and expiry.
    pub lifecycle: ContextLifecycle,
}

/// The kind of content of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ContextType {
    /// The result of a tool.
    #[default]
    ToolResult,
    /// A message.
    Message,
    /// The state of the agent's work.
    State,
    /// Text from long-term memory.
    Memory,
}

impl ContextType {
    /// All variants.
    pub const ALL: [Self; 4] = [Self::ToolResult, Self::Message, Self::State, Self::Memory];

    /// Returns the wire name.
    pub fn name(self) -> &'static str {
        match self {
            ContextType::ToolResult => "tool_result",
            ContextType::Message => "message",
            ContextType::State => "state",
            ContextType::Memory => "memory",
        }
    }
}

/// The source of an entry's content.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ContextSource {
    /// How the content was created and can be created again: `browser.snapshot`, `file`, `exec`.
    #[serde(rename = "type")]
    pub type_: String,
    /// The origin: a path, a command, an address; may be empty.
    #[serde(rename = "ref")]
    pub reference: String,
    /// The turn in which it was captured.
    pub turn: u64,
    /// True if the content can be fetched again.
    pub retrievable: bool,
}

/// Decay parameters of an entry.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ContextDecay {
    /// Weight of a turn; at least 0.
    pub rate: f32,
    /// Minimum strength, 0 to 1.
    pub floor: f32,
    /// The turn of the last access.
    pub last_access: u64,
}

/// Factors that slow or speed up the decay of an entry.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ContextModifiers {
    /// The importance.
    pub priority: ContextPriority,
    /// True if the entry was created deliberately.
    pub encoding: ContextEncoding,
    /// Ids of related entries.
    pub associations: Vec<String>,
}

/// The importance of a context entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ContextPriority {
    /// Does not decay.
    Critical,
    /// Decays slowly.
    High,
    /// The default.
    #[default]
    Normal,
    /// Decays twice as fast.
    Low,
}

impl ContextPriority {
    /// All variants, slowest decay first.
    pub const ALL: [Self; 4] = [Self::Critical, Self::High, Self::Normal, Self::Low];

    /// Returns the wire name.
    pub fn name(self) -> &'static str {
        match self {
            ContextPriority::Critical => "critical",
            ContextPriority::High => "high",
            ContextPriority::Normal => "normal",
            ContextPriority::Low => "low",
        }
    }
}

/// True if an entry was created deliberately.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ContextEncoding {
    /// Created by a user or agent; decays more slowly.
    Manual,
    /// Created because the content was large.
    #[default]
    Auto,
}

impl ContextEncoding {
    /// Both variants.
    pub const ALL: [Self; 2] = [Self::Manual, Self::Auto];

    /// Returns the wire name.
    pub fn name(self) -> &'static str {
        match self {
            ContextEncoding::Manual => "manual",
            ContextEncoding::Auto => "auto",
        }
    }
}

/// Creation and expiry of an entry.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ContextLifecycle {
    /// The turn of creation.
    pub created: u64,
    /// The turn from which the entry is out of the context, independent of its strength; absent if it does not expire.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<u64>,
    /// True if it is written to long-term memory when its session closes.
    pub persist: bool,
}

/// The state of an entry in a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ContextState {
    /// Part of the context.
    Active,
    /// Too weak; an access reactivates it.
    Dormant,
    /// Past its expiry.
    Expired,
}

impl ContextState {
    /// Returns the wire name.
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
    fn the_names_match_the_wire_names() {
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
