//! Which import goes on, and which wait?

use std::sync::Arc;

use hippo_proto::{Id, ImportRequest, ImportResponse, Progress, RpcError};

use super::connection::Outbox;
use super::dispatch::ask;
use super::entries::view_to_write;
use super::long::{Tell, at_length, nobody_waits};
use crate::event::{self, Until};
use crate::import::{self, Job};
use crate::shared::Shared;

/// Serves `import`, one at a time. Who waits holds no thread.
///
/// # Errors
/// `no-workspace`, and as [`import::import`].
pub async fn import(
    shared: &Arc<Shared>,
    request: ImportRequest,
    id: &Id,
    outbox: &Outbox,
) -> Result<ImportResponse, RpcError> {
    let view = view_to_write(shared, &request.workspace).await?;
    let turn = match shared.imports.take_if_free() {
        Some(turn) => turn,
        None => {
            tell_of_waiting(&request, id, outbox);
            tokio::select! {
                turn = shared.imports.take() => turn,
                () = outbox.gone() => return Err(nobody_waits()),
            }
        }
    };
    let (root, apply) = (view.root.clone(), request.apply);
    let work = move |shared: &Shared, tell: Tell<'_>, given_up: &_| {
        // It ends with the work, also where nobody waits for the answer any more.
        let turn = turn;
        import::import(shared, &view, &request, &mut Job::new(tell, given_up, &turn))
    };
    let answer = at_length(shared, id, outbox, work).await?;
    if apply {
        // What was written can be searched at once.
        let read = ask(shared, |reply| event::Request::Sync {
            root,
            until: Until::Read,
            accept_deletions: false,
            reply,
        });
        if let Err(error) = read.await {
            tracing::warn!(error = error.message, "what was imported is not read yet");
        }
    }
    Ok(answer)
}

fn tell_of_waiting(request: &ImportRequest, id: &Id, outbox: &Outbox) {
    let news = Progress {
        id: id.clone(),
        stage: "wait".to_owned(),
        item: request.path.clone(),
        done: 0,
        total: None,
    };
    // A client that reads slowly does without.
    let _ = outbox.lines.try_send(news.to_line());
}
