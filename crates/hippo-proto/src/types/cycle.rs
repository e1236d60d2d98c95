//! What does a consolidation cycle do, what did earlier ones do, and how is one taken back: `cycle.*`?

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::moment::a_moment;
use super::{TreeCompactResponse, Validate, no_empty, one_of};
use crate::error::RpcError;

/// Most runs that one request may ask for.
pub const MAX_RUNS: u32 = 1_000;

/// The cycles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum CycleName {
    /// Hourly: accesses reach the index file, new files get entries, what fades is queued.
    Light,
    /// Nightly: pointers are checked, near-duplicates merged, what faded is pruned.
    Deep,
    /// Monthly: what stays strong is consolidated, what faded is archived, the health reported.
    Archival,
}

impl CycleName {
    /// All of them, the most frequent first.
    pub const ALL: [Self; 3] = [Self::Light, Self::Deep, Self::Archival];

    /// Its name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            CycleName::Light => "light",
            CycleName::Deep => "deep",
            CycleName::Archival => "archival",
        }
    }
}

/// Parameters of `cycle.run`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CycleRunRequest {
    /// Path of the workspace, or of anything below it.
    pub workspace: String,
    /// Which cycle.
    pub cycle: CycleName,
    /// Only say what would be done.
    #[serde(default)]
    pub dry_run: bool,
    /// As if it were this moment, RFC 3339 or `YYYY-MM-DD`; without it now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
}

impl Validate for CycleRunRequest {
    fn check_raw(params: &Map<String, Value>) -> Result<(), RpcError> {
        one_of(
            params,
            ["cycle", "cycle", "cycles"],
            &CycleName::ALL.map(CycleName::name),
        )
    }

    fn validate(&self) -> Result<(), RpcError> {
        no_empty("workspace", Some(&self.workspace))?;
        a_moment(self.at.as_deref())
    }
}

/// How a run ended, or how it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum CycleOutcome {
    /// A dry run: nothing was done.
    Planned,
    /// All that was planned is done.
    Done,
    /// Done but for what one run may not: more demotions than its share.
    Capped,
    /// It stopped at an error; what it did until then holds.
    Failed,
    /// The daemon ended while it ran; the next run goes on from there.
    Interrupted,
    /// It runs.
    Running,
}

impl CycleOutcome {
    /// Its name on the wire.
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

/// Answer to `cycle.run`: one run, from plan to end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CycleReport {
    /// Its number in the workspace, for `cycle.undo`; null: a dry run.
    pub run: Option<i64>,
    /// Which cycle.
    pub cycle: CycleName,
    /// The moment that it counts as now, RFC 3339.
    pub at: String,
    /// How it ended.
    pub outcome: CycleOutcome,
    /// What it means to do, in order.
    pub plan: Vec<CycleStep>,
    /// Steps of the plan that are done.
    pub applied: u64,
    /// What it would have done and may not.
    pub refused: Vec<CycleRefusal>,
    /// What somebody should look at; nothing is changed for it.
    pub findings: Vec<CycleFinding>,
    /// What was looked at, in kebab-case → how many.
    pub considered: BTreeMap<String, u64>,
    /// How the index is; null where this cycle does not reckon it.
    pub health: Option<IndexHealth>,
    /// Files that were written, relative to the workspace.
    pub files: Vec<String>,
    /// What became of the compaction tree afterwards; absent where the workspace has none, and after an archival cycle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<TreeCompactResponse>,
    /// What the reader should know about this run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Milliseconds inside the daemon.
    pub took_ms: f64,
}

/// One step of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CycleStep {
    /// The rule that wants it, in kebab-case.
    pub rule: String,
    /// Ids of the entries that it changes; may be empty.
    pub entries: Vec<String>,
    /// What is done, for a person.
    pub what: String,
}

/// Something that a run may not do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CycleRefusal {
    /// The rule that forbids it, in kebab-case.
    pub rule: String,
    /// Ids of the entries that stay as they are.
    pub entries: Vec<String>,
    /// Why, for a person.
    pub reason: String,
}

/// Something that somebody should look at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CycleFinding {
    /// The rule that found it, in kebab-case.
    pub rule: String,
    /// Id of the entry; empty where it concerns none.
    pub entry: String,
    /// What it is, for a person.
    pub what: String,
}

/// How the entries of a workspace are as a whole.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct IndexHealth {
    /// Entries in the index file and the files below it, without those in the queue.
    pub live: u64,
    /// In the queue of what fades.
    pub queued: u64,
    /// Out of the index file.
    pub archived: u64,
    /// Of priority `amygdala`: they never fade.
    pub amygdala: u64,
    /// Strong for so long that they count as consolidated.
    pub consolidated: u64,
    /// Related to no other.
    pub unlinked: u64,
    /// Of the live ones, 0 to 1.
    pub mean_strength: f32,
    /// Band as in [`crate::IndexBand`] → entries.
    pub bands: BTreeMap<String, u64>,
    /// Group → entries.
    pub groups: BTreeMap<String, u64>,
}

/// Parameters of `cycle.history`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CycleHistoryRequest {
    /// Path of the workspace, or of anything below it.
    pub workspace: String,
    /// Most runs, 1 to [`MAX_RUNS`]; 20 without it.
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = MAX_RUNS)))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// Also the report of this run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<i64>,
}

impl Validate for CycleHistoryRequest {
    fn validate(&self) -> Result<(), RpcError> {
        no_empty("workspace", Some(&self.workspace))?;
        match self.limit {
            Some(limit) if !(1..=MAX_RUNS).contains(&limit) => {
                let error = RpcError::bad_request(format!("the limit {limit} is out of range"));
                Err(error.hint(format!("ask for 1 to {MAX_RUNS} runs")))
            }
            _ => Ok(()),
        }
    }
}

/// Answer to `cycle.history`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CycleHistoryResponse {
    /// The newest first.
    pub runs: Vec<CycleRun>,
    /// Of the run that was asked for, and only then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report: Option<CycleReport>,
}

/// One run in short.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CycleRun {
    /// Its number in the workspace.
    pub run: i64,
    /// Which cycle.
    pub cycle: CycleName,
    /// RFC 3339.
    pub started: String,
    /// RFC 3339; null while it runs, and where it was cut off.
    pub finished: Option<String>,
    /// How it ended.
    pub outcome: CycleOutcome,
    /// Steps of its plan.
    pub planned: u64,
    /// Those that were done.
    pub done: u64,
    /// Entries that it queued or archived.
    pub demoted: u64,
    /// When it was taken back, RFC 3339; null: it holds.
    pub undone: Option<String>,
}

/// A cycle that will come by itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NextCycle {
    /// Which cycle.
    pub cycle: CycleName,
    /// When it is due, RFC 3339.
    pub at: String,
}

/// Parameters of `cycle.undo`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CycleUndoRequest {
    /// Path of the workspace, or of anything below it.
    pub workspace: String,
    /// The run that is to be taken back.
    pub run: i64,
}

impl Validate for CycleUndoRequest {
    fn validate(&self) -> Result<(), RpcError> {
        no_empty("workspace", Some(&self.workspace))
    }
}

/// Answer to `cycle.undo`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CycleUndoResponse {
    /// The run that is taken back.
    pub run: i64,
    /// Changes that were taken back; 0: it was taken back before, or there is nothing of it to take back.
    pub undone: u64,
    /// It was taken back before.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub undone_before: bool,
    /// Files that were written, relative to the workspace.
    pub files: Vec<String>,
    /// What the reader should know: entries of the run that stay, and what the next cycle makes again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}
