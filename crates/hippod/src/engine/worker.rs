//! Thread that opens, serves and removes a workspace.
//!
//! Each workspace has a thread of its own. A large file, a scan of many files or a slow disk delays only this
//! workspace.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender};
use std::time::{Duration, Instant};

use hippo_proto::{ErrorKind, RpcError, WorkspaceAddResponse};
use hippo_store::StoreError;
use hippo_text::terms::Analyzer;

use super::requests::{Removal, WorkspaceRestore};
use super::workspace::{Waiter, Workspace};
use super::{Engine, EngineEvent, Resources, ThreadProgress, WorkspaceEvent, open, rebuild};
use crate::backup;
use crate::errors::store_error;
use crate::handles;
use crate::message::{AnswerSender, LostData, WorkspaceMessage};
use crate::registry;
use crate::views::{Slot, no_workspace};

/// Delay before another attempt to open a workspace after the process reached its limit on open files.
const OPEN_AGAIN: Duration = Duration::from_secs(5);
/// Maximum time that the thread sleeps before it checks for due work.
const LONGEST_SLEEP: Duration = Duration::from_secs(3600);
/// Number of files that the process must still be able to open before it opens a workspace. The databases, the watcher
/// and the readers of the workspace need files, and clients and reads of memory files need some more.
const FILES_TO_OPEN: u64 = 36;

/// Key for the workspace that is opened next. Each opening has a different key.
static NEXT_KEY: AtomicU64 = AtomicU64::new(1);

/// State of a workspace's thread that outlives the open workspace.
pub struct WorkspaceWorker {
    pub(super) resources: Arc<Resources>,
    pub(super) analyzer: Analyzer,
    root: PathBuf,
    progress: Arc<ThreadProgress>,
    engine: Sender<EngineEvent>,
    /// Channel to this thread.
    pub(super) events: Sender<WorkspaceEvent>,
    restore: Option<WorkspaceRestore>,
    /// Clients that requested a rebuild. Such a request closes the workspace, and the rebuild runs before it is
    /// reopened.
    pub(super) rebuilds: Vec<AnswerSender<Option<LostData>>>,
    /// Clients that added the workspace and wait until it is open.
    adding: Vec<(AnswerSender<WorkspaceAddResponse>, WorkspaceAddResponse)>,
    /// Clients of `workspace.sync` whose wait continues after the workspace is reopened.
    waiters: Vec<Waiter>,
}

/// Guard that informs the engine if the thread panics.
struct PanicGuard(Sender<EngineEvent>);

impl Drop for PanicGuard {
    fn drop(&mut self) {
        if std::thread::panicking() {
            // The receiver is closed only when the daemon ends.
            let _ = self.0.send(EngineEvent::Lost);
        }
    }
}

impl WorkspaceWorker {
    pub(super) fn new(
        engine: &Engine,
        root: &Path,
        events: Sender<WorkspaceEvent>,
        progress: Arc<ThreadProgress>,
        restore: Option<WorkspaceRestore>,
    ) -> Self {
        Self {
            resources: Arc::clone(&engine.resources),
            analyzer: Analyzer::new(),
            root: root.to_path_buf(),
            progress,
            engine: engine.events.clone(),
            events,
            restore,
            rebuilds: Vec::new(),
            adding: Vec::new(),
            waiters: Vec::new(),
        }
    }

    /// Opens and serves the workspace until it is removed or the daemon ends.
    pub(super) fn run(mut self, inbox: &Receiver<WorkspaceEvent>) {
        let _guard = PanicGuard(self.engine.clone());
        loop {
            self.set_busy(true);
            let opened = self.prepare().then(|| self.open());
            self.set_busy(false);
            let goes_on = match opened {
                Some(Ok(workspace)) => self.serve_events(workspace, inbox),
                Some(Err(error)) => self.wait_closed(&error, inbox),
                None => {
                    // The receiver is closed only when the daemon ends.
                    let _ = self.engine.send(EngineEvent::Closed(self.root.clone()));
                    false
                }
            };
            if !goes_on {
                return;
            }
        }
    }

    fn set_busy(&self, is_busy: bool) {
        self.progress.pulse.beat();
        self.progress.is_busy.store(is_busy, Ordering::Relaxed);
    }

    /// Restores or rebuilds the closed workspace, if requested. Returns false if a restore into a new folder failed,
    /// because then no workspace exists.
    fn prepare(&mut self) -> bool {
        let (resources, root) = (&self.resources, &self.root);
        let state = &resources.paths.state;
        if let Some(WorkspaceRestore { staged, reply }) = self.restore.take() {
            resources.contexts.look();
            resources.contexts.let_go(root);
            let restored = backup::commit(state, staged, &resources.registry);
            let is_registered = resources.registry.contains(root);
            if !is_registered {
                resources.views.remove(root);
            }
            // A client that has disconnected needs no answer, and the receiver is closed only when the daemon ends.
            let _ = reply.send(restored);
            if !is_registered {
                return false;
            }
            let _ = self.engine.send(EngineEvent::Restored(root.clone()));
        }
        for reply in self.rebuilds.drain(..) {
            let _ = reply.send(rebuild::rebuild(state, root));
        }
        true
    }

    /// Opens the workspace.
    ///
    /// # Errors
    /// See [`open::open`].
    fn open(&mut self) -> anyhow::Result<Workspace> {
        let root = &self.root;
        if handles::left().is_some_and(|left| left < FILES_TO_OPEN) {
            let path = registry::database_file(&self.resources.paths.state, root);
            return Err(StoreError::TooManyOpenFiles { path }.into());
        }
        let key = NEXT_KEY.fetch_add(1, Ordering::Relaxed);
        let mut workspace = open::open(&self.resources, root, key, self.progress.pulse.clone())?;
        workspace.waiters.append(&mut self.waiters);
        Ok(workspace)
    }

    /// Processes events and performs due work while the workspace is open. Returns whether to open it again.
    fn serve_events(&mut self, mut workspace: Workspace, inbox: &Receiver<WorkspaceEvent>) -> bool {
        let root = self.root.display().to_string();
        tracing::info!(
            workspace = registry::short_id(&self.root),
            root,
            documents = workspace.known.len(),
            "opened a workspace"
        );
        if let Err(error) = self.trim_log(&mut workspace) {
            tracing::warn!(%error, "could not trim the recall log");
        }
        let resources = Arc::clone(&self.resources);
        self.progress.key.store(workspace.key, Ordering::Relaxed);
        resources
            .views
            .set(&self.root, Slot::Open(Arc::clone(&workspace.view)));
        // A client that has disconnected needs no answer.
        for (reply, answer) in self.adding.drain(..) {
            let _ = reply.send(Ok(answer));
        }
        loop {
            let now = resources.clock.monotonic();
            let due = workspace
                .due
                .map_or(LONGEST_SLEEP, |due| due.saturating_duration_since(now));
            let first = inbox.recv_timeout(due.min(LONGEST_SLEEP)).ok();
            self.set_busy(true);
            let idle = first.is_none();
            let events: Vec<WorkspaceEvent> = first.into_iter().chain(inbox.try_iter()).collect();
            for event in events {
                workspace.pulse.beat();
                match event {
                    WorkspaceEvent::Shutdown => {
                        self.shut_down(&mut workspace);
                        return false;
                    }
                    WorkspaceEvent::Removed(removal) => {
                        self.remove(Some(workspace), removal);
                        return false;
                    }
                    WorkspaceEvent::Added(reply, answer) => drop(reply.send(Ok(answer))),
                    event => self.take(&mut workspace, event),
                }
            }
            if self.work_on(&mut workspace) {
                self.set_busy(false);
                break;
            }
            workspace.rest_after(idle, resources.clock.monotonic());
            self.set_busy(false);
        }
        if self.rebuilds.is_empty() {
            // Do not change the workspace's state in `views`: until the workspace is open again, queries use the
            // previous view.
            tracing::info!(root, "the settings of a workspace have changed; reopening it");
        } else {
            tracing::info!(root, "rebuilding a workspace");
            resources.views.set(&self.root, Slot::Opening);
        }
        self.waiters = workspace.let_go();
        true
    }

    /// Rejects requests for a workspace that could not be opened. Returns whether to try to open it again.
    fn wait_closed(&mut self, error: &anyhow::Error, inbox: &Receiver<WorkspaceEvent>) -> bool {
        let root = self.root.display();
        tracing::error!(root = %root, error = format!("{error:#}"), "could not open a workspace");
        let refusal = match error.downcast_ref::<StoreError>() {
            Some(error) => store_error(error),
            None => RpcError::internal(format!("{error:#}"))
                .hint("correct the file that the message names, then restart hippod"),
        };
        self.resources
            .views
            .set(&self.root, Slot::Broken(refusal.clone()));
        // A client that has disconnected needs no answer.
        for (reply, _) in self.adding.drain(..) {
            let _ = reply.send(Err(refusal.clone()));
        }
        for waiter in self.waiters.drain(..) {
            let _ = waiter.reply.send(Err(refusal.clone()));
        }
        let is_shortage = refusal.data.kind == ErrorKind::TooManyOpenFiles;
        let until = Instant::now() + if is_shortage { OPEN_AGAIN } else { LONGEST_SLEEP };
        while let Ok(event) = inbox.recv_timeout(until.saturating_duration_since(Instant::now())) {
            match event {
                WorkspaceEvent::Added(reply, answer) => {
                    self.adding.push((reply, answer));
                    return true;
                }
                WorkspaceEvent::TakenIn(restore) => {
                    self.restore = Some(restore);
                    return true;
                }
                WorkspaceEvent::Sent(WorkspaceMessage::Rebuild(reply), _) => {
                    self.resources.views.set(&self.root, Slot::Opening);
                    self.rebuilds.push(reply);
                    return true;
                }
                WorkspaceEvent::Sent(message, _) => message.refuse(&refusal),
                WorkspaceEvent::Removed(removal) => {
                    self.remove(None, removal);
                    return false;
                }
                WorkspaceEvent::Shutdown => return false,
                _ => {}
            }
        }
        true
    }

    /// Closes and removes the workspace.
    fn remove(&mut self, workspace: Option<Workspace>, removal: Removal) {
        for reply in self.rebuilds.drain(..) {
            // A client that has disconnected needs no answer.
            let _ = reply.send(Err(no_workspace(&self.root)));
        }
        if let Some(mut workspace) = workspace {
            self.drop_foreign(&mut workspace, self.resources.clock.monotonic());
            self.close_index_file(&mut workspace, self.resources.clock.monotonic());
            for waiter in workspace.let_go() {
                // A client that has disconnected needs no answer.
                let _ = waiter.reply.send(Err(no_workspace(&self.root)));
            }
        }
        self.resources.views.remove(&self.root);
        self.resources.contexts.let_go(&self.root);
        removal.finish(&self.resources.paths.state, &self.root);
        // The receiver is closed only when the daemon ends.
        let _ = self.engine.send(EngineEvent::Closed(self.root.clone()));
    }
}
