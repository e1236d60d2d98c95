//! Requests that concern shares between workspaces.

use std::path::Path;
use std::sync::Arc;

use hippo_proto::{
    Request, RpcError, ShareAddRequest, ShareAddResponse, ShareRemoveRequest, ShareRemoveResponse,
};

use super::Components;
use crate::local_share;
use crate::message::WorkspaceMessage;
use crate::tasks::run_blocking;

/// Handles `share.add`.
///
/// # Errors
/// See [`local_share::add`].
pub async fn add(components: &Components, request: ShareAddRequest) -> Result<ShareAddResponse, RpcError> {
    let (shares, views) = (&components.local_shares, &components.views);
    let team = components.share.team();
    let answer = local_share::add(shares, views, &*components.clock, team, request).await?;
    if answer.added {
        notify(components, Path::new(&answer.share.to));
    }
    Ok(answer)
}

/// Handles `share.remove`.
///
/// # Errors
/// See [`local_share::remove`].
pub async fn remove(
    components: &Components,
    request: ShareRemoveRequest,
) -> Result<ShareRemoveResponse, RpcError> {
    let (shares, views) = (
        Arc::clone(&components.local_shares),
        Arc::clone(&components.views),
    );
    let clock = Arc::clone(&components.clock);
    let answer = run_blocking(move || local_share::remove(&shares, &views, &*clock, &request)).await?;
    notify(components, Path::new(&answer.share.to));
    Ok(answer)
}

/// Tells a workspace that the texts which others share with it have changed.
pub fn notify(components: &Components, root: &Path) {
    components.engine.send_to(root, WorkspaceMessage::SharesChanged);
}

/// Refuses a change of a text that another workspace owns.
///
/// # Errors
/// Returns `read-only` if the target of the request is a pointer into a share.
pub fn check_own(components: &Components, request: &Request) -> Result<(), RpcError> {
    let (workspace, target) = match request {
        Request::IndexShow(request) => (&request.workspace, Some(&request.id)),
        Request::IndexEdit(request) => (&request.workspace, Some(&request.id)),
        Request::IndexForget(request) => (&request.workspace, Some(&request.id)),
        Request::IndexRestore(request) => (&request.workspace, Some(&request.id)),
        Request::Remember(request) => (&request.workspace, request.topic.as_ref()),
        _ => return Ok(()),
    };
    let pointers = match request {
        Request::IndexEdit(request) => request.pointers.as_deref().unwrap_or_default(),
        _ => &[],
    };
    let mut targets = target
        .into_iter()
        .chain(pointers.iter().map(|pointer| &pointer.path));
    match components.views.root_of(Path::new(workspace)) {
        Some(root) => targets.try_for_each(|target| components.local_shares.check_own(&root, target)),
        None => Ok(()),
    }
}
