//! Requests about whole workspaces.

use std::path::PathBuf;

use hippo_proto::{
    CycleHistoryRequest, CycleHistoryResponse, NextCycle, Pending, Restored, RpcError, WorkspaceAddResponse,
    WorkspaceRemoveResponse, WorkspaceSyncResponse, WorkspaceTrustRequest, WorkspaceTrustResponse,
};
use hippo_types::cycle::Cycle;

use super::AnswerSender;
use crate::scan::ScanResult;
use crate::staged::StagedWorkspace;
use crate::survey::Survey;

/// A request for a change, with the channel for its response.
#[derive(Debug)]
pub enum EngineRequest {
    /// Registers a folder.
    Add {
        /// The folder as given by the client.
        folder: PathBuf,
        /// Response channel.
        reply: AnswerSender<WorkspaceAddResponse>,
    },
    /// Unregisters a folder.
    Remove {
        /// The folder as given by the client.
        folder: PathBuf,
        /// True to delete the stored session contexts as well.
        purge: bool,
        /// Response channel.
        reply: AnswerSender<WorkspaceRemoveResponse>,
    },
    /// Reconciles the index with the disk.
    Sync {
        /// Canonical root.
        root: PathBuf,
        /// True to respond when every file is read and embedded, false to respond after the next step of work.
        wait: bool,
        /// True to confirm deletions that are held back.
        accept_deletions: bool,
        /// Response channel.
        reply: AnswerSender<WorkspaceSyncResponse>,
    },
    /// Grants or withdraws trust in the settings of a workspace.
    Trust {
        /// Canonical root.
        root: PathBuf,
        /// The request of the client.
        request: WorkspaceTrustRequest,
        /// Response channel.
        reply: AnswerSender<WorkspaceTrustResponse>,
    },
    /// Moves a restored workspace that is staged into place, and opens it.
    TakeIn {
        /// The staged workspace.
        staged: StagedWorkspace,
        /// Response channel.
        reply: AnswerSender<Restored>,
    },
    /// Lists past cycle runs.
    History {
        /// Canonical root.
        root: PathBuf,
        /// The request of the client.
        request: CycleHistoryRequest,
        /// Response channel.
        reply: AnswerSender<CycleHistoryResponse>,
    },
    /// Reports pending decisions and upcoming cycles.
    Heartbeat {
        /// True if the response is sent to the client, so that the reported notices count as delivered.
        tells: bool,
        /// Canonical root.
        root: PathBuf,
        /// Response channel.
        reply: AnswerSender<HeartbeatAnswer>,
    },
    /// Deletes the derived state of a workspace and rebuilds it from the files.
    Rebuild {
        /// Canonical root.
        root: PathBuf,
        /// Response channel, with the data that only the damaged database contained.
        reply: AnswerSender<Option<LostData>>,
    },
    /// Reports the problems of a workspace.
    Survey {
        /// Canonical root.
        root: PathBuf,
        /// A recent scan of the files on disk.
        scan: Option<ScanResult>,
        /// Response channel.
        reply: AnswerSender<Survey>,
    },
}

impl EngineRequest {
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
pub struct HeartbeatAnswer {
    /// Cycles that are running or due, in execution order.
    pub due: Vec<Cycle>,
    /// Decisions that wait for the user.
    pub pending: Vec<Pending>,
    /// The earliest time at which each cycle can become due again.
    pub next: Vec<NextCycle>,
}

/// Data that existed only in a damaged database and could not be read.
#[derive(Debug)]
pub struct LostData {
    /// Descriptions for display.
    pub what: Vec<String>,
    /// Path under which the damaged database is kept.
    pub aside: PathBuf,
}
