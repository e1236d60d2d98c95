//! Types of `workspace.*`: registered folders and trust in their settings.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Validate, no_empty};
use crate::error::RpcError;

/// Parameters of `workspace.add`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct WorkspaceAddRequest {
    /// Absolute path of the folder.
    pub workspace: String,
}

impl Validate for WorkspaceAddRequest {
    fn validate(&self) -> Result<(), RpcError> {
        no_empty("workspace", Some(&self.workspace))
    }
}

/// Answer to `workspace.add`; indexing goes on in the background.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WorkspaceAddResponse {
    /// Canonical root, the identity of the workspace.
    pub root: String,
    /// Whether it was not registered before.
    pub added: bool,
    /// What the reader should know about this, such as that another workspace lies around it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// Parameters of `workspace.list`: none.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct WorkspaceListRequest {}

impl Validate for WorkspaceListRequest {}

/// Answer to `workspace.list`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WorkspaceListResponse {
    /// In order of their roots.
    pub workspaces: Vec<WorkspaceInfo>,
}

/// One registered folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WorkspaceInfo {
    /// Canonical root.
    pub root: String,
    /// Watched files in the index.
    pub documents: u64,
    /// Chunks that wait for their vectors.
    pub pending: u64,
    /// Generation of the index.
    pub generation: u64,
    /// Whether the folder is there now.
    pub root_present: bool,
    /// It is being opened, and the numbers are not known yet.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub opening: bool,
}

/// Parameters of `workspace.remove`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct WorkspaceRemoveRequest {
    /// Path of the folder; it need not exist any more.
    pub workspace: String,
    /// Forget what its sessions stored, too.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub purge: bool,
    /// Put `.hippocampus/carried/ROOT.md` in the place of a `memory/ROOT.md` of hippod's: an earlier build took it over, and a person
    /// who saw it confirmed that.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub restore_carried: bool,
    /// Say what would be put back, and change nothing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
}

impl Validate for WorkspaceRemoveRequest {
    fn validate(&self) -> Result<(), RpcError> {
        no_empty("workspace", Some(&self.workspace))
    }
}

/// Answer to `workspace.remove`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WorkspaceRemoveResponse {
    /// The root that is registered no more; with `dry_run`, still.
    pub root: String,
    /// What its sessions stored is kept for the case that it is added again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub contexts_kept: bool,
    /// Files of another program that were taken over, and are as they were before; with `dry_run`, would be.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub restored: Vec<String>,
    /// What the reader should know of files that could not be put back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// Parameters of `workspace.sync`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct WorkspaceSyncRequest {
    /// Path of the workspace, or of anything below it.
    pub workspace: String,
    /// Answer only when all that is on disk now is searchable, by meaning as well where a model is there.
    #[serde(default)]
    pub wait: bool,
    /// Take as meant what is held because it concerns a large share: files that are gone from the workspace, and
    /// entries that somebody removed in bulk from the index file.
    #[serde(default)]
    pub accept_deletions: bool,
}

impl Validate for WorkspaceSyncRequest {
    fn validate(&self) -> Result<(), RpcError> {
        no_empty("workspace", Some(&self.workspace))
    }
}

/// Answer to `workspace.sync`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WorkspaceSyncResponse {
    /// Watched files in the index.
    pub documents: u64,
    /// Documents that were added or had changed.
    pub changed: u64,
    /// Documents that were removed.
    pub removed: u64,
    /// Chunks that still wait for their vectors.
    pub pending: u64,
    /// Generation of the index after this.
    pub generation: u64,
    /// Milliseconds.
    pub took_ms: f64,
    /// What keeps the index from being as the disk is: the folder is away, or deletions are held.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// Parameters of `workspace.trust`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct WorkspaceTrustRequest {
    /// Path of the workspace, or of anything below it.
    pub workspace: String,
    /// Trust these files alone, and only while they have these hashes; all files of settings, as they are now, when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<BTreeMap<String, String>>,
    /// Withdraw the trust instead.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub revoke: bool,
    /// Only show the files and what they would change.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
}

impl Validate for WorkspaceTrustRequest {
    fn validate(&self) -> Result<(), RpcError> {
        no_empty("workspace", Some(&self.workspace))
    }
}

/// Answer to `workspace.trust`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WorkspaceTrustResponse {
    /// Canonical root.
    pub root: String,
    /// The files of settings that the workspace has.
    pub files: Vec<SettingsFile>,
}

/// A file of settings that a workspace brings.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SettingsFile {
    /// Relative to the root.
    pub path: String,
    /// Hash of its content: the first 32 hexadecimal digits of blake3.
    pub hash: String,
    /// Whether the user trusts it as it is now.
    pub trusted: bool,
    /// Why it cannot be used, with its line; only where it cannot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wrong: Option<String>,
    /// Its settings that hold only while it is trusted.
    pub changes: Vec<SettingChange>,
}

/// A setting that needs trust.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SettingChange {
    /// The key, as the file names it; `*` for the file as a whole.
    pub key: String,
    /// The value without trust.
    pub from: String,
    /// The value with trust.
    pub to: String,
}
