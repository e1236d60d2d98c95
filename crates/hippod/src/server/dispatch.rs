//! Dispatch of requests to their handlers.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use serde::Serialize;
use tokio::sync::{broadcast::error::RecvError, oneshot};
use tracing::Span;

use hippo_proto::{
    Call, EventName, HelloResponse, Id, PROTOCOL, Request, RpcError, ShutdownResponse, SubscribeRequest,
    SubscribeResponse, WorkspaceInfo, WorkspaceListResponse, encode_result,
};

use super::connection::Outbox;
use super::long::{Tell, at_length};
use super::removal::remove;
use super::{backups, doctor, entries, flush, models};
use crate::audit;
use crate::cancellation::Cancellation;
use crate::contexts;
use crate::engine::Change;
use crate::errors::{client_gone, stopping, task_failed};
use crate::event::{self, Answer, Event, Until};
use crate::recall;
use crate::shared::Shared;
use crate::status;
use crate::tree;
use crate::view::WorkspaceView;
use crate::views::Slot;

/// Protocol features of this daemon.
const FEATURES: [&str; 14] = [
    "search",
    "get",
    "workspace",
    "model",
    "subscribe",
    "doctor",
    "index",
    "cycle",
    "remember",
    "context",
    "tree",
    "metrics",
    "audit",
    "backup",
];

/// Serves one call and returns the response line.
///
/// # Errors
/// The error of the method.
pub async fn answer(shared: &Arc<Shared>, call: Call, outbox: &Outbox) -> Result<Vec<u8>, RpcError> {
    let Call { id, request } = call;
    match request {
        Request::Hello(_) => line(&id, Ok(hello())),
        Request::Status(_) => line(&id, Ok(status::status(shared).await)),
        Request::Metrics(_) => line(&id, Ok(status::metrics(shared).await)),
        Request::Doctor(request) => tokio::select! {
            answer = doctor::doctor(shared, request) => line(&id, answer),
            () = outbox.gone() => Err(client_gone()),
        },
        Request::Audit(request) => {
            let view = shared.views.get(&request.workspace).await?;
            let audit = move |shared: &Shared, _: Tell<'_>, given_up: &AtomicBool| {
                audit::audit(shared, &view, &request, given_up)
            };
            line(&id, at_length(shared, &id, outbox, audit).await)
        }
        Request::Shutdown(_) => {
            shared.stop.send_replace(true);
            let pid = std::process::id();
            line(&id, Ok(ShutdownResponse { pid }))
        }
        Request::Subscribe(request) => line(&id, subscribe(shared, request, outbox)),
        Request::WorkspaceAdd(request) => {
            let folder = PathBuf::from(request.workspace);
            let added = ask(shared, |reply| event::Request::Add { folder, reply });
            line(&id, added.await)
        }
        Request::WorkspaceList(_) => line(&id, Ok(list(shared))),
        Request::WorkspaceRemove(request) => line(&id, remove(shared, request).await),
        Request::WorkspaceSync(request) => {
            let view = shared.views.get(&request.workspace).await?;
            models::check_copied(shared).await?;
            let synced = ask(shared, |reply| event::Request::Sync {
                root: view.root.clone(),
                until: if request.wait {
                    Until::Searchable
                } else {
                    Until::Step
                },
                accept_deletions: request.accept_deletions,
                reply,
            });
            line(&id, synced.await)
        }
        Request::WorkspaceTrust(request) => {
            let root = shared.views.get(&request.workspace).await?.root.clone();
            let trusted = ask(shared, |reply| event::Request::Trust { root, request, reply });
            line(&id, trusted.await)
        }
        Request::Search(request) => line(&id, recall::search(shared, request).await),
        Request::Get(request) => line(&id, recall::get(shared, request).await),
        Request::Remember(request) => line(&id, entries::remember(shared, request).await),
        Request::IndexList(request) => line(&id, entries::list(shared, request).await),
        Request::IndexShow(request) => line(&id, entries::show(shared, request).await),
        Request::IndexEdit(request) => {
            let workspace = request.workspace.clone();
            let edit = |reply| Change::Edit(request, reply);
            line(&id, entries::change(shared, &workspace, edit).await)
        }
        Request::IndexForget(request) => {
            let forget = |reply| Change::Forget(request.id, reply);
            line(&id, entries::change(shared, &request.workspace, forget).await)
        }
        Request::IndexRestore(request) => {
            let restore = |reply| Change::Restore(request.id, reply);
            line(&id, entries::change(shared, &request.workspace, restore).await)
        }
        Request::CycleRun(request) => line(&id, entries::run(shared, request).await),
        Request::CycleHistory(request) => {
            let root = shared.views.get(&request.workspace).await?.root.clone();
            let history = ask(shared, |reply| event::Request::History { root, request, reply });
            line(&id, history.await)
        }
        Request::CycleUndo(request) => {
            let undo = |reply| Change::Undo(request.run, reply);
            line(&id, entries::change(shared, &request.workspace, undo).await)
        }
        Request::Heartbeat(request) => line(&id, entries::heartbeat(shared, request).await),
        Request::TreeCompact(request) => {
            let view = entries::view_to_write(shared, &request.workspace).await?;
            let wish = tree::wish_of(shared, &view, &request)?;
            let compact = move |shared: &Shared, _: Tell<'_>, given_up: &AtomicBool| {
                tree::compact(shared, &view, wish, Cancellation::by(given_up))
            };
            line(&id, at_length(shared, &id, outbox, compact).await)
        }
        Request::TreePending(request) => {
            let view = shared.views.get(&request.workspace).await?;
            let pending = move |shared: &Shared| tree::pending(shared, &view, &request);
            line(&id, blocking(shared, pending).await)
        }
        Request::TreeSubmit(request) => {
            let view = shared.views.get(&request.workspace).await?;
            let submit = move |shared: &Shared| tree::submit(shared, &view, &request);
            line(&id, blocking(shared, submit).await)
        }
        Request::TreeShow(request) => {
            let view = shared.views.get(&request.workspace).await?;
            let show = move |shared: &Shared| tree::show(shared, &view, &request);
            line(&id, blocking(shared, show).await)
        }
        Request::ContextOpen(request) => {
            let view = shared.views.get(&request.workspace).await?;
            let open = move |shared: &Shared| contexts::open(shared, &view, &request);
            line(&id, blocking(shared, open).await)
        }
        Request::ContextPut(request) => {
            let put = move |shared: &Shared| contexts::put(shared, &request);
            line(&id, in_all(shared, put).await)
        }
        Request::ContextTurn(request) => {
            let turn = move |shared: &Shared| contexts::turn(shared, &request);
            line(&id, in_all(shared, turn).await)
        }
        Request::ContextRender(request) => {
            let render = move |shared: &Shared| contexts::render(shared, &request);
            line(&id, in_all(shared, render).await)
        }
        Request::ContextFetch(request) => {
            let fetch = move |shared: &Shared| contexts::fetch(shared, &request);
            line(&id, in_all(shared, fetch).await)
        }
        Request::ContextTouch(request) => {
            let touch = move |shared: &Shared| contexts::touch(shared, &request);
            line(&id, in_all(shared, touch).await)
        }
        Request::ContextList(request) => {
            let view = view_of(shared, request.workspace.as_deref()).await?;
            let list = move |shared: &Shared| contexts::list(shared, view.as_deref(), &request);
            line(&id, in_all(shared, list).await)
        }
        Request::ContextClose(request) => {
            shared.views.opened().await;
            line(&id, contexts::close(shared, request).await)
        }
        Request::SessionCompact(request) => {
            let view = view_of(shared, request.workspace.as_deref()).await?;
            let compact = move |shared: &Shared, _: Tell<'_>, given_up: &AtomicBool| {
                contexts::compact(shared, view.as_deref(), request, Cancellation::by(given_up))
            };
            line(&id, at_length(shared, &id, outbox, compact).await)
        }
        Request::SessionFlush(request) => line(&id, flush::flush(shared, request, &id, outbox).await),
        Request::ModelList(_) => line(&id, models::list(shared).await),
        Request::ModelPull(request) => line(&id, models::pull(shared, request, &id, outbox).await),
        Request::ModelVerify(request) => line(&id, models::verify(shared, request).await),
        Request::ModelImport(request) => line(&id, models::import(shared, request).await),
        Request::ModelRemove(request) => line(&id, models::remove(shared, request).await),
        Request::Backup(request) => line(&id, backups::backup(shared, request, &id, outbox).await),
        Request::BackupVerify(request) => line(&id, backups::verify(shared, request, &id, outbox).await),
        Request::Restore(request) => line(&id, backups::restore(shared, request, &id, outbox).await),
    }
}

/// Returns the workspace that a request names, if any.
async fn view_of(shared: &Shared, workspace: Option<&str>) -> Result<Option<Arc<WorkspaceView>>, RpcError> {
    match workspace {
        Some(workspace) => shared.views.get(workspace).await.map(Some),
        None => Ok(None),
    }
}

fn line<T: Serialize>(id: &Id, result: Result<T, RpcError>) -> Result<Vec<u8>, RpcError> {
    result.map(|result| encode_result(id, &result))
}

fn hello() -> HelloResponse {
    HelloResponse {
        protocol: PROTOCOL,
        daemon: env!("CARGO_PKG_VERSION").to_owned(),
        pid: std::process::id(),
        features: FEATURES.map(str::to_owned).to_vec(),
    }
}

/// Sends a request to the engine and waits for the answer.
pub async fn ask<T>(
    shared: &Shared,
    request: impl FnOnce(Answer<T>) -> event::Request,
) -> Result<T, RpcError> {
    let (reply, answer) = oneshot::channel();
    shared
        .events
        .send(Event::Request(request(reply), Span::current()))
        .map_err(|_| stopping())?;
    answer.await.map_err(|_| stopping())?
}

pub(super) async fn blocking<T: Send + 'static>(
    shared: &Arc<Shared>,
    work: impl FnOnce(&Shared) -> Result<T, RpcError> + Send + 'static,
) -> Result<T, RpcError> {
    let (shared, span) = (Arc::clone(shared), Span::current());
    tokio::task::spawn_blocking(move || span.in_scope(|| work(&shared)))
        .await
        .map_err(task_failed)?
}

/// Waits until all workspaces are open, then runs work that searches them.
async fn in_all<T: Send + 'static>(
    shared: &Arc<Shared>,
    work: impl FnOnce(&Shared) -> Result<T, RpcError> + Send + 'static,
) -> Result<T, RpcError> {
    shared.views.opened().await;
    blocking(shared, work).await
}

fn list(shared: &Shared) -> WorkspaceListResponse {
    let info = |(root, slot): (PathBuf, Slot)| {
        let (status, opening) = match slot {
            Slot::Open(view) => {
                let status = view.status();
                let opening = status.is_none();
                (status, opening)
            }
            Slot::Opening => (None, true),
            Slot::Broken(_) => (None, false),
        };
        WorkspaceInfo {
            opening,
            root_present: hippo_fs::is_present(&root),
            root: root.display().to_string(),
            documents: status.as_ref().map_or(0, |status| status.documents),
            pending: status.as_ref().map_or(0, |status| status.pending),
            generation: status.as_ref().map_or(0, |status| status.generation),
        }
    };
    WorkspaceListResponse {
        workspaces: shared.views.all().into_iter().map(info).collect(),
    }
}

/// Sends events to the client until it closes the connection.
fn subscribe(
    shared: &Arc<Shared>,
    request: SubscribeRequest,
    outbox: &Outbox,
) -> Result<SubscribeResponse, RpcError> {
    let root = request.workspace.as_deref().map(|folder| {
        let folder = std::path::Path::new(folder);
        shared
            .views
            .root_of(folder)
            .unwrap_or_else(|| folder.to_path_buf())
            .display()
            .to_string()
    });
    let wanted = request.events.unwrap_or_else(|| {
        vec![
            EventName::Indexed,
            EventName::Cycle,
            EventName::Degraded,
            EventName::Job,
        ]
    });
    let mut news = shared.news.subscribe();
    // A strong sender would keep the connection open forever.
    let outbox = outbox.lines.downgrade();
    let events = wanted.clone();
    tokio::spawn(async move {
        loop {
            match news.recv().await {
                Ok(event) => {
                    let Some(outbox) = outbox.upgrade() else { return };
                    let concerns =
                        event.workspace().is_none() || root.is_none() || event.workspace() == root.as_deref();
                    let wanted = concerns && events.contains(&event.name());
                    if wanted && outbox.send(event.to_line()).await.is_err() {
                        return;
                    }
                }
                // A slow reader misses events; each later event has the state of its own time.
                Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => return,
            }
        }
    });
    Ok(SubscribeResponse { events: wanted })
}
