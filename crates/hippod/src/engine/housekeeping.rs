//! Watcher tests, builds of the vector graph, spare copies, shutdown.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tracing::Span;

use hippo_store::StoreError;
use hippo_store::vector::BuiltGraph;

use super::Resources;
use super::WorkspaceEvent;
use super::agenda::Chore;
use super::worker::WorkspaceWorker;
use super::workspace::Workspace;
use crate::message::WorkspaceMessage;
use crate::watcher::{WatchEvent, Watcher};

/// Time within which the watcher must report a canary, which is a test file. After that time, the watcher counts as
/// silent.
const CANARY_PATIENCE: Duration = Duration::from_secs(10);
/// Time without writes after which the segments of the lexical index are merged.
const TIDY_AFTER: Duration = Duration::from_secs(10);
/// Minimum interval between spare copies of the data that exists only in the database.
const SPARE_AFTER: Duration = Duration::from_secs(2);
/// Minimum number of chunks that must be written between two merges of the lexical index.
const UNTIDY: u64 = 5_000;

/// Minimum interval between attempts to write a database or its spare copy after a failure.
const WRITE_AGAIN: Duration = Duration::from_secs(30);
/// Delay before the texts are counted again in a workspace that had too few texts for a graph.
const COUNT_AGAIN: Duration = Duration::from_secs(60);
/// Delay before another attempt to build a graph after a failure.
const BUILD_AGAIN: Duration = Duration::from_secs(3600);

impl Workspace {
    /// Handles an event of the watcher.
    pub fn take_watch_event(&mut self, event: WatchEvent, now: Instant) {
        self.reports_taken += u64::from(event.is_report());
        match event {
            WatchEvent::Dirty(paths) => self.note_events(paths, now),
            WatchEvent::Rescan(reason) => {
                let root = self.root.display();
                tracing::info!(root = %root, ?reason, "watch events were lost; comparing the disk with the index");
                self.agenda.plan(Chore::Scan, now);
            }
            WatchEvent::CanarySeen => {
                self.times.canary = Some(now);
                self.times.canary_sent = None;
                self.watcher_silent = false;
            }
            WatchEvent::Dead(reason) => {
                let root = self.root.display();
                tracing::warn!(root = %root, %reason, "the watcher stopped; restarting it");
                self.watcher_silent = true;
                self.agenda.plan(Chore::Scan, now);
            }
        }
    }

    /// Returns the time at which the next housekeeping is due.
    pub fn housekeeping_due(&self, now: Instant) -> Instant {
        let canary = match (&self.watcher, self.times.canary_sent) {
            (None, _) => None,
            (Some(_), Some(sent)) => Some(sent + CANARY_PATIENCE),
            (Some(_), None) => Some(self.agenda.time(Chore::Canary, now)),
        };
        let tidy = (self.untidy >= UNTIDY && self.pending.len() == 0).then(|| self.last_write + TIDY_AFTER);
        let spare =
            (self.spared != Some(self.entries.revision)).then(|| self.agenda.time(Chore::SaveSpare, now));
        canary
            .into_iter()
            .chain(tidy)
            .chain(spare)
            .min()
            .unwrap_or(now + Duration::from_secs(3600))
    }

    /// Writes the spare copy of the data that exists only in the database, if it has changed.
    fn save_spare(&mut self) {
        let revision = self.entries.revision;
        if self.spared == Some(revision) || !self.store.is_in_place() {
            return;
        }
        let begun = Instant::now();
        let saved = self.store.write_spare(&self.root.to_string_lossy());
        // The longer a copy takes, the less often it is written.
        self.agenda
            .plan(Chore::SaveSpare, begun + (begun.elapsed() * 20).max(SPARE_AFTER));
        match saved {
            Ok(()) => self.spared = Some(revision),
            Err(error) => {
                tracing::warn!(%error, "could not write the spare copy of the database; retrying");
                if error.is_damage() {
                    self.trouble = Some(error);
                }
                self.agenda.plan(Chore::SaveSpare, begun + WRITE_AGAIN);
            }
        }
    }

    /// Cancels the build of the vector graph.
    pub fn cancel_graph(&self) {
        if let Some(cancel) = &self.graph_build {
            cancel.store(true, Ordering::Relaxed);
        }
    }

    /// Returns whether the workspace has enough different texts for a graph. Chunks with the same text have equal
    /// vectors, and a scan of equal vectors is faster than a graph.
    fn has_texts_for_graph(&self) -> bool {
        let (has_graph, scanned) = {
            let vectors = &self.view.snapshot().vectors;
            (vectors.has_graph(), vectors.params().exact_below)
        };
        has_graph || self.store.count_vectors().is_ok_and(|texts| texts > scanned)
    }
}

impl WorkspaceWorker {
    /// Performs the due housekeeping.
    pub(super) fn keep_house(&mut self, workspace: &mut Workspace, now: Instant) {
        self.keep_watch(workspace, now);
        if workspace.agenda.is_due(Chore::SaveSpare, now) {
            workspace.save_spare();
        }
        let may_build = workspace.graph_build.is_none()
            && workspace.agenda.is_due(Chore::BuildGraph, now)
            && workspace.pending.is_at_rest();
        if may_build && workspace.view.snapshot().vectors.needs_rebuild() {
            if workspace.has_texts_for_graph() {
                self.build_graph(workspace);
            } else {
                workspace.agenda.plan(Chore::BuildGraph, now + COUNT_AGAIN);
            }
        }
        let quiet = workspace.pending.len() == 0 && workspace.dirty.is_empty();
        if quiet && workspace.untidy >= UNTIDY && now >= workspace.last_write + TIDY_AFTER {
            workspace.untidy = 0;
            self.tidy(workspace);
        }
    }

    fn tidy(&self, workspace: &mut Workspace) {
        // While files are missing, keep all vectors, because the files may return.
        let orphans = if workspace.missing.is_empty() && workspace.held.is_empty() && workspace.root_present {
            workspace.store.drop_orphan_vectors()
        } else {
            Ok(0)
        };
        if let Err(error) = orphans.and_then(|_| workspace.store.tidy()) {
            tracing::warn!(%error, "could not compact the database; it still works, but is larger and slower");
        }
    }

    /// Starts the watcher if it is not running, and regularly checks it with a canary.
    fn keep_watch(&mut self, workspace: &mut Workspace, now: Instant) {
        if workspace.watcher.is_none() || workspace.watcher_silent {
            if !workspace.agenda.is_due(Chore::StartWatcher, now) {
                return;
            }
            workspace
                .agenda
                .plan(Chore::StartWatcher, now + Duration::from_secs(30));
            self.start_watcher(workspace);
            workspace.agenda.plan(Chore::Canary, now);
        }
        if let Some(sent) = workspace.times.canary_sent {
            if now >= sent + CANARY_PATIENCE {
                tracing::warn!(root = %workspace.root.display(), "the watcher receives no events; restarting it");
                workspace.times.canary_sent = None;
                workspace.watcher_silent = true;
                workspace.agenda.plan(Chore::Scan, now);
            }
            return;
        }
        if !workspace.agenda.is_due(Chore::Canary, now) || !workspace.root_present {
            return;
        }
        self.resources.contexts.look();
        workspace.agenda.plan(
            Chore::Canary,
            now + Duration::from_secs(workspace.view.config.watch.reconcile_secs),
        );
        let Some(watcher) = &workspace.watcher else { return };
        match watcher.write_canary() {
            Ok(()) => {
                workspace.canary_unprovable = None;
                workspace.times.canary_sent = Some(now);
            }
            Err(error) => workspace.canary_unprovable = Some(error.to_string()),
        }
    }

    fn start_watcher(&self, workspace: &mut Workspace) {
        let events = self.events.clone();
        let view = Arc::clone(&workspace.view);
        let sink = Box::new(move |event: WatchEvent| {
            if event.is_report() {
                view.count_report();
            }
            // The receiver is closed only when the daemon ends.
            let _ = events.send(WorkspaceEvent::Sent(WorkspaceMessage::Watch(event), Span::none()));
        });
        let watch = &workspace.view.config.watch;
        match Watcher::start(&workspace.root, watch, sink) {
            Ok(watcher) => {
                workspace.view.set_listener(watcher.listener());
                workspace.watcher = Some(watcher);
                workspace.watcher_silent = false;
                // The next scan passes the folders to the watcher, and finds changes that the watcher has missed.
                workspace
                    .agenda
                    .bring_forward(Chore::Scan, self.resources.clock.monotonic());
            }
            Err(error) => {
                tracing::warn!(%error, "could not watch the files; changes are found only by comparing the \
                                        disk with the index")
            }
        }
    }

    fn build_graph(&self, workspace: &mut Workspace) {
        let job = workspace.view.picture_mut().vectors.snapshot_for_build();
        let key = workspace.key;
        let cancel = Arc::new(AtomicBool::new(false));
        workspace.graph_build = Some(Arc::clone(&cancel));
        let build = move || job.run(&cancel);
        self.compute("graph", build, move |built| {
            WorkspaceEvent::GraphBuilt(key, built.flatten())
        });
    }

    /// Runs `work` on a new thread, and sends the event with its result to the workspace's thread. The result is `None`
    /// if the work panicked or the thread could not start.
    pub(super) fn compute<T>(
        &self,
        name: &'static str,
        work: impl FnOnce() -> T + Send + 'static,
        event: impl FnOnce(Option<T>) -> WorkspaceEvent + Send + Clone + 'static,
    ) {
        let (events, done) = (self.events.clone(), event.clone());
        let compute = move || {
            let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
            if result.is_err() {
                tracing::error!(name, "a computation in the background failed");
            }
            // The receiver is closed only when the workspace is closed.
            let _ = events.send(done(result.ok()));
        };
        if let Err(error) = std::thread::Builder::new().name(name.to_owned()).spawn(compute) {
            tracing::warn!(%error, name, "could not start a thread");
            let _ = self.events.send(event(None));
        }
    }

    /// Starts using a finished graph. `None` means that the build failed or was cancelled.
    pub(super) fn graph_built(&mut self, workspace: &mut Workspace, built: Option<BuiltGraph>) {
        workspace.graph_build = None;
        let now = self.resources.clock.monotonic();
        let mut snapshot = workspace.view.picture_mut();
        if let Some(built) = built {
            // This has no effect if the vectors have been replaced since the build began.
            snapshot.vectors.install(built);
        } else {
            snapshot.vectors.abandon_build();
            workspace.agenda.plan(Chore::BuildGraph, now + BUILD_AGAIN);
        }
    }

    /// Saves the state of a workspace before the daemon ends.
    pub(super) fn shut_down(&self, workspace: &mut Workspace) {
        if !workspace.store.is_in_place() {
            self.resources.rescuing.store(true, Ordering::Relaxed);
            // `bring_back` has logged a failure, and no later attempt follows.
            let _ = bring_back(&self.resources, workspace);
        }
        // Merge and remove the replaced copies of the index file.
        self.close_index_file(workspace, self.resources.clock.monotonic());
        workspace.cancel_graph();
        workspace.save_spare();
        if let Err(error) = workspace.store.checkpoint() {
            tracing::warn!(%error, "could not checkpoint the database; the next start checkpoints it");
        }
    }
}

/// Writes the database again at its path if its file was removed while open.
pub(super) fn look_at_database(resources: &Resources, workspace: &mut Workspace) {
    let now = resources.clock.monotonic();
    if workspace.agenda.is_due(Chore::CheckDatabase, now) && !workspace.store.is_in_place() {
        workspace.agenda.plan(Chore::CheckDatabase, now + WRITE_AGAIN);
        if let Err(error) = bring_back(resources, workspace) {
            workspace.trouble = Some(error);
        }
    }
}

/// Writes a database again whose file was removed while open. The open handle holds the only copy of the data.
///
/// # Errors
/// Returns the error of the write. After an error, the workspace must stay open, or the data is lost.
pub(super) fn bring_back(resources: &Resources, workspace: &mut Workspace) -> Result<(), StoreError> {
    if workspace.store.is_in_place() {
        return Ok(());
    }
    let database = workspace.store.path().display().to_string();
    let pulse = workspace.pulse.clone();
    let written = workspace.store.write_again(&|| {
        resources.pulse.beat();
        pulse.beat();
        true
    });
    match &written {
        Ok(()) => {
            workspace.view.forget_readers();
            tracing::warn!(
                database,
                "the database was removed while it was open, so hippod wrote it again"
            );
        }
        Err(error) => {
            tracing::error!(database, %error, "the database was removed while it was open, and could not be rewritten");
        }
    }
    written
}
