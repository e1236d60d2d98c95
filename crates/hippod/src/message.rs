//! Messages that other components send to the engine.

mod handle;
mod order;
mod request;

use std::path::PathBuf;

use tokio::sync::oneshot;
use tracing::Span;

use hippo_proto::RpcError;
use hippo_store::StoreError;

use crate::embed_worker::EmbedEvent;
use crate::watcher::WatchEvent;

pub use handle::EngineHandle;
pub use order::{AppendedText, EntryCommand, IndexingResult, Lesson, Order, QueryEffects};
pub use request::{EngineRequest, HeartbeatAnswer, LostData};

/// A message for the engine.
#[derive(Debug)]
pub enum EngineMessage {
    /// A request for a change from a client, with its tracing span.
    Request(EngineRequest, Span),
    /// A report from the watcher of the workspace with this root: a change of the file system or of the watcher itself.
    Watch(PathBuf, WatchEvent),
    /// A result or a state change from the embed worker.
    Embed(EmbedEvent),
    /// Files whose content differs from the index, reported by a query.
    Stale {
        /// Canonical root of the workspace.
        root: PathBuf,
        /// Paths relative to it.
        paths: Vec<String>,
    },
    /// A query that waits until the engine has read changed files.
    Read {
        /// Canonical root of the workspace.
        root: PathBuf,
        /// Paths relative to the root; an empty list means all files known to have changed.
        paths: Vec<String>,
        /// Completion signal; dropped if the workspace is not open.
        done: oneshot::Sender<()>,
    },
    /// A damaged database, reported by a query.
    Damaged {
        /// Canonical root of the workspace.
        root: PathBuf,
        /// The error that the query received.
        error: StoreError,
    },
    /// An answered query.
    Asked {
        /// Canonical root of the workspace.
        root: PathBuf,
        /// Trace of the query for usage statistics.
        trace: QueryEffects,
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
