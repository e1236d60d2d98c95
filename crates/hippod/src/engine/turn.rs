//! A turn of a workspace: its events and its due work.
//!
//! A turn runs on its own thread and owns the workspace until it ends. A large file, a scan of many files or a slow
//! disk delays only this workspace.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use hippo_proto::Event as News;
use hippo_store::StoreError;
use hippo_text::terms::Analyzer;

use super::Resources;
use super::agenda::Chore;
use super::embedding::model_state;
use super::event::EngineEvent;
use super::housekeeping::{bring_back, look_at_database};
use super::ingest::{Ingest, RefreshResult};
use super::workspace::{Waiter, Workspace};
use super::{JOBS_AHEAD, SLICE};
use crate::embed_worker::EmbedEvent;
use crate::errors::store_error;
use crate::message::{EngineMessage, EngineRequest};
use crate::scan::Looker;

/// Interval between checks for a missing root.
const LOOK_FOR_ROOT: Duration = Duration::from_secs(2);

/// Interval between comparisons of held-back deletions with the disk.
const LOOK_AT_HELD: Duration = Duration::from_secs(5);

/// Worker that processes one workspace at a time.
pub struct WorkspaceWorker {
    pub(super) resources: Arc<Resources>,
    /// Channel to the engine.
    pub(super) events: Sender<EngineEvent>,
    pub(super) analyzer: Analyzer,
}

/// Result of a turn.
pub struct TurnResult {
    pub(super) hand: WorkspaceWorker,
    pub(super) workspace: Box<Workspace>,
    /// True if the workspace must be reopened, because its settings changed or because it must be rebuilt.
    pub(super) reopen: bool,
}

impl std::fmt::Debug for TurnResult {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.debug_struct("Turned")
            .field("root", &self.workspace.root)
            .finish_non_exhaustive()
    }
}

impl WorkspaceWorker {
    pub(super) fn new(resources: &Arc<Resources>, events: &Sender<EngineEvent>) -> Self {
        Self {
            resources: Arc::clone(resources),
            events: events.clone(),
            analyzer: Analyzer::new(),
        }
    }

    /// Processes the events, then the due work. Returns whether the workspace must be reopened.
    pub(super) fn turn(&mut self, workspace: &mut Workspace, events: VecDeque<EngineEvent>) -> bool {
        let idle = events.is_empty();
        for event in events {
            workspace.pulse.beat();
            let now = self.resources.clock.monotonic();
            self.take(workspace, event, now);
        }
        let reopen = self.work_on(workspace);
        workspace.rest_after(idle, self.resources.clock.monotonic());
        reopen
    }

    fn take(&mut self, workspace: &mut Workspace, event: EngineEvent, now: Instant) {
        match event {
            EngineEvent::Sent(message) => self.take_message(workspace, message, now),
            EngineEvent::Planned(planned) => self.planned(workspace, planned),
            EngineEvent::GraphBuilt { built, .. } => self.graph_built(workspace, built),
            // The engine handles these events itself.
            EngineEvent::Turned(_)
            | EngineEvent::Opened(_)
            | EngineEvent::Closed { .. }
            | EngineEvent::Lost => {}
        }
    }

    fn take_message(&mut self, workspace: &mut Workspace, message: EngineMessage, now: Instant) {
        match message {
            EngineMessage::Request(request, span) => span.in_scope(|| self.serve(workspace, request, now)),
            EngineMessage::Watch(_, event) => workspace.take_watch_event(event, now),
            EngineMessage::Embed(EmbedEvent::Done { embeddings, .. }) => {
                workspace.take_vectors(embeddings, now)
            }
            EngineMessage::Embed(EmbedEvent::Refused { .. }) => workspace.job_refused(),
            EngineMessage::Embed(EmbedEvent::State(_)) => workspace.pending.blocked = false,
            EngineMessage::Stale { paths, .. } => {
                for path in paths {
                    workspace.mark_dirty(path, now);
                }
            }
            EngineMessage::Read { paths, done, .. } => workspace.read_soon(paths, done, now),
            EngineMessage::Damaged { error, .. } => workspace.trouble = Some(error),
            EngineMessage::Asked { trace, .. } => self.record_query(workspace, trace, now),
            EngineMessage::Order { order, .. } => self.order(workspace, order, now),
            EngineMessage::Tick => workspace.entries.look_at = now,
            EngineMessage::ModelChanged => {
                workspace.pending.blocked = false;
                // The workspace's model may be available now, or may have been replaced under the same name.
                workspace.own.look = true;
            }
            // The engine handles these messages itself.
            EngineMessage::LookForModel | EngineMessage::Pulse | EngineMessage::Shutdown => {}
        }
    }

    fn serve(&mut self, workspace: &mut Workspace, request: EngineRequest, now: Instant) {
        match request {
            EngineRequest::Sync {
                wait,
                accept_deletions,
                reply,
                ..
            } => {
                let mut removed = 0;
                if accept_deletions {
                    workspace.entries.file.accept_removals = true;
                    match workspace.accept_deletions() {
                        Ok(gone) => removed = gone as u64,
                        Err(error) => {
                            // A client that has disconnected needs no answer.
                            let _ = reply.send(Err(store_error(&error)));
                            return;
                        }
                    }
                }
                workspace.agenda.plan(Chore::Scan, now);
                workspace.agenda.plan(Chore::LookAtHeld, now);
                workspace.entries.file.look(now);
                workspace.waiters.push(Waiter {
                    reply,
                    since: now,
                    wait,
                    changed: 0,
                    removed,
                });
            }
            EngineRequest::Trust { request, reply, .. } => {
                let _ = reply.send(self.trust(workspace, &request));
            }
            EngineRequest::History { request, reply, .. } => {
                let _ = reply.send(self.history(workspace, &request));
            }
            EngineRequest::Heartbeat { tells, reply, .. } => {
                // Conflicts stay unreported if the client disconnected before it received the report.
                if reply.send(Ok(self.beat(workspace))).is_ok() && tells {
                    workspace.entries.file.conflicts.are_told();
                }
            }
            EngineRequest::Rebuild { reply, .. } => match bring_back(&self.resources, workspace) {
                Ok(()) => workspace.rebuilds.push(reply),
                Err(error) => drop(reply.send(Err(store_error(&error)))),
            },
            EngineRequest::Survey { scan, reply, .. } => {
                let _ = reply.send(Ok(self.survey(workspace, scan, now)));
            }
            // The engine handles these requests itself.
            EngineRequest::Add { .. } | EngineRequest::Remove { .. } | EngineRequest::TakeIn { .. } => {}
        }
    }

    fn work_on(&mut self, workspace: &mut Workspace) -> bool {
        workspace.pulse.beat();
        if !workspace.rebuilds.is_empty() {
            return true;
        }
        workspace.busy = false;
        look_at_database(&self.resources, workspace);
        // Never close a database whose file was removed: the open handle holds the only copy.
        if workspace.store.is_in_place() && self.look_at_settings(workspace) {
            return true;
        }
        let now = self.resources.clock.monotonic();
        if workspace.is_short_of_files()
            && (workspace.agenda.is_due(Chore::Scan, now) || !workspace.dirty.is_empty())
        {
            // The next attempt shows whether the process can open files again.
            workspace.trouble = None;
        }
        if !workspace.root_present && workspace.agenda.is_due(Chore::LookForRoot, now) {
            workspace.agenda.plan(Chore::LookForRoot, now + LOOK_FOR_ROOT);
            if workspace.root_is_back() {
                workspace.agenda.plan(Chore::Scan, now);
            }
        }
        if workspace.agenda.is_due(Chore::Scan, now) {
            workspace.reconcile(now);
            // Publish the findings of the scan before processing them.
            self.publish(workspace, now, 0, 0);
        }
        let (changed, removed) = self.ingest(workspace, now);
        workspace.answer_awaited(self.resources.clock.monotonic());
        let removed = removed + self.delete(workspace, now);
        workspace.pulse.beat();
        self.place_vectors(workspace);
        self.feed(workspace, now);
        self.keep_house(workspace, now);
        workspace.pulse.beat();
        let tending = self.tend_entries(workspace, now);
        let settled = workspace.dirty.is_empty() && workspace.missing.is_empty();
        let damaged = workspace.trouble.as_ref().is_some_and(StoreError::needs_rebuild);
        let waits = workspace.pending.blocked_until.is_some() || workspace.entries.again_at.is_some();
        if settled && !damaged && !waits && !workspace.is_short_of_files() {
            // The work that the store rejected is done, or is no longer needed.
            workspace.trouble = None;
        }
        for waiter in &mut workspace.waiters {
            waiter.changed += changed;
            waiter.removed += removed;
        }
        self.publish(workspace, now, changed, removed);
        workspace.answer_readers(self.resources.clock.monotonic());
        self.answer_waiters(workspace);
        let now = self.resources.clock.monotonic();
        workspace.busy = (tending && workspace.entries.again_at.is_none())
            || workspace.agenda.is_due(Chore::Scan, now)
            || (!workspace.pending.to_place.is_empty() && workspace.pending.blocked_until.is_none())
            || (workspace.own.look
                && workspace.store.is_in_place()
                && workspace.entries.run.is_none()
                && workspace.entries.queue.is_empty())
            || workspace.dirty.values().any(|dirty| dirty.not_before <= now);
        false
    }

    /// Assigns vectors to their chunks until the slice ends.
    fn place_vectors(&mut self, workspace: &mut Workspace) {
        let begun = self.resources.clock.monotonic();
        if workspace.pending.blocked_until.is_some_and(|until| until > begun) {
            return;
        }
        let mut now = begun;
        while !workspace.pending.to_place.is_empty() && now < begun + SLICE {
            workspace.pulse.beat();
            if let Err(error) = workspace.place_some(now) {
                workspace.vectors_refused(error, now);
                return;
            }
            now = self.resources.clock.monotonic();
        }
    }

    /// Reads dirty paths until the slice ends. Returns the number of changed documents and the number of removed
    /// documents.
    fn ingest(&mut self, workspace: &mut Workspace, start: Instant) -> (u64, u64) {
        let (mut changed, mut removed) = (0, 0);
        let resources = Arc::clone(&self.resources);
        let to_date = |at| resources.clock.date_of(at);
        let mut now = start;
        // The looker must not borrow from the workspace, which changes in the loop.
        let view = Arc::clone(&workspace.view);
        let mut looker = Looker::new(&view.root, &view.rules, &view.config);
        for path in workspace.next_dirty(start) {
            if now >= start + SLICE {
                break;
            }
            workspace.pulse.beat();
            let Some(dirty) = workspace.dirty.remove(&path) else {
                continue;
            };
            let mut ingest = Ingest {
                analyzer: &mut self.analyzer,
                now: resources.clock.now(),
                at: now,
                to_date: &to_date,
                looker: &mut looker,
            };
            match workspace.refresh(&path, dirty, &mut ingest) {
                RefreshResult::Changed => changed += 1,
                RefreshResult::Removed => removed += 1,
                RefreshResult::Same | RefreshResult::Later => {}
            }
            if workspace.is_short_of_files() {
                break;
            }
            now = resources.clock.monotonic();
        }
        (changed, removed)
    }

    fn delete(&mut self, workspace: &mut Workspace, now: Instant) -> u64 {
        let released = self.release_held(workspace, now);
        if workspace.deletions_due().is_none_or(|due| due > now) {
            return released;
        }
        match workspace.confirm_deletions(now) {
            Ok(deletions) => {
                if deletions.newly_held > 0 {
                    tracing::warn!(
                        root = %workspace.root.display(),
                        files = deletions.newly_held,
                        "many files disappeared at once; they stay in the index until the deletion is confirmed"
                    );
                }
                released + deletions.removed as u64
            }
            Err(error) => {
                tracing::warn!(%error, "could not remove deleted documents; retrying");
                let later = now + Duration::from_secs(5);
                workspace.missing.values_mut().for_each(|since| *since = later);
                workspace.trouble = Some(error);
                0
            }
        }
    }

    fn release_held(&self, workspace: &mut Workspace, now: Instant) -> u64 {
        if workspace.held.is_empty()
            || !workspace.dirty.is_empty()
            || !workspace.agenda.is_due(Chore::LookAtHeld, now)
        {
            return 0;
        }
        workspace.agenda.plan(Chore::LookAtHeld, now + LOOK_AT_HELD);
        match workspace.release_held(now) {
            Ok(released) => released as u64,
            Err(error) => {
                tracing::warn!(%error, "could not remove moved documents; retrying");
                workspace.trouble = Some(error);
                0
            }
        }
    }

    /// Submits the next jobs to the embed worker.
    fn feed(&mut self, workspace: &mut Workspace, now: Instant) {
        if workspace.pending.blocked || !model_state(&self.resources, workspace).is_usable() {
            // An outdated time would wake the engine for nothing.
            workspace.pending.blocked_until = None;
            return;
        }
        if workspace.pending.blocked_until.is_some_and(|until| until > now) {
            return;
        }
        workspace.pending.blocked_until = None;
        match workspace.finish_change_of_model() {
            Ok(true) => tracing::info!(root = %workspace.root.display(), "switched to the new model"),
            Ok(false) => {}
            Err(error) => {
                tracing::warn!(%error, "could not switch to the new model; retrying");
                workspace.trouble = Some(error);
                workspace.pending.blocked_until = Some(now + Duration::from_secs(5));
                return;
            }
        }
        while workspace.pending.in_flight.len() < JOBS_AHEAD {
            match workspace.next_job(now) {
                Some(job) => self.resources.embed.submit(job),
                None => break,
            }
        }
    }

    pub(super) fn tell(&self, news: News) {
        // The send fails if there is no subscriber.
        let _ = self.resources.news.send(news);
    }
}
