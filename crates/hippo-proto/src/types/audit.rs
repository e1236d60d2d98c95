//! `audit`: quality measures of a workspace's memory.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::RpcError;
use crate::types::check::refuse_outside;

/// Maximum number of examples per finding.
pub const MAX_EXAMPLES: u32 = 100;

/// Parameters of `audit`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AuditRequest {
    /// Path of a workspace, or of anything below it.
    pub workspace: String,
    /// Examples per finding; default 5, at most [`MAX_EXAMPLES`].
    pub examples: Option<u32>,
}

impl AuditRequest {
    pub(crate) fn validate(&self) -> Result<(), RpcError> {
        refuse_outside("examples", self.examples, 0, MAX_EXAMPLES)
    }
}

/// Answer to `audit`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AuditResponse {
    /// Time of the audit, RFC 3339.
    pub at: String,
    /// Watched files that were read.
    pub files: u64,
    /// Unreadable watched files, which are not included in the numbers.
    pub unread: u64,
    /// One finding of each kind, always in the order of the kinds.
    pub findings: Vec<AuditFinding>,
    /// Duration in milliseconds.
    pub took_ms: f64,
}

/// The kind of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AuditKind {
    /// Chunks with the same text as an earlier one.
    Duplicate,
    /// Entries whose source does not exist.
    Stale,
    /// Lines whose value a newer line changes.
    Contradicted,
    /// Lines that contain a secret.
    SecretBearing,
    /// Lines that look like an instruction to an agent.
    InstructionLike,
}

/// The count for one kind of finding.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AuditFinding {
    /// The kind of finding.
    pub kind: AuditKind,
    /// Number of matches.
    pub count: u64,
    /// Number of chunks, entries or lines that were checked.
    pub of: u64,
    /// `count` divided by `of`, 0 to 1; 0 if `of` is 0.
    pub share: f64,
    /// The first matches, sorted by path and line.
    pub examples: Vec<AuditExample>,
}

/// One match of a finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AuditExample {
    /// Path relative to the workspace.
    pub path: String,
    /// First line, 1-based; absent for an entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The reason: the location of the other match, the kind of secret, or the name of a rule.
    pub why: String,
    /// For a duplicate, the beginning of its text; for a contradicted line, the beginnings of that line and of the line
    /// that contradicts it. Secrets are redacted, and lines that read like an instruction are omitted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub quotes: Vec<String>,
}
