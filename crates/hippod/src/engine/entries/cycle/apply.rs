//! Application of a plan, and the end of a run.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use hippo_map::consolidation::{EntryRecord, LearnedAnswer, RecordPlace, decayed_co_access};
use hippo_map::layout::INDEX_FILE;
use hippo_map::schedule::RunOutcome;
use hippo_proto::{CycleOutcome, Event as News, RpcError};
use hippo_store::StoreError;
use hippo_store::db::{CoAccessed, RunId};
use hippo_types::cycle::Cycle;
use hippo_types::entry::EntryId;
use hippo_types::time::Timestamp;

use super::super::WorkspaceEntries;
use super::super::report;
use super::{ActiveCycle, CycleStage, PlanApplication};
use crate::engine::worker::WorkspaceWorker;
use crate::engine::workspace::Workspace;

/// Time that the thread spends on the steps of a run before it checks for events again.
const SLICE: Duration = Duration::from_millis(20);
/// Delay before the next scheduled cycle after a failure. It doubles with each consecutive failure.
const AGAIN: Duration = Duration::from_secs(30);
/// Maximum number of times that the delay doubles, which limits it to about a quarter of an hour.
const MOST_DOUBLED: u32 = 5;
/// Retention of daily access counts in milliseconds. Three days suffice in every time zone.
const DAYS_KEPT: i64 = 3 * 86_400_000;
/// Number of runs up to which all runs are kept. If there are more, runs older than [`KEPT`] are removed.
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
            if let Err(error) = workspace.store.apply_step(id, &step) {
                self.fail(workspace, id, &error);
                return Err(error);
            }
            workspace
                .entries
                .with_snapshot(|snapshot| step.change.apply(snapshot));
            // After the last step, return as well: the next call ends the run, in a slice of its own.
            if begun.elapsed() >= SLICE || last {
                return Ok(());
            }
        }
    }

    pub(super) fn finish_run(&mut self, workspace: &mut Workspace) -> Result<(), StoreError> {
        let at = self.resources.clock.monotonic();
        let is_light = |run: &ActiveCycle| run.cycle == Cycle::Light;
        if workspace.entries.run.as_ref().is_some_and(is_light) {
            self.update_foreign(workspace, at);
        }
        let Some(run) = &workspace.entries.run else {
            return Ok(());
        };
        let Some(applying) = run.applying() else {
            return Ok(());
        };
        let (id, capped) = (applying.id, applying.is_capped());
        // A light cycle that a client requested creates a missing index file, even if there are no entries.
        let file = &workspace.entries.file;
        let is_wanted = run.cycle == Cycle::Light && run.reply.is_some() && file.base().is_none();
        let mut files = BTreeSet::new();
        let before = file.last_version();
        if !applying.plan.steps.is_empty() || file.unwritten || file.outdated || is_wanted {
            let now = self.now_of(workspace, at);
            files = workspace.entries.write(&mut workspace.store, &now)?;
        }
        let outcome = if capped {
            RunOutcome::Capped
        } else {
            RunOutcome::Done
        };
        let ended = self.resources.clock.now();
        let conflicts = workspace.entries.file.conflicts.take_for_run();
        // Record the versions only if the run itself wrote the only new version. A person's edit that was merged in the
        // meantime is a version as well.
        let after = workspace.entries.file.last_version();
        let versions = before.zip(after).map(|(before, after)| [before, after]);
        let is_own = files.contains(INDEX_FILE);
        let versions = versions.filter(|[before, after]| is_own && *after == before + 1);
        if !(conflicts.is_empty() && files.is_empty())
            && let Err(error) = workspace.store.note_run(id, &conflicts, &files, versions)
        {
            tracing::warn!(%error, "could not add the conflicts and the changed files to the history");
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
        let PlanApplication { plan, compared, .. } = *applying;
        if !capped {
            workspace.entries.compared.extend(compared);
        }
        if run.cycle == Cycle::Light {
            // Only light cycles process new documents. Documents that changed during the run are processed again.
            let is_read = workspace.dirty.is_empty();
            let entries = &mut workspace.entries;
            entries.goes_on = run.left && !(entries.fresh.is_empty() && is_read);
            let done = run.fresh.iter().filter(|path| !entries.fresh.contains(*path));
            if let Err(error) = workspace.store.looked_at(done.map(String::as_str)) {
                tracing::warn!(%error, "could not record which files the cycle processed; the files are \
                                        processed again after the next start");
            }
        }
        let forgotten = self.forget_the_spent(workspace, run.cycle, run.run.started.min(ended));
        if let Err(error) = forgotten.and_then(|()| trim_runs(workspace, ended)) {
            tracing::warn!(%error, "could not remove outdated records; the next cycle retries");
        }
        if run.cycle != Cycle::Light {
            workspace.entries.findings = plan.findings.iter().cloned().collect();
        }
        if !plan.steps.is_empty() {
            workspace.entries.changed(at);
            // The client that waits for the cycle must see its changes.
            workspace.entries.publish(&workspace.view);
        }
        // Apply the accesses that were recorded during the run.
        if let Err(error) = self.fold(workspace, at) {
            tracing::warn!(%error, "could not apply the recorded accesses; the accesses stay in the journal \
                                    until the next attempt");
        }
        // The next cycle may already be due.
        workspace.entries.look_at = at;
        let mut report = report::planned(run.cycle, run.run.started, &plan, run.since.elapsed());
        report.run = Some(id.0);
        report.outcome = report::outcome(outcome);
        report.applied = plan.steps.len() as u64;
        report.files = files.into_iter().collect();
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
            // The next status response must include the run.
            self.publish(workspace, at, 0, 0);
            // A client that has disconnected needs no answer.
            let _ = reply.send(Ok(report));
        }
        Ok(())
    }

    /// Removes expired data after a deep or archival cycle: faded co-accesses, old daily access counts, the answers of
    /// archived entries that queries created, and excess entries of this kind.
    fn forget_the_spent(
        &mut self,
        workspace: &mut Workspace,
        cycle: Cycle,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        if cycle == Cycle::Light {
            return Ok(());
        }
        let pairs = workspace.store.co_accesses()?.into_iter();
        let faded = pairs.filter(|both| decayed_co_access(both.pair.count, both.last, now) == 0);
        let faded: Vec<CoAccessed> = faded.collect();
        let entries = &mut workspace.entries;
        let with_answer = entries.known.records.values().filter(|record| {
            let found = |learned: &LearnedAnswer| !learned.passages.is_empty();
            matches!(record.place, RecordPlace::Archive(_)) && record.learned.as_deref().is_some_and(found)
        });
        let mut emptied: Vec<EntryRecord> = with_answer.cloned().collect();
        for learned in emptied.iter_mut().filter_map(|record| record.learned.as_mut()) {
            learned.forget_answer();
        }
        let dropped = too_many_questions(entries);
        workspace.store.write_entries(|batch| {
            // The accesses of a day matter only on that day.
            batch.drop_days_before(now.plus(-DAYS_KEPT).date(0))?;
            for mut gone in faded {
                gone.pair.count = 0;
                batch.put_co_access(&gone)?;
            }
            emptied.iter().try_for_each(|record| batch.put_record(record))?;
            dropped.iter().try_for_each(|id| batch.drop_record(id))
        })?;
        entries.put_known(emptied);
        entries.known.records.retain(|id, _| !dropped.contains(id));
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

    /// Ends a run after an error of the store. The next attempt continues the run.
    fn fail(&mut self, workspace: &mut Workspace, id: RunId, error: &StoreError) {
        tracing::warn!(%error, "a cycle could not continue; the next attempt runs the remaining steps");
        // This fails as well if the store cannot write at all. The outcome is therefore also set in memory below.
        let _ = workspace
            .store
            .finish_run(id, RunOutcome::Failed, self.resources.clock.now());
        let _ = self.refresh_run(workspace, id);
        if let Some(row) = workspace.entries.known.runs.iter_mut().find(|row| row.id == id) {
            row.record.outcome = RunOutcome::Failed;
        }
        self.give_up(workspace, &error.to_string());
    }

    /// Abandons a run that cannot continue. If the store has recorded the run, the next attempt resumes it.
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
        // The documents of the run still have to be processed.
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

/// Removes old runs once there are many.
fn trim_runs(workspace: &mut Workspace, now: Timestamp) -> Result<(), StoreError> {
    let runs = &mut workspace.entries.known.runs;
    if runs.len() > RUNS && workspace.store.trim_runs(now.plus(-KEPT))? > 0 {
        let kept = workspace.store.run_ids()?;
        runs.retain(|row| kept.contains(&row.id));
    }
    Ok(())
}

/// Returns the archived entries above the maximum that queries created and no person edited, beginning with the oldest.
/// Their removal loses nothing, because the memory files contain their answers.
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
