//! Handle through which other components send messages to the engine.

use std::path::Path;
use std::sync::Arc;

use tokio::sync::oneshot;
use tracing::Span;

use hippo_proto::RpcError;

use super::{AnswerSender, EngineMessage, WorkspaceMessage};
use crate::errors::stopping;

/// Function that sends one message. It returns false once the engine has ended.
type SendMessage = dyn Fn(EngineMessage) -> bool + Send + Sync;

/// Handle of the engine.
#[derive(Clone)]
pub struct EngineHandle(Arc<SendMessage>);

impl EngineHandle {
    /// Creates a handle. `send` returns false once the engine has ended.
    pub fn new(send: impl Fn(EngineMessage) -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(send))
    }

    /// Sends a message. Returns false once the engine has ended, which happens only at shutdown.
    pub fn send(&self, message: EngineMessage) -> bool {
        (self.0)(message)
    }

    /// Sends a message to a workspace. Returns false once the engine has ended.
    pub fn send_to(&self, root: &Path, message: WorkspaceMessage) -> bool {
        self.send(EngineMessage::To(
            root.to_path_buf(),
            Box::new(message),
            Span::current(),
        ))
    }

    /// Sends a request to a workspace and waits for the answer.
    ///
    /// # Errors
    /// Returns the error of the workspace, or `internal` while the daemon is stopping.
    pub async fn ask<T>(
        &self,
        root: &Path,
        request: impl FnOnce(AnswerSender<T>) -> WorkspaceMessage,
    ) -> Result<T, RpcError> {
        let (reply, answer) = oneshot::channel();
        self.send_to(root, request(reply));
        answer.await.map_err(|_| stopping())?
    }

    /// Sends a request to the engine and waits for the answer.
    ///
    /// # Errors
    /// Returns the error of the engine, or `internal` while the daemon is stopping.
    pub async fn ask_engine<T>(
        &self,
        request: impl FnOnce(AnswerSender<T>) -> EngineMessage,
    ) -> Result<T, RpcError> {
        let (reply, answer) = oneshot::channel();
        self.send(request(reply));
        answer.await.map_err(|_| stopping())?
    }

    /// Requests that a workspace indexes files now. If `paths` is empty, it indexes all files that may have changed.
    /// Returns a channel that receives a value when this is done: true if all the paths are in the index. If the
    /// workspace is not open, the channel is closed without a value.
    pub fn read_files(&self, root: &Path, paths: Vec<String>) -> oneshot::Receiver<bool> {
        let (done, read) = oneshot::channel();
        self.send_to(root, WorkspaceMessage::Read { paths, done });
        read
    }
}
