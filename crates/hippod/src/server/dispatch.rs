//! Dispatch of requests to their handlers.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use serde::Serialize;

use hippo_embed::acquire::PullProgress;
use hippo_proto::{
    Call, HelloResponse, Id, PROTOCOL, Request, RpcError, ShutdownResponse, Viewer, WorkspaceInfo,
    WorkspaceListResponse, encode_result,
};

use super::connection::Outbox;
use super::long::{ProgressCallback, at_length, cancellable};
use super::removal::remove;
use super::subscribe::subscribe;
use super::{Components, backups, entries, flush, shares};
use crate::audit;
use crate::contexts::{self, Contexts};
use crate::doctor;
use crate::errors::client_gone;
use crate::local_share;
use crate::message::{EngineMessage, EntryCommand, WorkspaceMessage};
use crate::models::Models;
use crate::recall;
use crate::share;
use crate::status;
use crate::tasks::{Cancellation, run_blocking_on};
use crate::tree::{self, Trees};
use crate::view::WorkspaceView;
use crate::views::{Slot, Views};

/// Serves one call and returns the response line.
///
/// # Errors
/// Returns the error of the method.
pub async fn answer(components: &Components, call: Call, outbox: &Outbox) -> Result<Vec<u8>, RpcError> {
    let Call { id, viewer, request } = call;
    shares::check_own(components, &request)?;
    let Components {
        views,
        clock,
        engine,
        memory,
        cycles,
        trees,
        contexts,
        models,
        ..
    } = components;
    match request {
        Request::Hello(_) => line(&id, Ok(hello())),
        Request::Status(_) => line(&id, Ok(status::status(&components.reporter).await)),
        Request::Metrics(_) => line(&id, Ok(status::metrics(&components.reporter).await)),
        Request::Doctor(request) => tokio::select! {
            answer = doctor::examine(&components.doctor, request) => line(&id, answer),
            () = outbox.wait_until_gone() => Err(client_gone()),
        },
        Request::Audit(request) => {
            let view = views.get(&request.workspace).await?;
            let clock = Arc::clone(clock);
            let audit = move |cancellation: Cancellation<'_>| {
                audit::audit(&*clock, &view, &viewer, &request, cancellation)
            };
            line(&id, cancellable(outbox, audit).await)
        }
        Request::Shutdown(_) => {
            components.stop.send_replace(true);
            let pid = std::process::id();
            line(&id, Ok(ShutdownResponse { pid }))
        }
        Request::Subscribe(request) => line(&id, subscribe(views, &components.news, request, outbox)),
        Request::WorkspaceAdd(request) => {
            let folder = PathBuf::from(request.workspace);
            let added = engine.ask_engine(|reply| EngineMessage::Add { folder, reply });
            line(&id, added.await)
        }
        Request::WorkspaceList(_) => line(&id, Ok(list(views))),
        Request::WorkspaceRemove(request) => line(&id, remove(components, request).await),
        Request::WorkspaceSync(request) => {
            let view = views.get(&request.workspace).await?;
            run_blocking_on(models, |models| {
                models.check_copied();
                Ok(())
            })
            .await?;
            let synced = engine.ask(&view.root, |reply| WorkspaceMessage::Sync {
                wait: request.wait,
                accept_deletions: request.accept_deletions,
                reply,
            });
            line(&id, synced.await)
        }
        Request::WorkspaceTrust(request) => {
            let root = views.get(&request.workspace).await?.root.clone();
            let trusted = engine.ask(&root, |reply| WorkspaceMessage::Trust(request, reply));
            line(&id, trusted.await)
        }
        Request::Search(request) => line(&id, recall::search(&components.searcher, viewer, request).await),
        Request::Get(request) => line(&id, recall::get(&components.searcher, viewer, request).await),
        Request::Recall(request) => line(&id, recall::recall(&components.searcher, viewer, request).await),
        Request::RecallLog(request) => {
            let root = views.get(&request.workspace).await?.root.clone();
            let log = engine.ask(&root, |reply| WorkspaceMessage::RecallLog(viewer, request, reply));
            line(&id, log.await)
        }
        Request::RecallWhy(request) => line(&id, recall::why(&components.searcher, viewer, request).await),
        Request::Remember(request) => line(&id, memory.remember(&viewer, request).await),
        Request::IndexList(request) => line(&id, entries::list(views, &**clock, viewer, request).await),
        Request::IndexShow(request) => line(&id, entries::show(views, &**clock, viewer, request).await),
        Request::IndexEdit(request) => {
            let workspace = request.workspace.clone();
            let edit = |reply| EntryCommand::Edit(request, reply);
            line(&id, memory.change(&workspace, edit).await)
        }
        Request::IndexForget(request) => {
            let forget = |reply| EntryCommand::Forget(request.id, reply);
            line(&id, memory.change(&request.workspace, forget).await)
        }
        Request::IndexRestore(request) => {
            let restore = |reply| EntryCommand::Restore(request.id, reply);
            line(&id, memory.change(&request.workspace, restore).await)
        }
        Request::CycleRun(request) => line(&id, cycles.run(request).await),
        Request::CycleHistory(request) => {
            let root = views.get(&request.workspace).await?.root.clone();
            let history = engine.ask(&root, |reply| WorkspaceMessage::History(request, reply));
            line(&id, history.await)
        }
        Request::CycleUndo(request) => {
            let undo = |reply| EntryCommand::Undo(request.run, reply);
            line(&id, memory.change(&request.workspace, undo).await)
        }
        Request::Heartbeat(request) => line(&id, cycles.heartbeat(request).await),
        Request::TreeCompact(request) => {
            let view = memory.view_to_write(&request.workspace).await?;
            let wish = tree::wish_of(trees, &view, &request)?;
            let trees = Arc::clone(trees);
            let compact =
                move |cancellation: Cancellation<'_>| tree::compact(&trees, &view, wish, cancellation);
            line(&id, cancellable(outbox, compact).await)
        }
        Request::TreePending(request) => {
            let view = views.get(&request.workspace).await?;
            let pending = move |trees: &Trees| tree::pending(trees, &view, &request);
            line(&id, run_blocking_on(trees, pending).await)
        }
        Request::TreeSubmit(request) => {
            let view = views.get(&request.workspace).await?;
            let submit = move |trees: &Trees| tree::submit(trees, &view, &request);
            line(&id, run_blocking_on(trees, submit).await)
        }
        Request::TreeShow(request) => {
            let view = views.get(&request.workspace).await?;
            let show = move |trees: &Trees| tree::show(trees, &view, &request);
            line(&id, run_blocking_on(trees, show).await)
        }
        Request::ContextOpen(request) => {
            let view = views.get(&request.workspace).await?;
            let open = move |contexts: &Contexts| contexts::open(contexts, &viewer, &view, &request);
            line(&id, run_blocking_on(contexts, open).await)
        }
        Request::ContextPut(request) => {
            let session = Some(request.session.clone());
            line(
                &id,
                in_all(components, (viewer, session), contexts::put, request).await,
            )
        }
        Request::ContextTurn(request) => {
            let session = Some(request.session.clone());
            line(
                &id,
                in_all(components, (viewer, session), contexts::turn, request).await,
            )
        }
        Request::ContextRender(request) => {
            let session = Some(request.session.clone());
            line(
                &id,
                in_all(components, (viewer, session), contexts::render, request).await,
            )
        }
        Request::ContextFetch(request) => {
            let (reader, session) = (viewer.clone(), request.session.clone());
            let fetch = move |all: &Contexts, request: &_| contexts::fetch(all, &viewer, request);
            line(&id, in_all(components, (reader, session), fetch, request).await)
        }
        Request::ContextTouch(request) => {
            let session = Some(request.session.clone());
            line(
                &id,
                in_all(components, (viewer, session), contexts::touch, request).await,
            )
        }
        Request::ContextList(request) => {
            let view = view_of(views, request.workspace.as_deref()).await?;
            let (reader, session) = (viewer.clone(), request.session.clone());
            let list =
                move |all: &Contexts, request: &_| contexts::list(all, &viewer, view.as_deref(), request);
            line(&id, in_all(components, (reader, session), list, request).await)
        }
        Request::ContextClose(request) => {
            let session = Some(request.session.clone());
            in_all(components, (viewer, session), |_, ()| Ok(()), ()).await?;
            line(&id, contexts::close(contexts, request).await)
        }
        Request::SessionCompact(request) => {
            let view = view_of(views, request.workspace.as_deref()).await?;
            let contexts = Arc::clone(contexts);
            let compact = move |cancellation: Cancellation<'_>| {
                contexts::compact(&contexts, view.as_deref(), request, cancellation)
            };
            line(&id, cancellable(outbox, compact).await)
        }
        Request::SessionFlush(request) => {
            if let Some(session) = request.session.as_deref().filter(|_| request.compact) {
                components.searcher.recalls.forget(session);
            }
            line(&id, flush::flush(&components.flusher, request, outbox).await)
        }
        Request::ShareAdd(request) => line(&id, shares::add(components, request).await),
        Request::ShareList(request) => {
            let listed = local_share::list(&components.local_shares, views, request);
            line(&id, listed.await)
        }
        Request::ShareRemove(request) => line(&id, shares::remove(components, request).await),
        Request::ShareInit(request) => line(&id, share::init(&components.share, request).await),
        Request::SharePublish(request) => {
            let published = share::publish(&components.share, views, request);
            line(&id, published.await)
        }
        Request::ShareStatus(request) => line(&id, share::status(&components.share, request).await),
        Request::ModelList(_) => {
            let listed = run_blocking_on(models, Models::list).await;
            engine.send(EngineMessage::LookForModel);
            line(&id, listed)
        }
        Request::ModelPull(request) => {
            let (models, engine) = (Arc::clone(models), engine.clone());
            let pull = move |tell: ProgressCallback<'_>, given_up: &AtomicBool| {
                let mut progress = |at: PullProgress<'_>| {
                    tell(at.step.name(), at.artifact, at.done, Some(at.total));
                };
                let pulled = models.pull(&request, &mut progress, given_up);
                // The client may already have disconnected.
                engine.send(EngineMessage::ModelChanged);
                pulled
            };
            line(&id, at_length(&id, outbox, pull).await)
        }
        Request::ModelVerify(request) => {
            let verify = move |models: &Models| models.verify(request.model.as_deref());
            let verified = run_blocking_on(models, verify).await;
            engine.send(EngineMessage::LookForModel);
            line(&id, verified)
        }
        Request::ModelImport(request) => {
            let engine = engine.clone();
            let import = move |models: &Models| {
                let imported = models.import(&request);
                // The client may already have disconnected.
                engine.send(EngineMessage::ModelChanged);
                imported
            };
            line(&id, run_blocking_on(models, import).await)
        }
        Request::ModelRemove(request) => {
            let views = Arc::clone(views);
            let remove = move |models: &Models| models.remove(&request.model, &models_in_use(&views));
            line(&id, run_blocking_on(models, remove).await)
        }
        Request::Backup(request) => {
            views.opened().await;
            let backup = backups::backup(&components.backups, request, outbox);
            line(&id, backup.await)
        }
        Request::BackupVerify(request) => line(&id, backups::verify(request, outbox).await),
        Request::Restore(request) => {
            let restore = backups::restore(&components.backups, trees, engine, request, outbox);
            line(&id, restore.await)
        }
    }
}

/// Returns the workspace that a request names, if any.
async fn view_of(views: &Views, workspace: Option<&str>) -> Result<Option<Arc<WorkspaceView>>, RpcError> {
    match workspace {
        Some(workspace) => views.get(workspace).await.map(Some),
        None => Ok(None),
    }
}

fn line<T: Serialize>(id: &Id, result: Result<T, RpcError>) -> Result<Vec<u8>, RpcError> {
    result.map(|result| encode_result(id, &result))
}

/// Returns the ids of the models in use, and the model names in the workspaces' configurations.
fn models_in_use(views: &Views) -> Vec<String> {
    let used = views.open().into_iter().flat_map(|view| {
        let answers = view.snapshot().model.as_ref().map(ToString::to_string);
        answers.into_iter().chain([view.config.embed.model.clone()])
    });
    used.collect()
}

fn hello() -> HelloResponse {
    HelloResponse {
        protocol: PROTOCOL,
        daemon: env!("CARGO_PKG_VERSION").to_owned(),
        pid: std::process::id(),
    }
}

/// Waits until all workspaces are open, then runs work that searches the sessions of all workspaces. The session that the
/// request names must not belong to another agent.
async fn in_all<T: Send + 'static, R: Send + 'static>(
    components: &Components,
    (viewer, session): (Viewer, Option<String>),
    work: impl FnOnce(&Contexts, &R) -> Result<T, RpcError> + Send + 'static,
    request: R,
) -> Result<T, RpcError> {
    components.views.opened().await;
    run_blocking_on(&components.contexts, move |contexts| {
        contexts::check_reader(contexts, &viewer, session.as_deref())?;
        work(contexts, &request)
    })
    .await
}

fn list(views: &Views) -> WorkspaceListResponse {
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
        workspaces: views.all().into_iter().map(info).collect(),
    }
}
