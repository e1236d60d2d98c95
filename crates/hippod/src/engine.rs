//! Routing of events to workspaces, and scheduling of turns.

mod aside;
mod doctor;
mod embedding;
mod entries;
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
mod turn;
mod workspace;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use crate::embed_worker::EmbedEvent;
use crate::event::{Event, Request};
use crate::registry::Registry;
use crate::shared::Shared;
use crate::views::Slot;
use members::{Member, Seat};

pub use doctor::{
    Survey, complete as complete_survey, leftovers, survey_models, survey_rebuild, survey_unopened,
};
pub use entries::{Change, Lesson, Order, Planned, Remembered, Trace, cycle_named, cycle_of};
pub use opening::Opened;
pub use rebuild::Lost;
pub use turn::Turned;

/// Time limit for one kind of work within a turn.
const SLICE: Duration = Duration::from_millis(50);
/// Number of jobs given to the embed worker: one in progress, one ready.
const JOBS_AHEAD: usize = 2;
/// Maximum number of documents that count as fresh edits.
const FRESH: usize = 20;
/// Interval between checks of the machine's battery and load while embedding pauses.
const SPARE: Duration = Duration::from_secs(30);
/// Maximum time between two wake-ups of the engine.
const LONGEST_SLEEP: Duration = Duration::from_secs(3600);

/// State of the engine.
pub struct Engine {
    shared: Arc<Shared>,
    events: Receiver<Event>,
    registry: Arc<Registry>,
    members: BTreeMap<u64, Member>,
    /// Idle hands.
    hands: Vec<turn::Hand>,
    next_key: u64,
    /// True if a thread ended in the middle of its work.
    lost: bool,
}

impl Engine {
    /// Creates an engine for the registered workspaces. They are announced at once and opened by [`Engine::run`].
    pub fn new(shared: Arc<Shared>, events: Receiver<Event>, registry: Registry) -> Self {
        // Announce them before the first client request: a registered workspace is being opened, not unknown.
        for root in registry.roots() {
            shared.views.set(&root, Slot::Opening);
        }
        Self {
            shared,
            events,
            registry: Arc::new(registry),
            members: BTreeMap::new(),
            hands: Vec::new(),
            next_key: 1,
            lost: false,
        }
    }

    /// Opens the registered workspaces, then processes events until [`Event::Shutdown`] or a panic in a turn.
    pub fn run(mut self) {
        self.open_registered();
        let mut begun = Instant::now();
        loop {
            self.dispatch();
            self.shared.measures.engine_slice(begun.elapsed());
            match self.events.recv_timeout(self.sleep()) {
                Ok(Event::Shutdown) | Err(RecvTimeoutError::Disconnected) => break,
                Ok(event) => {
                    begun = Instant::now();
                    self.take(event);
                    while let Ok(event) = self.events.try_recv() {
                        if matches!(event, Event::Shutdown) {
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
    fn take(&mut self, event: Event) {
        match event {
            Event::Request(request, span) => self.route(request, span),
            Event::Embed(EmbedEvent::State(state)) => {
                if state.is_usable() {
                    self.post_to_all(|| Event::Embed(EmbedEvent::State(state.clone())));
                }
            }
            Event::Embed(EmbedEvent::Done { workspace, .. } | EmbedEvent::Refused { workspace }) => {
                self.post(Some(workspace), event);
            }
            Event::GraphBuilt { workspace, .. } => self.post(Some(workspace), event),
            Event::Planned(ref planned) => {
                let key = planned.workspace;
                self.post(Some(key), event);
            }
            Event::Watch(ref watched) => {
                let key = self.key_of(watched.root());
                self.post(key, event);
            }
            Event::Stale { ref root, .. }
            | Event::Read { ref root, .. }
            | Event::Damaged { ref root, .. }
            | Event::Asked { ref root, .. }
            | Event::Order { ref root, .. } => {
                let key = self.key_of(root);
                self.post(key, event);
            }
            Event::Tick => self.post_to_all(|| Event::Tick),
            Event::ModelChanged => {
                let models = &self.shared.models;
                let configured = models.configured().map_or_else(|| "".into(), |model| model.id);
                self.shared.embed.reset(configured, models.state());
                self.post_to_all(|| Event::ModelChanged);
            }
            Event::LookForModel => self.look_for_model(),
            Event::Turned(turned) => self.turned(*turned),
            Event::Opened(opened) => self.opened(*opened),
            Event::Closed { workspace } => self.closed(workspace),
            Event::Lost => self.lost = true,
            Event::Pulse => {
                if self.all_get_on() {
                    self.shared.pulse.beat();
                }
            }
            Event::Shutdown => {}
        }
    }

    fn post_to_all(&mut self, event: impl Fn() -> Event) {
        for member in self.members.values_mut() {
            member.inbox.push_back(event());
        }
    }

    /// Appends a request about a known workspace to its inbox, and handles other requests at once.
    fn route(&mut self, request: Request, span: tracing::Span) {
        let of = match &request {
            Request::Sync { root, .. }
            | Request::Trust { root, .. }
            | Request::History { root, .. }
            | Request::Heartbeat { root, .. }
            | Request::Survey { root, .. } => {
                let key = self.key_of(root);
                if key.is_none() {
                    let error = crate::views::no_workspace(root);
                    return request.refuse(&error);
                }
                key
            }
            Request::Remove { folder, .. } => self.key_of(&canonical(folder)),
            Request::Add { folder, .. } => {
                let key = self.key_of(&canonical(folder));
                key.filter(|key| self.members[key].leaving)
            }
            Request::TakeIn { staged, .. } => self.key_of(&staged.root),
            Request::Rebuild { root, .. } => self.key_of(root).filter(|key| {
                // A closed workspace may fail to open until it is rebuilt.
                !matches!(self.members[key].seat, Seat::Closed(_))
            }),
        };
        if matches!(request, Request::Sync { .. }) {
            self.look_for_model();
        }
        match of {
            Some(_) => self.post(of, Event::Request(request, span)),
            None => span.in_scope(|| self.serve(request)),
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "a place that a person names")]
fn canonical(folder: &Path) -> std::path::PathBuf {
    folder.canonicalize().unwrap_or_else(|_| folder.to_path_buf())
}
