//! Routing of messages to the threads of the workspaces.

mod agenda;
mod embedding;
mod entries;
mod housekeeping;
mod ingest;
mod open;
mod patch;
mod question_log;
mod readers;
mod reading;
mod rebuild;
mod reconcile;
mod requests;
mod settings;
mod status;
mod survey;
mod turn;
mod worker;
mod workspace;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tokio::sync::broadcast;
use tracing::Span;

use hippo_proto::{Event as News, Paths, RpcError, WorkspaceAddResponse};
use hippo_store::vector::BuiltGraph;

use crate::clock::Clock;
use crate::config::Config;
use crate::contexts::Contexts;
use crate::embed_worker::{EmbedEvent, EmbedWorker, ModelPhase};
use crate::local_share::LocalShares;
use crate::measures::Measures;
use crate::message::{AnswerSender, EngineHandle, EngineMessage, WorkspaceMessage};
use crate::models::Models;
use crate::registry::Registry;
use crate::tasks::Pulse;
use crate::views::{Slot, Views, no_workspace};
use entries::FinishedPlan;
use requests::{Removal, WorkspaceRestore};
use worker::WorkspaceWorker;

/// Maximum time that a workspace's thread spends on one kind of work before it continues with the next kind.
const SLICE: Duration = Duration::from_millis(50);

/// Handles shared by all workspaces.
pub struct Resources {
    /// The configuration.
    pub config: Arc<Config>,
    /// Paths of the daemon's files.
    pub paths: Paths,
    /// The daemon's clock.
    pub clock: Arc<dyn Clock>,
    /// The views of the workspaces, from which queries are answered.
    pub views: Arc<Views>,
    /// The registered workspaces.
    pub registry: Registry,
    /// The shares between workspaces.
    pub local_shares: Arc<LocalShares>,
    /// Handle to the embed worker.
    pub embed: EmbedWorker,
    /// The installed models.
    pub models: Arc<Models>,
    /// The sessions of context entries. The session database of a workspace is checked and released together with its
    /// index database.
    pub contexts: Arc<Contexts>,
    /// Counters of cycles.
    pub measures: Arc<Measures>,
    /// Events for subscribers.
    pub news: broadcast::Sender<News>,
    /// Liveness signal of the engine.
    pub pulse: Pulse,
    /// True during shutdown while a database whose file was deleted is written to disk again.
    pub rescuing: Arc<AtomicBool>,
}

/// An event for the engine.
#[derive(Debug)]
enum EngineEvent {
    /// A message from another component.
    Sent(EngineMessage),
    /// The restore of a workspace has finished.
    Restored(PathBuf),
    /// The thread of a workspace has ended normally.
    Closed(PathBuf),
    /// The thread of a workspace has panicked.
    Lost,
}

/// An event for the thread of a workspace.
#[derive(Debug)]
enum WorkspaceEvent {
    /// A message from another component, and the tracing span of its sender.
    Sent(WorkspaceMessage, Span),
    /// A client added the workspace. It receives this response once the workspace is open.
    Added(AnswerSender<WorkspaceAddResponse>, WorkspaceAddResponse),
    /// A request to restore a backup into the folder of the workspace.
    TakenIn(WorkspaceRestore),
    /// A request to remove the workspace.
    Removed(Removal),
    /// A result or a state change from the embed worker.
    Embed(EmbedEvent),
    /// The key of a workspace and its new vector graph; `None` if the build failed or was cancelled.
    GraphBuilt(u64, Option<BuiltGraph>),
    /// A finished plan of a cycle.
    Planned(FinishedPlan),
    /// A timer tick: cycles may be due.
    Tick,
    /// A change of the installed model files.
    ModelChanged,
    /// The daemon shuts down.
    Shutdown,
}

/// Receiving side of the engine's channel.
pub struct EngineInbox {
    sender: Sender<EngineEvent>,
    receiver: Receiver<EngineEvent>,
}

/// Creates the channel to the engine, before the engine itself is created.
pub fn create_channel() -> (EngineHandle, EngineInbox) {
    let (sender, receiver) = mpsc::channel();
    let events = sender.clone();
    let handle = EngineHandle::new(move |message| events.send(EngineEvent::Sent(message)).is_ok());
    (handle, EngineInbox { sender, receiver })
}

/// Progress of a workspace's thread.
#[derive(Default)]
struct ThreadProgress {
    /// Key that the workspace received when it was last opened. Results of work for an earlier key are dropped.
    key: AtomicU64,
    is_busy: AtomicBool,
    pulse: Pulse,
}

/// A registered workspace: its thread, and the channel to that thread.
struct EngineMember {
    inbox: Sender<WorkspaceEvent>,
    thread: JoinHandle<()>,
    progress: Arc<ThreadProgress>,
    /// Number of beats of the thread's pulse at the last liveness check.
    seen: u64,
    /// Messages that wait for the end of a removal or a restore of the workspace; `None` if neither is in progress.
    waiting: Option<Vec<EngineMessage>>,
}

impl EngineMember {
    fn post(&self, event: WorkspaceEvent) {
        // Sending fails only if the workspace was just removed, and then it needs no event.
        let _ = self.inbox.send(event);
    }
}

/// State of the engine.
pub struct Engine {
    resources: Arc<Resources>,
    events: Sender<EngineEvent>,
    inbox: Receiver<EngineEvent>,
    members: BTreeMap<PathBuf, EngineMember>,
}

impl Engine {
    /// Creates an engine, and reports the registered workspaces as opening. [`Engine::run`] opens them.
    pub fn new(inbox: EngineInbox, resources: Resources) -> Self {
        // Without this, a client that connects early would see a registered workspace as unknown.
        for root in resources.registry.roots() {
            resources.views.set(&root, Slot::Opening);
        }
        Self {
            resources: Arc::new(resources),
            events: inbox.sender,
            inbox: inbox.receiver,
            members: BTreeMap::new(),
        }
    }

    /// Opens the registered workspaces, then routes events until [`EngineMessage::Shutdown`] or a panic in a thread.
    pub fn run(mut self) {
        for root in self.resources.registry.roots() {
            self.start(&root, None);
        }
        while let Ok(event) = self.inbox.recv() {
            let begun = Instant::now();
            match event {
                EngineEvent::Sent(EngineMessage::Shutdown) => return self.finish(),
                EngineEvent::Lost => return,
                EngineEvent::Sent(message) => self.take_message(message),
                EngineEvent::Restored(root) => {
                    let member = self.members.get_mut(&root);
                    let waiting = member.and_then(|member| member.waiting.take());
                    self.take_waiting(waiting);
                }
                EngineEvent::Closed(root) => {
                    let member = self.members.remove(&root);
                    self.take_waiting(member.and_then(|member| member.waiting));
                }
            }
            self.resources.measures.engine_slice(begun.elapsed());
        }
    }

    /// Handles a message for the engine, or passes a message for a workspace on to that workspace's thread.
    fn take_message(&mut self, message: EngineMessage) {
        let root = match &message {
            EngineMessage::To(root, ..) => Some(root.clone()),
            EngineMessage::Add { folder, .. } | EngineMessage::Remove { folder, .. } => {
                Some(canonical(folder))
            }
            EngineMessage::TakeIn { staged, .. } => Some(staged.root.clone()),
            _ => None,
        };
        let member = root.and_then(|root| self.members.get_mut(&root));
        if let Some(waiting) = member.and_then(|member| member.waiting.as_mut()) {
            return waiting.push(message);
        }
        match message {
            EngineMessage::To(root, message, span) => {
                if matches!(*message, WorkspaceMessage::Sync { .. }) {
                    self.look_for_model();
                }
                match self.members.get(&root) {
                    Some(member) => member.post(WorkspaceEvent::Sent(*message, span)),
                    None => message.refuse(&no_workspace(&root)),
                }
            }
            EngineMessage::Add { folder, reply } => self.add(&folder, reply),
            EngineMessage::Remove { folder, purge, reply } => self.remove(canonical(&folder), purge, reply),
            EngineMessage::TakeIn { staged, reply } => self.take_in(WorkspaceRestore { staged, reply }),
            EngineMessage::Embed(EmbedEvent::State(state)) => {
                if state.is_usable() {
                    self.post_to_all(|| WorkspaceEvent::Embed(EmbedEvent::State(state.clone())));
                }
            }
            EngineMessage::Embed(event) => {
                let (EmbedEvent::Done { workspace: key, .. } | EmbedEvent::Refused { workspace: key }) =
                    event
                else {
                    return;
                };
                let mut members = self.members.values();
                if let Some(member) =
                    members.find(|member| member.progress.key.load(Ordering::Relaxed) == key)
                {
                    member.post(WorkspaceEvent::Embed(event));
                }
            }
            EngineMessage::Tick => self.post_to_all(|| WorkspaceEvent::Tick),
            EngineMessage::ModelChanged => {
                let models = &self.resources.models;
                let configured = models.configured().map_or_else(|| "".into(), |model| model.id);
                self.resources.embed.reset(configured, models.state());
                self.post_to_all(|| WorkspaceEvent::ModelChanged);
            }
            EngineMessage::LookForModel => self.look_for_model(),
            EngineMessage::Pulse => {
                if self.are_all_alive() {
                    self.resources.pulse.beat();
                }
            }
            EngineMessage::Shutdown => {}
        }
    }

    /// Handles the messages that waited for the end of a removal or a restore.
    fn take_waiting(&mut self, waiting: Option<Vec<EngineMessage>>) {
        for message in waiting.into_iter().flatten() {
            self.take_message(message);
        }
    }

    fn post_to_all(&self, event: impl Fn() -> WorkspaceEvent) {
        for member in self.members.values() {
            member.post(event());
        }
    }

    /// Starts using a model that was missing, if the user has installed its files since.
    fn look_for_model(&mut self) {
        let (models, embed) = (&self.resources.models, &self.resources.embed);
        let is_found = |before: ModelPhase, now: ModelPhase| {
            matches!(before, ModelPhase::Absent(_)) && !matches!(now, ModelPhase::Absent(_))
        };
        let configured = is_found(embed.state().0, models.state());
        // A workspace can have an embedding model of its own. No other check looks at the files of such a model.
        let own = self.resources.views.open().into_iter().any(|view| {
            let name = &view.config.embed.model;
            let found = models.find_model(name);
            let before = found.map_or_else(|| models.state_of(name), |model| embed.state_of(&model.id));
            is_found(before, models.state_of(name))
        });
        if configured || own {
            self.take_message(EngineMessage::ModelChanged);
        }
    }

    /// Starts the thread of a workspace.
    fn start(&mut self, root: &Path, restore: Option<WorkspaceRestore>) {
        self.resources.views.set(root, Slot::Opening);
        let (inbox, events) = mpsc::channel();
        let progress = Arc::new(ThreadProgress::default());
        // If a restore of a new workspace fails, the workspace is removed again. Requests for it wait until then.
        let waits = restore.is_some() && !self.resources.registry.contains(root);
        let worker = WorkspaceWorker::new(self, root, inbox.clone(), Arc::clone(&progress), restore);
        let thread = std::thread::Builder::new().name("workspace".to_owned());
        match thread.spawn(move || worker.run(&events)) {
            Ok(thread) => {
                let member = EngineMember {
                    inbox,
                    thread,
                    progress,
                    seen: 0,
                    waiting: waits.then(Vec::new),
                };
                self.members.insert(root.to_path_buf(), member);
            }
            Err(error) => {
                tracing::error!(root = %root.display(), %error, "could not start the thread of a workspace");
                let broken = RpcError::internal(format!(
                    "could not start a thread for the workspace: {error}"
                ))
                .hint(
                    "the machine has too little memory or too many processes: end some processes, then restart hippod",
                );
                self.resources.views.set(root, Slot::Broken(broken));
            }
        }
    }

    /// Returns whether every busy thread has made progress since the last call. While one hangs, the watchdog receives
    /// no signal.
    fn are_all_alive(&mut self) -> bool {
        let mut well = true;
        for member in self.members.values_mut() {
            let beats = member.progress.pulse.beats();
            well &= beats != member.seen || !member.progress.is_busy.load(Ordering::Relaxed);
            member.seen = beats;
        }
        well
    }

    /// Closes all workspaces, after each thread has finished its current step.
    fn finish(self) {
        self.resources.rescuing.store(true, Ordering::Relaxed);
        self.resources.contexts.look();
        self.resources.rescuing.store(false, Ordering::Relaxed);
        self.post_to_all(|| WorkspaceEvent::Shutdown);
        for member in self.members.into_values() {
            // If the thread panicked, it has reported the panic itself.
            let _ = member.thread.join();
        }
        self.resources.contexts.checkpoint();
    }
}

#[expect(clippy::disallowed_methods, reason = "the user chose this path")]
fn canonical(folder: &Path) -> PathBuf {
    folder.canonicalize().unwrap_or_else(|_| folder.to_path_buf())
}
