//! Planning of a cycle.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

use hippo_map::bootstrap::MOST_ENTRIES;
use hippo_map::consolidation::{
    self, CoAccess, ConsolidationPlan, ConsolidationRun, ConsolidationSnapshot, EntryRecord,
    decayed_co_access,
};
use hippo_map::decay;
use hippo_map::schedule::RunOutcome;
use hippo_proto::CycleReport;
use hippo_store::StoreError;
use hippo_store::db::RunRow;
use hippo_text::source::SourceKind;
use hippo_types::cycle::Cycle;
use hippo_types::entry::EntryId;
use hippo_types::time::Timestamp;

use super::super::documents::IndexedDocument;
use super::super::gather::{AT_ONCE, CycleInput};
use super::super::report;
use super::{ActiveCycle, ComparedPlan, CycleStage, FinishedPlan, PlanApplication};
use crate::engine::WorkspaceEvent;
use crate::engine::embedding::model_state;
use crate::engine::worker::WorkspaceWorker;
use crate::engine::workspace::Workspace;
use crate::errors::store_error;
use crate::message::AnswerSender;

impl WorkspaceWorker {
    pub(super) fn start_cycle(
        &mut self,
        workspace: &mut Workspace,
        cycle: Cycle,
        moment: Option<Timestamp>,
        dry_run: bool,
        reply: Option<AnswerSender<CycleReport>>,
    ) -> Result<(), StoreError> {
        let since = self.resources.clock.monotonic();
        let started = moment.unwrap_or_else(|| self.resources.clock.now());
        if let Err(error) = self.fold(workspace, since) {
            if let Some(reply) = reply {
                // A client that has disconnected needs no answer.
                let _ = reply.send(Err(store_error(&error)));
            }
            return Err(error);
        }
        let resumes = workspace.entries.interrupted.iter().rposition(|row| {
            // Skip runs whose requested start time is still in the future.
            let of_now = row.record.started <= started;
            row.record.cycle == cycle && row.undone.is_none() && of_now
        });
        let resumes = resumes
            .filter(|_| !dry_run && moment.is_none())
            .map(|at| workspace.entries.interrupted.remove(at));
        let live = workspace.entries.known.records.values();
        let live = live
            .filter(|record| record.place == consolidation::RecordPlace::Index)
            .count();
        let run = resumes.map_or(
            ConsolidationRun {
                started,
                live: u32::try_from(live).unwrap_or(u32::MAX),
                demoted: 0,
            },
            |row| row.run,
        );
        let fresh = batch(workspace, cycle);
        let left = fresh.len() < workspace.entries.fresh.len() || !workspace.dirty.is_empty();
        if cycle == Cycle::Light && !dry_run {
            // Documents that change from now on are processed by the next cycle, even if this cycle already reads their
            // new text.
            workspace.entries.fresh.retain(|path| !fresh.contains(path));
            workspace.entries.follow_at = None;
        }
        workspace.entries.run = Some(ActiveCycle {
            cycle,
            run,
            dry_run,
            reply,
            since,
            left,
            fresh,
            stage: CycleStage::Planning {
                tries: 0,
                resumes: resumes.map(|row| row.id),
            },
        });
        self.plan_beside(workspace)
    }

    /// Records the run with its plan in the store. The following slices apply the plan.
    pub(super) fn begin(
        &mut self,
        workspace: &mut Workspace,
        plan: ConsolidationPlan,
        compared: BTreeSet<[u8; 16]>,
    ) -> Result<(), StoreError> {
        let Some(run) = workspace.entries.run.as_mut() else {
            return Ok(());
        };
        let CycleStage::Planning { resumes, .. } = &mut run.stage else {
            return Ok(());
        };
        let id = match *resumes {
            Some(id) => match workspace.store.resume_run(id, &plan) {
                Ok(()) => id,
                Err(error) => {
                    if matches!(error, StoreError::Row { .. }) {
                        // The recorded run can never be resumed, so the next attempt is a new run.
                        *resumes = None;
                    }
                    return Err(error);
                }
            },
            None => workspace.store.start_run(&run.run, &plan)?,
        };
        run.stage = CycleStage::Applying(Box::new(PlanApplication {
            id,
            compared,
            plan,
            next: 0,
        }));
        self.refresh_run(workspace, id)
    }

    /// Applies the accesses in the journal to the entries.
    pub(in crate::engine) fn fold(
        &mut self,
        workspace: &mut Workspace,
        at: Instant,
    ) -> Result<(), StoreError> {
        if workspace.entries.known.journal == 0 {
            return Ok(());
        }
        let profile = workspace.view.config.index.profile();
        let now = self.resources.clock.now();
        let folded = workspace.store.fold_accesses(&profile, now)?;
        workspace.entries.known.journal = folded.kept;
        workspace.entries.put_known(folded.records);
        workspace.entries.changed(at);
        Ok(())
    }

    /// Gathers the input for the plan, and starts planning on another thread.
    fn plan_beside(&mut self, workspace: &mut Workspace) -> Result<(), StoreError> {
        let Some(run) = &workspace.entries.run else {
            return Ok(());
        };
        let input = self.input(workspace, run)?;
        let (key, revision) = (workspace.key, workspace.entries.revision);
        let planned = move |plan: Option<ComparedPlan>| {
            let plan = plan.map(Box::new);
            WorkspaceEvent::Planned(FinishedPlan {
                workspace: key,
                revision,
                plan,
            })
        };
        self.compute("cycle", move || input.plan(), planned);
        Ok(())
    }

    fn input(&self, workspace: &Workspace, run: &ActiveCycle) -> Result<CycleInput, StoreError> {
        let entries = &workspace.entries;
        let started = run.run.started;
        let settings = consolidation::ConsolidationSettings {
            offset_seconds: self.offset(workspace, started),
            profile: workspace.view.config.index.profile(),
            ..consolidation::ConsolidationSettings::default()
        };
        // Copying all entries takes longer than the rest of a light cycle that has nothing to do.
        let only_unsettled =
            run.cycle == Cycle::Light && run.fresh.is_empty() && !entries.known.quick_access.is_empty();
        let is_settled = |record: &EntryRecord| {
            consolidation::is_settled(
                record,
                decay::strength_at(&settings.profile, &record.entry, started),
            )
        };
        let needed = entries
            .known
            .records
            .iter()
            .filter(|(_, record)| !only_unsettled || !is_settled(record));
        let records = needed.map(|(id, record)| (id.clone(), record.clone())).collect();
        let known = |id: &EntryId| entries.known.records.contains_key(id);
        let co_access = workspace.store.co_accesses()?.into_iter();
        let co_access = co_access.filter(|both| known(&both.pair.a) && known(&both.pair.b));
        let co_access = co_access.map(|both| CoAccess {
            count: decayed_co_access(both.pair.count, both.last, started),
            ..both.pair
        });
        let snapshot = ConsolidationSnapshot {
            run: run.run,
            records,
            tombstones: entries
                .known
                .tombstones
                .iter()
                .map(|(id, tombstone)| (id.clone(), tombstone.removed.clone()))
                .collect(),
            co_access: co_access.collect(),
            quick_access: entries.known.quick_access.clone(),
            settings,
            ..ConsolidationSnapshot::default()
        };
        let ended = |row: &&RunRow| {
            let done = matches!(row.record.outcome, RunOutcome::Done | RunOutcome::Capped);
            row.record.cycle == run.cycle && done && row.undone.is_none()
        };
        let mut documents: Vec<IndexedDocument> = workspace
            .known
            .iter()
            .filter(|(path, known)| {
                known.is_shared && !only_unsettled && SourceKind::from_path(path) != SourceKind::Session
            })
            .map(|(path, known)| IndexedDocument {
                path: path.clone(),
                kind: SourceKind::from_path(path),
                hash: known.hash,
                modified: Timestamp(known.mark.mtime_ns / 1_000_000),
            })
            .collect();
        documents.sort_by(|a, b| a.path.cmp(&b.path));
        let usable =
            model_state(&self.resources, workspace).is_usable() && self.resources.config.embed.enabled;
        let model = workspace.view.snapshot().model.clone().filter(|_| usable);
        Ok(CycleInput {
            cycle: run.cycle,
            snapshot,
            root: workspace.root.clone(),
            documents,
            private: workspace.private_documents(),
            fresh: run.fresh.clone(),
            last: entries
                .known
                .runs
                .iter()
                .filter(ended)
                .map(|row| row.record.started)
                // Ignore runs that were requested for a future date: they have not seen the changes up to that date.
                .filter(|last| *last <= started)
                .max(),
            limit: workspace.view.config.sources.max_file_bytes,
            vectors: Arc::clone(&entries.vectors),
            compared: entries.compared.clone(),
            model: model.map(|model| (self.resources.embed.clone(), model)),
        })
    }

    /// Receives a finished plan from the planning thread.
    pub(in crate::engine) fn planned(&mut self, workspace: &mut Workspace, planned: FinishedPlan) {
        if let Err(error) = self.take_plan(workspace, planned) {
            tracing::warn!(%error, "could not start a cycle; retrying");
            self.give_up(workspace, &error.to_string());
        }
    }

    pub(super) fn take_plan(
        &mut self,
        workspace: &mut Workspace,
        planned: FinishedPlan,
    ) -> Result<(), StoreError> {
        let revision = workspace.entries.revision;
        let Some(run) = &mut workspace.entries.run else {
            return Ok(());
        };
        let CycleStage::Planning { tries, .. } = &mut run.stage else {
            return Ok(());
        };
        let Some(made) = planned.plan else {
            self.give_up(workspace, "planning failed; for details: hippoctl service logs");
            return Ok(());
        };
        let (plan, compared) = *made;
        if planned.revision != revision {
            // The entries changed while the plan was made. After some tries, changes wait while the last plan is made.
            *tries += 1;
            return self.plan_beside(workspace);
        }
        if run.dry_run {
            let report = report::planned(run.cycle, run.run.started, &plan, run.since.elapsed());
            if let Some(run) = workspace.entries.run.take()
                && let Some(reply) = run.reply
            {
                // A client that has disconnected needs no answer.
                let _ = reply.send(Ok(report));
            }
            return Ok(());
        }
        self.begin(workspace, plan, compared)
    }
}

/// Returns the new documents that a cycle processes. A light cycle processes at most `MOST_ENTRIES` documents, because
/// each of them needs an entry, and at most `AT_ONCE` bytes. The first document is processed at any size. The remaining
/// documents wait for the next light cycle.
fn batch(workspace: &Workspace, cycle: Cycle) -> BTreeSet<String> {
    let fresh = &workspace.entries.fresh;
    if cycle != Cycle::Light {
        return fresh.clone();
    }
    let mut bytes = 0;
    let size = |path: &String| workspace.known.get(path).map_or(0, |known| known.mark.size);
    let fits = |path: &&String| {
        let first = bytes == 0;
        bytes += size(path);
        first || bytes <= AT_ONCE
    };
    fresh
        .iter()
        .take(MOST_ENTRIES)
        .take_while(fits)
        .cloned()
        .collect()
}
