//! Indexing of changed files before a search is answered.
//!
//! If a file has changed since it was indexed, the search waits briefly until it is indexed again. If that takes too
//! long, a note in the answer names the file.

use std::sync::Arc;
use std::time::{Duration, Instant};

use hippo_proto::{IndexState, RpcError, SearchResponse, shorten};

use super::index_first::Route;
use super::{SearchState, Searcher};
use crate::errors::task_failed;
use crate::message::{EngineMessage, WorkspaceMessage};
use crate::view::{SearchSnapshot, WorkspaceView};

/// Maximum total time that one search waits for changed files.
const PATIENCE: Duration = Duration::from_millis(200);
/// Maximum number of changed files for which a search waits. If there are more, it does not wait at all.
const MOST_FILES: u64 = 20;
/// Maximum number of files that a note names.
const NAMED: usize = 3;

impl SearchState {
    /// Returns the state of the index for an answer. `vector` is true if the search used a vector.
    pub(super) fn index_state(&self, snapshot: &SearchSnapshot, vector: bool) -> IndexState {
        let freshness = self.view.freshness();
        let wants_meaning = self.question.meaning && self.consulted.route != Route::Index;
        let degraded = freshness.degraded.or_else(|| {
            let missing = wants_meaning && !vector && !snapshot.vectors.is_empty();
            missing.then(|| {
                (
                    "model-late",
                    "searched only by keyword, because the model did not return a vector in time".to_owned(),
                )
            })
        });
        let (degraded, why) = degraded.unzip();
        IndexState {
            generation: snapshot.generation,
            pending: freshness.pending,
            lag_ms: freshness.behind_since.map_or(0, |since| {
                u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX)
            }),
            degraded: degraded.map(str::to_owned),
            why,
        }
    }
}

/// Files of ranked chunks that differ from the index.
#[derive(Debug, Default, Clone)]
pub struct StaleFiles {
    /// Files whose content differs from the index.
    pub changed: Vec<String>,
    /// Files that are missing or cannot be read.
    pub gone: Vec<String>,
}

/// Updater of the index, which waits for changed files before one search is answered.
pub struct Freshener {
    searcher: Arc<Searcher>,
    view: Arc<WorkspaceView>,
    deadline: Instant,
    /// True if the watcher has received all earlier changes from the operating system.
    heard: bool,
}

impl Freshener {
    /// Creates the updater for one search. The time limit starts now.
    pub fn new(searcher: &Arc<Searcher>, view: &Arc<WorkspaceView>) -> Self {
        Self {
            searcher: Arc::clone(searcher),
            view: Arc::clone(view),
            deadline: Instant::now() + PATIENCE,
            heard: true,
        }
    }

    /// Waits until the files that are known to have changed are indexed, unless there are too many.
    ///
    /// # Errors
    /// Returns `internal` if the background task panicked.
    pub async fn read_known_changes(&mut self) -> Result<(), RpcError> {
        let Some(listener) = self.view.listener() else {
            return Ok(());
        };
        let (searcher, view) = (Arc::clone(&self.searcher), Arc::clone(&self.view));
        let listen = move || {
            let heard = listener.catch_up();
            if let Some(event) = listener.take() {
                view.count_report();
                searcher
                    .engine
                    .send_to(&view.root, WorkspaceMessage::Watch(event));
            }
            heard
        };
        self.heard = tokio::task::spawn_blocking(listen).await.map_err(task_failed)?;
        let freshness = self.view.freshness();
        let warming = freshness.degraded.is_some_and(|(word, _)| word == "warming");
        if !warming && (1..=MOST_FILES).contains(&freshness.unread) {
            self.read(Vec::new()).await;
        }
        Ok(())
    }

    /// Waits until the changed files of ranked chunks are indexed. Returns whether this happened in time.
    pub async fn read_stale(&self, stale: &StaleFiles) -> bool {
        // The changed files are in rank order, so the files of the best results come first.
        let first: Vec<String> = stale.changed.iter().take(MOST_FILES as usize).cloned().collect();
        !first.is_empty() && self.read(first).await
    }

    async fn read(&self, paths: Vec<String>) -> bool {
        let read = self.searcher.engine.read_files(&self.view.root, paths);
        let left = self.deadline.saturating_duration_since(Instant::now());
        matches!(tokio::time::timeout(left, read).await, Ok(Ok(_)))
    }

    /// Adds notes to an answer about text that it may lack.
    pub fn complete(&self, response: &mut SearchResponse, stale: &StaleFiles) {
        let missing = stale.changed.len() as u64;
        if missing > 0 {
            response.index.pending = response.index.pending.max(missing);
            response.index.lag_ms = response.index.lag_ms.max(1);
            let what = "new text may be missing from the results, because these files have changed on disk \
                        and are not indexed yet";
            response
                .notes
                .push(format!("{what}: {}", join_names(&stale.changed)));
        }
        if !stale.gone.is_empty() {
            let what = "results were omitted, because these files are missing or unreadable";
            response
                .notes
                .push(format!("{what}: {}", join_names(&stale.gone)));
        }
        if !self.heard {
            let what = "the latest changes may be missing from the results, because the watcher did not \
                        respond in time";
            response.notes.push(what.to_owned());
        }
    }
}

/// Checks in the background whether a missing model has been copied into its folder.
pub fn look_for_model(searcher: &Arc<Searcher>) {
    let searcher = Arc::clone(searcher);
    tokio::task::spawn_blocking(move || {
        searcher.models.check_copied();
        searcher.engine.send(EngineMessage::LookForModel);
    });
}

fn join_names(paths: &[String]) -> String {
    let shown: Vec<String> = paths.iter().take(NAMED).map(|path| shorten(path)).collect();
    let more = match paths.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    shown.join(", ") + &more
}
