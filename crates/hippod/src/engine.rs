//! The one thread that changes anything: takes events, and works off what is behind in small slices.

mod doctor;
mod embedding;
mod entries;
mod housekeeping;
mod ingest;
mod nested;
mod open;
mod patch;
mod rebuild;
mod reconcile;
mod requests;
mod settings;
mod status;
mod workspace;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use hippo_core::retrieval::terms::Analyzer;
use hippo_proto::Event as News;
use hippo_store::StoreError;

use crate::embed_worker::ModelState;
use crate::event::Event;
use crate::power;
use crate::registry::Registry;
use crate::shared::{Shared, Slot};
use crate::watcher::WatchEvent;
use ingest::{Ingest, Refreshed};
use workspace::{Dirty, Workspace};

pub use doctor::{Survey, complete as complete_survey, leftovers};
pub use entries::{Change, Lesson, Order, Planned, Remembered, Trace, cycle_named, cycle_of, root_missing};
pub use requests::store_error;

/// How long the engine works before it looks at its events again.
const SLICE: Duration = Duration::from_millis(50);
/// Jobs that the embed worker has at the same time: one at work, one ready.
const JOBS_AHEAD: usize = 2;
/// More documents than this are not what somebody edited just now.
const FRESH: usize = 20;
/// How long the machine is spared before it is looked at again.
const SPARE: Duration = Duration::from_secs(30);
/// The engine wakes at least this often.
const LONGEST_SLEEP: Duration = Duration::from_secs(3600);

/// The engine's state.
pub struct Engine {
    shared: Arc<Shared>,
    events: Receiver<Event>,
    registry: Registry,
    workspaces: BTreeMap<u64, Workspace>,
    next_key: u64,
    analyzer: Analyzer,
}

impl Engine {
    /// An engine over the registered workspaces; they are opened by [`Engine::run`], and announced at once.
    pub fn new(shared: Arc<Shared>, events: Receiver<Event>, registry: Registry) -> Self {
        let analyzer = Analyzer::new();
        // Before the first client can ask: to it a registered workspace is on its way, not unknown.
        for root in registry.roots() {
            shared.views.set(root, Slot::Opening);
        }
        Self {
            shared,
            events,
            registry,
            workspaces: BTreeMap::new(),
            next_key: 1,
            analyzer,
        }
    }

    /// Opens the registered workspaces, then serves events until [`Event::Shutdown`].
    pub fn run(mut self) {
        self.open_registered();
        let mut busy = true;
        loop {
            let wait = if busy { Duration::ZERO } else { self.sleep() };
            match self.events.recv_timeout(wait) {
                Ok(Event::Shutdown) | Err(RecvTimeoutError::Disconnected) => break,
                Ok(event) => {
                    self.take(event);
                    while let Ok(event) = self.events.try_recv() {
                        if matches!(event, Event::Shutdown) {
                            return self.finish();
                        }
                        self.take(event);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
            busy = self.work();
        }
        self.finish();
    }

    fn take(&mut self, event: Event) {
        let now = self.shared.clock.monotonic();
        self.shared.pulse.beat();
        match event {
            Event::Request(request, span) => span.in_scope(|| self.serve(request)),
            Event::Watch(event) => self.watched(event, now),
            Event::Embed(event) => self.embedded(event, now),
            Event::Stale { root, paths } => {
                if let Some(workspace) = self.by_root(&root) {
                    for path in paths {
                        workspace.mark_dirty(path, now);
                    }
                }
            }
            Event::Read { root, paths, done } => {
                if let Some(workspace) = self.by_root(&root) {
                    workspace.read_soon(paths, done, now);
                }
            }
            Event::Damaged { root, error } => {
                if let Some(workspace) = self.by_root(&root) {
                    workspace.trouble = Some(error);
                }
            }
            Event::Planned(planned) => self.planned(planned),
            Event::Asked { root, trace } => self.with_root(&root, |engine, workspace| {
                engine.asked(workspace, trace, now);
            }),
            Event::Order { root, order } => self.with_root(&root, |engine, workspace| {
                engine.order(workspace, order, now);
            }),
            Event::Tick => {
                for workspace in self.workspaces.values_mut() {
                    workspace.entries.look_at = now;
                }
            }
            Event::GraphBuilt { workspace, built } => self.graph_built(workspace, built),
            Event::ModelChanged => {
                let models = &self.shared.models;
                let configured = models.configured().map_or_else(|| "".into(), |model| model.id);
                self.shared.embed.reset(configured, models.state());
                for workspace in self.workspaces.values_mut() {
                    workspace.pending.blocked = false;
                    // Its model may have come, or be another one of the same name.
                    workspace.own.look = true;
                }
            }
            Event::LookForModel => self.look_for_model(),
            Event::Pulse | Event::Shutdown => {}
        }
    }

    fn watched(&mut self, event: WatchEvent, now: Instant) {
        let root = event.root().to_path_buf();
        let Some(workspace) = self.by_root(&root) else {
            return;
        };
        workspace.reports_taken += u64::from(event.is_report());
        match event {
            WatchEvent::Dirty(_, paths) => workspace.note_events(paths, now),
            WatchEvent::Rescan(_, reason) => {
                tracing::info!(root = %root.display(), ?reason, "watch events were lost; the disk is compared");
                workspace.scan_at = now;
            }
            WatchEvent::CanarySeen(_) => {
                workspace.times.canary = Some(now);
                workspace.times.canary_sent = None;
                workspace.watcher_silent = false;
            }
            WatchEvent::Dead(_, reason) => {
                tracing::warn!(root = %root.display(), %reason, "the watcher stopped; it is started again");
                workspace.watcher_silent = true;
                workspace.scan_at = now;
            }
        }
    }

    /// One slice of work for every workspace. Answers whether more is waiting already.
    fn work(&mut self) -> bool {
        let mut busy = false;
        let keys: Vec<u64> = self.workspaces.keys().copied().collect();
        for key in keys {
            busy |= self.work_on(key);
        }
        busy
    }

    fn work_on(&mut self, key: u64) -> bool {
        self.shared.pulse.beat();
        let Some(mut workspace) = self.workspaces.remove(&key) else {
            return false;
        };
        self.look_at_database(&mut workspace);
        // What is open and stands nowhere is not closed.
        if workspace.store.is_in_place() && self.look_at_settings(&mut workspace) {
            self.open_anew(workspace);
            return true;
        }
        let now = self.shared.clock.monotonic();
        if now >= workspace.scan_at {
            workspace.reconcile(now);
            // What it found is said before it is worked off.
            self.publish(&mut workspace, now, 0, 0);
        }
        let (changed, removed) = self.ingest(&mut workspace, now);
        workspace.answer_awaited(self.shared.clock.monotonic());
        let removed = removed + self.delete(&mut workspace, now);
        self.shared.pulse.beat();
        self.feed(&mut workspace, now);
        self.keep_house(&mut workspace, now);
        self.shared.pulse.beat();
        let tending = self.tend_entries(&mut workspace, now);
        let settled = workspace.dirty.is_empty() && workspace.missing.is_empty();
        let damaged = workspace.trouble.as_ref().is_some_and(StoreError::needs_rebuild);
        let waits = workspace.pending.blocked_until.is_some() || workspace.entries.again_at.is_some();
        if settled && !damaged && !waits {
            // What the store refused is done by now, or not wanted any more.
            workspace.trouble = None;
        }
        for waiter in &mut workspace.waiters {
            waiter.changed += changed;
            waiter.removed += removed;
        }
        self.publish(&mut workspace, now, changed, removed);
        workspace.answer_readers(self.shared.clock.monotonic());
        self.answer_waiters(&mut workspace);
        let now = self.shared.clock.monotonic();
        let busy = tending
            || workspace.scan_at <= now
            || (workspace.own.look && workspace.entries.run.is_none() && workspace.entries.queue.is_empty())
            || workspace.dirty.values().any(|dirty| dirty.not_before <= now);
        self.workspaces.insert(key, workspace);
        busy
    }

    /// Reads dirty paths for one slice. Answers how many documents changed and went.
    fn ingest(&mut self, workspace: &mut Workspace, start: Instant) -> (u64, u64) {
        let (mut changed, mut removed) = (0, 0);
        let shared = Arc::clone(&self.shared);
        let to_date = |at| shared.clock.date_of(at);
        let mut now = start;
        while now < start + SLICE {
            shared.pulse.beat();
            let due = workspace
                .dirty
                .iter()
                .filter(|(_, dirty)| dirty.not_before <= now);
            // What somebody waits for comes first.
            let order = |(path, dirty): &(&String, &Dirty)| {
                (
                    !workspace.is_awaited(path) && !workspace.is_wanted(path),
                    dirty.since,
                )
            };
            let Some((path, dirty)) = due.min_by_key(order) else {
                break;
            };
            let (path, dirty) = (path.clone(), *dirty);
            workspace.dirty.remove(&path);
            let mut ingest = Ingest {
                analyzer: &mut self.analyzer,
                now: shared.clock.now(),
                at: now,
                to_date: &to_date,
            };
            match workspace.refresh(&path, dirty, &mut ingest) {
                Refreshed::Changed => changed += 1,
                Refreshed::Removed => removed += 1,
                Refreshed::Same | Refreshed::Later => {}
            }
            now = shared.clock.monotonic();
        }
        (changed, removed)
    }

    fn delete(&mut self, workspace: &mut Workspace, now: Instant) -> u64 {
        if workspace.deletions_due().is_none_or(|due| due > now) {
            return 0;
        }
        match workspace.confirm_deletions(now) {
            Ok(deletions) => {
                if deletions.newly_held > 0 {
                    tracing::warn!(
                        root = %workspace.root.display(),
                        files = deletions.newly_held,
                        "many files went at once; their index is kept until the deletion is accepted"
                    );
                }
                deletions.removed as u64
            }
            Err(error) => {
                tracing::warn!(%error, "could not remove deleted documents; it is tried again");
                let later = now + Duration::from_secs(5);
                workspace.missing.values_mut().for_each(|since| *since = later);
                workspace.trouble = Some(error);
                0
            }
        }
    }

    /// Hands the embed worker its next jobs.
    fn feed(&mut self, workspace: &mut Workspace, now: Instant) {
        if workspace.pending.blocked || !self.model_state(workspace).is_usable() {
            // Moments to wait for that nobody looks at any more would keep the engine awake.
            workspace.pending.blocked_until = None;
            workspace.pending.spared = None;
            return;
        }
        if workspace.pending.blocked_until.is_some_and(|until| until > now) {
            return;
        }
        workspace.pending.blocked_until = None;
        if let Err(error) = workspace.finish_change_of_model() {
            tracing::warn!(%error, "could not change to the new model; it is tried again");
            workspace.trouble = Some(error);
            workspace.pending.blocked_until = Some(now + Duration::from_secs(5));
            return;
        }
        if self.shared.config.embed.spare && self.spares(workspace, now) {
            return;
        }
        while workspace.pending.in_flight.len() < JOBS_AHEAD {
            match workspace.next_job(now) {
                Some(job) => self.shared.embed.submit(job),
                None => break,
            }
        }
    }

    /// Where the model is that a workspace is embedded with.
    fn model_state(&self, workspace: &Workspace) -> ModelState {
        match &workspace.embedder {
            Some(embedder) => self.shared.embed.state_of(&embedder.model),
            None => self.shared.models.state_of(&workspace.view.config.model),
        }
    }

    /// Whether the machine is to be spared now. A few fresh edits, and what somebody waits for, are embedded in any case.
    fn spares(&self, workspace: &mut Workspace, now: Instant) -> bool {
        let fresh = (1..=FRESH).contains(&workspace.pending.hot.len());
        if fresh || !workspace.waiters.is_empty() || workspace.pending.len() == 0 {
            workspace.pending.spared = None;
            return false;
        }
        if workspace.pending.spared.is_none_or(|(until, _)| until <= now) {
            let reason = power::reason_to_wait(self.shared.config.embed.threads);
            workspace.pending.spared = reason.map(|why| (now + SPARE, why));
        }
        workspace.pending.spared.is_some()
    }

    /// How long nothing needs to be done.
    fn sleep(&self) -> Duration {
        let now = self.shared.clock.monotonic();
        let due = self.workspaces.values().flat_map(|workspace| {
            let dirty = workspace.dirty.values().map(|dirty| dirty.not_before);
            dirty
                .chain([workspace.scan_at, workspace.housekeeping_due(now)])
                .chain(workspace.entries_due())
                .chain(workspace.pending.blocked_until)
                .chain(workspace.pending.spared.map(|(until, _)| until))
                .chain(workspace.deletions_due().filter(|_| workspace.dirty.is_empty()))
        });
        due.min()
            .map_or(LONGEST_SLEEP, |at| at.saturating_duration_since(now))
            .min(LONGEST_SLEEP)
    }

    fn by_root(&mut self, root: &std::path::Path) -> Option<&mut Workspace> {
        self.workspaces
            .values_mut()
            .find(|workspace| workspace.root == root)
    }

    /// Does something with a workspace that needs the engine too.
    fn with_root(&mut self, root: &std::path::Path, work: impl FnOnce(&mut Self, &mut Workspace)) {
        let key = self.by_root(root).map(|workspace| workspace.key);
        if let Some(mut workspace) = key.and_then(|key| self.workspaces.remove(&key)) {
            work(self, &mut workspace);
            self.workspaces.insert(workspace.key, workspace);
        }
    }

    fn tell(&self, news: News) {
        // Nobody may be listening.
        let _ = self.shared.news.send(news);
    }
}
