//! Handlers of `index.list` and `index.show`.

use hippo_proto::{IndexListRequest, IndexListResponse, IndexShowRequest, IndexShowResponse, RpcError};

use crate::clock::Clock;
use crate::files;
use crate::index::{answers, standing};
use crate::tasks::run_blocking;
use crate::views::Views;

/// Handles `index.list`.
///
/// # Errors
/// Returns `no-workspace`, or `bad-request` for an invalid time.
pub async fn list(
    views: &Views,
    clock: &dyn Clock,
    request: IndexListRequest,
) -> Result<IndexListResponse, RpcError> {
    let view = views.get(&request.workspace).await?;
    let at = view.moment(clock, request.at.as_deref())?;
    Ok(answers::list(&view.index(), &request, at))
}

/// Handles `index.show`.
///
/// # Errors
/// Returns `no-workspace`, `not-found`, or `bad-request` for an invalid time.
pub async fn show(
    views: &Views,
    clock: &dyn Clock,
    request: IndexShowRequest,
) -> Result<IndexShowResponse, RpcError> {
    let view = views.get(&request.workspace).await?;
    let at = view.moment(clock, request.at.as_deref())?;
    let work = move || {
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
    run_blocking(work).await
}
