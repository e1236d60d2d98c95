//! What does the compaction tree say, what of it waits for somebody, and how is it made: `tree.*`?

use serde::{Deserialize, Serialize};

use super::moment::a_moment;
use super::{Validate, no_empty};
use crate::error::{ErrorKind, RpcError};

/// Longest body that `tree.submit` takes, in bytes.
pub const MAX_BODY_BYTES: usize = 1 << 20;

/// Most jobs that one request may ask for.
pub const MAX_JOBS: u32 = 1_000;

/// Parameters of `tree.compact`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct TreeCompactRequest {
    /// Path of the workspace, or of anything below it.
    pub workspace: String,
    /// As if it were this moment, RFC 3339 or `YYYY-MM-DD`; without it now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// Only say what would be done.
    #[serde(default)]
    pub dry_run: bool,
    /// Only if it is due: hooks ask often.
    #[serde(default)]
    pub when_due: bool,
    /// Take over a tree that another program made; without it such a tree is left alone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub take_over: bool,
}

impl Validate for TreeCompactRequest {
    fn validate(&self) -> Result<(), RpcError> {
        no_empty("workspace", Some(&self.workspace))?;
        a_moment(self.at.as_deref())
    }
}

/// What was done to the tree.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TreeCompactResponse {
    /// The day that counts as today, `YYYY-MM-DD`.
    pub today: String,
    /// Whether anything was looked at; false where it was not due.
    pub ran: bool,
    /// Nodes that changed, days first; of a dry run, that would.
    pub nodes: Vec<TreeChange>,
    /// Nodes that are as they should be.
    pub unchanged: u64,
    /// Topics that are new in `ROOT.md`.
    pub entered: Vec<String>,
    /// Topics that are no longer in `ROOT.md`.
    pub left: Vec<String>,
    /// Nodes that could not be made, and why.
    pub refused: Vec<TreeRefusal>,
    /// Nodes of another program that are left alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub foreign: Vec<String>,
    /// What the reader should know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Milliseconds inside the daemon.
    pub took_ms: f64,
}

/// A node that changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TreeChange {
    /// Its file, relative to the workspace.
    pub path: String,
    /// `made`, `restated` (its status alone), `outdated` (somebody's body stays, and waits for a new one), `adopted` (it was
    /// there before hippod and is not touched).
    pub action: String,
    /// `new`, `sources-changed`, `placeholder`, `period-over`, `found`, `written`, `summary-wanted`.
    pub cause: String,
    /// Its status after it.
    pub status: String,
    /// Its size, estimated as a quarter of its bytes.
    pub tokens: u64,
}

/// A node that could not be made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TreeRefusal {
    /// Its file, relative to the workspace.
    pub path: String,
    /// Why, and what to do.
    pub reason: String,
}

/// Parameters of `tree.pending`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct TreePendingRequest {
    /// Path of the workspace, or of anything below it.
    pub workspace: String,
    /// Most jobs, 1 to [`MAX_JOBS`]; 10 without it.
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = MAX_JOBS)))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

impl Validate for TreePendingRequest {
    fn validate(&self) -> Result<(), RpcError> {
        no_empty("workspace", Some(&self.workspace))?;
        match self.limit {
            Some(limit) if !(1..=MAX_JOBS).contains(&limit) => {
                let error = RpcError::bad_request(format!("the limit {limit} is out of range"));
                Err(error.hint(format!("ask for 1 to {MAX_JOBS} jobs")))
            }
            _ => Ok(()),
        }
    }
}

/// Answer to `tree.pending`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TreePendingResponse {
    /// Nodes whose body somebody should write, days first, the newest of a level first.
    pub jobs: Vec<TreeJob>,
    /// How many there are in all.
    pub total: u64,
}

/// A body that somebody should write.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TreeJob {
    /// The node's file, relative to the workspace.
    pub path: String,
    /// `daily`, `weekly` or `monthly`.
    pub level: String,
    /// `2026-01-10`, `2026-W02` or `2026-01`.
    pub period: String,
    /// What it is made from, relative to the workspace.
    pub sources: Vec<String>,
    /// The sources as they are now: `tree.submit` takes a body for these alone.
    pub source_digest: String,
    /// The most that a body may have, in tokens of four bytes.
    pub budget_tokens: u64,
    /// What is wanted, for whoever writes it.
    pub prompt: String,
}

/// Parameters of `tree.submit`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct TreeSubmitRequest {
    /// Path of the workspace, or of anything below it.
    pub workspace: String,
    /// Which node: `2026-01-10`, `2026-W02`, `2026-01`, or the path of its file.
    pub node: String,
    /// Its body, markdown, with or without front matter; at most [`MAX_BODY_BYTES`].
    pub body: String,
    /// That of the job; a body for older sources is refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_digest: Option<String>,
}

impl Validate for TreeSubmitRequest {
    fn validate(&self) -> Result<(), RpcError> {
        no_empty("workspace", Some(&self.workspace))?;
        no_empty("node", Some(&self.node))?;
        no_empty("body", Some(&self.body))?;
        if self.body.len() > MAX_BODY_BYTES {
            let what = format!("the body is longer than {MAX_BODY_BYTES} bytes");
            return Err(RpcError::new(ErrorKind::TooLarge, what)
                .hint("tree.pending says how many tokens a body may have"));
        }
        Ok(())
    }
}

/// Answer to `tree.submit`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TreeSubmitResponse {
    /// The node's file, relative to the workspace.
    pub path: String,
    /// Its status now.
    pub status: String,
    /// Tokens of the body.
    pub tokens: u64,
    /// Share of the body's words that the sources have, 0 to 100.
    pub overlap_percent: u64,
}

/// Parameters of `tree.show`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct TreeShowRequest {
    /// Path of the workspace, or of anything below it.
    pub workspace: String,
    /// Which node: `2026-01-10`, `2026-W02`, `2026-01`, `ROOT`, or the path of its file; without it `ROOT`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
}

impl Validate for TreeShowRequest {
    fn validate(&self) -> Result<(), RpcError> {
        no_empty("workspace", Some(&self.workspace))?;
        no_empty("node", self.node.as_deref())
    }
}

/// Answer to `tree.show`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TreeShowResponse {
    /// The node's file, relative to the workspace.
    pub path: String,
    /// `daily`, `weekly`, `monthly` or `root`.
    pub level: String,
    /// `2026-01-10`, `2026-W02`, `2026-01` or `ROOT`.
    pub period: String,
    /// `tentative`, `fixed` or `needs-summarization`; null: its file does not say.
    pub status: Option<String>,
    /// `hippod`, `agent` or `command`; null: it was there before hippod.
    pub written_by: Option<String>,
    /// Whether its sources have changed since it was made.
    pub stale: bool,
    /// What it was made from, relative to the workspace.
    pub sources: Vec<String>,
    /// Its body.
    pub body: String,
    /// Tokens of the body.
    pub tokens: u64,
}
