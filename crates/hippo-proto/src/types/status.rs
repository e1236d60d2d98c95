//! `status`: state of the daemon and its workspaces.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CycleRun, NextCycle};

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde needs")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// Parameters of `status`: none.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StatusRequest {}

/// Answer to `status`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StatusResponse {
    /// The version of the daemon.
    pub version: String,
    /// The process id of the daemon.
    pub pid: u32,
    /// Time since the start, in milliseconds.
    pub uptime_ms: u64,
    /// The protocol version.
    pub protocol: u32,
    /// Path of the socket.
    pub socket: String,
    /// Path of the state folder.
    pub home: String,
    /// The embedding model.
    pub model: ModelStatus,
    /// The workspaces, sorted by root.
    pub workspaces: Vec<WorkspaceStatus>,
    /// Resident memory of the process in bytes; 0 if the platform does not report it.
    pub memory_rss_bytes: u64,
    /// Requests answered since the start, including errors.
    pub requests_served: u64,
}

/// Parameters of `metrics`: none.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MetricsRequest {}

/// Answer to `metrics`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MetricsResponse {
    /// The metrics in the text format of Prometheus, version 0.0.4. They contain neither text of the memory nor paths.
    pub text: String,
}

/// The state of the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ModelLoad {
    /// Not installed, or this build has no model.
    Absent,
    /// Installed, but not in memory; the daemon loads it when needed.
    Unloaded,
    /// Loading.
    Loading,
    /// Loaded into memory.
    Ready,
    /// Loading failed.
    Failed,
}

/// The embedding model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ModelStatus {
    /// The state of the model.
    pub state: ModelLoad,
    /// Name, dimension and revision in one string.
    pub id: String,
    /// The reason why the model is absent or could not be loaded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Maximum number of threads that the model uses.
    pub threads: u32,
    /// Number of times that the model was loaded since the start.
    pub loads: u64,
    /// Word pieces processed since the start.
    pub word_pieces: u64,
}

/// One workspace.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorkspaceStatus {
    /// Canonical root of the workspace.
    pub root: String,
    /// Watched files in the index.
    pub documents: u64,
    /// Those of them that only one agent may read.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub private: u64,
    /// Private files that no agent may read, because they name no agent or several agents.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unclaimed: u64,
    /// Chunks in the index.
    pub chunks: u64,
    /// Chunks without a vector.
    pub pending: u64,
    /// Chunks with a vector of the active model.
    pub embedded: u64,
    /// The first 20 skipped files, with reasons.
    pub skipped: Vec<Skipped>,
    /// Number of skipped files.
    pub skipped_count: u64,
    /// Markdown files that are not memory files, by reason; absent if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<NotIndexed>,
    /// Counter of changes: each change of the searchable text increases the number.
    pub generation: u64,
    /// Age of the oldest change that is not searchable yet, in milliseconds; 0 if all changes are searchable.
    pub lag_ms: u64,
    /// The missing part as one kebab-case word, for example `no-model`; null if no part is missing.
    pub degraded: Option<String>,
    /// The reason why the part is missing, and the fix; absent if `degraded` is null.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Problems in the workspace's settings file, with line numbers, and the settings used instead; absent without
    /// problems.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settings: Option<String>,
    /// Settings files that the user does not trust yet; `hippoctl workspace trust` trusts them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub untrusted: Vec<super::SettingsFile>,
    /// The state of the watcher.
    pub watcher: WatcherStatus,
    /// Number of files on disk and in the index, when the daemon last compared them.
    pub disk: DiskStatus,
    /// Number of deletions held back because they affect many files.
    pub held_deletions: u64,
    /// True if the root folder exists.
    pub root_present: bool,
    /// State of the vector index.
    pub vector: VectorStatus,
    /// Size of the database in bytes, including its write-ahead log.
    pub database_bytes: u64,
    /// State of the index file; absent if the workspace is not open yet, and from older daemons.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<IndexStatus>,
    /// Sessions and their contents; absent if the workspace never had a session, and from older daemons.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contexts: Option<ContextsStatus>,
    /// State of the compaction tree; absent without a tree, if reading the tree took too long, and from older daemons.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<TreeStatus>,
}

/// The compaction tree of a workspace.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TreeStatus {
    /// Time of the last full update, RFC 3339; null if there was none.
    pub last: Option<String>,
    /// Number of nodes.
    pub nodes: u64,
    /// Number of nodes that another program wrote; hippod does not change them.
    #[serde(default, skip_serializing_if = "is_none")]
    pub foreign: u64,
}

/// Stored contents of a workspace's sessions.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ContextsStatus {
    /// Number of sessions, including closed ones.
    pub sessions: u64,
    /// Number of open sessions.
    pub open: u64,
    /// Number of context entries.
    pub entries: u64,
    /// Number of distinct stored contents.
    pub contents: u64,
    /// Size of all contents after compression, in bytes.
    pub stored_bytes: u64,
    /// Size of all contents before compression, in bytes.
    pub raw_bytes: u64,
    /// Maximum size of all contents after compression, in bytes.
    pub budget_bytes: u64,
    /// Time at which the oldest content was stored, RFC 3339; null without contents.
    pub oldest: Option<String>,
}

/// The index file of a workspace and its cycles.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IndexStatus {
    /// Number of entries in the index file and its topic files, including the Decay Queue.
    pub entries: u64,
    /// Number of entries in the Decay Queue.
    pub queued: u64,
    /// Number of archived or forgotten entries.
    pub archived: u64,
    /// Size of the index file in tokens.
    pub tokens: u64,
    /// `written`: up to date; `unwritten`: the next light cycle updates the file; `held`: the daemon does not write
    /// the file, for the reason in `trouble`; `off`: disabled in the configuration.
    pub file: String,
    /// A problem of the index file and how to fix it; absent without a problem.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trouble: Option<String>,
    /// Number of entries that a user removed from the index file in bulk, and that the daemon keeps until the removal
    /// is confirmed.
    pub held_removals: u64,
    /// The latest run of any cycle; null if none has run.
    pub last_cycle: Option<CycleRun>,
    /// The next run of each cycle, earliest first.
    pub next: Vec<NextCycle>,
}

/// Markdown files that are left out for one reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NotIndexed {
    /// The reason, as a phrase that follows the number, for example "in node_modules".
    pub reason: String,
    /// Number of files.
    pub files: u64,
    /// True if there may be more files. hippod stops counting in very large folders.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub or_more: bool,
}

/// A file that is not indexed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Skipped {
    /// Path relative to the workspace.
    pub path: String,
    /// The reason why the file is not indexed.
    pub reason: String,
}

/// Method by which the daemon detects changes of files.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WatcherMode {
    /// Notifications of the operating system.
    Notify,
    /// Polling every few seconds.
    Poll,
    /// No watcher: the daemon finds changes only when it compares disk and index.
    #[default]
    None,
}

/// State of the watcher. Times are ages in milliseconds; an age is absent if the event never happened.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WatcherStatus {
    /// Method by which the daemon detects changes of files.
    pub mode: WatcherMode,
    /// True if the watcher reported the last test file in time.
    pub alive: bool,
    /// Time since the last event of a watched file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_event_ms_ago: Option<u64>,
    /// Time since the watcher last reported a test file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_canary_ms_ago: Option<u64>,
    /// Time since the last comparison of disk and index.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_reconcile_ms_ago: Option<u64>,
    /// Number of changes that the last comparison found and the watcher had not reported.
    pub changed_at_last_reconcile: u64,
}

/// Number of files on disk and in the index, when the daemon last compared them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DiskStatus {
    /// Watched files on disk.
    pub files: u64,
    /// Files in the index.
    pub indexed_files: u64,
}

/// The kind of vector index in use.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum VectorBackend {
    /// Exact scan.
    #[default]
    Exact,
    /// HNSW graph.
    Hnsw,
}

/// The vector index.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct VectorStatus {
    /// The kind of vector index in use.
    pub backend: VectorBackend,
    /// Number of vectors in use.
    pub vectors: u64,
    /// Number of deleted vectors that still occupy memory.
    pub tombstones: u64,
    /// True if a new graph is being built.
    pub building: bool,
    /// Id of the model that computed the vectors; absent without vectors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

/// Returns whether a count is 0 and is therefore omitted from the answer.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_none(count: &u64) -> bool {
    *count == 0
}
