//! Requests about whole workspaces.

use std::path::PathBuf;

use hippo_map::consolidation::Cycle;
use hippo_proto::{
    CycleHistoryRequest, CycleHistoryResponse, NextCycle, Pending, Restored, RpcError, WorkspaceAddResponse,
    WorkspaceRemoveResponse, WorkspaceSyncResponse, WorkspaceTrustRequest, WorkspaceTrustResponse,
};

use super::Answer;
use crate::scan::ScanResult;
use crate::staged::Staged;
use crate::survey::Survey;

/// Condition for the completion of a synchronization.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Until {
    /// Only the next step of work is done.
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
    /// Moves a restored workspace that is staged into place, and opens it.
    TakeIn {
        /// The staged workspace.
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
        /// True if the response is sent to the client, so that the reported notices count as delivered.
        tells: bool,
        /// Canonical root.
        root: PathBuf,
        /// Response channel.
        reply: Answer<Beat>,
    },
    /// Deletes the derived state of a workspace and rebuilds it from the files.
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
    /// Returns whether the request needs an open workspace. A rebuild does not, because it can repair a workspace that
    /// fails to open.
    pub fn needs_open_workspace(&self) -> bool {
        !self.is_for_engine() && !matches!(self, Self::Rebuild { .. })
    }

    /// Returns whether the engine itself handles the request.
    pub fn is_for_engine(&self) -> bool {
        matches!(self, Self::Add { .. } | Self::Remove { .. } | Self::TakeIn { .. })
    }

    /// Rejects the request because its workspace is not registered or could not be opened.
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

/// Data that existed only in a damaged database and could not be read.
#[derive(Debug)]
pub struct Lost {
    /// Descriptions for display.
    pub what: Vec<String>,
    /// Path under which the damaged database is kept.
    pub aside: PathBuf,
}
