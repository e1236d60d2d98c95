//! Vocabulary of context entries.

mod entry;

use serde::{Deserialize, Serialize};

pub use entry::{
    ContextDecay, ContextEntry, ContextLifecycle, ContextModifiers, ContextShown, ContextSource,
    DORMANT_BELOW,
};

/// Kind of content of a context entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum), value(rename_all = "snake_case"))]
#[serde(rename_all = "snake_case")]
pub enum ContextKind {
    /// Result of a tool call.
    #[default]
    #[cfg_attr(feature = "clap", value(alias = "tool-result"))]
    ToolResult,
    /// Message of a user or an agent.
    Message,
    /// State of the agent's work.
    State,
    /// Text read from long-term memory.
    Memory,
}

names!(ContextKind {
    ToolResult => "tool_result",
    Message => "message",
    State => "state",
    Memory => "memory",
});

impl ContextKind {
    /// Returns the default decay rate per turn. The values are from v2 §8.1; the value of `memory` is from §5.1.
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

/// Importance of a context entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "snake_case")]
pub enum ContextPriority {
    /// Never fades.
    Critical,
    /// Fades slowly.
    High,
    /// Fades at the standard rate.
    #[default]
    Normal,
    /// Fades twice as fast.
    Low,
}

names!(ContextPriority { Critical => "critical", High => "high", Normal => "normal", Low => "low" });

impl ContextPriority {
    /// Returns the factor by which the decay rate is multiplied.
    #[must_use]
    pub const fn factor(self) -> f32 {
        match self {
            Self::Critical => 0.0,
            Self::High => 0.3,
            Self::Normal => 1.0,
            Self::Low => 2.0,
        }
    }
}

/// How a context entry was created: manually or automatically.
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

names!(ContextEncoding { Manual => "manual", Auto => "auto" });

impl ContextEncoding {
    /// Returns the factor by which the decay rate is multiplied.
    #[must_use]
    pub const fn factor(self) -> f32 {
        match self {
            Self::Manual => 0.5,
            Self::Auto => 1.0,
        }
    }
}

/// State of a context entry in a turn.
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

names!(ContextState { Active => "active", Dormant => "dormant", Expired => "expired" });

/// Completeness of fetched content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FetchOutcome {
    /// All of the content: the captured version, or the current source.
    Full,
    /// Only the summary and the key data.
    Partial,
    /// No content.
    Unavailable,
}

names!(FetchOutcome { Full => "full", Partial => "partial", Unavailable => "unavailable" });

/// Origin of fetched content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FetchOrigin {
    /// The stored content.
    Store,
    /// The source, read again.
    Source,
    /// The summary of the entry.
    Summary,
}

names!(FetchOrigin { Store => "store", Source => "source", Summary => "summary" });
