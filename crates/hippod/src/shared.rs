//! What the engine, the server and the embed worker share.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::mpsc::Sender;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use jiff::tz::TimeZone;
use tokio::sync::{Mutex as Lock, OwnedMutexGuard, broadcast, watch};
use tracing::Span;

use hippo_proto::{ErrorKind, Paths, RpcError};

use crate::clock::Clock;
use crate::config::Config;
use crate::contexts::Contexts;
use crate::embed_worker::EmbedWorker;
use crate::event::Event;
use crate::models::Models;
use crate::registry;
use crate::server::Measures;
use crate::service::Pulse;
use crate::tree::Trees;
use crate::view::WorkspaceView;

/// How long a request waits for a workspace that is being opened.
const OPENING: Duration = Duration::from_secs(20);

/// One for the daemon.
pub struct Shared {
    /// The configuration.
    pub config: Config,
    /// Where things live.
    pub paths: Paths,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// The thread with the model.
    pub embed: EmbedWorker,
    /// The installed models.
    pub models: Models,
    /// The way to the engine.
    pub events: Sender<Event>,
    /// What subscribers hear.
    pub news: broadcast::Sender<hippo_proto::Event>,
    /// Workspaces as queries see them.
    pub views: Views,
    /// Sessions of context entries.
    pub contexts: Contexts,
    /// Who is at which compaction tree.
    pub trees: Trees,
    /// Who is at a backup or at a restore.
    pub backups: Turns,
    /// What was open when it was taken away is being written again before the end.
    pub rescuing: AtomicBool,
    /// When the daemon started.
    pub started: Instant,
    /// The engine's sign of life.
    pub pulse: Pulse,
    /// Requests answered.
    pub served: AtomicU64,
    /// What is counted of requests and cycles.
    pub measures: Measures,
    /// Turns true when the daemon is to end.
    pub stop: watch::Sender<bool>,
}

impl Shared {
    /// The time zone of a workspace: the one that is set for it, or the machine's.
    pub fn zone_of(&self, view: &WorkspaceView) -> TimeZone {
        let own = view.config.search.time_zone();
        own.unwrap_or_else(|| self.clock.time_zone())
    }
}

/// A registered workspace.
#[derive(Clone)]
pub enum Slot {
    /// Its database is being read.
    Opening,
    /// It answers.
    Open(Arc<WorkspaceView>),
    /// It could not be opened: what to tell who asks.
    Broken(RpcError),
}

/// Waits until the daemon is to end.
pub async fn stopped(stop: &mut watch::Receiver<bool>) {
    // The guard that `wait_for` answers with is dropped here: it must not live across the caller's other waits. A
    // sender that is gone means the same as `true`.
    let _ = stop.wait_for(|stop| *stop).await.is_ok();
}

/// The registered workspaces, by canonical root.
pub struct Views {
    slots: RwLock<BTreeMap<PathBuf, Slot>>,
    changed: watch::Sender<()>,
}

/// Whose turn it is, of something that is done one at a time.
#[derive(Debug, Default)]
pub struct Turns(Arc<Lock<()>>);

/// Held by who does it.
#[derive(Debug)]
pub struct Turn(#[expect(dead_code, reason = "held")] OwnedMutexGuard<()>);

impl Turns {
    /// Waits for those before this one. Who waits holds no thread: some take minutes, and whoever only asks would wait for them.
    pub async fn take(&self) -> Turn {
        Turn(Arc::clone(&self.0).lock_owned().await)
    }

    /// Takes the turn where nobody has it.
    pub fn take_if_free(&self) -> Option<Turn> {
        Arc::clone(&self.0).try_lock_owned().ok().map(Turn)
    }
}

/// The refusal for a folder that lies in no workspace, with what can be done about it.
pub fn no_workspace(folder: &Path) -> RpcError {
    let place = folder.display();
    let error = RpcError::new(
        ErrorKind::NoWorkspace,
        format!("could not find a workspace at or above: {place}"),
    );
    error.hint(if hippo_fs::is_present(folder) {
        format!("register it: hippoctl workspace add {place}; hippoctl workspace list shows the registered ones")
    } else {
        "no such folder is there; hippoctl workspace list shows the registered ones, hippoctl workspace add DIR registers one".to_owned()
    })
}

impl Default for Views {
    fn default() -> Self {
        Self {
            slots: RwLock::default(),
            changed: watch::Sender::new(()),
        }
    }
}

impl Views {
    /// Sets what a workspace is now.
    pub fn set(&self, root: &Path, slot: Slot) {
        self.slots
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(root.to_path_buf(), slot);
        self.changed.send_replace(());
    }

    /// Takes a workspace off the list.
    pub fn remove(&self, root: &Path) {
        self.slots
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(root);
        self.changed.send_replace(());
    }

    /// The state of the workspace with this root.
    pub fn slot(&self, root: &Path) -> Option<Slot> {
        let slots = self.slots.read().unwrap_or_else(PoisonError::into_inner);
        slots.get(root).cloned()
    }

    /// All workspaces, by root.
    pub fn all(&self) -> Vec<(PathBuf, Slot)> {
        let slots = self.slots.read().unwrap_or_else(PoisonError::into_inner);
        slots
            .iter()
            .map(|(root, slot)| (root.clone(), slot.clone()))
            .collect()
    }

    /// All workspaces that answer.
    pub fn open(&self) -> Vec<Arc<WorkspaceView>> {
        let open = |(_, slot)| match slot {
            Slot::Open(view) => Some(view),
            Slot::Opening | Slot::Broken(_) => None,
        };
        self.all().into_iter().filter_map(open).collect()
    }

    /// Hears whenever a workspace comes, opens or goes.
    pub fn changes(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }

    /// Waits, for a while, until no workspace is being opened any more: what is looked for in all of them may be in each.
    pub async fn opened(&self) {
        let mut changed = self.changed.subscribe();
        let deadline = tokio::time::Instant::now() + OPENING;
        let opening = |(_, slot): &(PathBuf, Slot)| matches!(slot, Slot::Opening);
        while self.all().iter().any(opening) {
            if tokio::time::timeout_at(deadline, changed.changed())
                .await
                .is_err()
            {
                return;
            }
        }
    }

    /// The registered root at or above a folder, which need not exist any more.
    #[expect(clippy::disallowed_methods, reason = "a place that a person names")]
    pub fn root_of(&self, folder: &Path) -> Option<PathBuf> {
        let real = folder.canonicalize().unwrap_or_else(|_| folder.to_path_buf());
        let slots = self.slots.read().unwrap_or_else(PoisonError::into_inner);
        real.ancestors()
            .find(|above| slots.contains_key(*above))
            .map(Path::to_path_buf)
    }

    /// The workspace at or above a folder, waited for while it is being opened.
    ///
    /// # Errors
    /// `no-workspace`, `warming` after a long wait, or why it could not be opened.
    pub async fn get(&self, folder: &str) -> Result<Arc<WorkspaceView>, RpcError> {
        let root = self
            .root_of(Path::new(folder))
            .ok_or_else(|| no_workspace(Path::new(folder)))?;
        Span::current().record("workspace", registry::short_id(&root));
        let mut changed = self.changed.subscribe();
        let deadline = tokio::time::Instant::now() + OPENING;
        loop {
            let slot = self
                .slots
                .read()
                .unwrap_or_else(PoisonError::into_inner)
                .get(&root)
                .cloned();
            match slot {
                Some(Slot::Open(view)) => return Ok(view),
                Some(Slot::Broken(error)) => return Err(error),
                Some(Slot::Opening) => {
                    if tokio::time::timeout_at(deadline, changed.changed())
                        .await
                        .is_err()
                    {
                        let what = format!("the workspace is still being opened: {}", root.display());
                        return Err(RpcError::new(ErrorKind::Warming, what).hint("ask again in a moment"));
                    }
                }
                None => {
                    let what = format!("the workspace was removed: {}", root.display());
                    return Err(RpcError::new(ErrorKind::NoWorkspace, what)
                        .hint("hippoctl workspace add registers it again"));
                }
            }
        }
    }
}
