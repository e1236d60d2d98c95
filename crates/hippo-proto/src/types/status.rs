//! `status`: state of the daemon and its workspaces.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CycleRun, NextCycle};

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
    /// The metrics in the text format of Prometheus, version 0.0.4, without memory text and paths.
    pub text: String,
}

/// The state of the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ModelLoad {
    /// Not installed, or this build has no model.
    Absent,
    /// Installed; loaded when needed.
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
    /// Number of threads.
    pub threads: u32,
    /// Number of loads since the start.
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
    /// Incremented by every change that becomes searchable.
    pub generation: u64,
    /// Age of the oldest change that is not searchable yet, in milliseconds; 0 if all changes are searchable.
    pub lag_ms: u64,
    /// The missing part as one kebab-case word, or null.
    pub degraded: Option<String>,
    /// The reason and the fix; only if degraded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Problems of the workspace's settings with file and line, and the settings used instead; only if there are problems.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settings: Option<String>,
    /// Settings files that need trust; `hippoctl workspace trust` accepts them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub untrusted: Vec<super::SettingsFile>,
    /// The state of the watcher.
    pub watcher: WatcherStatus,
    /// Files on disk and in the index at the last reconcile.
    pub disk: DiskStatus,
    /// Deletions held back because they affect many files.
    pub held_deletions: u64,
    /// True if the root folder exists.
    pub root_present: bool,
    /// The vector index.
    pub vector: VectorStatus,
    /// Size of the database with its WAL in bytes.
    pub database_bytes: u64,
    /// The index file; absent if the workspace is not open yet, and from older daemons.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<IndexStatus>,
    /// Sessions and their contents; absent if there never was a session, and from older daemons.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contexts: Option<ContextsStatus>,
    /// The compaction tree; absent if there is no tree, if it could not be read in time, and from older daemons.
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
    /// Nodes of another program, which hippod does not change.
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
    /// Stored bytes after compression.
    pub stored_bytes: u64,
    /// Bytes before compression.
    pub raw_bytes: u64,
    /// Maximum stored bytes.
    pub budget_bytes: u64,
    /// Time of the oldest content, RFC 3339; null without contents.
    pub oldest: Option<String>,
}

/// The index file of a workspace and its cycles.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IndexStatus {
    /// Entries in the index file and its topic files, including queued ones.
    pub entries: u64,
    /// Entries in the decay queue.
    pub queued: u64,
    /// Archived or forgotten entries.
    pub archived: u64,
    /// Tokens of the index file.
    pub tokens: u64,
    /// `written`: up to date; `unwritten`: the next light cycle updates it; `held`: the daemon does not write it, see `trouble`;
    /// `off`: disabled in the configuration.
    pub file: String,
    /// A problem of the index file and its fix; only if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trouble: Option<String>,
    /// Entries missing in the index file and kept, because many were removed at once.
    pub held_removals: u64,
    /// The latest run of any cycle; null without one.
    pub last_cycle: Option<CycleRun>,
    /// Next time of each cycle, earliest first.
    pub next: Vec<NextCycle>,
}

/// A file that is not indexed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Skipped {
    /// Path relative to the workspace.
    pub path: String,
    /// The reason why the file is not indexed.
    pub reason: String,
}

/// The method of detecting changes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WatcherMode {
    /// Notifications of the operating system.
    Notify,
    /// Polling every few seconds.
    Poll,
    /// No watcher; only reconciling finds changes.
    #[default]
    None,
}

/// State of the watcher. Times are ages in milliseconds, absent if the event never happened.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WatcherStatus {
    /// The method of detecting changes.
    pub mode: WatcherMode,
    /// True if the last canary file was detected in time.
    pub alive: bool,
    /// Time since the last event of a watched file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_event_ms_ago: Option<u64>,
    /// Time since the last detected canary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_canary_ms_ago: Option<u64>,
    /// Time since the last comparison of disk and index.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_reconcile_ms_ago: Option<u64>,
    /// Changes that this comparison found and that no event had reported.
    pub changed_at_last_reconcile: u64,
}

/// Files on disk and in the index at the last reconcile.
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
    /// The kind in use.
    pub backend: VectorBackend,
    /// Number of live vectors.
    pub vectors: u64,
    /// Number of deleted vectors that still occupy memory.
    pub tombstones: u64,
    /// True if a new graph is being built.
    pub building: bool,
    /// Id of the model of the vectors; absent without vectors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

/// Returns whether a count is omitted, because it is 0.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_none(count: &u64) -> bool {
    *count == 0
}
