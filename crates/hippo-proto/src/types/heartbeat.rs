//! `heartbeat`: due cycles and pending tasks.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CycleRun, NextCycle};

/// Parameters of `heartbeat`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HeartbeatRequest {
    /// Path of the workspace, or of anything below it.
    pub workspace: String,
}

/// Answer to `heartbeat`, sent after the due cycles have run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HeartbeatResponse {
    /// The cycles that ran because they were due, in order.
    pub ran: Vec<CycleRun>,
    /// Tasks for the agent or its user.
    pub pending: Vec<Pending>,
    /// The next run of each cycle, earliest first.
    pub next: Vec<NextCycle>,
}

/// A task or decision that hippod leaves to the agent or the user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Pending {
    /// The kind in kebab-case: `orphan`, `removals-held`, `conflict`, `cycle-failed`, `summaries-wanted`; newer
    /// daemons may have others.
    pub kind: String,
    /// Description and instructions, as text.
    pub text: String,
    /// The affected files, relative to the workspace.
    pub paths: Vec<String>,
}
