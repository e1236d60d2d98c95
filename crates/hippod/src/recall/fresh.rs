//! Files that changed since they were indexed: read before an answer, or named in it.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hippo_proto::{RpcError, SearchResponse, shorten};
use tokio::sync::oneshot;

use super::gone;
use crate::event::Event;
use crate::shared::Shared;
use crate::view::WorkspaceView;

/// How long one answer waits for changed files in all.
const PATIENCE: Duration = Duration::from_millis(200);
/// An answer does not wait for more files than this.
const MOST_FILES: u64 = 20;
/// Files that a note names.
const NAMED: usize = 3;

/// The files among the hits of an answer that are not as the index knows them.
#[derive(Debug, Default, Clone)]
pub struct Stale {
    /// They have other bytes.
    pub changed: Vec<String>,
    /// They are gone, or cannot be read.
    pub gone: Vec<String>,
}

/// Brings the index up to what changed, for one question.
pub struct Freshener {
    shared: Arc<Shared>,
    view: Arc<WorkspaceView>,
    deadline: Instant,
    /// The system reported all changes in time.
    heard: bool,
}

impl Freshener {
    /// For one question, asked now.
    pub fn new(shared: &Arc<Shared>, view: &Arc<WorkspaceView>) -> Self {
        Self {
            shared: Arc::clone(shared),
            view: Arc::clone(view),
            deadline: Instant::now() + PATIENCE,
            heard: true,
        }
    }

    /// Has every file read that is known to have changed, unless there are many.
    ///
    /// # Errors
    /// `internal` where that panicked.
    pub async fn read_known_changes(&mut self) -> Result<(), RpcError> {
        let Some(listener) = self.view.listener() else {
            return Ok(());
        };
        let (shared, view) = (Arc::clone(&self.shared), Arc::clone(&self.view));
        let listen = move || {
            let heard = listener.catch_up();
            if let Some(event) = listener.take() {
                view.count_report();
                // The engine is gone only when the daemon ends.
                let _ = shared.events.send(Event::Watch(event));
            }
            heard
        };
        self.heard = tokio::task::spawn_blocking(listen).await.map_err(gone)?;
        let freshness = self.view.freshness();
        let warming = freshness.degraded.is_some_and(|(word, _)| word == "warming");
        if !warming && (1..=MOST_FILES).contains(&freshness.unread) {
            self.read(Vec::new()).await;
        }
        Ok(())
    }

    /// Has the changed files among the hits read. Returns whether they were read in time.
    pub async fn read_stale(&self, stale: &Stale) -> bool {
        !stale.changed.is_empty()
            && stale.changed.len() as u64 <= MOST_FILES
            && self.read(stale.changed.clone()).await
    }

    async fn read(&self, paths: Vec<String>) -> bool {
        let (done, read) = oneshot::channel();
        let root: PathBuf = self.view.root.clone();
        if self
            .shared
            .events
            .send(Event::Read { root, paths, done })
            .is_err()
        {
            return false;
        }
        let left = self.deadline.saturating_duration_since(Instant::now());
        matches!(tokio::time::timeout(left, read).await, Ok(Ok(())))
    }

    /// Adds to an answer what it is missing.
    pub fn complete(&self, response: &mut SearchResponse, stale: &Stale) {
        let missing = stale.changed.len() as u64;
        if missing > 0 {
            response.index.pending = response.index.pending.max(missing);
            response.index.lag_ms = response.index.lag_ms.max(1);
            let what = "changed on disk and not read yet, so new text may be missing";
            response.notes.push(format!("{what}: {}", named(&stale.changed)));
        }
        if !stale.gone.is_empty() {
            let what = "left out, because the file is gone or cannot be read";
            response.notes.push(format!("{what}: {}", named(&stale.gone)));
        }
        if !self.heard {
            let what = "the watcher did not answer in time: changes of the last moments may be missing";
            response.notes.push(what.to_owned());
        }
    }
}

/// Looks whether a missing model was copied into its place; no answer waits for that.
pub fn look_for_model(shared: &Arc<Shared>) {
    let shared = Arc::clone(shared);
    tokio::task::spawn_blocking(move || {
        shared.models.check_copied();
        // The engine is gone only when the daemon ends.
        let _ = shared.events.send(Event::LookForModel);
    });
}

fn named(paths: &[String]) -> String {
    let shown: Vec<String> = paths.iter().take(NAMED).map(|path| shorten(path)).collect();
    let more = match paths.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    shown.join(", ") + &more
}
