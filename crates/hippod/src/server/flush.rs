//! Steps of a session flush.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hippo_proto::{
    ContextCloseRequest, ErrorKind, RpcError, SessionCompactRequest, SessionFlushRequest,
    SessionFlushResponse, Viewer,
};

use super::connection::Outbox;
use super::long::cancellable;
use crate::contexts::{self, Contexts, Promise};
use crate::errors::root_missing;
use crate::memory::MemoryWriter;
use crate::tasks::{Cancellation, run_blocking, run_blocking_on};
use crate::tree::{self, TreeOptions, Trees};
use crate::view::WorkspaceView;
use crate::views::{Slot, Views};

/// Flusher of sessions, which calls several components in turn.
pub struct SessionFlusher {
    /// Registered workspaces.
    pub views: Arc<Views>,
    /// Writer of the memory.
    pub memory: MemoryWriter,
    /// Sessions of context entries.
    pub contexts: Arc<Contexts>,
    /// Trees, which are updated after a flush.
    pub trees: Arc<Trees>,
}

/// Flushes a transcript. With `wait`, the flush stops if the client disconnects. Without `wait`, the response is sent
/// as soon as the request is recorded, and the flush continues even if the client disconnects.
///
/// # Errors
/// Returns `no-workspace`, and the errors of [`contexts::flush`].
pub async fn flush(
    flusher: &Arc<SessionFlusher>,
    request: SessionFlushRequest,
    outbox: &Outbox,
) -> Result<SessionFlushResponse, RpcError> {
    let root = flusher.views.root_of(&PathBuf::from(&request.workspace));
    if request.wait {
        let answer = steps(flusher, request, Some(outbox)).await;
        if let (Ok(_), Some(root)) = (&answer, root) {
            let flusher = Arc::clone(flusher);
            tokio::spawn(async move { keep_promises(&flusher, &root).await });
        }
        return answer;
    }
    let root = match root {
        None => {
            // `views.get` returns an error that explains how to register a workspace.
            flusher.views.get(&request.workspace).await?.root.clone()
        }
        Some(root) if !hippo_fs::is_present(&root) => return Err(root_missing(&root)),
        Some(root) => root,
    };
    let of = root.clone();
    let accept = move |contexts: &Contexts| contexts::accept(contexts, &of, &request);
    let promise = run_blocking_on(&flusher.contexts, accept).await?;
    let flusher = Arc::clone(flusher);
    tokio::spawn(async move {
        keep_promise(&flusher, promise).await;
        keep_promises(&flusher, &root).await;
    });
    Ok(SessionFlushResponse::default())
}

/// Finishes the flushes that an earlier daemon accepted, once the workspaces are open.
pub async fn take_up_what_is_left(flusher: Arc<SessionFlusher>) {
    let opening = |(_, slot): &(PathBuf, Slot)| matches!(slot, Slot::Opening);
    while flusher.views.all().iter().any(opening) {
        flusher.views.opened().await;
    }
    for view in flusher.views.open() {
        keep_promises(&flusher, &view.root).await;
    }
}

/// Runs the accepted flushes of a workspace that are not in progress yet.
async fn keep_promises(flusher: &Arc<SessionFlusher>, root: &Path) {
    let of = root.to_path_buf();
    match run_blocking_on(&flusher.contexts, move |contexts| {
        contexts::promised(contexts, &of)
    })
    .await
    {
        Ok(promises) => {
            for promise in promises {
                keep_promise(flusher, promise).await;
            }
        }
        Err(error) => {
            tracing::warn!(root = %root.display(), "could not list the sessions to flush: {}", error.message);
        }
    }
}

async fn keep_promise(flusher: &Arc<SessionFlusher>, promise: Promise) {
    let failure = steps(flusher, promise.request.clone(), None).await.err();
    if let Some(error) = &failure {
        tracing::warn!("a session could not be flushed: {}", error.message);
    }
    let kept = move |contexts: &Contexts| contexts::record_end(contexts, &promise, failure.as_ref());
    if let Err(error) = run_blocking_on(&flusher.contexts, kept).await {
        tracing::warn!("could not record that a session was flushed: {}", error.message);
    }
}

async fn steps(
    flusher: &Arc<SessionFlusher>,
    request: SessionFlushRequest,
    client: Option<&Outbox>,
) -> Result<SessionFlushResponse, RpcError> {
    let view = flusher.memory.view_to_write(&request.workspace).await?;
    let ended = request.session.clone().filter(|_| request.close);
    let viewer = Viewer(request.agent.clone());
    let tree = request.tree;
    let taken = take_up(flusher, &view, request, client).await;
    // A session is closed even if its transcript is missing.
    let closed = match ended {
        Some(session) => close(flusher, viewer, session).await,
        None => Ok(Vec::new()),
    };
    // If both steps failed, return the error of closing the session. That error may be temporary, so the flush is
    // retried, even if the error of the transcript is permanent.
    let notes = closed?;
    let mut answer = taken?;
    answer.notes.extend(notes);
    if tree {
        let due = TreeOptions {
            when_due: true,
            ..TreeOptions::default()
        };
        tree::after(&flusher.trees, &view, due).await;
    }
    Ok(answer)
}

/// Appends new messages to the logs. Also stores the messages as contents if the request asks for it.
async fn take_up(
    flusher: &Arc<SessionFlusher>,
    view: &Arc<WorkspaceView>,
    request: SessionFlushRequest,
    client: Option<&Outbox>,
) -> Result<SessionFlushResponse, RpcError> {
    let turn = flusher.contexts.turn_to_flush().await;
    let view = Arc::clone(view);
    let contexts = Arc::clone(&flusher.contexts);
    let work = move |cancellation: Cancellation<'_>| {
        // This guard keeps other flushes waiting until the work ends, even if the client disconnects.
        let turn = turn;
        let mut answer = contexts::flush(&contexts, &view, &request, cancellation, &turn)?;
        if !request.compact {
            return Ok(answer);
        }
        // The whole transcript is read again, because an earlier flush without `compact` has not stored its messages.
        // Contents that exist are not stored twice.
        let kept = SessionCompactRequest {
            workspace: Some(view.root.display().to_string()),
            path: Some(request.path),
            format: request.format,
            ..SessionCompactRequest::default()
        };
        match contexts::compact(&contexts, Some(&view), kept, cancellation) {
            Ok(kept) => answer.stored = kept.stats.stored,
            Err(error) => answer
                .notes
                .push(format!("the messages were not stored: {}", error.message)),
        }
        Ok(answer)
    };
    match client {
        Some(outbox) => cancellable(outbox, work).await,
        None => run_blocking(|| work(Cancellation::NEVER)).await,
    }
}

/// Closes the context session with this name, if it exists. Harnesses name all their sessions, but few sessions have
/// entries.
async fn close(
    flusher: &Arc<SessionFlusher>,
    viewer: Viewer,
    session: String,
) -> Result<Vec<String>, RpcError> {
    let id = session.clone();
    let check = move |contexts: &Contexts| contexts::check_reader(contexts, &viewer, Some(&id));
    let closed = match run_blocking_on(&flusher.contexts, check).await {
        // The session of another agent counts as missing.
        Err(error) => Err(error),
        Ok(()) => contexts::close(&flusher.contexts, ContextCloseRequest { session }).await,
    };
    match closed {
        Ok(closed) => Ok(closed.notes),
        Err(error) if matches!(error.data.kind, ErrorKind::NotFound | ErrorKind::BadRequest) => {
            Ok(Vec::new())
        }
        Err(error) => Err(error),
    }
}
