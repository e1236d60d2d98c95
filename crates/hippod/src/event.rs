//! Everything that can happen to the engine.

use std::path::PathBuf;

use tokio::sync::oneshot;
use tracing::Span;

use hippo_core::consolidation::Cycle;
use hippo_proto::{
    CycleHistoryRequest, CycleHistoryResponse, NextCycle, Pending, Restored, RpcError, WorkspaceAddResponse,
    WorkspaceRemoveResponse, WorkspaceSyncResponse, WorkspaceTrustRequest, WorkspaceTrustResponse,
};

use hippo_store::StoreError;

use crate::backup::Staged;
use crate::embed_worker::EmbedEvent;
use crate::engine::{Lost, Opened, Order, Planned, Survey, Trace, Turned};
use crate::scan::ScanResult;
use crate::watcher::WatchEvent;

/// One thing for the engine to act on.
#[derive(Debug)]
pub enum Event {
    /// A client asks for a change; with the span of its request.
    Request(Request, Span),
    /// The file system changed, or the watcher did.
    Watch(WatchEvent),
    /// The embed worker has something.
    Embed(EmbedEvent),
    /// A query found files that are not as the index knows them.
    Stale {
        /// Canonical root of the workspace.
        root: PathBuf,
        /// Paths relative to it.
        paths: Vec<String>,
    },
    /// A question waits until files are read.
    Read {
        /// Canonical root of the workspace.
        root: PathBuf,
        /// Paths relative to it; none stands for every file that is known to have changed.
        paths: Vec<String>,
        /// The way back; dropped where the workspace is not open.
        done: oneshot::Sender<()>,
    },
    /// A query found the database damaged.
    Damaged {
        /// Canonical root of the workspace.
        root: PathBuf,
        /// What it found.
        error: StoreError,
    },
    /// The graph over a workspace's vectors was built.
    GraphBuilt {
        /// Which workspace.
        workspace: u64,
        /// The graph, or nothing where the build was cancelled.
        built: Option<hippo_store::vector::BuiltGraph>,
    },
    /// A plan of a cycle was made.
    Planned(Planned),
    /// A question was answered.
    Asked {
        /// Canonical root of the workspace.
        root: PathBuf,
        /// What it leaves behind.
        trace: Trace,
    },
    /// Something wants to be done to the entries of a workspace.
    Order {
        /// Canonical root of the workspace.
        root: PathBuf,
        /// What.
        order: Order,
    },
    /// Time has passed: cycles may be due.
    Tick,
    /// A turn of a workspace has ended.
    Turned(Box<Turned>),
    /// A workspace was opened, or could not be.
    Opened(Box<Opened>),
    /// A workspace is gone, and its state with it.
    Closed {
        /// Which workspace.
        workspace: u64,
    },
    /// A thread ended in the middle of its work.
    Lost,
    /// Liveness probe of the watchdog.
    Pulse,
    /// The installed model files have changed.
    ModelChanged,
    /// A model that was missing may be there by now.
    LookForModel,
    /// Finish the step at hand, save, and end.
    Shutdown,
}

impl Event {
    /// Returns whether the event belongs to one opening of a workspace and is dropped when it is opened again.
    pub fn is_for_one_opening(&self) -> bool {
        matches!(
            self,
            Self::Embed(EmbedEvent::Done { .. } | EmbedEvent::Refused { .. })
                | Self::GraphBuilt { .. }
                | Self::Planned(_)
        )
    }

    /// Returns whether the engine serves the event itself, once the workspace is here.
    pub fn is_for_engine(&self) -> bool {
        matches!(self, Self::Request(request, _) if request.is_for_engine())
    }

    /// Refuses a request that needs an open workspace. Returns every other event.
    pub fn refuse_unopened(self, error: &RpcError) -> Option<Self> {
        match self {
            Self::Request(request, _) if request.needs_open_workspace() => {
                request.refuse(error);
                None
            }
            other => Some(other),
        }
    }
}

/// What is waited for when the disk is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Until {
    /// The next step.
    Step,
    /// Every file is read, so that its words are found.
    Read,
    /// Its meaning is found too.
    Searchable,
}

/// A change that a client asks for, with the way back to it.
#[derive(Debug)]
pub enum Request {
    /// Register a folder.
    Add {
        /// As the client gave it.
        folder: PathBuf,
        /// The way back.
        reply: Answer<WorkspaceAddResponse>,
    },
    /// Forget a folder.
    Remove {
        /// As the client gave it.
        folder: PathBuf,
        /// What its sessions stored goes, too.
        purge: bool,
        /// The way back.
        reply: Answer<WorkspaceRemoveResponse>,
    },
    /// Reconcile with the disk.
    Sync {
        /// Canonical root.
        root: PathBuf,
        /// What the answer waits for.
        until: Until,
        /// Take deletions that are held as meant.
        accept_deletions: bool,
        /// The way back.
        reply: Answer<WorkspaceSyncResponse>,
    },
    /// Trust the settings of a workspace, or not any more.
    Trust {
        /// Canonical root.
        root: PathBuf,
        /// Which.
        request: WorkspaceTrustRequest,
        /// The way back.
        reply: Answer<WorkspaceTrustResponse>,
    },
    /// Put what a restore made ready into its place, and open it.
    TakeIn {
        /// What is ready.
        staged: Staged,
        /// The way back.
        reply: Answer<Restored>,
    },
    /// What runs there were.
    History {
        /// Canonical root.
        root: PathBuf,
        /// Which.
        request: CycleHistoryRequest,
        /// The way back.
        reply: Answer<CycleHistoryResponse>,
    },
    /// What waits for somebody, and what comes next.
    Heartbeat {
        /// The answer goes to the client: what is told once counts as told.
        tells: bool,
        /// Canonical root.
        root: PathBuf,
        /// The way back.
        reply: Answer<Beat>,
    },
    /// Delete the derived state of a workspace and derive it again from the files.
    Rebuild {
        /// Canonical root.
        root: PathBuf,
        /// The way back: what only the damaged database contained.
        reply: Answer<Option<Lost>>,
    },
    /// Report the problems of a workspace.
    Survey {
        /// Canonical root.
        root: PathBuf,
        /// The files on disk a moment ago.
        scan: Option<ScanResult>,
        /// The way back.
        reply: Answer<Survey>,
    },
}

impl Request {
    /// A rebuild may be what lets the workspace open again.
    fn needs_open_workspace(&self) -> bool {
        !self.is_for_engine() && !matches!(self, Self::Rebuild { .. })
    }

    fn is_for_engine(&self) -> bool {
        matches!(self, Self::Add { .. } | Self::Remove { .. } | Self::TakeIn { .. })
    }

    /// Answers a request about a workspace that is not registered or could not be opened.
    pub fn refuse(self, error: &RpcError) {
        // A client that is gone needs no answer.
        match self {
            Self::Add { reply, .. } => drop(reply.send(Err(error.clone()))),
            Self::Remove { reply, .. } => drop(reply.send(Err(error.clone()))),
            Self::Sync { reply, .. } => drop(reply.send(Err(error.clone()))),
            Self::Trust { reply, .. } => drop(reply.send(Err(error.clone()))),
            Self::TakeIn { reply, .. } => drop(reply.send(Err(error.clone()))),
            Self::History { reply, .. } => drop(reply.send(Err(error.clone()))),
            Self::Heartbeat { reply, .. } => drop(reply.send(Err(error.clone()))),
            Self::Rebuild { reply, .. } => drop(reply.send(Err(error.clone()))),
            Self::Survey { reply, .. } => drop(reply.send(Err(error.clone()))),
        }
    }
}

/// What the engine says to a heartbeat.
#[derive(Debug, Clone, Default)]
pub struct Beat {
    /// Cycles that are under way or due, in the order in which they run.
    pub due: Vec<Cycle>,
    /// What waits for somebody.
    pub pending: Vec<Pending>,
    /// When each cycle can become due next.
    pub next: Vec<NextCycle>,
}

/// The way back to a client.
pub type Answer<T> = oneshot::Sender<Result<T, RpcError>>;
