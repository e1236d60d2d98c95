//! Handlers of `index.list` and `index.show`.

use hippo_proto::{
    IndexEntry, IndexListRequest, IndexListResponse, IndexShowRequest, IndexShowResponse, MAX_ENTRIES,
    Pointer, RpcError, Scope, Viewer,
};
use hippo_types::entry::EntryId;

use super::own;
use crate::clock::Clock;
use crate::files;
use crate::index::{IndexView, answers, standing};
use crate::tasks::run_blocking;
use crate::views::Views;

/// Handles `index.list`.
///
/// # Errors
/// Returns `no-workspace`, or `bad-request` for an invalid time.
pub async fn list(
    views: &Views,
    clock: &dyn Clock,
    viewer: Viewer,
    request: IndexListRequest,
) -> Result<IndexListResponse, RpcError> {
    let view = views.get(&request.workspace).await?;
    let at = view.moment(clock, request.at.as_deref())?;
    let mut answer = answers::list(&view.index(), &request, at);
    if request.private {
        answer.entries.clear();
        answer.total = 0;
    }
    let Some(agent) = viewer.0 else {
        return Ok(answer);
    };
    let now = clock.now();
    let own = run_blocking(move || {
        let own = answers::list(&own::entries(&view, &agent, now), &request, at);
        Ok((own, agent, request.limit))
    });
    let (own, agent, limit) = own.await?;
    answer.total += own.total;
    let own = own.entries.into_iter().map(|entry| IndexEntry {
        scope: Scope::Private(agent.clone()),
        ..entry
    });
    answer.entries.extend(own);
    answer
        .entries
        .sort_by(|a, b| b.strength.total_cmp(&a.strength).then_with(|| a.id.cmp(&b.id)));
    answer.entries.truncate(limit.unwrap_or(MAX_ENTRIES) as usize);
    Ok(answer)
}

/// Handles `index.show`.
///
/// # Errors
/// Returns `no-workspace`, `not-found`, or `bad-request` for an invalid time.
pub async fn show(
    views: &Views,
    clock: &dyn Clock,
    viewer: Viewer,
    request: IndexShowRequest,
) -> Result<IndexShowResponse, RpcError> {
    let view = views.get(&request.workspace).await?;
    let at = view.moment(clock, request.at.as_deref())?;
    let now = clock.now();
    let work = move || {
        let root = view.root.clone();
        let limit = view.config.sources.max_file_bytes;
        let show = |index: &IndexView, file: &dyn Fn(&EntryId) -> Option<String>| {
            let stale = |pointer: &Pointer| !files::leads_somewhere(&root, pointer, limit);
            answers::show(index, &request, at, stale, file)
        };
        let index = view.index();
        let Some(agent) = viewer
            .0
            .filter(|_| index.get(&EntryId(request.id.clone())).is_none())
        else {
            return show(&index, &|id| standing::file_of(&root, id));
        };
        let mut shown = show(&own::entries(&view, &agent, now), &|_| None)?;
        shown.entry.scope = Scope::Private(agent);
        Ok(shown)
    };
    run_blocking(work).await
}
