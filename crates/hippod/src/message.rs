//! Messages that other components send to the engine.

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
    /// Moves a restored workspace that is staged into place, and opens it.
    TakeIn {
        /// The staged workspace.
        staged: StagedWorkspace,
        /// Response channel.
        reply: AnswerSender<Restored>,
    },
    /// A result or a state change from the embed worker.
    Embed(EmbedEvent),
    /// A timer tick: cycles may be due.
    Tick,
    /// Liveness probe of the watchdog.
    Pulse,
    /// A change of the installed model files.
    ModelChanged,
    /// A request to look again for a missing model.
    LookForModel,
    /// Shutdown: finish the current step, save, and end.
    Shutdown,
}

/// Response channel of a request.
pub type AnswerSender<T> = oneshot::Sender<Result<T, RpcError>>;
