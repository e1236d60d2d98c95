//! Routing of events to workspaces, and scheduling of turns.

mod agenda;
mod aside;
mod embedding;
mod entries;
mod event;
mod housekeeping;
mod ingest;
mod members;
mod nested;
mod open;
mod opening;
mod patch;
mod readers;
mod reading;
mod rebuild;
mod reconcile;
mod requests;
mod settings;
mod status;
mod survey;
mod turn;
mod workspace;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use tokio::sync::broadcast;

use hippo_proto::{Event as News, Paths};

use crate::clock::Clock;
use crate::config::Config;
use crate::contexts::Contexts;
use crate::embed_worker::{EmbedEvent, EmbedWorker};
use crate::measures::Measures;
use crate::message::{EngineHandle, EngineMessage, EngineRequest};
use crate::models::Models;
use crate::registry::Registry;
use crate::tasks::Pulse;
use crate::views::{Slot, Views, no_workspace};
use event::EngineEvent;
use members::{EngineMember, Seat};

/// Time limit for one kind of work within a turn.
const SLICE: Duration = Duration::from_millis(50);
/// Maximum number of jobs in the embed worker: one in progress, one queued.
const JOBS_AHEAD: usize = 2;
/// Maximum time between two wake-ups of the engine.
const LONGEST_SLEEP: Duration = Duration::from_secs(3600);

/// Handles shared by the turns of all workspaces.
pub struct Resources {
    /// The configuration.
    pub config: Arc<Config>,
    /// Paths of the daemon's files.
    pub paths: Paths,
    /// Clock.
    pub clock: Arc<dyn Clock>,
    /// Handle to the embed worker.
    pub embed: EmbedWorker,
    /// The installed models.
    pub models: Arc<Models>,
    /// Sessions of context entries. Their databases are checked and released together with the index databases.
    pub contexts: Arc<Contexts>,
    /// Counters of cycles.
    pub measures: Arc<Measures>,
    /// Events for subscribers.
    pub news: broadcast::Sender<News>,
    /// Liveness signal of the engine.
    pub pulse: Pulse,
}

/// Receiving side of the engine's channel.
pub struct EngineInbox {
    sender: Sender<EngineEvent>,
    receiver: Receiver<EngineEvent>,
}

/// Creates the channel to an engine that is built later.
pub fn create_channel() -> (EngineHandle, EngineInbox) {
    let (sender, receiver) = mpsc::channel();
    let events = sender.clone();
    let handle = EngineHandle::new(move |message| events.send(EngineEvent::Sent(message)).is_ok());
    (handle, EngineInbox { sender, receiver })
}

/// State of the engine.
pub struct Engine {
    resources: Arc<Resources>,
    views: Arc<Views>,
    registry: Arc<Registry>,
    /// True while, before shutdown, the engine rewrites databases whose files were removed while open.
    rescuing: Arc<AtomicBool>,
    events: Sender<EngineEvent>,
    inbox: Receiver<EngineEvent>,
    members: BTreeMap<u64, EngineMember>,
    /// Idle worker threads.
    hands: Vec<turn::WorkspaceWorker>,
    next_key: u64,
    /// True if a worker thread ended in the middle of its work.
    lost: bool,
}

impl Engine {
    /// Creates an engine for the registered workspaces. They are announced at once and opened by [`Engine::run`].
    pub fn new(
        inbox: EngineInbox,
        resources: Resources,
        views: Arc<Views>,
        registry: Registry,
        rescuing: Arc<AtomicBool>,
    ) -> Self {
        // Announce them before the first client request, so that a registered workspace is reported as opening, not as
        // unknown.
        for root in registry.roots() {
            views.set(&root, Slot::Opening);
        }
        Self {
            resources: Arc::new(resources),
            views,
            registry: Arc::new(registry),
            rescuing,
            events: inbox.sender,
            inbox: inbox.receiver,
            members: BTreeMap::new(),
            hands: Vec::new(),
            next_key: 1,
            lost: false,
        }
    }

    /// Opens the registered workspaces, then processes events until [`EngineMessage::Shutdown`] or a panic in a turn.
    pub fn run(mut self) {
        self.open_registered();
        let mut begun = Instant::now();
        loop {
            self.dispatch();
            self.resources.measures.engine_slice(begun.elapsed());
            match self.inbox.recv_timeout(self.sleep()) {
                Ok(EngineEvent::Sent(EngineMessage::Shutdown)) | Err(RecvTimeoutError::Disconnected) => break,
                Ok(event) => {
                    begun = Instant::now();
                    self.take(event);
                    while let Ok(event) = self.inbox.try_recv() {
                        if matches!(event, EngineEvent::Sent(EngineMessage::Shutdown)) {
                            return self.finish();
                        }
                        self.take(event);
                    }
                }
                Err(RecvTimeoutError::Timeout) => begun = Instant::now(),
            }
            if self.lost {
                return;
            }
        }
        self.finish();
    }

    /// Handles an event of the engine itself, or appends it to the inbox of its workspace.
    fn take(&mut self, event: EngineEvent) {
        match event {
            EngineEvent::Sent(message) => self.take_message(message),
            EngineEvent::GraphBuilt { workspace, .. } => self.post(Some(workspace), event),
            EngineEvent::Planned(ref planned) => {
                let key = planned.workspace;
                self.post(Some(key), event);
            }
            EngineEvent::Turned(turned) => self.turned(*turned),
            EngineEvent::Opened(opened) => self.opened(*opened),
            EngineEvent::Closed { workspace } => self.closed(workspace),
            EngineEvent::Lost => self.lost = true,
        }
    }

    fn take_message(&mut self, message: EngineMessage) {
        match message {
            EngineMessage::Request(request, span) => self.route(request, span),
            EngineMessage::Embed(EmbedEvent::State(state)) => {
                if state.is_usable() {
                    self.post_to_all(|| EngineMessage::Embed(EmbedEvent::State(state.clone())));
                }
            }
            EngineMessage::Embed(EmbedEvent::Done { workspace, .. } | EmbedEvent::Refused { workspace }) => {
                self.post(Some(workspace), EngineEvent::Sent(message));
            }
            EngineMessage::Watch(ref root, _)
            | EngineMessage::Stale { ref root, .. }
            | EngineMessage::Read { ref root, .. }
            | EngineMessage::Damaged { ref root, .. }
            | EngineMessage::Asked { ref root, .. }
            | EngineMessage::Order { ref root, .. } => {
                let key = self.key_of(root);
                self.post(key, EngineEvent::Sent(message));
            }
            EngineMessage::Tick => self.post_to_all(|| EngineMessage::Tick),
            EngineMessage::ModelChanged => {
                let models = &self.resources.models;
                let configured = models.configured().map_or_else(|| "".into(), |model| model.id);
                self.resources.embed.reset(configured, models.state());
                self.post_to_all(|| EngineMessage::ModelChanged);
            }
            EngineMessage::LookForModel => self.look_for_model(),
            EngineMessage::Pulse => {
                if self.all_get_on() {
                    self.resources.pulse.beat();
                }
            }
            EngineMessage::Shutdown => {}
        }
    }

    fn post_to_all(&mut self, message: impl Fn() -> EngineMessage) {
        for member in self.members.values_mut() {
            member.inbox.push_back(EngineEvent::Sent(message()));
        }
    }

    /// Appends a request about a known workspace to its inbox, and handles other requests at once.
    fn route(&mut self, request: EngineRequest, span: tracing::Span) {
        let of = match &request {
            EngineRequest::Sync { root, .. }
            | EngineRequest::Trust { root, .. }
            | EngineRequest::History { root, .. }
            | EngineRequest::Heartbeat { root, .. }
            | EngineRequest::Survey { root, .. } => {
                let key = self.key_of(root);
                if key.is_none() {
                    let error = no_workspace(root);
                    return request.refuse(&error);
                }
                key
            }
            EngineRequest::Remove { folder, .. } => self.key_of(&canonical(folder)),
            EngineRequest::Add { folder, .. } => {
                let key = self.key_of(&canonical(folder));
                key.filter(|key| self.members[key].leaving)
            }
            EngineRequest::TakeIn { staged, .. } => self.key_of(&staged.root),
            EngineRequest::Rebuild { root, .. } => self.key_of(root).filter(|key| {
                // A closed workspace may be one that fails to open until it is rebuilt.
                !matches!(self.members[key].seat, Seat::Closed(_))
            }),
        };
        if matches!(request, EngineRequest::Sync { .. }) {
            self.look_for_model();
        }
        match of {
            Some(_) => self.post(of, EngineEvent::Sent(EngineMessage::Request(request, span))),
            None => span.in_scope(|| self.serve(request)),
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "the user chose this path")]
fn canonical(folder: &Path) -> std::path::PathBuf {
    folder.canonicalize().unwrap_or_else(|_| folder.to_path_buf())
}
