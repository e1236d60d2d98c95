//! Types of `backup`, `backup.verify` and `restore`.

use serde::{Deserialize, Serialize};

use super::{Validate, refuse_empty as no_empty};
use crate::error::RpcError;

/// Parameters of `backup`. `progress` notifications come before the answer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct BackupRequest {
    /// Absolute path of the workspace or of anything below it; all workspaces when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    /// Absolute path of the file to write.
    pub to: String,
    /// Whether a file that is there already is replaced.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub force: bool,
}

impl Validate for BackupRequest {
    fn validate(&self) -> Result<(), RpcError> {
        no_empty("workspace", self.workspace.as_deref())?;
        no_empty("to", Some(&self.to))
    }
}

/// Parameters of `backup.verify`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct BackupVerifyRequest {
    /// Absolute path of a backup.
    pub from: String,
}

impl Validate for BackupVerifyRequest {
    fn validate(&self) -> Result<(), RpcError> {
        no_empty("from", Some(&self.from))
    }
}

/// Answer to `backup` and `backup.verify`: what is in the file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BackupResponse {
    /// The file.
    pub file: String,
    /// Version of hippod that wrote it.
    pub hippod: String,
    /// When it was begun, RFC 3339.
    pub at: String,
    /// What is in it.
    pub workspaces: Vec<BackedUp>,
    /// The workspaces, by their roots, that are not in it though all were wanted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOut>,
    /// Its bytes on the disk.
    pub bytes: u64,
    /// Milliseconds.
    pub took_ms: f64,
}

/// One workspace in a backup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BackedUp {
    /// Canonical root that it had.
    pub root: String,
    /// Files of the workspace.
    pub files: u64,
    /// Bytes of all members of it, unpacked.
    pub bytes: u64,
    /// What is not in it, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOut>,
}

/// Something that a backup does not have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LeftOut {
    /// Path relative to the workspace, with `/`; invalid UTF-8 replaced.
    pub path: String,
    /// Why, for a person.
    pub reason: String,
}

/// Parameters of `restore`. `progress` notifications come before the answer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RestoreRequest {
    /// Absolute path of a backup.
    pub from: String,
    /// The root, as the backup names it, of the only workspace that is wanted; all of them when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    /// Absolute path of the folder that becomes the workspace, empty or not there yet; the root that it had when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub into: Option<String>,
    /// Whether files are taken too that are memory only by settings that the workspace had of its own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub other_files: bool,
}

impl Validate for RestoreRequest {
    fn validate(&self) -> Result<(), RpcError> {
        no_empty("from", Some(&self.from))?;
        no_empty("workspace", self.workspace.as_deref())?;
        no_empty("into", self.into.as_deref())
    }
}

/// Answer to `restore`; what changed since is indexed in the background.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RestoreResponse {
    /// What there is again.
    pub workspaces: Vec<Restored>,
    /// Milliseconds.
    pub took_ms: f64,
}

/// One workspace that was restored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Restored {
    /// Canonical root that it has now.
    pub root: String,
    /// Root that it had.
    pub was: String,
    /// Files of the workspace.
    pub files: u64,
}
