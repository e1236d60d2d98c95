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
    /// Do what the program can do itself about what it finds; no text of people is touched.
    #[serde(default, skip_serializing_if = "is_false")]
    pub fix: bool,
    /// With `fix`: only say what would be done.
    #[serde(default, skip_serializing_if = "is_false")]
    pub dry_run: bool,
}

/// A field that is left out where it says no.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for this shape")]
fn is_false(value: &bool) -> bool {
    !*value
}

impl Validate for DoctorRequest {
    fn validate(&self) -> Result<(), RpcError> {
        if self.dry_run && !self.fix {
            let error = RpcError::bad_request("the field \"dry_run\" says nothing without \"fix\"");
            return Err(error.hint("give \"fix\" as well, or leave it out: doctor alone changes nothing"));
        }
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
    /// With `fix`: what was done, or with `dry_run` would be; what could not be done stands among the problems, too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fixed: Vec<Fixed>,
}

/// What `doctor` did about a problem.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Fixed {
    /// The kind of the problem.
    pub id: String,
    /// The workspace, file or setting that it concerned.
    #[serde(rename = "where")]
    pub where_: String,
    /// What was done, or would be.
    pub what: String,
    /// Why it could not be done; absent where it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
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
    /// Whether `doctor` with `fix` does it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub fixable: bool,
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
    /// How bad the worst of the problems is that were found there; absent where all is well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worst: Option<Severity>,
}

impl Check {
    /// What was looked at, with what was found wrong there: what is good to know is not.
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
