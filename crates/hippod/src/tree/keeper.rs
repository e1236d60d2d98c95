//! Automatic updates of the compaction trees.

use std::sync::Arc;

use hippo_proto::{Cycle, CycleOutcome, Event, Pending, TreeCompactResponse, TreePendingRequest};
use hippo_text::text::plural;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{broadcast, watch};

use super::Trees;
use super::run::{TreeOptions, compact, is_kept};
use super::serve::pending;
use crate::tasks::{Cancellation, run_blocking_on, wait_until_set};
use crate::view::WorkspaceView;

/// Updates the trees of all workspaces after their cycles, until the daemon stops. After a light cycle, only the nodes
/// for days are updated, or all levels if a full run is due. After a deep cycle, all levels are updated.
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
            // If events were lost, the next cycle causes the update.
            Ok(_) | Err(RecvError::Lagged(_)) => continue,
            Err(RecvError::Closed) => return,
        };
        let views = trees.views.open();
        let it = views
            .into_iter()
            .find(|view| view.root.as_os_str() == workspace.as_str());
        if let Some(view) = it.filter(|view| !trees.is_awaited(&view.root)) {
            let wish = TreeOptions {
                days: cycle == Cycle::Light,
                ..TreeOptions::default()
            };
            after(&trees, &view, wish).await;
        }
    }
}

/// Updates the tree of a workspace, and returns the result. Returns `None` if the workspace has no tree, or if the
/// update failed. Failures are logged.
pub async fn after(
    trees: &Arc<Trees>,
    view: &Arc<WorkspaceView>,
    wish: TreeOptions,
) -> Option<TreeCompactResponse> {
    if !is_kept(view) {
        return None;
    }
    let at = Arc::clone(view);
    let work = run_blocking_on(trees, move |trees| compact(trees, &at, wish, Cancellation::NEVER));
    match work.await {
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

/// Returns a message for a heartbeat about the nodes that need a summary; `None` if there are none.
pub async fn waiting(trees: &Arc<Trees>, view: &Arc<WorkspaceView>) -> Option<Pending> {
    if !is_kept(view) {
        return None;
    }
    let at = Arc::clone(view);
    let work = run_blocking_on(trees, move |trees| {
        pending(trees, &at, &TreePendingRequest::default())
    });
    let jobs = work.await.ok()?;
    (jobs.total > 0).then(|| Pending {
        kind: "summaries-wanted".to_owned(),
        text: format!(
            "summaries are needed for {} of the compaction tree: `hippoctl tree pending` lists the jobs, and \
             `hippoctl tree submit` accepts a summary",
            plural(jobs.total, "node"),
        ),
        paths: jobs.jobs.into_iter().map(|job| job.path).collect(),
    })
}
