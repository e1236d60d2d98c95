//! One attempt to answer a query.
//!
//! An attempt first tries to answer the query from the entries of the index. If this is not possible, it searches the
//! text of the files.

use std::sync::Arc;
use std::time::Duration;

use hippo_proto::{ErrorKind, RpcError, SearchMode, SearchRequest, Viewer};

use super::Searcher;
use super::fresh::Freshener;
use super::index_first::{self, Route};
use super::question::SearchQuestion;
use super::shared::{OutsideSearch, read_changes_of_owners};
use super::{SearchAnswer, SearchState};
use crate::clock::date_in;
use crate::embed_worker::EmbeddedQuery;
use crate::tasks::run_blocking_on;
use crate::view::WorkspaceView;

/// Maximum time that a query waits for its vector. The model needs a fraction of a second to load.
const PATIENCE: Duration = Duration::from_secs(5);

/// Answers a search from files that have been read again if they had changed. Has no effects on the entries.
///
/// # Errors
/// See [`super::search`].
pub async fn answer_fresh(
    searcher: &Arc<Searcher>,
    viewer: Viewer,
    request: SearchRequest,
) -> Result<(Arc<SearchState>, SearchAnswer), RpcError> {
    let view = searcher.views.get(&request.workspace).await?;
    let zone = view.zone(&*searcher.clock);
    let now = searcher.clock.now();
    let today = date_in(now, &zone);
    let mut question = SearchQuestion::new(viewer, request, &view.root, &view.config.search, today, now)?;
    if question.meaning {
        // Stored vectors are not used if search by meaning is disabled.
        question.meaning = searcher.models.are_enabled() && view.by_meaning();
    }
    let question = Arc::new(question);
    let mut freshener = Freshener::new(searcher, &view);
    freshener.read_known_changes().await?;
    read_changes_of_owners(searcher, &view).await?;
    let (mut state, mut answered) = answer(searcher, &view, &question).await?;
    if freshener.read_stale(&answered.stale).await {
        (state, answered) = answer(searcher, &view, &question).await?;
    }
    freshener.complete(&mut answered.response, &answered.stale);
    Ok((state, answered))
}

/// Answers a query from the current state of the index.
///
/// # Errors
/// See [`super::search`].
pub async fn answer(
    searcher: &Arc<Searcher>,
    view: &Arc<WorkspaceView>,
    question: &Arc<SearchQuestion>,
) -> Result<(Arc<SearchState>, SearchAnswer), RpcError> {
    let state = |consulted| {
        Arc::new(SearchState {
            searcher: Arc::clone(searcher),
            view: Arc::clone(view),
            question: Arc::clone(question),
            consulted,
        })
    };
    let mut consulted = index_first::consult(view, question)?;
    if consulted.route == Route::Index
        && question.mode == SearchMode::Hybrid
        && (searcher.share.includes(&view.root) || !searcher.local_shares.to(&view.root).is_empty())
    {
        consulted.verify("other workspaces may have newer passages: a search verifies the entry");
    }
    if consulted.route == Route::Index {
        let state = state(consulted.clone());
        match run_blocking_on(&state, SearchState::by_entries).await? {
            Ok(answered) => return Ok((state, answered)),
            Err(why) => consulted.verify(why),
        }
    }
    let state = state(consulted);
    // If the model changes between embedding and ranking, the query is embedded once more.
    for _ in 0..2 {
        if let Some(answered) = search(&state).await? {
            return Ok((state, answered));
        }
    }
    Err(
        RpcError::new(ErrorKind::Warming, "the embedding model is being changed")
            .hint("try again in a moment"),
    )
}

/// Computes the vector of a query. Returns `None` without a model, or if the model does not answer in time.
pub(super) async fn embed(state: &Arc<SearchState>, model: Option<Arc<str>>) -> Option<EmbeddedQuery> {
    let model = model?;
    let spoken = run_blocking_on(state, |state| Ok(state.question.spoken(&state.view)));
    let waiting = state.searcher.embed.query(model, spoken.await.ok()?);
    tokio::time::timeout(PATIENCE, waiting).await.ok()?.ok()?
}

/// Answers a query by search. Returns `None` if the model changed in the meantime.
async fn search(state: &Arc<SearchState>) -> Result<Option<SearchAnswer>, RpcError> {
    let SearchState {
        searcher,
        view,
        question,
        ..
    } = &**state;
    let model = view.snapshot().model.clone().filter(|_| question.meaning);
    let embedded = embed(state, model.clone());
    // Find chunks by the words of the query while the model computes its vector.
    let found = async {
        match question.mode {
            SearchMode::Hybrid if model.is_some() => run_blocking_on(state, SearchState::find_by_words).await,
            _ => Ok(None),
        }
    };
    let (found, embedded) = tokio::join!(found, embedded);
    let found = found?;
    if question.mode == SearchMode::Vector && embedded.is_none() {
        if searcher.models.are_enabled() && !question.meaning {
            return Err(RpcError::new(
                ErrorKind::Degraded,
                "search by meaning is disabled for this workspace",
            )
            .hint(
                "set search.vector to true in the workspace's hipocampus.config.json, or use mode hybrid, \
                 which still searches by keyword",
            ));
        }
        let degraded = view.freshness().degraded;
        let why = degraded.map_or_else(
            || "the model did not return a vector for the query".to_owned(),
            |(_, why)| why,
        );
        return Err(
            RpcError::new(ErrorKind::Degraded, format!("could not search by meaning: {why}")).hint(
                "until the model is installed, mode hybrid searches by keyword; to install it: hippoctl \
                 model pull",
            ),
        );
    }
    let vector = model
        .clone()
        .zip(embedded.as_ref().map(|one| one.vector.to_vec()));
    let outside = OutsideSearch {
        team: state.ask_team(vector.clone()),
        vector,
    };
    run_blocking_on(state, move |state| {
        state.answer(embedded.as_ref(), model.as_deref(), found, outside)
    })
    .await
}
