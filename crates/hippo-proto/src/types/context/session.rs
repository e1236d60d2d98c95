//! `context.open`, `context.turn`, `context.list`, `context.close`: sessions.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::RpcError;
use crate::types::MAX_ENTRIES;
use crate::types::check::{refuse_outside, refuse_zero};
use hippo_types::context::{ContextEntry, ContextState};
use hippo_types::cycle::Cycle;

/// Parameters of `context.open`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ContextOpenRequest {
    /// Path of the workspace, or of anything below it.
    pub workspace: String,
    /// The agent that owns the session. If it is the id of an agent, requests of other agents do not find the session.
    pub agent: Option<String>,
    /// Id of the session. If an open session has this id, it is resumed. By default, the daemon creates an id.
    pub session: Option<String>,
}

/// Answer to `context.open`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ContextOpenResponse {
    /// Id of the session, unique across all workspaces.
    pub session: String,
    /// The highest turn so far.
    pub turn: u64,
    /// Number of entries.
    pub entries: u64,
    /// True if the session existed before.
    pub resumed: bool,
}

/// Parameters of `context.turn`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ContextTurnRequest {
    /// Id of an open session.
    pub session: String,
    /// Number of the completed turn.
    pub turn: u64,
    /// Number of tokens in the agent's context now; requires `context_limit`.
    pub context_tokens: Option<u64>,
    /// Size of the agent's context window in tokens, at least 1.
    pub context_limit: Option<u64>,
}

impl ContextTurnRequest {
    pub(crate) fn validate(&self) -> Result<(), RpcError> {
        refuse_zero("context_limit", self.context_limit)?;
        if self.context_tokens.is_some() == self.context_limit.is_some() {
            return Ok(());
        }
        Err(
            RpcError::bad_request("only one of \"context_tokens\" and \"context_limit\" is given")
                .hint("give both, or neither: the fill level needs both numbers"),
        )
    }
}

/// Answer to `context.turn`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ContextTurnResponse {
    /// The highest turn so far, which is the current turn.
    pub turn: u64,
    /// Number of entries in the context.
    pub active: u64,
    /// Number of entries that left the context because their strength is below 0.1.
    pub dormant: u64,
    /// Number of expired entries.
    pub expired: u64,
    /// Size of all active entries in a prompt, in tokens.
    pub tokens: u64,
    /// The cycle that ran on the session's entries: `light` or `deep`.
    pub cycle: Cycle,
    /// Entries whose state changed.
    pub moved: Vec<ContextMove>,
    /// A note, for example that the turn is lower than an earlier one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// An entry whose state changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ContextMove {
    /// Id of the entry.
    pub id: String,
    /// The former state.
    pub from: ContextState,
    /// The new state.
    pub to: ContextState,
}

/// Parameters of `context.list`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ContextListRequest {
    /// Return only sessions of this workspace.
    pub workspace: Option<String>,
    /// List the entries of this session; without it, list sessions.
    pub session: Option<String>,
    /// Turn for which the strengths are computed; default: the highest turn. Requires `session`.
    pub at_turn: Option<u64>,
    /// Maximum number of results, 1 to [`MAX_ENTRIES`]; default [`MAX_ENTRIES`].
    pub limit: Option<u32>,
}

impl ContextListRequest {
    pub(crate) fn validate(&self) -> Result<(), RpcError> {
        if self.at_turn.is_some() && self.session.is_none() {
            return Err(
                RpcError::bad_request("the field \"at_turn\" requires a \"session\"")
                    .hint("a turn belongs to a session: give the id of the session"),
            );
        }
        refuse_outside("limit", self.limit, 1, MAX_ENTRIES)
    }
}

/// Answer to `context.list`: `sessions`, or `entries` and `turn`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ContextListResponse {
    /// Sessions, last used first; absent if a session was named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sessions: Option<Vec<ContextSession>>,
    /// Entries, strongest first, then newest first; absent if no session was named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entries: Option<Vec<ContextListed>>,
    /// The turn for which the strengths are computed; absent if no session was named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<u64>,
    /// Number of results that exist, regardless of `limit`.
    pub total: u64,
}

/// An entry of a session with its state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ContextListed {
    /// The entry. Its members are at the same level as `state`.
    #[serde(flatten)]
    pub entry: ContextEntry,
    /// The state of the entry.
    pub state: ContextState,
}

/// A session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ContextSession {
    /// Id of the session.
    pub session: String,
    /// Canonical root of its workspace.
    pub workspace: String,
    /// The agent that owns the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The highest turn so far.
    pub turn: u64,
    /// Number of entries.
    pub entries: u64,
    /// Time of opening, RFC 3339.
    pub opened: String,
    /// Time of the last use, RFC 3339.
    pub used: String,
    /// Time of closing, RFC 3339; null while open.
    pub closed: Option<String>,
}

/// Parameters of `context.close`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ContextCloseRequest {
    /// Id of a session.
    pub session: String,
}

/// Answer to `context.close`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ContextCloseResponse {
    /// Id of the session.
    pub session: String,
    /// Number of the session's entries. Entries and contents are kept as long as the budget allows.
    pub entries: u64,
    /// Entries written to long-term memory.
    pub persisted: Vec<ContextPersisted>,
    /// Time of closing, RFC 3339.
    pub closed_at: String,
    /// True if the session was already closed, so that the request had no effect.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub already: bool,
    /// Notes, such as an entry that could not be written.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// An entry written to long-term memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ContextPersisted {
    /// Id of the entry.
    pub id: String,
    /// The file, relative to the workspace.
    pub path: String,
    /// The first line in the file, 1-based.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
}
