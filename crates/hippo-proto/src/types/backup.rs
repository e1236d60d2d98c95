//! Types of `backup`, `backup.verify` and `restore`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters of `backup`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BackupRequest {
    /// Absolute path of the workspace or of anything below it; default: all workspaces.
    pub workspace: Option<String>,
    /// Absolute path of the file to write, which must not exist.
    pub to: String,
}

/// Parameters of `backup.verify`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BackupVerifyRequest {
    /// Absolute path of a backup.
    pub from: String,
}

/// Answer to `backup` and `backup.verify`: the content of a backup.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BackupResponse {
    /// Path of the backup.
    pub file: String,
    /// Version of hippod that wrote the backup.
    pub hippod: String,
    /// Time at which the backup was started, RFC 3339.
    pub at: String,
    /// Workspaces that the backup contains.
    pub workspaces: Vec<BackedUp>,
    /// Workspaces that a backup of all workspaces had to omit; the paths are their roots.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOut>,
    /// Size of the backup on disk, in bytes.
    pub bytes: u64,
    /// Duration in milliseconds.
    pub took_ms: f64,
}

/// One workspace in a backup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BackedUp {
    /// Canonical root of the workspace when the backup was made.
    pub root: String,
    /// Number of files of the workspace.
    pub files: u64,
    /// Unpacked size of all files of the workspace in the backup, in bytes.
    pub bytes: u64,
    /// Files of the workspace that the backup does not contain, with reasons.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOut>,
}

/// A file or workspace that a backup does not contain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LeftOut {
    /// Path relative to the workspace, with `/`; invalid UTF-8 replaced.
    pub path: String,
    /// The reason, as text.
    pub reason: String,
}

/// Parameters of `restore`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RestoreRequest {
    /// Absolute path of a backup.
    pub from: String,
    /// Root of the only workspace to restore, exactly as in the backup; default: all workspaces.
    pub workspace: Option<String>,
    /// Absolute path of the folder that becomes the workspace, which must be empty or must not exist; default: the root
    /// of the workspace when the backup was made.
    pub into: Option<String>,
    /// True to restore also files that counted as memory only because of the workspace's own settings.
    #[serde(default)]
    pub other_files: bool,
}

/// Answer to `restore`. The daemon indexes the restored files in the background.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RestoreResponse {
    /// The restored workspaces.
    pub workspaces: Vec<Restored>,
    /// Duration in milliseconds.
    pub took_ms: f64,
}

/// A restored workspace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Restored {
    /// Canonical root of the restored workspace.
    pub root: String,
    /// Canonical root of the workspace when the backup was made.
    pub was: String,
    /// Number of files of the workspace.
    pub files: u64,
}
