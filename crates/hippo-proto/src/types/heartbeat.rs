//! What is due, and what waits for somebody: `heartbeat`?

use serde::{Deserialize, Serialize};

use super::{CycleRun, NextCycle, Validate, no_empty};
use crate::error::RpcError;

/// Parameters of `heartbeat`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct HeartbeatRequest {
    /// Path of the workspace, or of anything below it.
    pub workspace: String,
}

impl Validate for HeartbeatRequest {
    fn validate(&self) -> Result<(), RpcError> {
        no_empty("workspace", Some(&self.workspace))
    }
}

/// Answer to `heartbeat`, when what was due has run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HeartbeatResponse {
    /// The cycles that were due, in the order in which they ran.
    pub ran: Vec<CycleRun>,
    /// What waits for the agent or its user.
    pub pending: Vec<Pending>,
    /// When each cycle is due next, the soonest first.
    pub next: Vec<NextCycle>,
}

/// Something that hippod does not decide by itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Pending {
    /// In kebab-case: `proposal`, `orphan`, `removals-held`, `conflict`, `cycle-failed`; newer daemons may have others.
    pub kind: String,
    /// What it is and what to do, for a person or an agent.
    pub text: String,
    /// Files that it concerns, relative to the workspace.
    pub paths: Vec<String>,
}
