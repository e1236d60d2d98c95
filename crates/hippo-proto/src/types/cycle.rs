//! `cycle.*`: runs, history and undo of consolidation cycles.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::TreeCompactResponse;
use crate::error::RpcError;
use crate::types::check::refuse_outside;
use hippo_types::cycle::Cycle;

/// Maximum number of runs in a request.
pub const MAX_RUNS: u32 = 1_000;

/// Parameters of `cycle.run`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CycleRunRequest {
    /// Path of the workspace, or of anything below it.
    pub workspace: String,
    /// The cycle to run.
    pub cycle: Cycle,
    /// Return the plan without applying it.
    #[serde(default)]
    pub dry_run: bool,
    /// Use this time as now, RFC 3339 or `YYYY-MM-DD`; default: the current time.
    pub at: Option<String>,
}

/// The outcome or state of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CycleOutcome {
    /// Dry run: the plan was not applied.
    Planned,
    /// All planned steps are applied.
    Done,
    /// Applied, except for demotions above the limit of one run.
    Capped,
    /// Stopped by an error; earlier steps stay applied.
    Failed,
    /// The daemon ended during the run; the next run resumes it.
    Interrupted,
    /// The run is in progress.
    Running,
}

impl CycleOutcome {
    /// Returns the wire name.
    pub fn name(self) -> &'static str {
        match self {
            CycleOutcome::Planned => "planned",
            CycleOutcome::Done => "done",
            CycleOutcome::Capped => "capped",
            CycleOutcome::Failed => "failed",
            CycleOutcome::Interrupted => "interrupted",
            CycleOutcome::Running => "running",
        }
    }
}

/// Answer to `cycle.run`: the report of one run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CycleReport {
    /// Number of the run in the workspace, for `cycle.undo`; null for a dry run.
    pub run: Option<i64>,
    /// The cycle that ran.
    pub cycle: Cycle,
    /// The time used as now, RFC 3339.
    pub at: String,
    /// The outcome of the run.
    pub outcome: CycleOutcome,
    /// The planned steps in order.
    pub plan: Vec<CycleStep>,
    /// Number of applied steps.
    pub applied: u64,
    /// Changes that a rule forbids.
    pub refused: Vec<CycleRefusal>,
    /// Findings for the user to review; nothing is changed for them.
    pub findings: Vec<CycleFinding>,
    /// The health of the index; null if this cycle does not compute it.
    pub health: Option<IndexHealth>,
    /// Written files, relative to the workspace.
    pub files: Vec<String>,
    /// The following update of the compaction tree; absent without a tree and after an archival cycle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<TreeCompactResponse>,
    /// Notes about this run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Duration in the daemon, in milliseconds.
    pub took_ms: f64,
}

/// One step of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CycleStep {
    /// The rule that requires the step, in kebab-case.
    pub rule: String,
    /// Ids of the changed entries; may be empty.
    pub entries: Vec<String>,
    /// Description, as text.
    pub what: String,
}

/// A change that a run must not make.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CycleRefusal {
    /// The rule that forbids the change, in kebab-case.
    pub rule: String,
    /// Ids of the unchanged entries.
    pub entries: Vec<String>,
    /// The reason, as text.
    pub reason: String,
}

/// A finding for the user to review.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CycleFinding {
    /// The rule that reported the finding, in kebab-case.
    pub rule: String,
    /// Id of the entry; empty if the finding is not about an entry.
    pub entry: String,
    /// Description, as text.
    pub what: String,
}

/// Statistics of the entries of a workspace.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IndexHealth {
    /// Entries in the index file and its topic files, without queued ones.
    pub live: u64,
    /// Entries in the decay queue.
    pub queued: u64,
    /// Entries in the archive, which are not in the index file.
    pub archived: u64,
    /// Entries of priority `amygdala`, which do not decay.
    pub amygdala: u64,
    /// Entries without related entries.
    pub unlinked: u64,
    /// Mean strength of the live entries, 0 to 1.
    pub mean_strength: f32,
    /// Number of entries by band, as in [`crate::StrengthBand`].
    pub bands: BTreeMap<String, u64>,
    /// Number of entries by group.
    pub groups: BTreeMap<String, u64>,
}

/// Parameters of `cycle.history`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CycleHistoryRequest {
    /// Path of the workspace, or of anything below it.
    pub workspace: String,
    /// Maximum number of runs, 1 to [`MAX_RUNS`]; default 20.
    #[schemars(range(min = 1, max = MAX_RUNS))]
    pub limit: Option<u32>,
    /// Include the report of this run.
    pub run: Option<i64>,
}

impl CycleHistoryRequest {
    pub(crate) fn validate(&self) -> Result<(), RpcError> {
        refuse_outside("limit", self.limit, 1, MAX_RUNS)
    }
}

/// Answer to `cycle.history`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CycleHistoryResponse {
    /// Runs, newest first.
    pub runs: Vec<CycleRun>,
    /// The report of the requested run; absent if no run was requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report: Option<CycleReport>,
}

/// Summary of one run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CycleRun {
    /// Number of the run in the workspace.
    pub run: i64,
    /// The cycle that ran.
    pub cycle: Cycle,
    /// Time of the start, RFC 3339.
    pub started: String,
    /// Time of the end, RFC 3339; null while running and after an interruption.
    pub finished: Option<String>,
    /// The outcome or state of the run.
    pub outcome: CycleOutcome,
    /// Number of planned steps.
    pub planned: u64,
    /// Number of applied steps.
    pub done: u64,
    /// Number of entries that the run queued or archived.
    pub demoted: u64,
    /// Time of the undo, RFC 3339; null if it was not undone.
    pub undone: Option<String>,
}

/// A scheduled cycle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NextCycle {
    /// The scheduled cycle.
    pub cycle: Cycle,
    /// Time at which the cycle is due, RFC 3339.
    pub at: String,
}

/// Parameters of `cycle.undo`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CycleUndoRequest {
    /// Path of the workspace, or of anything below it.
    pub workspace: String,
    /// The run to undo.
    pub run: i64,
}

/// Answer to `cycle.undo`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CycleUndoResponse {
    /// The undone run.
    pub run: i64,
    /// Number of undone changes; 0 if the run was already undone or has nothing to undo.
    pub undone: u64,
    /// True if the run was already undone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub undone_before: bool,
    /// Written files, relative to the workspace.
    pub files: Vec<String>,
    /// Notes: entries of the run that are kept, and changes that the next cycle makes again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}
