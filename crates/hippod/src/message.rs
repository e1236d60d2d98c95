//! Messages from other components to the engine.

mod handle;
mod order;
mod request;

use std::path::PathBuf;

use tokio::sync::oneshot;
use tracing::Span;

use hippo_proto::{Restored, RpcError, WorkspaceAddResponse, WorkspaceRemoveResponse};

use crate::embed_worker::EmbedEvent;
use crate::staged::StagedWorkspace;

pub use handle::EngineHandle;
pub use order::{AppendedText, EntryCommand, Lesson, Order, QueryEffects};
pub use request::{HeartbeatAnswer, LostData, WorkspaceMessage};

/// A message for the engine.
#[derive(Debug)]
pub enum EngineMessage {
    /// A message for the workspace with this canonical root, and the tracing span of its sender.
    To(PathBuf, Box<WorkspaceMessage>, Span),
    /// Registers a folder as a workspace, and opens it.
    Add {
        /// The folder as given by the client.
        folder: PathBuf,
        /// Channel for the answer.
        reply: AnswerSender<WorkspaceAddResponse>,
    },
    /// Closes a workspace and removes it from the registry.
    Remove {
        /// The folder as given by the client.
        folder: PathBuf,
        /// True if the stored sessions of context entries are deleted as well.
        purge: bool,
        /// Channel for the answer.
        reply: AnswerSender<WorkspaceRemoveResponse>,
    },
    /// Restores a workspace from unpacked backup data, and opens it.
    TakeIn {
        /// The unpacked data of the workspace.
        staged: StagedWorkspace,
        /// Channel for the answer.
        reply: AnswerSender<Restored>,
    },
    /// A result or a state change from the embed worker.
    Embed(EmbedEvent),
    /// A timer tick: cycles may be due.
    Tick,
    /// A liveness check by the watchdog.
    Pulse,
    /// A change of the installed model files.
    ModelChanged,
    /// A request to check whether a missing model has been installed.
    LookForModel,
    /// The daemon shuts down. The engine closes all workspaces and ends.
    Shutdown,
}

/// Channel for the answer to a request.
pub type AnswerSender<T> = oneshot::Sender<Result<T, RpcError>>;
