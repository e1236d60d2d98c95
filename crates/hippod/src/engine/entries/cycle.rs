//! How does a cycle run: planned beside the engine, applied in slices, ended with the files?
//!
//! A plan states what was there when it was made. When an entry has changed since, it is made again; while a run is
//! applied, whoever wants to change entries waits for its end.

use std::sync::Arc;
use std::time::{Duration, Instant};

use hippo_core::consolidation::{
    self, CoAccess, Cycle, Plan, Rule, Run as CoreRun, Snapshot, co_access_left,
};
use hippo_core::layout::INDEX_FILE;
use hippo_core::schedule::{self, Outcome, RunRecord};
use hippo_core::source::SourceKind;
use hippo_core::time::Timestamp;
use hippo_proto::{CycleReport, Event as News, NextCycle, Pending, RpcError};
use hippo_store::StoreError;
use hippo_store::db::{RunId, RunRow};

use super::documents::Known;
use super::files::Now;
use super::gather::Input;
use super::report;
use crate::clock::rfc3339;
use crate::engine::workspace::Workspace;
use crate::engine::{Engine, store_error};
use crate::event::{Answer, Beat, Event};

/// Steps are made for this long before the engine looks at its events again.
const SLICE: Duration = Duration::from_millis(20);
/// What the store refused is tried again after this long.
const AGAIN: Duration = Duration::from_secs(5);
/// How often a plan is made again because an entry changed meanwhile, before everybody else has to wait.
const TRIES: u32 = 3;
/// What is due is looked at again at least this often.
const LOOK: Duration = Duration::from_secs(3600);
/// Counts of accesses a day are kept for this long, in milliseconds: three days, so that no zone is in doubt.
const DAYS_KEPT: i64 = 3 * 86_400_000;
/// Runs older than this are forgotten, in milliseconds: 180 days.
const KEPT: i64 = 180 * 86_400_000;

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
    run: CoreRun,
    dry_run: bool,
    reply: Option<Answer<CycleReport>>,
    since: Instant,
    tries: u32,
    /// The run of an earlier process that it goes on with.
    resumes: Option<RunId>,
    /// Documents that were new when it was planned.
    fresh: std::collections::BTreeSet<String>,
    applying: Option<Applying>,
}

struct Applying {
    id: RunId,
    plan: Plan,
    next: usize,
}

/// A plan that was made beside the engine.
pub struct Planned {
    /// Which workspace.
    pub workspace: u64,
    /// The revision of the entries that it was made from.
    pub revision: u64,
    /// What it was made from, and the plan; `None`: planning failed.
    pub plan: Option<Box<(Snapshot, Plan)>>,
}

impl std::fmt::Debug for Planned {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Planned")
            .field("workspace", &self.workspace)
            .field("revision", &self.revision)
            .finish_non_exhaustive()
    }
}

impl Run {
    /// Whether entries are being changed: nobody else may then.
    pub fn is_applying(&self) -> bool {
        self.applying.is_some()
    }
}

impl Engine {
    /// What the entries of a workspace depend on besides themselves.
    pub(in crate::engine) fn now_of<'w>(&self, workspace: &'w Workspace, at: Instant) -> Now<'w> {
        let now = self.shared.clock.now();
        Now {
            root: &workspace.root,
            config: &workspace.view.config.index,
            now,
            at,
            offset_seconds: self.offset(workspace, now),
        }
    }

    /// Distance of a workspace's zone from UTC at a moment, in seconds.
    fn offset(&self, workspace: &Workspace, now: Timestamp) -> i32 {
        let moment = jiff::Timestamp::from_millisecond(now.0).unwrap_or_default();
        self.zone(workspace).to_offset(moment).seconds()
    }

    pub(in crate::engine) fn zone(&self, workspace: &Workspace) -> jiff::tz::TimeZone {
        let own = workspace.view.config.search.time_zone();
        own.unwrap_or_else(|| self.shared.clock.time_zone())
    }

    /// One slice of work on the entries. Answers whether more is waiting.
    pub(in crate::engine) fn tend_entries(&mut self, workspace: &mut Workspace, at: Instant) -> bool {
        let tended = self.try_tend(workspace, at);
        if let Err(error) = tended {
            tracing::warn!(root = %workspace.root.display(), %error, "could not keep the index entries; it is tried again");
            workspace.entries.file.look(at + AGAIN);
            workspace.entries.again_at = Some(at + AGAIN);
            workspace.trouble = Some(error);
        } else if workspace.entries.again_at.is_some_and(|again| again <= at) {
            workspace.entries.again_at = None;
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
        if !workspace.root_present || workspace.times.reconcile.is_none() {
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
            match workspace.entries.queue.pop_front() {
                None => break,
                Some(Order::Change(change)) => self.change_entries(workspace, change, at),
                Some(Order::Cycle {
                    cycle,
                    at: moment,
                    dry_run,
                    reply,
                }) => self.start_cycle(workspace, cycle, moment, dry_run, reply)?,
            }
        }
        Ok(())
    }

    /// Takes an order: at once where nobody is in the way.
    pub(in crate::engine) fn order(&mut self, workspace: &mut Workspace, order: Order, at: Instant) {
        let busy = workspace.entries.run.as_ref().is_some_and(Run::is_applying);
        match order {
            Order::Change(change) if !busy => self.change_entries(workspace, change, at),
            order => workspace.entries.queue.push_back(order),
        }
    }

    fn look_at_schedule(&mut self, workspace: &mut Workspace, at: Instant) {
        let entries = &workspace.entries;
        let settled = workspace.dirty.is_empty() && workspace.missing.is_empty();
        if !entries.enabled || at < entries.look_at || entries.run.is_some() || !settled {
            return;
        }
        let due = self.due(workspace);
        let now = self.shared.clock.now();
        let next = self.next_cycles(workspace).into_iter().map(|(_, at)| at).min();
        let wait = next.map_or(LOOK, |next| Duration::from_millis(next.since(now)).min(LOOK));
        workspace.entries.look_at = at + wait.max(Duration::from_secs(1));
        for due in due {
            let queued = workspace.entries.queue.iter();
            let mut queued = queued.filter_map(|order| match order {
                Order::Cycle { cycle, dry_run, .. } if !dry_run => Some(*cycle),
                _ => None,
            });
            if queued.all(|cycle| cycle != due.cycle) {
                workspace.entries.queue.push_back(Order::Cycle {
                    cycle: due.cycle,
                    at: None,
                    dry_run: false,
                    reply: None,
                });
            }
        }
    }

    fn runs(workspace: &Workspace) -> Vec<RunRecord> {
        workspace
            .entries
            .known
            .runs
            .iter()
            .map(|run| run.record)
            .collect()
    }

    /// What is due now, by the recorded runs.
    pub(in crate::engine) fn due(&self, workspace: &Workspace) -> Vec<schedule::Due> {
        schedule::due(
            &Self::runs(workspace),
            workspace.entries.known_since,
            self.shared.clock.now(),
            &self.zone(workspace),
            &workspace.view.config.cycles.schedule(),
        )
    }

    /// When each cycle can become due next.
    pub(in crate::engine) fn next_cycles(&self, workspace: &Workspace) -> Vec<(Cycle, Timestamp)> {
        let (runs, settings) = (Self::runs(workspace), workspace.view.config.cycles.schedule());
        let of = |cycle| {
            let only = schedule::Settings {
                light: settings.light.clone().filter(|_| cycle == Cycle::Light),
                deep: settings.deep.clone().filter(|_| cycle == Cycle::Deep),
                archival: settings.archival.clone().filter(|_| cycle == Cycle::Archival),
                ..settings.clone()
            };
            let (since, now) = (workspace.entries.known_since, self.shared.clock.now());
            schedule::next_tick(&runs, since, now, &self.zone(workspace), &only).map(|at| (cycle, at))
        };
        let mut next: Vec<_> = [Cycle::Light, Cycle::Deep, Cycle::Archival]
            .into_iter()
            .filter_map(of)
            .collect();
        next.sort_by_key(|(_, at)| *at);
        next
    }

    fn start_cycle(
        &mut self,
        workspace: &mut Workspace,
        cycle: Cycle,
        moment: Option<Timestamp>,
        dry_run: bool,
        reply: Option<Answer<CycleReport>>,
    ) -> Result<(), StoreError> {
        let profile = workspace.view.config.index.profile();
        let since = self.shared.clock.monotonic();
        let started = moment.unwrap_or_else(|| self.shared.clock.now());
        self.fold(workspace, &profile, since)?;
        let resumes = workspace.entries.interrupted.iter().rposition(|row| {
            // One that was asked for as of a later time is nobody's business now.
            let of_now = row.record.started <= started;
            row.record.cycle == cycle && row.undone.is_none() && of_now
        });
        let resumes = resumes
            .filter(|_| !dry_run && moment.is_none())
            .map(|at| workspace.entries.interrupted.remove(at));
        let live = workspace.entries.known.records.values();
        let live = live
            .filter(|record| record.place == consolidation::Place::Index)
            .count();
        let run = resumes.map_or(
            CoreRun {
                started,
                live: u32::try_from(live).unwrap_or(u32::MAX),
                demoted: 0,
            },
            |row| row.run,
        );
        workspace.entries.run = Some(Run {
            cycle,
            run,
            dry_run,
            reply,
            since,
            tries: 0,
            resumes: resumes.map(|row| row.id),
            fresh: workspace.entries.fresh.clone(),
            applying: None,
        });
        let offset_seconds = self.offset(workspace, started);
        if cycle == Cycle::Light && !dry_run && resumes.is_none() && workspace.entries.fresh.is_empty() {
            let settings = consolidation::Settings {
                offset_seconds,
                profile,
                ..workspace.view.config.index.consolidation()
            };
            let known = &workspace.entries.known;
            if let Some(plan) = consolidation::idle(&known.records, &known.quick_access, &settings, started) {
                return self.begin(workspace, plan);
            }
        }
        self.plan_beside(workspace);
        Ok(())
    }

    /// Records the run with its plan; its steps are made from now on.
    fn begin(&mut self, workspace: &mut Workspace, plan: Plan) -> Result<(), StoreError> {
        let Some(run) = workspace.entries.run.as_mut() else {
            return Ok(());
        };
        let id = match run.resumes {
            Some(id) => workspace.store.resume_run(id, &plan).map(|()| id)?,
            None => workspace.store.start_run(&run.run, &plan)?,
        };
        run.applying = Some(Applying { id, plan, next: 0 });
        self.refresh_run(workspace, id)
    }

    /// Lets the recorded accesses count.
    pub(in crate::engine) fn fold(
        &mut self,
        workspace: &mut Workspace,
        profile: &hippo_core::decay::Profile,
        at: Instant,
    ) -> Result<(), StoreError> {
        if workspace.entries.known.journal == 0 {
            return Ok(());
        }
        let folded = workspace.store.fold_accesses(profile, self.shared.clock.now())?;
        workspace.entries.known.journal = folded.kept;
        for record in folded.records {
            workspace
                .entries
                .known
                .records
                .insert(record.entry.id.clone(), record);
        }
        workspace.entries.changed(at);
        Ok(())
    }

    /// Has a thread gather what the run needs, and plan.
    fn plan_beside(&mut self, workspace: &mut Workspace) {
        let Some(run) = &workspace.entries.run else { return };
        let input = self.input(workspace, run);
        let (key, revision) = (workspace.key, workspace.entries.revision);
        let events = self.shared.events.clone();
        let plan = move || {
            let planned = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| input.plan()));
            if planned.is_err() {
                tracing::error!("planning a cycle failed");
            }
            // The engine is gone only when the daemon ends.
            let _ = events.send(Event::Planned(Planned {
                workspace: key,
                revision,
                plan: planned.ok().map(Box::new),
            }));
        };
        if let Err(error) = std::thread::Builder::new().name("cycle".into()).spawn(plan) {
            tracing::warn!(%error, "could not start planning a cycle");
            self.give_up(workspace, "no thread could be started");
        }
    }

    fn input(&self, workspace: &Workspace, run: &Run) -> Input {
        let entries = &workspace.entries;
        let started = run.run.started;
        let mut settings = workspace.view.config.index.consolidation();
        settings.offset_seconds = self.offset(workspace, started);
        let co_access = entries.known.co_access.iter().map(|known| CoAccess {
            count: co_access_left(known.pair.count, known.last, started),
            ..known.pair.clone()
        });
        let snapshot = Snapshot {
            run: run.run,
            records: entries.known.records.clone(),
            tombstones: entries
                .known
                .tombstones
                .iter()
                .map(|(id, tombstone)| (id.clone(), tombstone.pointers.clone()))
                .collect(),
            co_access: co_access.collect(),
            proposed: entries.known.proposed.clone(),
            quick_access: entries.known.quick_access.clone(),
            settings,
            ..Snapshot::default()
        };
        let ended = |row: &&RunRow| {
            let done = matches!(row.record.outcome, Outcome::Done | Outcome::Capped);
            row.record.cycle == run.cycle && done && row.undone.is_none()
        };
        let mut documents: Vec<Known> = workspace
            .known
            .iter()
            .map(|(path, known)| Known {
                path: path.clone(),
                kind: SourceKind::of(path),
                hash: known.hash,
                modified: Timestamp(known.mark.mtime_ns / 1_000_000),
            })
            .collect();
        documents.sort_by(|a, b| a.path.cmp(&b.path));
        let usable = self.shared.embed.state().0.is_usable() && self.shared.config.embed.enabled;
        let model = workspace.view.picture().model.clone().filter(|_| usable);
        Input {
            cycle: run.cycle,
            snapshot,
            profile: workspace.view.config.index.profile(),
            root: workspace.root.clone(),
            documents,
            fresh: run.fresh.clone(),
            last: entries
                .known
                .runs
                .iter()
                .filter(ended)
                .map(|row| row.record.started)
                .max(),
            limit: workspace.view.config.sources.max_file_bytes,
            kept: Arc::clone(&entries.documents),
            vectors: Arc::clone(&entries.vectors),
            compared: Arc::clone(&entries.compared),
            model: model.map(|model| (self.shared.embed.clone(), model)),
        }
    }

    /// Takes a plan that was made beside the engine.
    pub(in crate::engine) fn planned(&mut self, planned: Planned) {
        let Some(mut workspace) = self.workspaces.remove(&planned.workspace) else {
            return;
        };
        if let Err(error) = self.take_plan(&mut workspace, planned) {
            tracing::warn!(%error, "could not start a cycle; it is tried again");
            self.give_up(&mut workspace, &error.to_string());
        }
        self.workspaces.insert(workspace.key, workspace);
    }

    fn take_plan(&mut self, workspace: &mut Workspace, planned: Planned) -> Result<(), StoreError> {
        let revision = workspace.entries.revision;
        let Some(run) = workspace.entries.run.as_mut().filter(|run| !run.is_applying()) else {
            return Ok(());
        };
        let Some(made) = planned.plan else {
            self.give_up(workspace, "planning failed; hippoctl logs tells more");
            return Ok(());
        };
        let (mut snapshot, mut plan) = *made;
        if planned.revision != revision {
            run.tries += 1;
            if run.tries < TRIES {
                self.plan_beside(workspace);
                return Ok(());
            }
            // Somebody changes entries all the time: what was gathered is good enough, and now nobody comes between.
            let profile = workspace.view.config.index.profile();
            snapshot.records = workspace.entries.known.records.clone();
            for record in snapshot.records.values_mut() {
                record.strength =
                    hippo_core::decay::strength_at(&profile, &record.entry, snapshot.run.started);
            }
            plan = consolidation::plan(&snapshot, plan.cycle);
        }
        if run.dry_run {
            let report = report::planned(run.cycle, run.run.started, &plan, run.since.elapsed());
            if let Some(run) = workspace.entries.run.take()
                && let Some(reply) = run.reply
            {
                // A client that is gone needs no answer.
                let _ = reply.send(Ok(report));
            }
            return Ok(());
        }
        self.begin(workspace, plan)
    }

    /// Makes steps for one slice; ends the run after the last one.
    fn advance(&mut self, workspace: &mut Workspace) -> Result<(), StoreError> {
        let begun = Instant::now();
        loop {
            let Some(applying) = workspace
                .entries
                .run
                .as_mut()
                .and_then(|run| run.applying.as_mut())
            else {
                return Ok(());
            };
            let id = applying.id;
            let Some(step) = applying.plan.steps.get(applying.next).cloned() else {
                return self.finish_run(workspace);
            };
            applying.next += 1;
            if let Err(error) = workspace.store.apply_step(id, &step) {
                tracing::warn!(%error, "a step of a cycle could not be made; the rest waits for the next attempt");
                // Refused as well where nothing can be written.
                let _ = workspace
                    .store
                    .finish_run(id, Outcome::Failed, self.shared.clock.now());
                let _ = self.refresh_run(workspace, id);
                self.give_up(workspace, &error.to_string());
                return Err(error);
            }
            workspace
                .entries
                .with_snapshot(|snapshot| step.change.apply(snapshot));
            if begun.elapsed() >= SLICE {
                return Ok(());
            }
        }
    }

    fn finish_run(&mut self, workspace: &mut Workspace) -> Result<(), StoreError> {
        let at = self.shared.clock.monotonic();
        let Some(mut run) = workspace.entries.run.take() else {
            return Ok(());
        };
        let Some(Applying { id, plan, .. }) = run.applying.take() else {
            return Ok(());
        };
        let now = Now {
            root: &workspace.root,
            config: &workspace.view.config.index,
            ..self.now_of(workspace, at)
        };
        let file = &workspace.entries.file;
        let changes_nothing = plan.steps.is_empty() && !file.unwritten && !file.outdated;
        let files = if changes_nothing {
            Vec::new()
        } else {
            workspace.entries.write(&mut workspace.store, now)?
        };
        for file in &files {
            workspace.store.put_run_file(id, file)?;
        }
        let capped = plan.refused.iter().any(|refusal| refusal.rule == Rule::LossCap);
        let outcome = if capped { Outcome::Capped } else { Outcome::Done };
        let ended = self.shared.clock.now();
        workspace.store.finish_run(id, outcome, ended)?;
        self.fade_pairs(workspace, run.cycle, run.run.started)?;
        self.refresh_run(workspace, id)?;
        if workspace.store.trim_runs(ended.plus(-KEPT))? > 0 {
            let kept = workspace.store.run_ids()?;
            workspace.entries.known.runs.retain(|row| kept.contains(&row.id));
        }
        workspace.entries.fresh.retain(|path| !run.fresh.contains(path));
        if run.cycle != Cycle::Light {
            workspace.entries.findings = plan.findings.iter().cloned().collect();
        }
        if !plan.steps.is_empty() {
            workspace.entries.changed(at);
            // Who waits for the cycle sees what it did.
            let profile = workspace.view.config.index.profile();
            workspace.entries.publish(&workspace.view, profile);
        }
        // The next one may be due already.
        workspace.entries.look_at = at;
        let mut report = report::planned(run.cycle, run.run.started, &plan, run.since.elapsed());
        report.run = Some(id.0);
        report.outcome = report::outcome(outcome);
        report.applied = plan.steps.len() as u64;
        report.files = files.into_iter().map(|file| file.path).collect();
        report.notes = std::mem::take(&mut workspace.entries.file.conflicts);
        let trouble = workspace.entries.file.trouble.as_ref();
        report.notes.extend(trouble.map(ToString::to_string));
        report.notes.extend(workspace.entries.held_story());
        tracing::info!(
            root = %workspace.root.display(), cycle = ?run.cycle, run = id.0, steps = report.applied, files = report.files.len(),
            took_ms = report.took_ms, "a cycle ended"
        );
        self.tell(News::Cycle {
            workspace: workspace.root.display().to_string(),
            run: id.0,
            cycle: report.cycle,
            outcome: report.outcome,
            applied: report.applied,
        });
        if let Some(reply) = run.reply {
            // A client that is gone needs no answer.
            let _ = reply.send(Ok(report));
        }
        Ok(())
    }

    /// Common accesses of long ago are forgotten once they have no link any more.
    fn fade_pairs(
        &mut self,
        workspace: &mut Workspace,
        cycle: Cycle,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let faded =
            |known: &hippo_store::db::CoAccessed| co_access_left(known.pair.count, known.last, now) == 0;
        if cycle == Cycle::Light {
            return Ok(());
        }
        let mut batch = workspace.store.begin_entries()?;
        // Who accessed what on which day matters on that day alone.
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
        batch.commit()?;
        workspace.entries.known.co_access.retain(|known| !faded(known));
        Ok(())
    }

    /// Reads a run again from the store.
    pub(in crate::engine) fn refresh_run(
        &mut self,
        workspace: &mut Workspace,
        id: RunId,
    ) -> Result<(), StoreError> {
        let runs = &mut workspace.entries.known.runs;
        runs.retain(|row| row.id != id);
        runs.extend(workspace.store.run_row(id)?);
        runs.sort_by_key(|row| (row.record.started, row.id));
        Ok(())
    }

    /// Ends a run that cannot go on.
    fn give_up(&mut self, workspace: &mut Workspace, why: &str) {
        workspace.entries.look_at = self.shared.clock.monotonic() + Duration::from_secs(30);
        let Some(run) = workspace.entries.run.take() else {
            return;
        };
        if let Some(reply) = run.reply {
            let error = RpcError::internal(format!("the cycle could not be run: {why}"));
            // A client that is gone needs no answer.
            let _ = reply.send(Err(error.hint("nothing is lost; hippoctl doctor tells more")));
        }
    }
}

impl Engine {
    /// Answers `heartbeat`, once what is due has run.
    pub(in crate::engine) fn beat(&self, workspace: &Workspace) -> Beat {
        let entries = &workspace.entries;
        if !entries.enabled {
            return Beat::default();
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
        for conflict in &entries.file.conflicts {
            tell("conflict", conflict.clone(), vec![INDEX_FILE.to_owned()]);
        }
        for fact in &entries.known.proposed {
            tell("proposal", fact.clone(), Vec::new());
        }
        for finding in entries
            .findings
            .iter()
            .filter(|finding| finding.what.contains("gone"))
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
        Beat {
            due: self.due(workspace).into_iter().map(|due| due.cycle).collect(),
            pending,
            next: self.next_on_wire(workspace),
        }
    }

    /// When each cycle can become due next, as clients hear it.
    pub(in crate::engine) fn next_on_wire(&self, workspace: &Workspace) -> Vec<NextCycle> {
        let next = self.next_cycles(workspace).into_iter();
        next.map(|(cycle, at)| NextCycle {
            cycle: report::name(cycle),
            at: rfc3339(at),
        })
        .collect()
    }
}

/// What the store refused, for whoever asked for a change.
pub fn refusal(error: &StoreError) -> RpcError {
    store_error(error)
}
