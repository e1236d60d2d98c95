//! `cycle.*`: runs, history and undo of consolidation cycles.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::TreeCompactResponse;
use crate::error::RpcError;
use crate::types::check::refuse_outside;
use hippo_types::cycle::Cycle;

/// Maximum number of runs in an answer.
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
    /// Time that the cycle uses as the current time, RFC 3339 or `YYYY-MM-DD`; default: the current time.
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
    /// All planned steps are applied, but the plan omits demotions beyond the limit of one run.
    Capped,
    /// An error stopped the run. Steps before the error remain applied.
    Failed,
    /// The daemon ended during the run. The next run resumes the work.
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
    /// Number of the run in the workspace, which `cycle.undo` accepts; null for a dry run.
    pub run: Option<i64>,
    /// The cycle that ran.
    pub cycle: Cycle,
    /// Time that the cycle used as the current time, RFC 3339.
    pub at: String,
    /// The outcome of the run.
    pub outcome: CycleOutcome,
    /// The planned steps, in order.
    pub plan: Vec<CycleStep>,
    /// Number of applied steps.
    pub applied: u64,
    /// Changes that the run did not make, because a rule forbids them.
    pub refused: Vec<CycleRefusal>,
    /// Findings for the user to review; the run did not act on them.
    pub findings: Vec<CycleFinding>,
    /// Statistics of the entries; null if this cycle does not compute them.
    pub health: Option<IndexHealth>,
    /// Files that the run wrote, relative to the workspace.
    pub files: Vec<String>,
    /// The update of the compaction tree after the run; absent without a tree and after an archival cycle.
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

/// A change that the run did not make, because a rule forbids it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CycleRefusal {
    /// The rule that forbids the change, in kebab-case.
    pub rule: String,
    /// Ids of the entries that would have changed.
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
    /// Number of entries in the index file and its topic files, without those in the Decay Queue.
    pub live: u64,
    /// Number of entries in the Decay Queue.
    pub queued: u64,
    /// Number of entries in the archive, which are not in the index file.
    pub archived: u64,
    /// Number of entries of priority `amygdala`, which do not decay.
    pub amygdala: u64,
    /// Number of entries without related entries.
    pub unlinked: u64,
    /// Mean strength, 0 to 1, of the entries that `live` counts.
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
    /// Number of entries that the run moved to the Decay Queue or the archive.
    pub demoted: u64,
    /// Time at which the run was undone, RFC 3339; null if it was not undone.
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
    /// Number of the run.
    pub run: i64,
    /// Number of undone changes; 0 if the run was already undone or has nothing to undo.
    pub undone: u64,
    /// True if the run was already undone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub undone_before: bool,
    /// Files that the undo wrote, relative to the workspace.
    pub files: Vec<String>,
    /// Notes, for example on entries that are kept, and on changes that the next cycle will make again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}
