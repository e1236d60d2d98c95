//! How is the daemon, and how is each workspace: `status`?

use serde::{Deserialize, Serialize};

use super::{CycleRun, NextCycle, Validate};

/// Parameters of `status`: none.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct StatusRequest {}

impl Validate for StatusRequest {}

/// Answer to `status`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StatusResponse {
    /// The daemon's version.
    pub version: String,
    /// Its process id.
    pub pid: u32,
    /// Milliseconds since it started.
    pub uptime_ms: u64,
    /// The version of the protocol.
    pub protocol: u32,
    /// The socket that it listens on.
    pub socket: String,
    /// The folder that holds its state.
    pub home: String,
    /// The embedding model.
    pub model: ModelStatus,
    /// In order of their roots.
    pub workspaces: Vec<WorkspaceStatus>,
    /// Resident memory of the process, in bytes; 0 where the platform does not tell.
    pub memory_rss_bytes: u64,
    /// Requests answered since the start, refusals included.
    pub requests_served: u64,
}

/// Parameters of `metrics`: none.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct MetricsRequest {}

impl Validate for MetricsRequest {}

/// Answer to `metrics`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MetricsResponse {
    /// In the text format of Prometheus, version 0.0.4. No memory text and no path is in it.
    pub text: String,
}

/// Where the model stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ModelLoad {
    /// Not installed, or this build has no model.
    Absent,
    /// Installed, loaded at the next need.
    Unloaded,
    /// Being loaded.
    Loading,
    /// In memory.
    Ready,
    /// Loading it failed.
    Failed,
}

/// The embedding model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ModelStatus {
    /// Where it stands.
    pub state: ModelLoad,
    /// Name, dimension, revision, pooling and prefix in one string.
    pub id: String,
    /// Why it is absent or failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Threads that it may use.
    pub threads: u32,
    /// Times it was loaded since the start.
    pub loads: u64,
    /// Word pieces sent through it since the start.
    pub word_pieces: u64,
}

/// One workspace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WorkspaceStatus {
    /// Canonical root.
    pub root: String,
    /// Watched files in the index.
    pub documents: u64,
    /// Chunks in the index.
    pub chunks: u64,
    /// Chunks that wait for their vectors.
    pub pending: u64,
    /// Chunks that have their vectors, of the model that answers.
    pub embedded: u64,
    /// Files that are not indexed, with the reason; the first 20.
    pub skipped: Vec<Skipped>,
    /// All files that are not indexed.
    pub skipped_count: u64,
    /// Grows with every change that became searchable.
    pub generation: u64,
    /// Age of the oldest change that is not searchable yet, in milliseconds; 0 when there is none.
    pub lag_ms: u64,
    /// What is missing, in one kebab-case word, or null.
    pub degraded: Option<String>,
    /// Why it is degraded and what to do; only where it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// What is wrong with the workspace's own settings, with file and line, and which are in force instead; only where
    /// something is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settings: Option<String>,
    /// The workspace's files of settings that ask for more than they may without trust; `hippoctl workspace trust` accepts them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub untrusted: Vec<super::SettingsFile>,
    /// How changes are noticed.
    pub watcher: WatcherStatus,
    /// Disk against index at the last reconcile.
    pub disk: DiskStatus,
    /// Deletions held back because they concern a large share of the workspace.
    pub held_deletions: u64,
    /// Whether the folder is there now.
    pub root_present: bool,
    /// The vector index.
    pub vector: VectorStatus,
    /// Bytes of the database with its log.
    pub database_bytes: u64,
    /// The index file; absent where the workspace is not open yet, and from an older daemon.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<IndexStatus>,
    /// Sessions and what they keep; absent where there never was one, and from an older daemon.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contexts: Option<ContextsStatus>,
    /// The compaction tree; absent where there is none, where it could not be looked at in time, and from an older daemon.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<TreeStatus>,
}

/// The compaction tree of a workspace.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TreeStatus {
    /// When all of it was last brought up to date, RFC 3339; null: never.
    pub last: Option<String>,
    /// Nodes whose period is over.
    pub fixed: u64,
    /// Nodes whose period goes on, `ROOT.md` among them.
    pub tentative: u64,
    /// Nodes that say that somebody should write their body.
    pub needs_summarization: u64,
    /// Nodes that say none of these.
    pub other: u64,
    /// Nodes that `tree.pending` tells.
    pub waiting: u64,
    /// Nodes of another program that hippod leaves alone.
    #[serde(default, skip_serializing_if = "is_none")]
    pub foreign: u64,
    /// The folder in which no node can be made or replaced, and why; only where that is so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unwritable: Option<String>,
    /// The program that writes summaries; absent where none does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<TreeCommandStatus>,
}

/// What the program that writes summaries did today, by the workspace's zone.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TreeCommandStatus {
    /// Summaries that it was asked for.
    pub jobs: u64,
    /// Summaries that it may be asked for.
    pub daily_jobs: u64,
    /// Milliseconds that it ran.
    pub ms: u64,
    /// Failures in a row.
    pub failures: u64,
    /// Why it is not asked any more today; null: it is.
    pub held_back: Option<String>,
    /// The last failure; only where there was one today.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// What the sessions of a workspace keep.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ContextsStatus {
    /// Sessions, closed ones included.
    pub sessions: u64,
    /// Those that are open.
    pub open: u64,
    /// Context entries.
    pub entries: u64,
    /// Different contents that are kept.
    pub contents: u64,
    /// Bytes that they take.
    pub stored_bytes: u64,
    /// Bytes that they had before they were compressed.
    pub raw_bytes: u64,
    /// Bytes that they may take.
    pub budget_bytes: u64,
    /// When the oldest content was put, RFC 3339; null: there is none.
    pub oldest: Option<String>,
}

/// The index file of a workspace, and what tends it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct IndexStatus {
    /// Entries in the index file and the files below it, the queue included.
    pub entries: u64,
    /// Those in the queue of what fades.
    pub queued: u64,
    /// Entries out of the index file: archived or forgotten.
    pub archived: u64,
    /// Tokens of the index file.
    pub tokens: u64,
    /// `written`: it says what the daemon knows; `unwritten`: not yet, which the next light cycle changes; `held`: the
    /// daemon does not write it, for the reason in `trouble`; `off`: the configuration wants none.
    pub file: String,
    /// What is wrong with the file and what to do; only where something is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trouble: Option<String>,
    /// Entries that are gone from the index file and kept all the same, because so many went at once.
    pub held_removals: u64,
    /// The newest run of any cycle; null: none yet.
    pub last_cycle: Option<CycleRun>,
    /// When each cycle is due next, the soonest first.
    pub next: Vec<NextCycle>,
}

/// A file that is not indexed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Skipped {
    /// Relative to the workspace.
    pub path: String,
    /// Why.
    pub reason: String,
}

/// Where changes are heard from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum WatcherMode {
    /// The system tells.
    Notify,
    /// The files are looked at every few seconds.
    Poll,
    /// Nothing watches; only reconciling finds changes.
    None,
}

/// How changes are noticed. Times are ages in milliseconds, absent where it never happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WatcherStatus {
    /// Where changes are heard from.
    pub mode: WatcherMode,
    /// Whether the last canary file was noticed in time.
    pub alive: bool,
    /// Since the last event of a watched file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_event_ms_ago: Option<u64>,
    /// Since the last canary that was noticed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_canary_ms_ago: Option<u64>,
    /// Since the last comparison of disk and index.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_reconcile_ms_ago: Option<u64>,
    /// Changes that it found, which no event had told of.
    pub changed_at_last_reconcile: u64,
}

/// Disk against index at the last reconcile.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DiskStatus {
    /// Watched files on disk.
    pub files: u64,
    /// Files in the index.
    pub indexed_files: u64,
}

/// The kind of vector index in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum VectorBackend {
    /// Every code is compared.
    Exact,
    /// A graph is walked.
    Hnsw,
}

/// The vector index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct VectorStatus {
    /// Which kind answers.
    pub backend: VectorBackend,
    /// Live vectors.
    pub vectors: u64,
    /// Deleted ones that still take room.
    pub tombstones: u64,
    /// Whether a new index is being built in the background.
    pub building: bool,
    /// Id of the model whose vectors they are; absent before the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

/// Whether a count is left out of an answer.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands it over like that")]
const fn is_none(count: &u64) -> bool {
    *count == 0
}
