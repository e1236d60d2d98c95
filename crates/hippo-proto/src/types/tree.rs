//! `tree.*`: update, pending summaries and nodes of the compaction tree.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::RpcError;
use crate::types::check::{refuse_larger, refuse_outside};

/// Maximum size of a body for `tree.submit`, in bytes.
pub const MAX_BODY_BYTES: usize = 1 << 20;

/// Maximum number of jobs in an answer.
pub const MAX_JOBS: u32 = 1_000;

/// Parameters of `tree.compact`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TreeCompactRequest {
    /// Path of the workspace, or of anything below it.
    pub workspace: String,
    /// Time that the update uses as the current time, RFC 3339 or `YYYY-MM-DD`; default: the current time.
    pub at: Option<String>,
    /// Return the changes without applying them.
    #[serde(default)]
    pub dry_run: bool,
    /// True to update the tree only if an update is due. Hooks, which run often, use this.
    #[serde(default)]
    pub when_due: bool,
    /// True to take over a tree of another program. By default, such a tree is left unchanged.
    #[serde(default)]
    pub take_over: bool,
}

/// The result of an update of the tree.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TreeCompactResponse {
    /// The date that the update used as today, `YYYY-MM-DD`.
    pub today: String,
    /// True if an update ran; false if none was due.
    pub ran: bool,
    /// Changed nodes, days first; for a dry run, planned changes.
    pub nodes: Vec<TreeChange>,
    /// Number of unchanged nodes.
    pub unchanged: u64,
    /// Nodes that could not be written, with reasons.
    pub refused: Vec<TreeRefusal>,
    /// Files of the nodes of another program, which were left unchanged.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub foreign: Vec<String>,
    /// Notes about the update.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Duration in the daemon, in milliseconds.
    pub took_ms: f64,
}

/// A changed node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TreeChange {
    /// File of the node, relative to the workspace.
    pub path: String,
    /// `made` (hippod wrote the body), `restated` (only the status changed), `outdated` (the body is by another author
    /// and stays, but needs an update), or `adopted` (the node existed before and is unchanged).
    pub action: String,
    /// The reason: `new`, `sources-changed`, `placeholder`, `period-over`, `found` or `written`.
    pub cause: String,
    /// The new status of the node.
    pub status: String,
    /// Size of the node in tokens, estimated as a quarter of its bytes.
    pub tokens: u64,
}

/// A node that could not be written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TreeRefusal {
    /// File of the node, relative to the workspace.
    pub path: String,
    /// The reason and the fix.
    pub reason: String,
}

/// Parameters of `tree.pending`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TreePendingRequest {
    /// Path of the workspace, or of anything below it.
    pub workspace: String,
    /// Maximum number of jobs, 1 to [`MAX_JOBS`]; default 10.
    #[schemars(range(min = 1, max = MAX_JOBS))]
    pub limit: Option<u32>,
}

impl TreePendingRequest {
    pub(crate) fn validate(&self) -> Result<(), RpcError> {
        refuse_outside("limit", self.limit, 1, MAX_JOBS)
    }
}

/// Answer to `tree.pending`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TreePendingResponse {
    /// Nodes that need a body, days first, newest first within a level.
    pub jobs: Vec<TreeJob>,
    /// Number of all nodes that need a body, regardless of the limit.
    pub total: u64,
}

/// A request for the body of a node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TreeJob {
    /// File of the node, relative to the workspace.
    pub path: String,
    /// The level: `daily`, `weekly` or `monthly`.
    pub level: String,
    /// The period: `2026-01-10`, `2026-W02` or `2026-01`.
    pub period: String,
    /// The sources, relative to the workspace.
    pub sources: Vec<String>,
    /// Digest of the current sources. `tree.submit` rejects the body if the sources have changed since.
    pub source_digest: String,
    /// Maximum size of the body, in tokens of four bytes.
    pub budget_tokens: u64,
    /// Instructions for the author.
    pub prompt: String,
}

/// Parameters of `tree.submit`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TreeSubmitRequest {
    /// Path of the workspace, or of anything below it.
    pub workspace: String,
    /// The node: `2026-01-10`, `2026-W02`, `2026-01`, or the path of its file.
    pub node: String,
    /// The body, markdown with or without front matter; at most [`MAX_BODY_BYTES`] bytes.
    pub body: String,
    /// `source_digest` of the job. A body for older sources is rejected.
    pub source_digest: Option<String>,
}

impl TreeSubmitRequest {
    pub(crate) fn validate(&self) -> Result<(), RpcError> {
        refuse_larger("body", self.body.len(), MAX_BODY_BYTES)
    }
}

/// Answer to `tree.submit`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TreeSubmitResponse {
    /// File of the node, relative to the workspace.
    pub path: String,
    /// The new status of the node.
    pub status: String,
    /// Size of the body in tokens.
    pub tokens: u64,
    /// Percentage of the words in the body that also occur in the sources, 0 to 100.
    pub overlap_percent: u64,
}

/// Parameters of `tree.show`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TreeShowRequest {
    /// Path of the workspace, or of anything below it.
    pub workspace: String,
    /// The node: `2026-01-10`, `2026-W02`, `2026-01`, `ROOT`, or the path of its file; default `ROOT`.
    pub node: Option<String>,
}

/// Answer to `tree.show`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TreeShowResponse {
    /// File of the node, relative to the workspace.
    pub path: String,
    /// The level: `daily`, `weekly`, `monthly` or `root`.
    pub level: String,
    /// The period: `2026-01-10`, `2026-W02`, `2026-01` or `ROOT`.
    pub period: String,
    /// The status: `tentative`, `fixed` or `needs-summarization`; null if the file has no status.
    pub status: Option<String>,
    /// Author of the body: `hippod` or `agent`; null if the node existed before hippod.
    pub written_by: Option<String>,
    /// True if the sources have changed since the body was written.
    pub stale: bool,
    /// The sources, relative to the workspace.
    pub sources: Vec<String>,
    /// The body of the node, as markdown.
    pub body: String,
    /// Size of the body in tokens.
    pub tokens: u64,
}
