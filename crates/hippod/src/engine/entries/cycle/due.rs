//! Due cycles, upcoming cycles, and the response to heartbeats.

use std::time::{Duration, Instant};

use hippo_map::consolidation::Rule;
use hippo_map::layout::INDEX_FILE;
use hippo_map::schedule::{self, RunRecord};
use hippo_proto::{NextCycle, Pending};
use hippo_types::cycle::Cycle;
use hippo_types::time::Timestamp;

use crate::clock::rfc3339;
use crate::engine::worker::WorkspaceWorker;
use crate::engine::workspace::Workspace;
use crate::message::{HeartbeatAnswer, Order};

/// Maximum number of conflicts in the response to one heartbeat. The response occupies space in an agent's context.
const TOLD: usize = 10;
/// Maximum interval between checks for due cycles.
const LOOK: Duration = Duration::from_secs(3600);

impl WorkspaceWorker {
    pub(super) fn look_at_schedule(&mut self, workspace: &mut Workspace, at: Instant) {
        let entries = &workspace.entries;
        let settled = workspace.dirty.is_empty() && workspace.missing.is_empty();
        if !entries.enabled || at < entries.look_at || entries.run.is_some() || !settled {
            return;
        }
        let follows = entries.follow_at.is_some_and(|follow| follow <= at);
        let goes_on = (entries.goes_on || follows) && entries.scheduled;
        let due = self.due(workspace);
        let now = self.resources.clock.now();
        let next = self.next_cycles(workspace).into_iter().map(|(_, at)| at).min();
        let wait = next.map_or(LOOK, |next| Duration::from_millis(next.since(now)).min(LOOK));
        let follow = workspace.entries.follow_at.filter(|_| !follows);
        let wait = follow.map_or(wait, |follow| wait.min(follow.saturating_duration_since(at)));
        workspace.entries.look_at = at + wait.max(Duration::from_secs(1));
        let mut wanted: Vec<(Cycle, bool)> = due.into_iter().map(|cycle| (cycle, true)).collect();
        if goes_on && wanted.iter().all(|(cycle, _)| *cycle != Cycle::Light) {
            wanted.push((Cycle::Light, false));
        }
        for (wanted, when_due) in wanted {
            let queued = workspace.entries.queue.iter();
            let mut queued = queued.filter_map(|order| match order {
                Order::Cycle { cycle, dry_run, .. } if !dry_run => Some(*cycle),
                _ => None,
            });
            if queued.all(|cycle| cycle != wanted) {
                workspace.entries.queue.push_back(Order::Cycle {
                    cycle: wanted,
                    at: None,
                    dry_run: false,
                    when_due,
                    reply: None,
                });
            }
        }
    }

    pub(super) fn runs(workspace: &Workspace) -> Vec<RunRecord> {
        workspace
            .entries
            .known
            .runs
            .iter()
            .map(|run| run.record)
            .collect()
    }

    /// Returns the cycles that are due now according to the recorded runs.
    pub(in crate::engine) fn due(&self, workspace: &Workspace) -> Vec<Cycle> {
        schedule::due(
            &Self::runs(workspace),
            workspace.entries.known_since,
            self.resources.clock.now(),
            &self.zone(workspace),
            &workspace.view.config.cycles.schedule(),
        )
    }

    /// Returns the next time at which each cycle can become due, earliest first.
    pub(in crate::engine) fn next_cycles(&self, workspace: &Workspace) -> Vec<(Cycle, Timestamp)> {
        let (runs, settings) = (Self::runs(workspace), workspace.view.config.cycles.schedule());
        let of = |cycle| {
            let (since, now) = (workspace.entries.known_since, self.resources.clock.now());
            schedule::next_tick(cycle, &runs, since, now, &self.zone(workspace), &settings)
                .map(|at| (cycle, at))
        };
        let mut next: Vec<_> = [Cycle::Light, Cycle::Deep, Cycle::Archival]
            .into_iter()
            .filter_map(of)
            .collect();
        next.sort_by_key(|(_, at)| *at);
        next
    }

    /// Returns the response to `heartbeat`, after the due cycles have run.
    pub(in crate::engine) fn beat(&self, workspace: &Workspace) -> HeartbeatAnswer {
        let entries = &workspace.entries;
        if !entries.enabled {
            return HeartbeatAnswer::default();
        }
        let mut pending: Vec<Pending> = Vec::new();
        let mut tell = |kind: &str, text: String, paths: Vec<String>| {
            pending.push(Pending {
                kind: kind.to_owned(),
                text,
                paths,
            });
        };
        if let Some(story) = entries.held_story() {
            tell("removals-held", story, vec![INDEX_FILE.to_owned()]);
        }
        for conflict in entries.file.conflicts.unreported().take(TOLD) {
            tell("conflict", conflict.clone(), vec![INDEX_FILE.to_owned()]);
        }
        for finding in entries
            .findings
            .iter()
            .filter(|finding| finding.rule == Rule::Pointer)
        {
            let pointers = entries
                .known
                .records
                .get(&finding.id)
                .map(|record| &record.entry.pointers);
            let paths = pointers.into_iter().flatten().map(|pointer| pointer.path.clone());
            tell(
                "orphan",
                format!("{}: {}", finding.id, finding.what),
                paths.collect(),
            );
        }
        // Clients wait for the current run as well as for due cycles, so `due` includes both.
        let under_way = entries.run.iter().filter(|run| !run.dry_run).map(|run| run.cycle);
        let due = self.due(workspace);
        HeartbeatAnswer {
            due: under_way.chain(due).collect(),
            pending,
            next: self.next_on_wire(workspace),
        }
    }

    /// Returns the next time of each cycle, in wire format.
    pub(in crate::engine) fn next_on_wire(&self, workspace: &Workspace) -> Vec<NextCycle> {
        let next = self.next_cycles(workspace).into_iter();
        next.map(|(cycle, at)| NextCycle {
            cycle,
            at: rfc3339(at),
        })
        .collect()
    }
}
