//! One turn of a workspace's thread: events, then due work.

use std::sync::Arc;
use std::time::{Duration, Instant};

use hippo_proto::Event as News;
use hippo_store::StoreError;

use super::agenda::Chore;
use super::embedding::model_state;
use super::housekeeping::{bring_back, look_at_database};
use super::ingest::{Ingest, RefreshResult};
use super::worker::WorkspaceWorker;
use super::workspace::{Waiter, Workspace};
use super::{SLICE, WorkspaceEvent};
use crate::embed_worker::EmbedEvent;
use crate::errors::store_error;
use crate::message::WorkspaceMessage;
use crate::scan::Looker;

/// Maximum number of jobs that one workspace submits to the embed worker: one is in progress, one is queued.
const JOBS_AHEAD: usize = 2;

impl WorkspaceWorker {
    /// Handles an event of an open workspace.
    pub(super) fn take(&mut self, workspace: &mut Workspace, event: WorkspaceEvent) {
        let now = self.resources.clock.monotonic();
        match event {
            WorkspaceEvent::Sent(message, span) => span.in_scope(|| self.serve(workspace, message, now)),
            WorkspaceEvent::Planned(planned) if planned.workspace == workspace.key => {
                self.planned(workspace, planned);
            }
            WorkspaceEvent::GraphBuilt(key, built) if key == workspace.key => {
                self.graph_built(workspace, built)
            }
            WorkspaceEvent::Embed(EmbedEvent::Done {
                workspace: key,
                embeddings,
            }) if key == workspace.key => workspace.take_vectors(embeddings, now),
            WorkspaceEvent::Embed(EmbedEvent::Refused { workspace: key }) if key == workspace.key => {
                workspace.job_refused();
            }
            WorkspaceEvent::Embed(EmbedEvent::State(_)) => workspace.pending.blocked = false,
            WorkspaceEvent::Tick => workspace.entries.look_at = now,
            WorkspaceEvent::ModelChanged => {
                workspace.pending.blocked = false;
                // The model of the workspace may be available now, or another model may have been installed under its
                // name.
                workspace.own.look = true;
            }
            WorkspaceEvent::TakenIn(restore) => restore.refuse(),
            // Drop results of work that began before the workspace was reopened.
            _ => {}
        }
    }

    fn serve(&mut self, workspace: &mut Workspace, message: WorkspaceMessage, now: Instant) {
        // A client that has disconnected needs no answer.
        match message {
            WorkspaceMessage::Sync {
                wait,
                accept_deletions,
                reply,
            } => {
                let mut removed = 0;
                if accept_deletions {
                    workspace.entries.file.accept_removals = true;
                    match workspace.accept_deletions() {
                        Ok(gone) => removed = gone as u64,
                        Err(error) => return drop(reply.send(Err(store_error(&error)))),
                    }
                }
                workspace.agenda.plan(Chore::Scan, now);
                workspace.entries.file.look(now);
                workspace.waiters.push(Waiter {
                    reply,
                    since: now,
                    wait,
                    changed: 0,
                    removed,
                });
            }
            WorkspaceMessage::Trust(request, reply) => drop(reply.send(self.trust(workspace, &request))),
            WorkspaceMessage::History(request, reply) => drop(reply.send(self.history(workspace, &request))),
            WorkspaceMessage::RecallLog(viewer, request, reply) => {
                drop(reply.send(self.recall_log(workspace, &viewer, &request)));
            }
            WorkspaceMessage::Heartbeat { tells, reply } => {
                // Conflicts count as reported only if the client is still connected.
                if reply.send(Ok(self.beat(workspace))).is_ok() && tells {
                    workspace.entries.file.conflicts.are_told();
                }
            }
            WorkspaceMessage::Rebuild(reply) => match bring_back(&self.resources, workspace) {
                Ok(()) => self.rebuilds.push(reply),
                Err(error) => drop(reply.send(Err(store_error(&error)))),
            },
            WorkspaceMessage::Survey(scan, reply) => drop(reply.send(Ok(self.survey(workspace, scan, now)))),
            WorkspaceMessage::Order(order) => self.order(workspace, order, now),
            WorkspaceMessage::Watch(event) => workspace.take_watch_event(event, now),
            WorkspaceMessage::Stale(paths) => {
                for path in paths {
                    workspace.mark_dirty(path, now);
                }
            }
            WorkspaceMessage::Read { paths, done } => workspace.read_soon(paths, done, now),
            WorkspaceMessage::Damaged(error) => workspace.trouble = Some(error),
            WorkspaceMessage::SharesChanged => workspace.entries.file.foreign_at = Some(now),
            WorkspaceMessage::Asked(trace) => self.record_query(workspace, trace, now),
            WorkspaceMessage::LogQuestion(question) => self.log_question(workspace, *question),
        }
    }

    /// Performs the due work. Returns whether the workspace must be reopened.
    pub(super) fn work_on(&mut self, workspace: &mut Workspace) -> bool {
        workspace.pulse.beat();
        if !self.rebuilds.is_empty() {
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
            // Try again to open files. If this fails, the error is recorded again.
            workspace.trouble = None;
        }
        if workspace.agenda.is_due(Chore::Scan, now) {
            workspace.reconcile(now);
            // Publish the number of changed files before they are indexed.
            self.publish(workspace, now, 0, 0);
        }
        let (changed, removed) = self.ingest(workspace, now);
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
            // All work is done, including the work for which the store returned the error.
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

    /// Assigns stored vectors to their chunks until the slice ends.
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

    /// Indexes paths that may have changed until the slice ends. Returns the numbers of changed and removed documents.
    fn ingest(&mut self, workspace: &mut Workspace, start: Instant) -> (u64, u64) {
        let (mut changed, mut removed) = (0, 0);
        let resources = Arc::clone(&self.resources);
        let to_date = |at| resources.clock.date_of(at);
        let mut now = start;
        // The loop changes the workspace, so the looker borrows from a clone of the view instead of from the workspace.
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
        if workspace.deletions_due().is_none_or(|due| due > now) {
            return 0;
        }
        match workspace.confirm_deletions(now) {
            Ok(removed) => removed as u64,
            Err(error) => {
                tracing::warn!(%error, "could not remove deleted documents; retrying");
                let later = now + Duration::from_secs(5);
                workspace.missing.values_mut().for_each(|since| *since = later);
                workspace.trouble = Some(error);
                0
            }
        }
    }

    /// Submits the next jobs to the embed worker.
    fn feed(&mut self, workspace: &mut Workspace, now: Instant) {
        if workspace.pending.blocked || !model_state(&self.resources, workspace).is_usable() {
            // Clear the time: the thread would wake up at that time, but could not embed without a model.
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
