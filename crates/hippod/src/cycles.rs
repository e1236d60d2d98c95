//! Cycles that clients request, and the tree updates afterwards.

use std::collections::BTreeSet;
use std::sync::Arc;

use hippo_proto::{
    Cycle, CycleHistoryRequest, CycleReport, CycleRun, CycleRunRequest, ErrorKind, HeartbeatRequest,
    HeartbeatResponse, Pending, RpcError,
};

use crate::clock::Clock;
use crate::memory::MemoryWriter;
use crate::message::{AnswerSender, EngineHandle, HeartbeatAnswer, Order, WorkspaceMessage};
use crate::tree::{self, TreeOptions, Trees};
use crate::view::WorkspaceView;
use crate::views::Views;

/// Runner of the cycles that clients request. It sends each request to the engine and updates the tree afterwards.
pub struct CycleRunner {
    /// Registered workspaces.
    pub views: Arc<Views>,
    /// Clock.
    pub clock: Arc<dyn Clock>,
    /// Handle of the engine.
    pub engine: EngineHandle,
    /// Writer of the memory.
    pub memory: MemoryWriter,
    /// Trees, which are updated after a cycle.
    pub trees: Arc<Trees>,
}

impl CycleRunner {
    /// Runs a cycle.
    ///
    /// # Errors
    /// Returns the engine's error, `degraded` if the index is disabled, or `bad-request` for an invalid time.
    pub async fn run(&self, request: CycleRunRequest) -> Result<CycleReport, RpcError> {
        let view = self.memory.view_to_write(&request.workspace).await?;
        if !view.config.index.enabled {
            return Err(
                RpcError::new(ErrorKind::Degraded, "the index is disabled for this workspace")
                    .hint("set `index.enabled = true` in the configuration"),
            );
        }
        let at = match &request.at {
            Some(at) => Some(view.moment(&*self.clock, Some(at))?),
            None => None,
        };
        let (cycle, dry_run) = (request.cycle, request.dry_run);
        let _awaited = self.trees.await_for(&view.root);
        let ran = self.engine.ask(&view.root, |reply| {
            WorkspaceMessage::Order(Order::Cycle {
                cycle,
                at,
                dry_run,
                when_due: false,
                reply: Some(reply),
            })
        });
        let mut report = ran.await?;
        if request.cycle != Cycle::Archival {
            let wish = TreeOptions {
                at,
                dry_run,
                days: cycle == Cycle::Light,
                ..TreeOptions::default()
            };
            report.tree = tree::after(&self.trees, &view, wish).await;
        }
        Ok(report)
    }

    /// Runs the cycles that are due, and returns the pending work.
    ///
    /// # Errors
    /// Returns `no-workspace`, or `warming` if the workspace's folder is missing. If a cycle fails, the response
    /// reports the failure, and the remaining cycles still run.
    pub async fn heartbeat(&self, request: HeartbeatRequest) -> Result<HeartbeatResponse, RpcError> {
        let view = self.views.get(&request.workspace).await?;
        let earlier = self.past_runs(&view).await?;
        let earlier: BTreeSet<i64> = earlier.iter().map(|row| row.run).collect();
        let HeartbeatAnswer { due, .. } = self.ask_pending(&view, false).await?;
        let (mut failed, mut runs) = (Vec::new(), Vec::new());
        for cycle in due {
            let ended = self.engine.ask(&view.root, |reply: AnswerSender<CycleReport>| {
                WorkspaceMessage::Order(Order::Cycle {
                    cycle,
                    at: None,
                    dry_run: false,
                    when_due: true,
                    reply: Some(reply),
                })
            });
            match ended.await {
                Ok(report) => runs.extend(report.run),
                Err(error) if error.data.kind == ErrorKind::Warming => return Err(error),
                Err(error) => failed.push(Pending {
                    kind: "cycle-failed".to_owned(),
                    text: format!("{} cycle: {}; {}", cycle.name(), error.message, error.data.hint),
                    paths: Vec::new(),
                }),
            }
        }
        let mut ran = self.past_runs(&view).await?;
        // The schedule may have run a due cycle before this request did, so cycles that finished in the meantime count
        // too.
        ran.retain(|row| runs.contains(&row.run) || row.finished.is_some() && !earlier.contains(&row.run));
        ran.sort_by(|a, b| (&a.finished, a.run).cmp(&(&b.finished, b.run)));
        let HeartbeatAnswer {
            mut pending, next, ..
        } = self.ask_pending(&view, true).await?;
        pending.splice(..0, failed);
        let due = TreeOptions {
            when_due: true,
            ..TreeOptions::default()
        };
        tree::after(&self.trees, &view, due).await;
        pending.extend(tree::waiting(&self.trees, &view).await);
        Ok(HeartbeatResponse { ran, pending, next })
    }

    async fn past_runs(&self, view: &WorkspaceView) -> Result<Vec<CycleRun>, RpcError> {
        let request = CycleHistoryRequest {
            workspace: view.root.display().to_string(),
            limit: Some(hippo_proto::MAX_RUNS),
            run: None,
        };
        let history = self
            .engine
            .ask(&view.root, |reply| WorkspaceMessage::History(request, reply));
        Ok(history.await?.runs)
    }

    async fn ask_pending(&self, view: &WorkspaceView, tells: bool) -> Result<HeartbeatAnswer, RpcError> {
        let beat = |reply| WorkspaceMessage::Heartbeat { tells, reply };
        self.engine.ask(&view.root, beat).await
    }
}
