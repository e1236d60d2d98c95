//! Accepted flushes that have not finished yet.
//!
//! A flush is recorded before the client receives its response, and the record is deleted when the flush has finished.
//! A restarted daemon can therefore resume the flush.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use hippo_proto::{ErrorKind, RpcError, SessionFlushRequest};
use hippo_store::contexts::AcceptedFlush;

use parking_lot::Mutex;

use super::Contexts;

/// Root and flush number of each flush in progress.
pub type RunningFlushes = Mutex<HashSet<(PathBuf, i64)>>;

/// A flush that the daemon has accepted.
#[derive(Debug)]
pub struct Promise {
    root: PathBuf,
    number: i64,
    /// The request of the client.
    pub request: SessionFlushRequest,
}

/// Records a flush before it is acknowledged.
///
/// # Errors
/// Returns `bad-request` for a path that is not absolute, or the error of the context database if it cannot be written.
pub fn accept(contexts: &Contexts, root: &Path, request: &SessionFlushRequest) -> Result<Promise, RpcError> {
    if !Path::new(&request.path).is_absolute() {
        let what = format!("the path of the transcript is not absolute: {}", request.path);
        return Err(RpcError::bad_request(what).hint("give the absolute path of a transcript"));
    }
    let accepted = AcceptedFlush {
        transcript: request.path.clone(),
        session: request.session.clone(),
        format: request.format.map(|format| format.name().to_owned()),
        agent: request.agent.as_ref().map(ToString::to_string),
        compact: request.compact,
        close: request.close,
        tree: request.tree,
    };
    let place = contexts.database_of(root);
    let number = place.write(|store| store.accept(&accepted))?;
    let root = root.to_path_buf();
    contexts.under_way.lock().insert((root.clone(), number));
    Ok(Promise {
        root,
        number,
        request: request.clone(),
    })
}

/// Returns the accepted flushes of a workspace that are not in progress, and marks them as in progress.
///
/// # Errors
/// Fails if the context database could not be read.
#[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
pub fn promised(contexts: &Contexts, root: &Path) -> Result<Vec<Promise>, RpcError> {
    let place = contexts.database_of(root);
    if !place.file.exists() {
        return Ok(Vec::new());
    }
    let accepted = place.write(|store| store.read().accepted_flushes())?;
    let mut under_way = contexts.under_way.lock();
    let left = accepted
        .into_iter()
        .filter(|(number, _)| under_way.insert((root.to_path_buf(), *number)));
    let promises = left.map(|(number, accepted)| Promise {
        root: root.to_path_buf(),
        number,
        request: SessionFlushRequest {
            workspace: root.display().to_string(),
            path: accepted.transcript,
            session: accepted.session,
            format: accepted.format.as_deref().and_then(|name| name.parse().ok()),
            agent: accepted.agent.as_deref().and_then(|agent| agent.parse().ok()),
            wait: true,
            compact: accepted.compact,
            close: accepted.close,
            tree: accepted.tree,
        },
    });
    Ok(promises.collect())
}

/// Records the end of a flush. After a failure that may be temporary, the record is kept for a later attempt.
///
/// # Errors
/// Fails if the context database could not be written; the flush will then be repeated.
pub fn record_end(
    contexts: &Contexts,
    promise: &Promise,
    failure: Option<&RpcError>,
) -> Result<(), RpcError> {
    let never = |error: &RpcError| matches!(error.data.kind, ErrorKind::NotFound | ErrorKind::BadRequest);
    let ended = if failure.is_none_or(never) {
        let place = contexts.database_of(&promise.root);
        // A workspace that was removed together with its database has no accepted flushes left.
        place.is_there().and_then(|there| match there {
            true => place.write(|store| store.end_accepted(promise.number)),
            false => Ok(()),
        })
    } else {
        Ok(())
    };
    contexts
        .under_way
        .lock()
        .remove(&(promise.root.clone(), promise.number));
    ended
}
