//! Events that the engine processes.

use std::path::PathBuf;

use tokio::sync::oneshot;
use tracing::Span;

use hippo_map::consolidation::Cycle;
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

/// An event for the engine.
#[derive(Debug)]
pub enum Event {
    /// A request for a change from a client, with its tracing span.
    Request(Request, Span),
    /// A report from the watcher: a change of the file system or of the watcher itself.
    Watch(WatchEvent),
    /// A result or a state change from the embed worker.
    Embed(EmbedEvent),
    /// Files whose content differs from the index, as noticed by a query.
    Stale {
        /// Canonical root of the workspace.
        root: PathBuf,
        /// Paths relative to it.
        paths: Vec<String>,
    },
    /// A query that waits until files are read.
    Read {
        /// Canonical root of the workspace.
        root: PathBuf,
        /// Paths relative to the root; an empty list means every file that is known to have changed.
        paths: Vec<String>,
        /// Completion signal; dropped if the workspace is not open.
        done: oneshot::Sender<()>,
    },
    /// A damaged database, as noticed by a query.
    Damaged {
        /// Canonical root of the workspace.
        root: PathBuf,
        /// The error that the query received.
        error: StoreError,
    },
    /// Completion of the vector graph of a workspace.
    GraphBuilt {
        /// Id of the workspace.
        workspace: u64,
        /// The graph, or `None` if the build was cancelled.
        built: Option<hippo_store::vector::BuiltGraph>,
    },
    /// A finished plan of a cycle.
    Planned(Planned),
    /// An answered query.
    Asked {
        /// Canonical root of the workspace.
        root: PathBuf,
        /// Trace of the query for usage statistics.
        trace: Trace,
    },
    /// An operation on the entries of a workspace.
    Order {
        /// Canonical root of the workspace.
        root: PathBuf,
        /// The operation.
        order: Order,
    },
    /// A timer tick: cycles may be due.
    Tick,
    /// The end of a workspace's turn.
    Turned(Box<Turned>),
    /// The result of opening a workspace.
    Opened(Box<Opened>),
    /// A closed workspace, with its state discarded.
    Closed {
        /// Id of the workspace.
        workspace: u64,
    },
    /// A thread that ended in the middle of its work.
    Lost,
    /// Liveness probe of the watchdog.
    Pulse,
    /// A change of the installed model files.
    ModelChanged,
    /// A request to look again for a model that was missing.
    LookForModel,
    /// Shutdown: finish the current step, save, and end.
    Shutdown,
}

impl Event {
    /// Returns whether the event belongs to one opening of a workspace and is dropped when the workspace is
    /// opened again.
    pub fn is_for_one_opening(&self) -> bool {
        matches!(
            self,
            Self::Embed(EmbedEvent::Done { .. } | EmbedEvent::Refused { .. })
                | Self::GraphBuilt { .. }
                | Self::Planned(_)
        )
    }

    /// Returns whether the engine itself serves the event, once no turn of the workspace is running.
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

/// Condition for the completion of a synchronization.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Until {
    /// Only the next step.
    Step,
    /// Every file is read, so that full-text search finds its words.
    Read,
    /// Every file is embedded as well, so that semantic search finds it.
    Searchable,
}

/// A request for a change, with the channel for its response.
#[derive(Debug)]
pub enum Request {
    /// Registers a folder.
    Add {
        /// The folder as given by the client.
        folder: PathBuf,
        /// Response channel.
        reply: Answer<WorkspaceAddResponse>,
    },
    /// Unregisters a folder.
    Remove {
        /// The folder as given by the client.
        folder: PathBuf,
        /// True to delete the stored session contexts as well.
        purge: bool,
        /// Response channel.
        reply: Answer<WorkspaceRemoveResponse>,
    },
    /// Reconciles the index with the disk.
    Sync {
        /// Canonical root.
        root: PathBuf,
        /// Condition for the response.
        until: Until,
        /// True to confirm deletions that are held back.
        accept_deletions: bool,
        /// Response channel.
        reply: Answer<WorkspaceSyncResponse>,
    },
    /// Grants or withdraws trust in the settings of a workspace.
    Trust {
        /// Canonical root.
        root: PathBuf,
        /// The request of the client.
        request: WorkspaceTrustRequest,
        /// Response channel.
        reply: Answer<WorkspaceTrustResponse>,
    },
    /// Moves a prepared restore into place and opens it.
    TakeIn {
        /// The prepared files.
        staged: Staged,
        /// Response channel.
        reply: Answer<Restored>,
    },
    /// Lists past cycle runs.
    History {
        /// Canonical root.
        root: PathBuf,
        /// The request of the client.
        request: CycleHistoryRequest,
        /// Response channel.
        reply: Answer<CycleHistoryResponse>,
    },
    /// Reports pending decisions and upcoming cycles.
    Heartbeat {
        /// True if the response is sent to the client, which marks its notices as delivered.
        tells: bool,
        /// Canonical root.
        root: PathBuf,
        /// Response channel.
        reply: Answer<Beat>,
    },
    /// Deletes the derived state of a workspace and derives it again from the files.
    Rebuild {
        /// Canonical root.
        root: PathBuf,
        /// Response channel, with the data that only the damaged database contained.
        reply: Answer<Option<Lost>>,
    },
    /// Reports the problems of a workspace.
    Survey {
        /// Canonical root.
        root: PathBuf,
        /// A recent scan of the files on disk.
        scan: Option<ScanResult>,
        /// Response channel.
        reply: Answer<Survey>,
    },
}

impl Request {
    /// Returns whether the request needs an open workspace. A rebuild does not: it can repair a workspace
    /// that fails to open.
    fn needs_open_workspace(&self) -> bool {
        !self.is_for_engine() && !matches!(self, Self::Rebuild { .. })
    }

    fn is_for_engine(&self) -> bool {
        matches!(self, Self::Add { .. } | Self::Remove { .. } | Self::TakeIn { .. })
    }

    /// Refuses the request because its workspace is not registered or could not be opened.
    pub fn refuse(self, error: &RpcError) {
        // A client that disconnected needs no answer.
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

/// The engine's answer to a heartbeat.
#[derive(Debug, Clone, Default)]
pub struct Beat {
    /// Cycles that are running or due, in execution order.
    pub due: Vec<Cycle>,
    /// Decisions that wait for the user.
    pub pending: Vec<Pending>,
    /// The earliest time at which each cycle can become due again.
    pub next: Vec<NextCycle>,
}

/// Response channel of a request.
pub type Answer<T> = oneshot::Sender<Result<T, RpcError>>;
