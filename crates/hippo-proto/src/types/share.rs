//! Types of `share.*`: sharing with a team, and with other workspaces of the machine.

mod local;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use local::*;

/// Origin of a result from outside the workspace.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Origin {
    /// Kind of origin.
    #[serde(default)]
    pub kind: OriginKind,
    /// Name of the team; absent for a workspace of this machine.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub team: String,
    /// Name of the workspace; for a workspace of this machine, the name of the share.
    pub workspace: String,
    /// Name of the device; if it is not registered, the first digits of its key. Absent for a workspace of this machine.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub device: String,
    /// Login that published the text; absent for a workspace of this machine.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub author: String,
    /// Id of the share that covers the text; absent for a text of a team.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share: Option<String>,
    /// True if the login has registered the device, and the signature of the device is valid for this text at this place.
    /// Otherwise, the text may have been changed on the server. Always true for a workspace of this machine.
    pub verified: bool,
}

/// Kind of origin of a result from outside the workspace.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OriginKind {
    /// Another device or workspace of the team.
    #[default]
    Team,
    /// Another workspace of this machine, which shares the text.
    Workspace,
}

/// Parameters of `share.init`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ShareInitRequest {
    /// URL of the database with the login of an administrator, without a password; default: the configured URL.
    pub url: Option<String>,
    /// Absolute path of a file with the password of this login; default: the configured source.
    pub password_file: Option<String>,
    /// Name of the team; default: the configured team.
    pub team: Option<String>,
    /// Existing logins that may read and publish.
    #[serde(default)]
    pub writers: Vec<String>,
    /// Existing logins that may only read.
    #[serde(default)]
    pub readers: Vec<String>,
}

/// Answer to `share.init`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ShareInitResponse {
    /// Name of the team.
    pub team: String,
    /// Version of the tables before; 0 without tables.
    pub from: u32,
    /// Version of the tables after.
    pub to: u32,
    /// True if the team was created.
    pub team_created: bool,
}

/// Parameters of `share.publish`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SharePublishRequest {
    /// Path of the workspace, or of anything below it.
    pub workspace: String,
    /// True to return exactly what would leave the machine, and publish nothing.
    #[serde(default)]
    pub dry_run: bool,
}

/// Answer to `share.publish`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SharePublishResponse {
    /// Name of the team.
    pub team: String,
    /// Name of the workspace as the team sees it.
    pub workspace: String,
    /// Number of new or changed documents.
    pub documents: u64,
    /// Number of their passages.
    pub passages: u64,
    /// Number of removed documents.
    pub removed: u64,
    /// Number of unchanged documents.
    pub unchanged: u64,
    /// With `dry_run`: the documents that would leave the machine.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outgoing: Vec<OutgoingText>,
    /// Notes, for example that the server could not be asked which documents it has.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// A document that would leave the machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OutgoingText {
    /// Path relative to the workspace.
    pub path: String,
    /// The passages, in order.
    pub passages: Vec<OutgoingChunk>,
}

/// A passage that would leave the machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OutgoingChunk {
    /// First line in the document.
    pub line: u32,
    /// The headings above the passage.
    pub heading: Vec<String>,
    /// Date of the text, `YYYY-MM-DD`.
    pub date: Option<String>,
    /// The text without secrets.
    pub text: String,
    /// Model of the vector that leaves with the text; null without a vector.
    pub model: Option<String>,
}

/// Parameters of `share.status`: none.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ShareStatusRequest {}

/// Answer to `share.status`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ShareStatusResponse {
    /// URL of the database; null without a team.
    pub url: Option<String>,
    /// Name of the team.
    pub team: String,
    /// Public key of this device, in hexadecimal.
    pub device: String,
    /// True if the server answers.
    pub reachable: bool,
    /// The reason why the server cannot be used, with a hint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// True if the login may publish.
    pub may_publish: bool,
    /// Number of passages of the team on the server.
    pub passages: u64,
    /// The workspaces that share.
    pub workspaces: Vec<SharedWorkspace>,
}

/// A workspace that shares with the team.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SharedWorkspace {
    /// Root of the workspace.
    pub root: String,
    /// Number of documents that differ from the server; null until the daemon has compared them.
    pub waiting: Option<u64>,
    /// Error of the last attempt to publish.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}
