//! Execution of cycles: planning, application and writing of files.
//!
//! A plan records the revision of the entries on which it is based. If an entry changes before the plan is applied, the
//! plan is made again. While a plan is being applied, other changes of entries wait.

mod apply;
mod due;
mod plan;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hippo_map::consolidation::{ConsolidationPlan, ConsolidationRun, PlanStep, Rule};
use hippo_proto::CycleReport;
use hippo_store::StoreError;
use hippo_store::db::RunId;
use hippo_types::cycle::Cycle;
use hippo_types::time::Timestamp;

use super::files::FileEnvironment;
use super::report;
use crate::engine::worker::WorkspaceWorker;
use crate::engine::workspace::Workspace;
use crate::errors::root_missing;
use crate::message::{AnswerSender, Order};

/// Number of plans that changes of entries may invalidate. After that, changes wait until the next plan is applied.
const TRIES: u32 = 3;
/// Delay before another attempt after an error of the store.
const AGAIN: Duration = Duration::from_secs(5);

/// A run of a cycle that is being planned or applied.
pub struct ActiveCycle {
    cycle: Cycle,
    /// Start time of the run, and numbers of entries that limit how many entries the run may demote.
    run: ConsolidationRun,
    dry_run: bool,
    reply: Option<AnswerSender<CycleReport>>,
    since: Instant,
    /// Documents that were new at the start. A light cycle takes only as many documents as it can create entries for.
    fresh: BTreeSet<String>,
    /// True if new documents remain for the next light cycle, or files were not read yet.
    left: bool,
    stage: CycleStage,
}

/// Stage of a run.
enum CycleStage {
    /// A plan is being made.
    Planning {
        /// Number of plans that were invalidated because entries changed in the meantime.
        tries: u32,
        /// The unfinished run that this run continues, if any.
        resumes: Option<RunId>,
    },
    /// A plan is being applied.
    Applying(Box<PlanApplication>),
}

/// A plan that is being applied.
struct PlanApplication {
    id: RunId,
    /// Hashes of the entry texts that planning compared to find similar entries.
    compared: BTreeSet<[u8; 16]>,
    plan: ConsolidationPlan,
    /// The first step that is not applied yet.
    next: usize,
}

/// A plan, and the hashes of the entry texts that planning compared to find similar entries.
pub type ComparedPlan = (ConsolidationPlan, BTreeSet<[u8; 16]>);

/// A plan made on another thread.
pub struct FinishedPlan {
    /// Key of the workspace for which the plan was made.
    pub workspace: u64,
    /// Revision of the entries on which the plan is based.
    pub revision: u64,
    /// The plan; `None` if planning failed.
    pub plan: Option<Box<ComparedPlan>>,
}

impl std::fmt::Debug for FinishedPlan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Planned")
            .field("workspace", &self.workspace)
            .field("revision", &self.revision)
            .finish_non_exhaustive()
    }
}

impl PlanApplication {
    /// Returns whether the plan refused a change because of the limit on demoted entries.
    fn is_capped(&self) -> bool {
        let mut refused = self.plan.refused.iter();
        refused.any(|refusal| refusal.rule == Rule::LossCap)
    }

    /// Returns the next step to apply, and whether it is the last one. Returns `None` after the last step.
    fn take_step(&mut self) -> Option<(PlanStep, bool)> {
        let step = self.plan.steps.get(self.next)?.clone();
        self.next += 1;
        Some((step, self.next == self.plan.steps.len()))
    }
}

impl ActiveCycle {
    /// Returns whether the run is changing entries now.
    pub fn is_applying(&self) -> bool {
        self.applying().is_some()
    }

    /// Returns whether other changes of entries must wait: the run is changing entries, or changed entries have
    /// invalidated too many plans.
    pub fn keeps_others_out(&self) -> bool {
        match self.stage {
            CycleStage::Planning { tries, .. } => tries >= TRIES,
            CycleStage::Applying(_) => true,
        }
    }

    fn applying(&self) -> Option<&PlanApplication> {
        match &self.stage {
            CycleStage::Planning { .. } => None,
            CycleStage::Applying(applying) => Some(applying),
        }
    }

    fn applying_mut(&mut self) -> Option<&mut PlanApplication> {
        match &mut self.stage {
            CycleStage::Planning { .. } => None,
            CycleStage::Applying(applying) => Some(applying),
        }
    }

    /// Returns the id of the run in the store: its own id, or that of the run that it continues.
    fn recorded(&self) -> Option<RunId> {
        match &self.stage {
            CycleStage::Planning { resumes, .. } => *resumes,
            CycleStage::Applying(applying) => Some(applying.id),
        }
    }
}

impl WorkspaceWorker {
    /// Returns the current time and other facts that work on the entries of a workspace needs.
    pub(in crate::engine) fn now_of(&self, workspace: &Workspace, at: Instant) -> FileEnvironment {
        let now = self.resources.clock.now();
        FileEnvironment {
            view: Arc::clone(&workspace.view),
            now,
            at,
            offset_seconds: self.offset(workspace, now),
            files: workspace.known.len(),
        }
    }

    /// Returns the offset of a workspace's time zone from UTC at a moment, in seconds.
    fn offset(&self, workspace: &Workspace, now: Timestamp) -> i32 {
        let moment = jiff::Timestamp::from_millisecond(now.0).unwrap_or_default();
        self.zone(workspace).to_offset(moment).seconds()
    }

    pub(in crate::engine) fn zone(&self, workspace: &Workspace) -> jiff::tz::TimeZone {
        workspace.view.zone(&*self.resources.clock)
    }

    /// Works on the entries until the slice ends. Returns whether more work waits.
    pub(in crate::engine) fn tend_entries(&mut self, workspace: &mut Workspace, at: Instant) -> bool {
        let tended = self.try_tend(workspace, at);
        if let Err(error) = tended {
            tracing::warn!(root = %workspace.root.display(), %error, "could not store the entries of the index file; retrying");
            workspace.entries.file.look(at + AGAIN);
            workspace.entries.again_at = Some(at + AGAIN);
            workspace.trouble = Some(error);
        } else {
            // If a run has started, the store accepts writes again, so no later attempt is needed.
            let begun = workspace.entries.is_applying();
            let entries = &mut workspace.entries;
            entries.again_at = entries.again_at.filter(|again| !begun && *again > at);
        }
        let now = self.resources.clock.monotonic();
        // Publish at once if clients wait until everything is searchable, because they also wait for the entries.
        let awaited = !workspace.waiters.is_empty();
        if workspace
            .entries
            .publish_at
            .is_some_and(|due| due <= now || awaited)
        {
            workspace.entries.publish(&workspace.view);
        }
        let entries = &workspace.entries;
        entries.is_applying() || (entries.run.is_none() && !entries.queue.is_empty())
    }

    fn try_tend(&mut self, workspace: &mut Workspace, at: Instant) -> Result<(), StoreError> {
        if workspace.entries.is_applying() {
            return self.advance(workspace);
        }
        let is_settled = workspace.root_present && workspace.times.reconcile.is_some();
        if workspace.entries.keeps_others_out() || !is_settled {
            return Ok(());
        }
        let now = self.now_of(workspace, at);
        workspace.entries.tend_file(&mut workspace.store, &now)?;
        self.withdraw_private(workspace, at)?;
        self.tend_foreign(workspace, at)?;
        self.look_at_schedule(workspace, at);
        while workspace.entries.run.is_none() {
            // Changes take precedence over queued cycles.
            let queue = &mut workspace.entries.queue;
            let change = queue.iter().position(|order| matches!(order, Order::Change(_)));
            match queue.remove(change.unwrap_or(0)) {
                None => break,
                Some(Order::Change(change)) => self.change_entries(workspace, change, at),
                Some(Order::Cycle {
                    cycle,
                    at: moment,
                    dry_run,
                    when_due,
                    reply,
                }) => {
                    if !when_due || self.due(workspace).contains(&cycle) {
                        self.start_cycle(workspace, cycle, moment, dry_run, reply)?;
                    } else if let Some(reply) = reply {
                        let now = self.resources.clock.now();
                        let nothing =
                            report::planned(cycle, now, &ConsolidationPlan::empty(cycle), Duration::ZERO);
                        // A client that has disconnected needs no answer.
                        let _ = reply.send(Ok(nothing));
                    }
                }
            }
        }
        Ok(())
    }

    /// Accepts an order. A change is made immediately, unless it must wait for the current run. Cycles are queued.
    pub(in crate::engine) fn order(&mut self, workspace: &mut Workspace, order: Order, at: Instant) {
        let busy = workspace.entries.keeps_others_out();
        match order {
            Order::Change(change) if !busy => self.change_entries(workspace, change, at),
            Order::Cycle {
                reply: Some(reply), ..
            } if !workspace.root_present => {
                // A client that has disconnected needs no answer.
                let _ = reply.send(Err(root_missing(&workspace.root)));
            }
            order => workspace.entries.queue.push_back(order),
        }
    }
}
