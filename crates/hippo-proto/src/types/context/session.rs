//! How does a session begin, go on and end: `context.open`, `context.turn`, `context.list`, `context.close`?

use serde::{Deserialize, Serialize};

use super::{ContextEntry, ContextState, a_session, perhaps_a_session};
use crate::error::RpcError;
use crate::types::{CycleName, MAX_ENTRIES, Validate, at_least_one, no_empty};

/// Parameters of `context.open`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ContextOpenRequest {
    /// Path of the workspace, or of anything below it.
    pub workspace: String,
    /// The agent whose session it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The id that it is to have; an open session of this id is gone on with. Without it the daemon makes one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
}

impl Validate for ContextOpenRequest {
    fn validate(&self) -> Result<(), RpcError> {
        no_empty("workspace", Some(&self.workspace))?;
        no_empty("agent", self.agent.as_deref())?;
        perhaps_a_session(self.session.as_deref())
    }
}

/// Answer to `context.open`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ContextOpenResponse {
    /// Its id, unique over all workspaces.
    pub session: String,
    /// The highest turn so far.
    pub turn: u64,
    /// Entries that it has.
    pub entries: u64,
    /// Whether it was there before.
    pub resumed: bool,
}

/// Parameters of `context.turn`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ContextTurnRequest {
    /// Id of an open session.
    pub session: String,
    /// The turn that is complete.
    pub turn: u64,
    /// Tokens in the agent's context now; goes together with `context_limit`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_tokens: Option<u64>,
    /// Tokens that it can hold, at least 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_limit: Option<u64>,
}

impl Validate for ContextTurnRequest {
    fn validate(&self) -> Result<(), RpcError> {
        a_session(&self.session)?;
        at_least_one("context_limit", self.context_limit)?;
        if self.context_tokens.is_some() == self.context_limit.is_some() {
            return Ok(());
        }
        Err(
            RpcError::bad_request("of \"context_tokens\" and \"context_limit\" one alone is given")
                .hint("give both, or neither: how full the context is takes two numbers"),
        )
    }
}

/// Answer to `context.turn`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ContextTurnResponse {
    /// The highest turn so far: the one that counts.
    pub turn: u64,
    /// Entries that are part of the context.
    pub active: u64,
    /// Entries that are too weak.
    pub dormant: u64,
    /// Entries whose turns are over.
    pub expired: u64,
    /// Tokens of the active entries as they are rendered.
    pub tokens: u64,
    /// The consolidation that was made: `light` or `deep`.
    pub cycle: CycleName,
    /// Entries that changed their state.
    pub moved: Vec<ContextMove>,
    /// What the reader should know, such as a turn that went back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// An entry that changed its state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ContextMove {
    /// The entry.
    pub id: String,
    /// What it was.
    pub from: ContextState,
    /// What it is.
    pub to: ContextState,
}

/// Parameters of `context.list`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ContextListRequest {
    /// Only sessions of this workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    /// The entries of this session; without it, sessions are listed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Strengths as of this turn; without it as of the highest so far. Goes with `session`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_turn: Option<u64>,
    /// Most of what is listed, 1 to [`MAX_ENTRIES`], which holds without it too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

impl Validate for ContextListRequest {
    fn validate(&self) -> Result<(), RpcError> {
        no_empty("workspace", self.workspace.as_deref())?;
        perhaps_a_session(self.session.as_deref())?;
        if self.at_turn.is_some() && self.session.is_none() {
            return Err(
                RpcError::bad_request("the field \"at_turn\" goes with a \"session\"")
                    .hint("a turn is one of a session: name it"),
            );
        }
        match self.limit {
            Some(limit) if !(1..=MAX_ENTRIES).contains(&limit) => {
                let error = RpcError::bad_request(format!("the limit {limit} is out of range"));
                Err(error.hint(format!("ask for 1 to {MAX_ENTRIES} entries")))
            }
            _ => Ok(()),
        }
    }
}

/// Answer to `context.list`: `sessions`, or `entries` and `turn`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ContextListResponse {
    /// The last used first; absent where a session was named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sessions: Option<Vec<ContextSession>>,
    /// The strongest first, equal ones the newest first; absent where no session was named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entries: Option<Vec<ContextListed>>,
    /// The turn of the strengths; absent where no session was named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<u64>,
    /// How many there are without the limit.
    pub total: u64,
}

/// An entry of a session, and whether it is shown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ContextListed {
    /// The entry; its members stand beside `state`.
    #[serde(flatten)]
    pub entry: ContextEntry,
    /// Whether it is part of the context.
    pub state: ContextState,
}

/// A session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ContextSession {
    /// Its id.
    pub session: String,
    /// Canonical root of its workspace.
    pub workspace: String,
    /// The agent whose session it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The highest turn so far.
    pub turn: u64,
    /// Entries that it has.
    pub entries: u64,
    /// When it was opened, RFC 3339.
    pub opened: String,
    /// When something was last done in it, RFC 3339.
    pub used: String,
    /// When it was closed, RFC 3339; null while it is open.
    pub closed: Option<String>,
}

/// Parameters of `context.close`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ContextCloseRequest {
    /// Id of a session.
    pub session: String,
}

impl Validate for ContextCloseRequest {
    fn validate(&self) -> Result<(), RpcError> {
        a_session(&self.session)
    }
}

/// Answer to `context.close`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ContextCloseResponse {
    /// Its id.
    pub session: String,
    /// Entries that it has; they stay, with their contents, as long as the budget allows.
    pub entries: u64,
    /// What went into long-term memory.
    pub persisted: Vec<ContextPersisted>,
    /// When it was closed, RFC 3339.
    pub closed_at: String,
    /// Whether it was closed before: then nothing was done.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub already: bool,
    /// What the reader should know, such as an entry that could not be written.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// An entry that went into long-term memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ContextPersisted {
    /// The entry.
    pub id: String,
    /// The file, relative to the workspace.
    pub path: String,
    /// Its first line there, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
}
