//! Messages for a workspace.

use std::path::PathBuf;

use tokio::sync::oneshot;

use hippo_proto::{
    CycleHistoryRequest, CycleHistoryResponse, LoggedQuestion, NextCycle, Pending, RecallLogRequest,
    RecallLogResponse, RpcError, Viewer, WorkspaceSyncResponse, WorkspaceTrustRequest,
    WorkspaceTrustResponse,
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
    /// Compares the files on disk with the index, and updates the index.
    Sync {
        /// True if the answer is sent once all files are indexed and embedded, false if it is sent after the next turn.
        wait: bool,
        /// True if a person confirmed the deletions that are held back.
        accept_deletions: bool,
        /// Channel for the answer.
        reply: AnswerSender<WorkspaceSyncResponse>,
    },
    /// Records or revokes the user's trust in the settings of the workspace.
    Trust(WorkspaceTrustRequest, AnswerSender<WorkspaceTrustResponse>),
    /// Lists the past runs of cycles.
    History(CycleHistoryRequest, AnswerSender<CycleHistoryResponse>),
    /// Lists questions of the recall log that the agent may see.
    RecallLog(Viewer, RecallLogRequest, AnswerSender<RecallLogResponse>),
    /// Reports work that waits for the user, and due and upcoming cycles.
    Heartbeat {
        /// True if the client receives the answer. The conflicts in it then count as reported, and the next heartbeat
        /// omits them.
        tells: bool,
        /// Channel for the answer.
        reply: AnswerSender<HeartbeatAnswer>,
    },
    /// Deletes the derived state of the workspace and rebuilds it from the files. The answer describes data that was
    /// lost, because it existed only in a damaged database.
    Rebuild(AnswerSender<Option<LostData>>),
    /// Reports the state and the problems of the workspace. The argument is the result of a scan that `doctor` has just
    /// made.
    Survey(Option<ScanResult>, AnswerSender<Survey>),
    /// A cycle or a change of entries.
    Order(Order),
    /// A report from the watcher: a change of the file system or of the watcher itself.
    Watch(WatchEvent),
    /// Files whose content differs from the index, reported by a query.
    Stale(Vec<String>),
    /// A request to index changed files now, because a query waits for them.
    Read {
        /// Paths relative to the root. An empty list means all files that may have changed.
        paths: Vec<String>,
        /// Channel that receives a value when the files have been read: true if all the paths are in the index. It is
        /// closed without a value if the workspace is not open.
        done: oneshot::Sender<bool>,
    },
    /// A query found that the database is damaged. The error describes the damage.
    Damaged(StoreError),
    /// The texts that other workspaces share with this one have changed.
    SharesChanged,
    /// The effects of an answered query on the entries.
    Asked(QueryEffects),
    /// An answered question, for the recall log.
    LogQuestion(Box<LoggedQuestion>),
}

impl WorkspaceMessage {
    /// Answers a request with an error, because its workspace is not registered or could not be opened. Drops other
    /// messages.
    pub fn refuse(self, error: &RpcError) {
        // A client that disconnected needs no answer.
        match self {
            Self::Sync { reply, .. } => drop(reply.send(Err(error.clone()))),
            Self::Trust(_, reply) => drop(reply.send(Err(error.clone()))),
            Self::History(_, reply) => drop(reply.send(Err(error.clone()))),
            Self::RecallLog(_, _, reply) => drop(reply.send(Err(error.clone()))),
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
    /// Conflicts, removals that are held back, and other matters that wait for the user.
    pub pending: Vec<Pending>,
    /// The earliest time at which each cycle can become due again.
    pub next: Vec<NextCycle>,
}

/// Data that existed only in a damaged database and could not be read.
#[derive(Debug)]
pub struct LostData {
    /// Descriptions of the lost data, for display.
    pub what: Vec<String>,
    /// Path under which the damaged database is kept.
    pub aside: PathBuf,
}
