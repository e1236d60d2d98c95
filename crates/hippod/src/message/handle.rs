//! Handle through which other components send messages to the engine.

use std::path::Path;
use std::sync::Arc;

use tokio::sync::oneshot;
use tracing::Span;

use hippo_proto::RpcError;
use hippo_store::StoreError;

use super::{AnswerSender, EngineMessage, EngineRequest, Order, QueryEffects};
use crate::embed_worker::EmbedEvent;
use crate::errors::stopping;
use crate::watcher::WatchEvent;

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

    fn send(&self, message: EngineMessage) -> bool {
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
        let (reply, answer) = oneshot::channel();
        if !self.send(EngineMessage::Request(request(reply), Span::current())) {
            return Err(stopping());
        }
        answer.await.map_err(|_| stopping())?
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
        let (reply, answer) = oneshot::channel();
        let (root, order) = (root.to_path_buf(), order(reply));
        if !self.send(EngineMessage::Order { root, order }) {
            return Err(stopping());
        }
        answer.await.map_err(|_| stopping())?
    }

    /// Asks the engine to read files; if `paths` is empty, the engine reads all files known to have changed. Returns
    /// the completion signal, which is true if all the paths are in the index, or `None` if the engine has ended.
    pub fn read_files(&self, root: &Path, paths: Vec<String>) -> Option<oneshot::Receiver<bool>> {
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

    /// Forwards a report of the watcher.
    pub fn forward_watch(&self, event: WatchEvent) {
        self.send(EngineMessage::Watch(event));
    }

    /// Forwards a result or a state change of the embed worker.
    pub fn forward_embed(&self, event: EmbedEvent) {
        self.send(EngineMessage::Embed(event));
    }

    /// Asks the engine to check whether a missing model is now available.
    pub fn look_for_model(&self) {
        self.send(EngineMessage::LookForModel);
    }

    /// Reports changed model files.
    pub fn report_model_change(&self) {
        self.send(EngineMessage::ModelChanged);
    }

    /// Reports a timer tick.
    pub fn report_tick(&self) {
        self.send(EngineMessage::Tick);
    }

    /// Probes whether the engine makes progress. Returns false once the engine has ended.
    pub fn probe(&self) -> bool {
        self.send(EngineMessage::Pulse)
    }

    /// Asks the engine to finish the current step, save, and end.
    pub fn shut_down(&self) {
        self.send(EngineMessage::Shutdown);
    }
}
