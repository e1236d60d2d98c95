//! Handlers of `index.*`, `cycle.*`, `remember` and `heartbeat`.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use tokio::sync::oneshot;

use hippo_core::time::Timestamp;
use hippo_proto::{
    CycleHistoryRequest, CycleName, CycleReport, CycleRun, CycleRunRequest, ErrorKind, HeartbeatRequest,
    HeartbeatResponse, IndexListRequest, IndexListResponse, IndexShowRequest, IndexShowResponse, Pending,
    RememberRequest, RememberResponse, RpcError,
};

use super::dispatch::{ask, blocking};
use crate::clock::{date_in, moment};
use crate::engine::{Change, Order, Remembered, cycle_named, cycle_of};
use crate::errors::root_missing;
use crate::errors::stopping;
use crate::event::{self, Answer, Event, Until};
use crate::files;
use crate::index::{answers, standing};
use crate::remember;
use crate::shared::Shared;
use crate::tree::{self, Wish};
use crate::view::WorkspaceView;

/// Handles `index.list`.
///
/// # Errors
/// `no-workspace`, `bad-request` for an invalid time.
pub async fn list(shared: &Arc<Shared>, request: IndexListRequest) -> Result<IndexListResponse, RpcError> {
    let view = shared.views.get(&request.workspace).await?;
    let at = moment_of(shared, &view, request.at.as_deref())?;
    Ok(answers::list(&view.index(), &request, at))
}

/// Handles `index.show`.
///
/// # Errors
/// `no-workspace`, `not-found`, `bad-request` for an invalid time.
pub async fn show(shared: &Arc<Shared>, request: IndexShowRequest) -> Result<IndexShowResponse, RpcError> {
    let view = shared.views.get(&request.workspace).await?;
    let at = moment_of(shared, &view, request.at.as_deref())?;
    let work = move |_: &Shared| {
        let root = view.root.clone();
        let limit = view.config.sources.max_file_bytes;
        answers::show(
            &view.index(),
            &request,
            at,
            |pointer| !files::leads_somewhere(&root, pointer, limit),
            |id| standing::file_of(&root, id),
        )
    };
    blocking(shared, work).await
}

/// Returns the workspace at or above a folder, for a request that writes. A disk that is mounted again is detected
/// immediately.
///
/// # Errors
/// Same as [`Views::get`](crate::views::Views::get).
pub async fn view_to_write(shared: &Arc<Shared>, folder: &str) -> Result<Arc<WorkspaceView>, RpcError> {
    let view = shared.views.get(folder).await?;
    let was_away = view.status().is_some_and(|status| !status.root_present);
    if was_away && hippo_fs::is_present(&view.root) {
        let root = view.root.clone();
        let looked = ask(shared, |reply| event::Request::Sync {
            root,
            until: Until::Step,
            accept_deletions: false,
            reply,
        });
        // A request that needs the disk reports its own error.
        drop(looked.await);
    }
    Ok(view)
}

/// Sends a change of entries to the engine.
///
/// # Errors
/// The error of the engine.
pub async fn change<T>(
    shared: &Arc<Shared>,
    workspace: &str,
    change: impl FnOnce(Answer<T>) -> Change,
) -> Result<T, RpcError> {
    let view = view_to_write(shared, workspace).await?;
    order(shared, &view, |reply| Order::Change(change(reply))).await
}

/// Runs a cycle.
///
/// # Errors
/// The error of the engine, `degraded` if the index is disabled, `bad-request` for an invalid time.
pub async fn run(shared: &Arc<Shared>, request: CycleRunRequest) -> Result<CycleReport, RpcError> {
    let view = view_to_write(shared, &request.workspace).await?;
    if !view.config.index.enabled {
        return Err(RpcError::new(
            ErrorKind::Degraded,
            "the index is switched off for this workspace",
        )
        .hint("set index.enabled = true in the configuration"));
    }
    let at = match &request.at {
        Some(at) => Some(moment_of(shared, &view, Some(at))?),
        None => None,
    };
    let (cycle, dry_run) = (cycle_of(request.cycle), request.dry_run);
    let _awaited = shared.trees.await_for(&view.root);
    let ran = order(shared, &view, |reply| Order::Cycle {
        cycle,
        at,
        dry_run,
        when_due: false,
        reply: Some(reply),
    });
    let mut report = ran.await?;
    if request.cycle != CycleName::Archival {
        let wish = Wish {
            at,
            dry_run,
            // Summaries may take minutes.
            summaries: false,
            ..tree::wish(request.cycle)
        };
        report.tree = tree::after(shared, &view, wish).await;
        if request.cycle == CycleName::Deep && !dry_run {
            tree::summarise(shared, &view);
        }
    }
    Ok(report)
}

/// Appends a text to the log of the day and creates its entry.
///
/// # Errors
/// The log could not be appended to; nothing was written then.
pub async fn remember(shared: &Arc<Shared>, request: RememberRequest) -> Result<RememberResponse, RpcError> {
    let request = remember::structured(request);
    let view = view_to_write(shared, &request.workspace).await?;
    let zone = shared.zone_of(&view);
    let today = date_in(shared.clock.now(), &zone);
    if view.status().is_some_and(|status| !status.root_present) || !hippo_fs::is_present(&view.root) {
        return Err(root_missing(&view.root));
    }
    let (root, asked) = (view.root.clone(), request.clone());
    // The time to search for secrets grows with the text.
    let append = move |_: &Shared| {
        let appended = remember::append(&root, today, &asked)?;
        let secrets = remember::Secrets::of(&asked);
        let (kinds, told) = (secrets.names(), secrets.notes(&appended));
        Ok((appended, kinds, told))
    };
    let (appended, kinds, mut told) = blocking(shared, append).await?;
    let (path, start_line, end_line) = (appended.path.clone(), appended.start_line, appended.end_line);
    let repeated = appended.repeated;
    let entered = order(shared, &view, |reply| {
        Order::Change(Change::Remembered(Box::new(Remembered {
            request,
            appended,
            reply,
        })))
    });
    let (entered, is_searchable) = match entered.await {
        Ok(entered) => (entered.entry, entered.is_searchable),
        Err(error) => (Err(error), false),
    };
    let (entry, mut notes) = match entered {
        Ok(entry) if repeated => {
            let done = if entry.is_some() {
                "; its entry counts as accessed"
            } else {
                ""
            };
            (
                entry,
                vec![format!(
                    "the text is in the log of today already: nothing was appended{done}"
                )],
            )
        }
        Ok(entry) => (entry, Vec::new()),
        // The text is in the log, so the request succeeded.
        Err(error) => (
            None,
            vec![format!(
                "the text is in the log; its entry could not be made: {}",
                error.message
            )],
        ),
    };
    if !is_searchable {
        notes.push(format!("{path} is not searched yet: hippoctl status tells why"));
    }
    told.extend(notes);
    Ok(RememberResponse {
        path,
        start_line,
        end_line,
        entry,
        secrets: kinds,
        notes: told,
    })
}

/// Runs the cycles that are due, and returns the pending work.
///
/// # Errors
/// `no-workspace`, `warming` if the workspace's folder is missing. A failed cycle is listed in the answer, and the
/// others still run.
pub async fn heartbeat(
    shared: &Arc<Shared>,
    request: HeartbeatRequest,
) -> Result<HeartbeatResponse, RpcError> {
    let view = shared.views.get(&request.workspace).await?;
    let before: BTreeMap<i64, Option<String>> = runs(shared, &view)
        .await?
        .into_iter()
        .map(|row| (row.run, row.finished))
        .collect();
    let event::Beat { due, .. } = beat(shared, &view, false).await?;
    let mut failed = Vec::new();
    for cycle in due {
        let ended = order(shared, &view, |reply: Answer<CycleReport>| Order::Cycle {
            cycle,
            at: None,
            dry_run: false,
            when_due: true,
            reply: Some(reply),
        });
        match ended.await {
            Ok(_) => {}
            Err(error) if error.data.kind == ErrorKind::Warming => return Err(error),
            Err(error) => failed.push(Pending {
                kind: "cycle-failed".to_owned(),
                text: format!(
                    "{} cycle: {}; {}",
                    cycle_named(cycle).name(),
                    error.message,
                    error.data.hint
                ),
                paths: Vec::new(),
            }),
        }
    }
    // A run that had failed before and was resumed has a new end time.
    let ended = |row: &CycleRun| row.finished.is_some() && before.get(&row.run) != Some(&row.finished);
    let mut ran = runs(shared, &view).await?;
    ran.retain(ended);
    ran.sort_by(|a, b| (&a.finished, a.run).cmp(&(&b.finished, b.run)));
    let event::Beat {
        mut pending, next, ..
    } = beat(shared, &view, true).await?;
    pending.splice(..0, failed);
    let due = Wish {
        when_due: true,
        ..Wish::default()
    };
    tree::after(shared, &view, due).await;
    pending.extend(tree::waiting(shared, &view).await);
    Ok(HeartbeatResponse { ran, pending, next })
}

async fn runs(shared: &Arc<Shared>, view: &WorkspaceView) -> Result<Vec<CycleRun>, RpcError> {
    let root = view.root.clone();
    let request = CycleHistoryRequest {
        workspace: root.display().to_string(),
        limit: Some(hippo_proto::MAX_RUNS),
        run: None,
    };
    let history = ask(shared, |reply| event::Request::History { root, request, reply });
    Ok(history.await?.runs)
}

async fn beat(shared: &Arc<Shared>, view: &WorkspaceView, tells: bool) -> Result<event::Beat, RpcError> {
    let root = view.root.clone();
    ask(shared, |reply| event::Request::Heartbeat { tells, root, reply }).await
}

/// Sends an order about entries to the engine and waits for the answer.
async fn order<T>(
    shared: &Shared,
    view: &WorkspaceView,
    order: impl FnOnce(Answer<T>) -> Order,
) -> Result<T, RpcError> {
    let (reply, answer) = oneshot::channel();
    let root: PathBuf = view.root.clone();
    let order = order(reply);
    shared
        .events
        .send(Event::Order { root, order })
        .map_err(|_| stopping())?;
    answer.await.map_err(|_| stopping())?
}

fn moment_of(shared: &Shared, view: &WorkspaceView, at: Option<&str>) -> Result<Timestamp, RpcError> {
    let Some(at) = at else {
        return Ok(shared.clock.now());
    };
    let zone = shared.zone_of(view);
    moment(at, &zone).ok_or_else(|| {
        RpcError::bad_request(format!("there is no such moment: {at}"))
            .hint("moments are written YYYY-MM-DD or like 2026-01-10T09:30:00Z")
    })
}
