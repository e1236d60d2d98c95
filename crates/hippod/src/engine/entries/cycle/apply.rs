//! Application of the steps of a run, and the end of the run.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use hippo_map::consolidation::{LearnedAnswer, RecordPlace, decayed_co_access};
use hippo_map::schedule::RunOutcome;
use hippo_proto::{CycleOutcome, Event as News, RpcError};
use hippo_store::StoreError;
use hippo_store::db::RunId;
use hippo_types::cycle::Cycle;
use hippo_types::entry::EntryId;
use hippo_types::time::Timestamp;

use super::super::WorkspaceEntries;
use super::super::files::FileEnvironment;
use super::super::report;
use super::{ActiveCycle, ApplyProgress, CycleStage, PlanApplication};
use crate::engine::turn::WorkspaceWorker;
use crate::engine::workspace::Workspace;

/// Time spent on steps before the engine checks its events again.
const SLICE: Duration = Duration::from_millis(20);
/// Delay of the schedule after a failure; it doubles with each consecutive failure.
const AGAIN: Duration = Duration::from_secs(30);
/// Maximum number of times that the delay doubles, which limits it to about a quarter of an hour.
const MOST_DOUBLED: u32 = 5;
/// Retention of daily access counts in milliseconds. Three days suffice in every time zone.
const DAYS_KEPT: i64 = 3 * 86_400_000;
/// Number of runs above which old runs are removed; fewer runs are always kept.
const RUNS: usize = 40;
/// Maximum number of archived entries created by queries.
const QUESTIONS: usize = 1_000;
/// Retention of runs in milliseconds: 180 days.
const KEPT: i64 = 180 * 86_400_000;

impl WorkspaceWorker {
    /// Applies steps until the slice ends. Ends the run after the last step.
    pub(super) fn advance(&mut self, workspace: &mut Workspace) -> Result<(), StoreError> {
        let begun = Instant::now();
        loop {
            let Some(applying) = workspace.entries.run.as_mut().and_then(ActiveCycle::applying_mut) else {
                return Ok(());
            };
            let id = applying.id;
            let Some((step, last)) = applying.take_step() else {
                let finished = self.finish_run(workspace);
                if let Err(error) = &finished {
                    self.fail(workspace, id, error);
                }
                return finished;
            };
            match workspace.store.apply_step(id, &step) {
                Ok(run) => workspace.entries.note_step(id, run),
                Err(error) => {
                    self.fail(workspace, id, &error);
                    return Err(error);
                }
            }
            workspace
                .entries
                .with_snapshot(|snapshot| step.change.apply(snapshot));
            // Ending the run takes slices of its own.
            if begun.elapsed() >= SLICE || last {
                return Ok(());
            }
        }
    }

    pub(super) fn finish_run(&mut self, workspace: &mut Workspace) -> Result<(), StoreError> {
        let at = self.resources.clock.monotonic();
        let Some(run) = &workspace.entries.run else {
            return Ok(());
        };
        let Some(applying) = run.applying() else {
            return Ok(());
        };
        let id = applying.id;
        let now = FileEnvironment {
            root: &workspace.root,
            config: &workspace.view.config.index,
            ..self.now_of(workspace, at)
        };
        let file = &workspace.entries.file;
        let steps = !applying.plan.steps.is_empty();
        // A light cycle that a client requested always writes the index file, even if it contains no entries.
        let asked = run.cycle == Cycle::Light && run.reply.is_some();
        let is_wanted = asked && file.base().is_none();
        let changes_nothing = !steps && !file.unwritten && !file.outdated && !is_wanted;
        let capped = applying.is_capped();
        if !changes_nothing && !matches!(applying.progress, ApplyProgress::Written) {
            // Each write waits for the disk, so the engine checks its events between two writes.
            let until = Instant::now() + SLICE;
            let entries = &mut workspace.entries;
            let mut begun = match entries.run.as_mut().and_then(ActiveCycle::applying_mut) {
                Some(PlanApplication {
                    progress: ApplyProgress::Files { begun },
                    ..
                }) => begun.take(),
                _ => None,
            };
            let (files, more) = entries.write_until(&mut workspace.store, now, until, &mut begun)?;
            if let Some(applying) = entries.run.as_mut().and_then(ActiveCycle::applying_mut) {
                applying.progress = match more {
                    true => ApplyProgress::Files { begun },
                    false => ApplyProgress::Written,
                };
                for file in files {
                    workspace.store.put_run_file(id, applying.note(file))?;
                }
            }
            return Ok(());
        }
        let outcome = if capped {
            RunOutcome::Capped
        } else {
            RunOutcome::Done
        };
        let ended = self.resources.clock.now();
        let conflicts = workspace.entries.file.conflicts.take_for_run();
        if !conflicts.is_empty()
            && let Err(error) = workspace.store.note_run(id, &conflicts)
        {
            tracing::warn!(%error, "could not add the conflicts between the index file and the store to the \
                                    history");
        }
        workspace.store.finish_run(id, outcome, ended)?;
        self.refresh_run(workspace, id)?;
        // Everything that can fail is done, so the run is over.
        workspace.entries.failures = 0;
        let Some(run) = workspace.entries.run.take() else {
            return Ok(());
        };
        let CycleStage::Applying(applying) = run.stage else {
            return Ok(());
        };
        let PlanApplication {
            plan,
            compared,
            files,
            ..
        } = *applying;
        if !capped {
            workspace.entries.compared.extend(compared);
        }
        if run.cycle == Cycle::Light {
            // Other cycles create no entries. Documents that changed during the run are processed again.
            let entries = &mut workspace.entries;
            entries.goes_on = run.left && !entries.fresh.is_empty();
            let done = run.fresh.iter().filter(|path| !entries.fresh.contains(*path));
            if let Err(error) = workspace.store.looked_at(done.map(String::as_str)) {
                tracing::warn!(%error, "could not record which files the cycle processed; the files are \
                                        processed again after the next start");
            }
        }
        if let Err(error) = self.forget_the_spent(workspace, run.cycle, run.run.started.min(ended)) {
            tracing::warn!(%error, "could not remove outdated records; the next cycle retries");
        }
        let many = workspace.entries.known.runs.len() > RUNS;
        if many && workspace.store.trim_runs(ended.plus(-KEPT))? > 0 {
            let kept = workspace.store.run_ids()?;
            workspace.entries.known.runs.retain(|row| kept.contains(&row.id));
        }
        if run.cycle != Cycle::Light {
            workspace.entries.findings = plan.findings.iter().cloned().collect();
        }
        if !plan.steps.is_empty() {
            workspace.entries.changed(at);
            // The client that waits for the cycle sees its changes.
            let profile = workspace.view.config.index.profile();
            workspace.entries.publish(&workspace.view, profile);
        }
        // Accesses made during the run count from now on.
        let profile = workspace.view.config.index.profile();
        if let Err(error) = self.fold(workspace, &profile, at) {
            tracing::warn!(%error, "could not apply the recorded accesses; the accesses stay in the journal \
                                    until the next attempt");
        }
        // The next cycle may already be due.
        workspace.entries.look_at = at;
        let mut report = report::planned(run.cycle, run.run.started, &plan, run.since.elapsed());
        report.run = Some(id.0);
        report.outcome = report::outcome(outcome);
        report.applied = plan.steps.len() as u64;
        report.files = files.into_iter().map(|file| file.path).collect();
        report.notes = conflicts;
        let trouble = workspace.entries.file.trouble.as_ref();
        report.notes.extend(trouble.map(ToString::to_string));
        report.notes.extend(workspace.entries.held_story());
        if !run.fresh.is_empty() && run.cycle == Cycle::Light {
            report.notes.extend(workspace.entries.left_out(&workspace.known));
        }
        let (cycle, outcome) = (report.cycle.name(), report.outcome.name());
        tracing::info!(
            root = %workspace.root.display(), cycle, outcome, run = id.0, steps = report.applied, files = report.files.len(),
            took_ms = report.took_ms, "finished a cycle"
        );
        self.resources.measures.cycle(cycle, outcome);
        self.tell(News::Cycle {
            workspace: workspace.root.display().to_string(),
            run: id.0,
            cycle: report.cycle,
            outcome: report.outcome,
            applied: report.applied,
        });
        if let Some(reply) = run.reply {
            // The next status response includes the run.
            self.publish(workspace, at, 0, 0);
            // A client that has disconnected needs no answer.
            let _ = reply.send(Ok(report));
        }
        Ok(())
    }

    /// Removes expired data: faded co-accesses, old daily access counts, the answers of archived query entries, and
    /// excess query entries.
    fn forget_the_spent(
        &mut self,
        workspace: &mut Workspace,
        cycle: Cycle,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let faded =
            |known: &hippo_store::db::CoAccessed| decayed_co_access(known.pair.count, known.last, now) == 0;
        if cycle == Cycle::Light {
            return Ok(());
        }
        let mut batch = workspace.store.begin_entries()?;
        // The accesses of a day matter only on that day.
        batch.drop_days_before(now.plus(-DAYS_KEPT).date(0))?;
        for known in workspace
            .entries
            .known
            .co_access
            .iter()
            .filter(|known| faded(known))
        {
            let mut gone = known.clone();
            gone.pair.count = 0;
            batch.put_co_access(&gone)?;
        }
        let mut emptied = Vec::new();
        for record in workspace.entries.known.records.values() {
            let archived = matches!(record.place, RecordPlace::Archive(_));
            let found = |learned: &LearnedAnswer| !learned.passages.is_empty();
            if archived && record.learned.as_deref().is_some_and(found) {
                let mut record = record.clone();
                if let Some(learned) = &mut record.learned {
                    learned.forget_answer();
                }
                batch.put_record(&record)?;
                emptied.push(record);
            }
        }
        let dropped = too_many_questions(&workspace.entries);
        for id in &dropped {
            batch.drop_record(id)?;
        }
        batch.commit()?;
        workspace.entries.known.co_access.retain(|known| !faded(known));
        let emptied = emptied
            .into_iter()
            .map(|record| (record.entry.id.clone(), record));
        workspace.entries.known.records.extend(emptied);
        let gone = |id: &EntryId| dropped.contains(id);
        workspace.entries.known.records.retain(|id, _| !gone(id));
        workspace
            .entries
            .known
            .co_access
            .retain(|known| !gone(&known.pair.a) && !gone(&known.pair.b));
        Ok(())
    }

    /// Reads a run again from the store.
    pub(in crate::engine) fn refresh_run(
        &mut self,
        workspace: &mut Workspace,
        id: RunId,
    ) -> Result<(), StoreError> {
        let row = workspace.store.run_row(id)?;
        let runs = &mut workspace.entries.known.runs;
        runs.retain(|known| known.id != id);
        runs.extend(row);
        runs.sort_by_key(|row| (row.record.started, row.id));
        Ok(())
    }

    /// Ends a run after an error of the store; the next attempt continues it.
    fn fail(&mut self, workspace: &mut Workspace, id: RunId, error: &StoreError) {
        tracing::warn!(%error, "a cycle could not continue; the next attempt runs the remaining steps");
        // This also fails if nothing can be written; the state in memory remains valid.
        let _ = workspace
            .store
            .finish_run(id, RunOutcome::Failed, self.resources.clock.now());
        let _ = self.refresh_run(workspace, id);
        if let Some(row) = workspace.entries.known.runs.iter_mut().find(|row| row.id == id) {
            row.record.outcome = RunOutcome::Failed;
        }
        self.give_up(workspace, &error.to_string());
    }

    /// Abandons a run that cannot continue. The next attempt resumes the part that is recorded.
    pub(super) fn give_up(&mut self, workspace: &mut Workspace, why: &str) {
        let entries = &mut workspace.entries;
        let wait = AGAIN * 2_u32.pow(entries.failures.min(MOST_DOUBLED));
        entries.look_at = self.resources.clock.monotonic() + wait;
        entries.failures = entries.failures.saturating_add(1);
        let Some(run) = entries.run.take() else {
            return;
        };
        let (cycle, outcome) = (run.cycle.name(), CycleOutcome::Failed.name());
        self.resources.measures.cycle(cycle, outcome);
        tracing::warn!(root = %workspace.root.display(), cycle, outcome, why, "a cycle could not be run");
        // These documents still have to be processed.
        entries.fresh.extend(run.fresh.iter().cloned());
        let row = entries
            .known
            .runs
            .iter()
            .find(|row| run.recorded() == Some(row.id));
        let row = row.filter(|row| row.undone.is_none()).copied();
        entries
            .interrupted
            .retain(|known| row.is_none_or(|row| known.id != row.id));
        entries.interrupted.extend(row);
        if let Some(reply) = run.reply {
            let error = RpcError::internal(format!("the cycle could not be run: {why}"));
            // A client that has disconnected needs no answer.
            let _ = reply.send(Err(error.hint("nothing is lost; for details: hippoctl doctor")));
        }
    }
}

/// Returns the excess archived entries that queries created and no person edited, those archived first at the front.
/// They contain nothing that the memory files lack.
fn too_many_questions(entries: &WorkspaceEntries) -> BTreeSet<EntryId> {
    let records = entries.known.records.values();
    let mut archived: Vec<(Timestamp, &EntryId)> = records
        .filter(|record| entries.is_untouched_question(record))
        .filter_map(|record| match record.place {
            RecordPlace::Archive(since) => Some((since, &record.entry.id)),
            RecordPlace::Index | RecordPlace::Queue(_) => None,
        })
        .collect();
    archived.sort_unstable();
    let more = archived.len().saturating_sub(QUESTIONS);
    archived
        .into_iter()
        .take(more)
        .map(|(_, id)| id.clone())
        .collect()
}
