//! `doctor`: problems and their fixes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::RpcError;

/// Parameters of `doctor`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DoctorRequest {
    /// Path of a workspace, or of anything below it; default: all workspaces.
    pub workspace: Option<String>,
    /// Delete the data derived from the files and build it again.
    #[serde(default)]
    pub rebuild: bool,
    /// Apply the automatic fixes of the problems; text written by users is never changed.
    #[serde(default)]
    pub fix: bool,
    /// With `fix`: only return the planned fixes.
    #[serde(default)]
    pub dry_run: bool,
}

impl DoctorRequest {
    pub(crate) fn validate(&self) -> Result<(), RpcError> {
        if self.dry_run && !self.fix {
            let error = RpcError::bad_request("the field \"dry_run\" has no effect without \"fix\"");
            return Err(error.hint("set \"fix\" too; without \"fix\", doctor changes nothing in any case"));
        }
        Ok(())
    }
}

/// Answer to `doctor`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DoctorResponse {
    /// Problems, worst first; empty if none was found.
    pub problems: Vec<Problem>,
    /// All checks that were made.
    pub checks: Vec<Check>,
    /// With `fix`, the applied fixes; with `dry_run`, the planned ones. A failed fix is also listed as a problem.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fixed: Vec<Fixed>,
}

/// A fix by `doctor`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Fixed {
    /// The kind of the fixed problem, in kebab-case.
    pub id: String,
    /// The affected workspace, file or setting.
    #[serde(rename = "where")]
    pub where_: String,
    /// Description of the fix.
    pub what: String,
    /// The reason why the fix failed; absent if it succeeded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
}

/// The severity of a problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Results are wrong or missing.
    Error,
    /// Results are worse than possible.
    Warning,
    /// Information only.
    Info,
}

/// One problem with its fix.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Problem {
    /// The kind of problem in kebab-case, stable for scripts.
    pub id: String,
    /// The severity.
    pub severity: Severity,
    /// Description in one sentence.
    pub what: String,
    /// The affected workspace, file or setting.
    #[serde(rename = "where")]
    pub where_: String,
    /// The fix for the user to apply: a command or a setting.
    pub fix: String,
    /// True if `doctor` with `fix` can fix the problem.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fixable: bool,
}

/// One performed check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Check {
    /// The kind of check in kebab-case, stable for scripts.
    pub id: String,
    /// True if the check passed.
    pub ok: bool,
    /// The result, as text.
    pub detail: String,
    /// The highest severity of the problems that the check found; absent if the check passed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worst: Option<Severity>,
}

impl Check {
    /// Creates a check from its problems; problems of severity `info` do not count.
    pub fn new(id: &str, detail: impl Into<String>, found: &[Problem]) -> Self {
        let severities = found.iter().map(|problem| problem.severity);
        let worst = severities.filter(|severity| *severity != Severity::Info).min();
        Self {
            id: id.to_owned(),
            ok: worst.is_none(),
            detail: detail.into(),
            worst,
        }
    }
}
