//! Automatic updates of the trees.

use std::sync::Arc;

use hippo_proto::{Cycle, CycleOutcome, Event, Pending, TreeCompactResponse, TreePendingRequest};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{broadcast, watch};

use super::Trees;
use super::run::{TreeOptions, compact, is_kept};
use super::serve::pending;
use crate::config::SummaryAuthor;
use crate::errors::task_failed;
use crate::tasks::{Cancellation, wait_until_set};
use crate::view::WorkspaceView;

/// Keeps the trees of all workspaces up to date until the daemon stops. After a light cycle, it updates the days, or
/// all levels if a full run is due. After a deep cycle, it updates all levels.
pub async fn keep(trees: Arc<Trees>, mut news: broadcast::Receiver<Event>, mut stop: watch::Receiver<bool>) {
    loop {
        let heard = tokio::select! {
            () = wait_until_set(&mut stop) => return,
            heard = news.recv() => heard,
        };
        let (workspace, cycle) = match heard {
            Ok(Event::Cycle {
                workspace,
                cycle: cycle @ (Cycle::Light | Cycle::Deep),
                outcome: CycleOutcome::Done | CycleOutcome::Capped,
                ..
            }) => (workspace, cycle),
            // If events were missed, the next cycle makes up for them.
            Ok(_) | Err(RecvError::Lagged(_)) => continue,
            Err(RecvError::Closed) => return,
        };
        let wish = wish(cycle);
        let views = trees.views.open();
        let it = views
            .into_iter()
            .find(|view| view.root.as_os_str() == workspace.as_str());
        if let Some(view) = it.filter(|view| !trees.is_awaited(&view.root)) {
            after(&trees, &view, wish).await;
        }
    }
}

/// Returns the options of the tree update after a cycle.
pub fn wish(cycle: Cycle) -> TreeOptions {
    TreeOptions {
        days: cycle == Cycle::Light,
        summaries: cycle == Cycle::Deep,
        ..TreeOptions::default()
    }
}

/// Updates the tree of a workspace if there is one, and returns the result. Returns `None` if there is no tree or the
/// update failed; failures are logged.
pub async fn after(
    trees: &Arc<Trees>,
    view: &Arc<WorkspaceView>,
    wish: TreeOptions,
) -> Option<TreeCompactResponse> {
    if !is_kept(view) {
        return None;
    }
    let (of, at) = (Arc::clone(trees), Arc::clone(view));
    let work = tokio::task::spawn_blocking(move || compact(&of, &at, wish, Cancellation::NEVER));
    match work.await.map_err(task_failed).and_then(|done| done) {
        Ok(done) => {
            for refusal in &done.refused {
                tracing::warn!(root = %view.root.display(), node = refusal.path, reason = refusal.reason, "could not create a node of the tree");
            }
            Some(done)
        }
        Err(error) => {
            tracing::warn!(root = %view.root.display(), error = error.message, "could not update the tree; retrying after the next cycle");
            None
        }
    }
}

/// Starts the configured program in the background to write the pending summaries.
pub fn summarise(trees: &Arc<Trees>, view: &Arc<WorkspaceView>) {
    if view.config.tree.summaries != SummaryAuthor::Command {
        return;
    }
    let (trees, view) = (Arc::clone(trees), Arc::clone(view));
    tokio::spawn(async move {
        let wish = TreeOptions {
            summaries: true,
            ..TreeOptions::default()
        };
        after(&trees, &view, wish).await;
    });
}

/// Returns the pending summaries of a tree, for a heartbeat.
pub async fn waiting(trees: &Arc<Trees>, view: &Arc<WorkspaceView>) -> Option<Pending> {
    if !is_kept(view) {
        return None;
    }
    let (of, at) = (Arc::clone(trees), Arc::clone(view));
    let work = tokio::task::spawn_blocking(move || pending(&of, &at, &TreePendingRequest::default()));
    let jobs = work.await.ok()?.ok()?;
    (jobs.total > 0).then(|| Pending {
        kind: "summaries-wanted".to_owned(),
        text: format!(
            "summaries are needed for {} of the compaction tree: `hippoctl tree pending` lists the jobs, and \
             `hippoctl tree submit` accepts a summary",
            if jobs.total == 1 {
                "1 node".to_owned()
            } else {
                format!("{} nodes", jobs.total)
            },
        ),
        paths: jobs.jobs.into_iter().map(|job| job.path).collect(),
    })
}
