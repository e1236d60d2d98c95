//! How does a cycle run: planned beside the engine, applied in slices, ended with the files?
//!
//! A plan states what was there when it was made. When an entry has changed since, it is made again; while a run is
//! applied, whoever wants to change entries waits for its end.

mod apply;
mod due;
mod plan;

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use hippo_core::consolidation::{ConsolidationRun, Cycle, Plan, Rule};
use hippo_core::time::Timestamp;
use hippo_proto::{CycleReport, ErrorKind, RpcError};
use hippo_store::StoreError;
use hippo_store::db::{RunFile, RunId};

use super::files::{Begun, Now};
use super::report;
use crate::engine::store_error;
use crate::engine::turn::Hand;
use crate::engine::workspace::Workspace;
use crate::event::Answer;

/// What the store refused is tried again after this long.
const AGAIN: Duration = Duration::from_secs(5);

/// What a client or the schedule wants of the entries.
#[derive(Debug)]
pub enum Order {
    /// A cycle.
    Cycle {
        /// Which.
        cycle: Cycle,
        /// As of when; `None`: now.
        at: Option<Timestamp>,
        /// Only plan.
        dry_run: bool,
        /// Only if it is due still when its turn comes: the schedule and a heartbeat may want the same one.
        when_due: bool,
        /// The way back; `None`: the schedule asks.
        reply: Option<Answer<CycleReport>>,
    },
    /// A change that a client asks for.
    Change(super::requests::Change),
}

/// A run that is planned or under way.
pub struct Run {
    cycle: Cycle,
    /// What it starts from.
    run: ConsolidationRun,
    dry_run: bool,
    reply: Option<Answer<CycleReport>>,
    since: Instant,
    tries: u32,
    /// Entries have changed under each plan so far: whoever wants to change one waits for this plan.
    alone: bool,
    /// The run of an earlier process that it goes on with.
    resumes: Option<RunId>,
    /// Documents that were new when it began; a light cycle takes as many as it has entries for out of those that wait.
    fresh: BTreeSet<String>,
    /// There were more.
    left: bool,
    applying: Option<Applying>,
}

struct Applying {
    id: RunId,
    /// Texts that were compared for the plan.
    compared: BTreeSet<[u8; 16]>,
    plan: Plan,
    next: usize,
    /// Files that its end has written so far, as the slices before this one left them.
    files: Vec<RunFile>,
    /// What it has left to write.
    begun: Option<Begun>,
    /// All files are as the store says.
    written: bool,
}

/// A plan, and the texts that were compared for it.
pub type Gathered = (Plan, BTreeSet<[u8; 16]>);

/// A plan that was made beside the engine.
pub struct Planned {
    /// Which workspace.
    pub workspace: u64,
    /// The revision of the entries that it was made from.
    pub revision: u64,
    /// The plan; `None`: planning failed.
    pub plan: Option<Box<Gathered>>,
}

impl std::fmt::Debug for Planned {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Planned")
            .field("workspace", &self.workspace)
            .field("revision", &self.revision)
            .finish_non_exhaustive()
    }
}

impl Applying {
    /// Notes a file that was written; of several times the first `before` counts. Answers what the run did to it.
    fn note(&mut self, file: RunFile) -> &RunFile {
        let known = self.files.iter().position(|known| known.path == file.path);
        let at = known.unwrap_or(self.files.len());
        match self.files.get_mut(at) {
            Some(known) => known.after = file.after,
            None => self.files.push(file),
        }
        &self.files[at]
    }
}

impl Run {
    /// Whether entries are being changed.
    pub fn is_applying(&self) -> bool {
        self.applying.is_some()
    }

    /// Whether nobody else may change entries.
    pub fn keeps_others_out(&self) -> bool {
        self.alone || self.is_applying()
    }

    fn id(&self) -> Option<RunId> {
        self.applying.as_ref().map(|applying| applying.id)
    }

    /// The run that the store knows of it.
    fn recorded(&self) -> Option<RunId> {
        self.id().or(self.resumes)
    }

    fn has_steps(&self) -> bool {
        self.applying
            .as_ref()
            .is_some_and(|applying| !applying.plan.steps.is_empty())
    }

    /// Whether it has demoted all that it may.
    fn is_capped(&self) -> bool {
        let refused = self.applying.iter().flat_map(|applying| &applying.plan.refused);
        refused.into_iter().any(|refusal| refusal.rule == Rule::LossCap)
    }
}

impl Hand {
    /// What the entries of a workspace depend on besides themselves.
    pub(in crate::engine) fn now_of<'w>(&self, workspace: &'w Workspace, at: Instant) -> Now<'w> {
        let now = self.shared.clock.now();
        Now {
            root: &workspace.root,
            config: &workspace.view.config.index,
            now,
            at,
            offset_seconds: self.offset(workspace, now),
            files: workspace.known.len(),
        }
    }

    /// Distance of a workspace's zone from UTC at a moment, in seconds.
    fn offset(&self, workspace: &Workspace, now: Timestamp) -> i32 {
        let moment = jiff::Timestamp::from_millisecond(now.0).unwrap_or_default();
        self.zone(workspace).to_offset(moment).seconds()
    }

    pub(in crate::engine) fn zone(&self, workspace: &Workspace) -> jiff::tz::TimeZone {
        self.shared.zone_of(&workspace.view)
    }

    /// One slice of work on the entries. Answers whether more is waiting.
    pub(in crate::engine) fn tend_entries(&mut self, workspace: &mut Workspace, at: Instant) -> bool {
        let tended = self.try_tend(workspace, at);
        if let Err(error) = tended {
            tracing::warn!(root = %workspace.root.display(), %error, "could not keep the index entries; it is tried again");
            workspace.entries.file.look(at + AGAIN);
            workspace.entries.again_at = Some(at + AGAIN);
            workspace.trouble = Some(error);
        } else {
            // A run that could begin shows that the store accepts writes again.
            let begun = workspace.entries.run.as_ref().is_some_and(Run::is_applying);
            let entries = &mut workspace.entries;
            entries.again_at = entries.again_at.filter(|again| !begun && *again > at);
        }
        let now = self.shared.clock.monotonic();
        // Whoever waits for everything to be searchable waits for this too.
        let awaited = !workspace.waiters.is_empty();
        if workspace
            .entries
            .publish_at
            .is_some_and(|due| due <= now || awaited)
        {
            let profile = workspace.view.config.index.profile();
            workspace.entries.publish(&workspace.view, profile);
        }
        workspace.entries.run.as_ref().is_some_and(Run::is_applying)
            || (workspace.entries.run.is_none() && !workspace.entries.queue.is_empty())
    }

    fn try_tend(&mut self, workspace: &mut Workspace, at: Instant) -> Result<(), StoreError> {
        if workspace.entries.run.as_ref().is_some_and(Run::is_applying) {
            return self.advance(workspace);
        }
        let kept_out = workspace.entries.run.as_ref().is_some_and(Run::keeps_others_out);
        if kept_out || !workspace.root_present || workspace.times.reconcile.is_none() {
            return Ok(());
        }
        let now = Now {
            root: &workspace.root,
            config: &workspace.view.config.index,
            ..self.now_of(workspace, at)
        };
        workspace.entries.tend_file(&mut workspace.store, now)?;
        self.look_at_schedule(workspace, at);
        while workspace.entries.run.is_none() {
            // Who changes something does not wait for cycles that came first.
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
                    if !when_due || self.due(workspace).iter().any(|due| due.cycle == cycle) {
                        self.start_cycle(workspace, cycle, moment, dry_run, reply)?;
                    } else if let Some(reply) = reply {
                        let now = self.shared.clock.now();
                        let nothing = report::planned(cycle, now, &Plan::empty(cycle), Duration::ZERO);
                        // A client that is gone needs no answer.
                        let _ = reply.send(Ok(nothing));
                    }
                }
            }
        }
        Ok(())
    }

    /// Takes an order: at once where nobody is in the way.
    pub(in crate::engine) fn order(&mut self, workspace: &mut Workspace, order: Order, at: Instant) {
        let busy = workspace.entries.run.as_ref().is_some_and(Run::keeps_others_out);
        match order {
            Order::Change(change) if !busy => self.change_entries(workspace, change, at),
            Order::Cycle {
                reply: Some(reply), ..
            } if !workspace.root_present => {
                // A client that is gone needs no answer.
                let _ = reply.send(Err(root_missing(&workspace.root)));
            }
            order => workspace.entries.queue.push_back(order),
        }
    }
}

/// Why nothing is done for a workspace whose disk is away.
pub fn root_missing(root: &std::path::Path) -> RpcError {
    let what = format!("the folder is not there, or empty: {}", root.display());
    RpcError::new(ErrorKind::Warming, what).hint("mount its disk or put it back; nothing was changed")
}

/// What the store refused, for whoever asked for a change.
pub fn refusal(error: &StoreError) -> RpcError {
    store_error(error)
}
