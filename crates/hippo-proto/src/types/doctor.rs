//! What is wrong, and how is it mended: `doctor`?

use serde::{Deserialize, Serialize};

use super::{Validate, no_empty};
use crate::error::RpcError;

/// Parameters of `doctor`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct DoctorRequest {
    /// Path of a workspace, or of anything below it; all when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    /// Throw away what is derived from the files and build it anew.
    #[serde(default)]
    pub rebuild: bool,
}

impl Validate for DoctorRequest {
    fn validate(&self) -> Result<(), RpcError> {
        no_empty("workspace", self.workspace.as_deref())
    }
}

/// Answer to `doctor`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DoctorResponse {
    /// Worst first; empty when all is well.
    pub problems: Vec<Problem>,
    /// What was looked at.
    pub checks: Vec<Check>,
}

/// How bad a problem is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Answers are wrong or missing.
    Error,
    /// Answers are worse than they could be.
    Warning,
    /// Good to know.
    Info,
}

/// One problem with its fix.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Problem {
    /// Its kind, in kebab-case, stable for scripts.
    pub id: String,
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong, in one sentence.
    pub what: String,
    /// The workspace, file or setting that it concerns.
    #[serde(rename = "where")]
    pub where_: String,
    /// What to do: a command or a setting.
    pub fix: String,
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Check {
    /// Its kind, in kebab-case, stable for scripts.
    pub id: String,
    /// Whether it is well.
    pub ok: bool,
    /// What was found.
    pub detail: String,
}
