//! How sound is what a workspace remembers: `audit`?

use serde::{Deserialize, Serialize};

use super::{Validate, no_empty};
use crate::error::RpcError;

/// Most examples of a finding that are answered.
pub const MAX_EXAMPLES: u32 = 100;

/// Parameters of `audit`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct AuditRequest {
    /// Path of a workspace, or of anything below it.
    pub workspace: String,
    /// Examples of each finding; 5 when absent, [`MAX_EXAMPLES`] at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub examples: Option<u32>,
    /// Whether its numbers are kept, for later audits to be shown beside.
    #[serde(default = "yes")]
    pub record: bool,
}

fn yes() -> bool {
    true
}

impl Validate for AuditRequest {
    fn validate(&self) -> Result<(), RpcError> {
        if let Some(examples) = self.examples.filter(|examples| *examples > MAX_EXAMPLES) {
            let what = format!("the field \"examples\" is {examples}");
            return Err(RpcError::bad_request(what).hint(format!("give {MAX_EXAMPLES} or less")));
        }
        no_empty("workspace", Some(&self.workspace))
    }
}

/// Answer to `audit`. No text of memory is in it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AuditResponse {
    /// When it was made, RFC 3339.
    pub at: String,
    /// Watched files that were read.
    pub files: u64,
    /// Watched files that could not be read, and are in no number.
    pub unread: u64,
    /// One of each kind, always in the same order.
    pub findings: Vec<AuditFinding>,
    /// Earlier audits, the newest first.
    pub before: Vec<AuditRun>,
    /// Milliseconds that it took.
    pub took_ms: f64,
}

/// What is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum AuditKind {
    /// Chunks whose text stands in an earlier one.
    Duplicate,
    /// Entries that point at what is not there.
    Stale,
    /// Lines that a newer line says again with another value.
    Contradicted,
    /// Lines that hold a secret.
    SecretBearing,
    /// Lines that read like an instruction to an agent.
    InstructionLike,
    /// Lines that say again what a boot file says.
    BootRestating,
}

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum AuditUnit {
    /// Chunks of the watched files.
    Chunks,
    /// Live entries of the index file.
    Entries,
    /// Lines of the watched files that have a letter or a digit.
    Lines,
}

/// How much of one kind was found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AuditFinding {
    /// What was looked for.
    pub kind: AuditKind,
    /// What is counted.
    pub unit: AuditUnit,
    /// How many were found.
    pub count: u64,
    /// Among how many.
    pub of: u64,
    /// The first divided by the second, 0 to 1; 0 where there are none.
    pub share: f64,
    /// The first ones by path and line.
    pub examples: Vec<AuditExample>,
}

/// One place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AuditExample {
    /// Relative to the workspace.
    pub path: String,
    /// First line, 1-based; absent for an entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// Why it counts, without its text: another place, a kind of secret, the name of a rule.
    pub why: String,
}

/// The numbers of an earlier audit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AuditRun {
    /// When it was made, RFC 3339.
    pub at: String,
    /// In the same order.
    pub findings: Vec<AuditCount>,
}

/// One number of an earlier audit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AuditCount {
    /// What was looked for.
    pub kind: AuditKind,
    /// How many were found.
    pub count: u64,
    /// Among how many.
    pub of: u64,
    /// The first divided by the second.
    pub share: f64,
}
