//! Handle through which other components send messages to the engine.

use std::path::Path;
use std::sync::Arc;

use tokio::sync::oneshot;
use tracing::Span;

use hippo_proto::RpcError;
use hippo_store::StoreError;

use super::{AnswerSender, EngineMessage, EngineRequest, Order, QueryEffects};
use crate::errors::stopping;

/// Sends one message; returns false once the engine has ended.
type SendMessage = dyn Fn(EngineMessage) -> bool + Send + Sync;

/// Handle of the engine. After the engine has ended, which happens only at shutdown, a message without a response is
/// dropped.
#[derive(Clone)]
pub struct EngineHandle(Arc<SendMessage>);

impl EngineHandle {
    /// Creates a handle. `send` returns false once the engine has ended.
    pub fn new(send: impl Fn(EngineMessage) -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(send))
    }

    /// Sends a message. Returns false once the engine has ended.
    pub fn send(&self, message: EngineMessage) -> bool {
        (self.0)(message)
    }

    /// Sends a request and waits for the answer.
    ///
    /// # Errors
    /// The error of the engine, or `internal` while the daemon is stopping.
    pub async fn ask<T>(
        &self,
        request: impl FnOnce(AnswerSender<T>) -> EngineRequest,
    ) -> Result<T, RpcError> {
        self.answered(|reply| EngineMessage::Request(request(reply), Span::current()))
            .await
    }

    /// Sends an order about the entries of a workspace and waits for the answer.
    ///
    /// # Errors
    /// The error of the engine, or `internal` while the daemon is stopping.
    pub async fn order<T>(
        &self,
        root: &Path,
        order: impl FnOnce(AnswerSender<T>) -> Order,
    ) -> Result<T, RpcError> {
        let root = root.to_path_buf();
        self.answered(|reply| EngineMessage::Order {
            root,
            order: order(reply),
        })
        .await
    }

    async fn answered<T>(
        &self,
        message: impl FnOnce(AnswerSender<T>) -> EngineMessage,
    ) -> Result<T, RpcError> {
        let (reply, answer) = oneshot::channel();
        if !self.send(message(reply)) {
            return Err(stopping());
        }
        answer.await.map_err(|_| stopping())?
    }

    /// Asks the engine to read files; if `paths` is empty, the engine reads all files known to have changed. Returns
    /// the completion signal, or `None` if the engine has ended.
    pub fn read_files(&self, root: &Path, paths: Vec<String>) -> Option<oneshot::Receiver<()>> {
        let (done, read) = oneshot::channel();
        let root = root.to_path_buf();
        self.send(EngineMessage::Read { root, paths, done })
            .then_some(read)
    }

    /// Reports files whose content differs from the index.
    pub fn report_stale(&self, root: &Path, paths: Vec<String>) {
        let root = root.to_path_buf();
        self.send(EngineMessage::Stale { root, paths });
    }

    /// Reports a damaged database.
    pub fn report_damage(&self, root: &Path, error: StoreError) {
        let root = root.to_path_buf();
        self.send(EngineMessage::Damaged { root, error });
    }

    /// Reports an answered query.
    pub fn report_question(&self, root: &Path, trace: QueryEffects) {
        let root = root.to_path_buf();
        self.send(EngineMessage::Asked { root, trace });
    }
}
