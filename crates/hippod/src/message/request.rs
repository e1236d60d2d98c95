//! Messages for a workspace.

use std::path::PathBuf;

use tokio::sync::oneshot;

use hippo_proto::{
    CycleHistoryRequest, CycleHistoryResponse, NextCycle, Pending, RpcError, WorkspaceSyncResponse,
    WorkspaceTrustRequest, WorkspaceTrustResponse,
};
use hippo_store::StoreError;
use hippo_types::cycle::Cycle;

use super::{AnswerSender, Order, QueryEffects};
use crate::scan::ScanResult;
use crate::survey::Survey;
use crate::watcher::WatchEvent;

/// A message for a workspace.
#[derive(Debug)]
pub enum WorkspaceMessage {
    /// Reconciles the index with the disk.
    Sync {
        /// True to respond when every file is read and embedded, false to respond after the next step of work.
        wait: bool,
        /// True to confirm deletions that are held back.
        accept_deletions: bool,
        /// Response channel.
        reply: AnswerSender<WorkspaceSyncResponse>,
    },
    /// Grants or withdraws trust in the settings of the workspace.
    Trust(WorkspaceTrustRequest, AnswerSender<WorkspaceTrustResponse>),
    /// Lists past cycle runs.
    History(CycleHistoryRequest, AnswerSender<CycleHistoryResponse>),
    /// Reports pending decisions and upcoming cycles.
    Heartbeat {
        /// True if the response is sent to the client, so that the reported notices count as delivered.
        tells: bool,
        /// Response channel.
        reply: AnswerSender<HeartbeatAnswer>,
    },
    /// Deletes the derived state of the workspace and rebuilds it from the files. The answer contains the data that only
    /// the damaged database contained.
    Rebuild(AnswerSender<Option<LostData>>),
    /// Reports the problems of the workspace, given a recent scan of the files on disk.
    Survey(Option<ScanResult>, AnswerSender<Survey>),
    /// An operation on the entries.
    Order(Order),
    /// A report from the watcher: a change of the file system or of the watcher itself.
    Watch(WatchEvent),
    /// Files whose content differs from the index, reported by a query.
    Stale(Vec<String>),
    /// A query that waits until the workspace has read changed files.
    Read {
        /// Paths relative to the root; an empty list means all files known to have changed.
        paths: Vec<String>,
        /// Completion signal, true if all the paths are in the index; dropped if the workspace is not open.
        done: oneshot::Sender<bool>,
    },
    /// A damaged database, reported by a query.
    Damaged(StoreError),
    /// An answered query.
    Asked(QueryEffects),
}

impl WorkspaceMessage {
    /// Rejects a request, because its workspace is not registered or could not be opened. Drops other messages.
    pub fn refuse(self, error: &RpcError) {
        // A client that disconnected needs no answer.
        match self {
            Self::Sync { reply, .. } => drop(reply.send(Err(error.clone()))),
            Self::Trust(_, reply) => drop(reply.send(Err(error.clone()))),
            Self::History(_, reply) => drop(reply.send(Err(error.clone()))),
            Self::Heartbeat { reply, .. } => drop(reply.send(Err(error.clone()))),
            Self::Rebuild(reply) => drop(reply.send(Err(error.clone()))),
            Self::Survey(_, reply) => drop(reply.send(Err(error.clone()))),
            Self::Order(order) => order.refuse(error),
            _ => {}
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
