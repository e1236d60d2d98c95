//! Steps of a session flush.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use hippo_proto::{
    ContextCloseRequest, ErrorKind, Id, RpcError, SessionCompactRequest, SessionFlushRequest,
    SessionFlushResponse,
};

use super::connection::Outbox;
use super::dispatch;
use super::entries::view_to_write;
use super::long::{Tell, at_length};
use crate::cancellation::Cancellation;
use crate::contexts::{self, Promise};
use crate::errors::root_missing;
use crate::shared::Shared;
use crate::tree::{self, Wish};
use crate::view::WorkspaceView;
use crate::views::Slot;

/// Flushes a transcript. With `wait`, the work stops if the client disconnects. Without `wait`, the answer is sent as
/// soon as the request is recorded, and a disconnected client does not stop the work.
///
/// # Errors
/// `no-workspace`, and the errors of [`contexts::flush`].
pub async fn flush(
    shared: &Arc<Shared>,
    request: SessionFlushRequest,
    id: &Id,
    outbox: &Outbox,
) -> Result<SessionFlushResponse, RpcError> {
    let root = shared.views.root_of(&PathBuf::from(&request.workspace));
    if request.wait {
        let answer = steps(shared, request, Some((id, outbox))).await;
        if let (Ok(_), Some(root)) = (&answer, root) {
            let shared = Arc::clone(shared);
            tokio::spawn(async move { keep_promises(&shared, &root).await });
        }
        return answer;
    }
    let root = match root {
        None => {
            // This error explains how to register a workspace.
            shared.views.get(&request.workspace).await?.root.clone()
        }
        Some(root) if !hippo_fs::is_present(&root) => return Err(root_missing(&root)),
        Some(root) => root,
    };
    let of = root.clone();
    let accept = move |shared: &Shared| contexts::accept(shared, &of, &request);
    let promise = dispatch::blocking(shared, accept).await?;
    let shared = Arc::clone(shared);
    tokio::spawn(async move {
        keep_promise(&shared, promise).await;
        keep_promises(&shared, &root).await;
    });
    Ok(SessionFlushResponse::default())
}

/// Finishes the flushes that an earlier daemon accepted, once the workspaces are open.
pub async fn take_up_what_is_left(shared: Arc<Shared>) {
    let opening = |(_, slot): &(PathBuf, Slot)| matches!(slot, Slot::Opening);
    while shared.views.all().iter().any(opening) {
        shared.views.opened().await;
    }
    for view in shared.views.open() {
        keep_promises(&shared, &view.root).await;
    }
}

/// Runs the accepted flushes of a workspace that are not in progress.
async fn keep_promises(shared: &Arc<Shared>, root: &Path) {
    let of = root.to_path_buf();
    match dispatch::blocking(shared, move |shared| contexts::promised(shared, &of)).await {
        Ok(promises) => {
            for promise in promises {
                keep_promise(shared, promise).await;
            }
        }
        Err(error) => {
            tracing::warn!(root = %root.display(), "could not look for sessions that wait to be flushed: {}", error.message);
        }
    }
}

async fn keep_promise(shared: &Arc<Shared>, promise: Promise) {
    let failure = steps(shared, promise.request.clone(), None).await.err();
    if let Some(error) = &failure {
        tracing::warn!("a session could not be flushed: {}", error.message);
    }
    let kept = move |shared: &Shared| contexts::kept(shared, &promise, failure.as_ref());
    if let Err(error) = dispatch::blocking(shared, kept).await {
        tracing::warn!("could not note that a session was flushed: {}", error.message);
    }
}

async fn steps(
    shared: &Arc<Shared>,
    request: SessionFlushRequest,
    client: Option<(&Id, &Outbox)>,
) -> Result<SessionFlushResponse, RpcError> {
    let view = view_to_write(shared, &request.workspace).await?;
    let ended = request.session.clone().filter(|_| request.close);
    let tree = request.tree;
    let taken = take_up(shared, &view, request, client).await;
    // A session is closed even if its transcript is missing.
    let closed = match ended {
        Some(session) => close(shared, session).await,
        None => Ok(Vec::new()),
    };
    // The error of the close is returned first: it may be temporary, and the flush is then retried whatever happened
    // to the transcript.
    let notes = closed?;
    let mut answer = taken?;
    answer.notes.extend(notes);
    if tree {
        let due = Wish {
            when_due: true,
            ..Wish::default()
        };
        tree::after(shared, &view, due).await;
    }
    Ok(answer)
}

/// Appends new messages to the logs, and stores the messages if requested.
async fn take_up(
    shared: &Arc<Shared>,
    view: &Arc<WorkspaceView>,
    request: SessionFlushRequest,
    client: Option<(&Id, &Outbox)>,
) -> Result<SessionFlushResponse, RpcError> {
    let turn = shared.contexts.turn_to_flush().await;
    let view = Arc::clone(view);
    let work = move |shared: &Shared, cancellation: Cancellation<'_>| {
        // The turn is held until the work ends, even if the client disconnects.
        let turn = turn;
        let mut answer = contexts::flush(shared, &view, &request, cancellation, &turn)?;
        if !request.compact {
            return Ok(answer);
        }
        // An earlier flush without `compact` may have read the messages already. Existing contents are not stored
        // twice.
        let kept = SessionCompactRequest {
            workspace: Some(view.root.display().to_string()),
            path: Some(request.path),
            format: request.format,
            ..SessionCompactRequest::default()
        };
        match contexts::compact(shared, Some(&view), kept, cancellation) {
            Ok(kept) => answer.stored = kept.stats.stored,
            Err(error) => answer
                .notes
                .push(format!("the messages are not kept: {}", error.message)),
        }
        Ok(answer)
    };
    match client {
        Some((id, outbox)) => {
            let work = |shared: &Shared, _: Tell<'_>, given_up: &AtomicBool| {
                work(shared, Cancellation::by(given_up))
            };
            at_length(shared, id, outbox, work).await
        }
        None => dispatch::blocking(shared, |shared| work(shared, Cancellation::NEVER)).await,
    }
}

/// Closes the context session with this name, if it exists: a harness names all its sessions, and few have entries.
async fn close(shared: &Arc<Shared>, session: String) -> Result<Vec<String>, RpcError> {
    match contexts::close(shared, ContextCloseRequest { session }).await {
        Ok(closed) => Ok(closed.notes),
        Err(error) if matches!(error.data.kind, ErrorKind::NotFound | ErrorKind::BadRequest) => {
            Ok(Vec::new())
        }
        Err(error) => Err(error),
    }
}
