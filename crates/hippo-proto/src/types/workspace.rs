//! Types of `workspace.*`: registered folders and trust in their settings.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters of `workspace.add`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorkspaceAddRequest {
    /// Absolute path of the folder.
    pub workspace: String,
}

/// Answer to `workspace.add`; indexing continues in the background.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorkspaceAddResponse {
    /// Canonical root of the workspace, which identifies it.
    pub root: String,
    /// True if the folder was registered by this request; false if it was registered before.
    pub added: bool,
}

/// Parameters of `workspace.list`: none.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorkspaceListRequest {}

/// Answer to `workspace.list`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorkspaceListResponse {
    /// The workspaces, sorted by root.
    pub workspaces: Vec<WorkspaceInfo>,
}

/// One registered workspace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorkspaceInfo {
    /// Canonical root of the workspace.
    pub root: String,
    /// Watched files in the index.
    pub documents: u64,
    /// Number of chunks without a vector.
    pub pending: u64,
    /// Generation of the index: a number that every searchable change increases.
    pub generation: u64,
    /// True if the root folder exists.
    pub root_present: bool,
    /// True if the workspace is still being opened, so that the numbers are unknown.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub opening: bool,
}

/// Parameters of `workspace.remove`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorkspaceRemoveRequest {
    /// Path of the folder, which may no longer exist.
    pub workspace: String,
    /// True to delete also the contents of its sessions.
    #[serde(default)]
    pub purge: bool,
    /// True to return the files that would be restored, without changing anything.
    #[serde(default)]
    pub dry_run: bool,
}

/// Answer to `workspace.remove`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorkspaceRemoveResponse {
    /// Root of the workspace. With `dry_run`, the workspace stays registered.
    pub root: String,
    /// True if hippod keeps the contents of the sessions, so that they are available if the folder is added again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub contexts_kept: bool,
    /// Files of another program's tree that were restored because hippod had taken over the tree; with `dry_run`,
    /// those that would be restored.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub restored: Vec<String>,
    /// Notes about files that could not be restored.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// Parameters of `workspace.sync`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorkspaceSyncRequest {
    /// Path of the workspace, or of anything below it.
    pub workspace: String,
    /// True to answer only when everything on disk is searchable, including vectors if a model is installed.
    #[serde(default)]
    pub wait: bool,
    /// True to confirm deletions that were held back because they affect many files, and bulk removals of entries from
    /// the index file.
    #[serde(default)]
    pub accept_deletions: bool,
}

/// Answer to `workspace.sync`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkspaceSyncResponse {
    /// Memory files on disk; some may not be indexed yet.
    #[serde(default)]
    pub files: u64,
    /// Watched files in the index.
    pub documents: u64,
    /// Number of added or changed documents.
    pub changed: u64,
    /// Number of removed documents.
    pub removed: u64,
    /// Number of chunks without a vector.
    pub pending: u64,
    /// The new generation of the index.
    pub generation: u64,
    /// Duration in milliseconds.
    pub took_ms: f64,
    /// Markdown files that are left out, and reasons why index and disk still differ: the folder is missing, or
    /// deletions are held back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// Parameters of `workspace.trust`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorkspaceTrustRequest {
    /// Path of the workspace, or of anything below it.
    pub workspace: String,
    /// Trust only these files, given as path and hash of the content; default: all settings files with their current
    /// content.
    pub files: Option<BTreeMap<String, String>>,
    /// True to withdraw the trust.
    #[serde(default)]
    pub revoke: bool,
    /// True to return the files and their effects without changing anything.
    #[serde(default)]
    pub dry_run: bool,
}

/// Answer to `workspace.trust`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorkspaceTrustResponse {
    /// Canonical root of the workspace.
    pub root: String,
    /// The settings files of the workspace.
    pub files: Vec<SettingsFile>,
}

/// A settings file of a workspace.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SettingsFile {
    /// Path relative to the root.
    pub path: String,
    /// Hash of the content: the first 32 hexadecimal digits of BLAKE3.
    pub hash: String,
    /// True if the user trusts its current content.
    pub trusted: bool,
    /// The reason why the file cannot be used, with a line number; absent if the file can be used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wrong: Option<String>,
    /// Settings in the file that need trust.
    pub changes: Vec<SettingChange>,
}

/// A setting that has a different value with trust.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SettingChange {
    /// The key in the file; `*` for the whole file.
    pub key: String,
    /// The value in effect without trust.
    pub from: String,
    /// The value in effect with trust.
    pub to: String,
}
