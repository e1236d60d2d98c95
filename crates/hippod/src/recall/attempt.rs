//! One attempt to answer a question.
//!
//! The index entries answer the question if they can; otherwise a search does.

use std::sync::Arc;
use std::time::Duration;

use hippo_proto::{ErrorKind, RpcError, SearchMode};

use super::Searcher;
use super::index_first::{self, EntryConsultation, Route};
use super::question::SearchQuestion;
use super::{SearchAnswer, SearchState, search_error};
use crate::errors::task_failed;
use crate::view::WorkspaceView;

/// Maximum wait for the query's vector. Loading the model takes a fraction of a second.
const PATIENCE: Duration = Duration::from_secs(5);

/// Answers a question from the current index.
///
/// # Errors
/// See [`super::search`].
pub async fn answer(
    searcher: &Arc<Searcher>,
    view: &Arc<WorkspaceView>,
    question: &Arc<SearchQuestion>,
) -> Result<(Arc<EntryConsultation>, SearchAnswer), RpcError> {
    let mut consulted = index_first::consult(view, question)?;
    if consulted.route == Route::Index {
        match from_index(searcher, view, question, &consulted).await? {
            Ok(answered) => return Ok((Arc::new(consulted), answered)),
            Err(why) => consulted.verify(why),
        }
    }
    let consulted = Arc::new(consulted);
    // The model may change between embedding and ranking. In this case, the query is embedded again, at most once.
    for _ in 0..2 {
        if let Some(answered) = search(searcher, view, question, &consulted).await? {
            return Ok((consulted, answered));
        }
    }
    Err(
        RpcError::new(ErrorKind::Warming, "the embedding model is being changed")
            .hint("try again in a moment"),
    )
}

/// Answers from the entries alone, or returns the reason why they have no answer.
async fn from_index(
    searcher: &Arc<Searcher>,
    view: &Arc<WorkspaceView>,
    question: &Arc<SearchQuestion>,
    consulted: &EntryConsultation,
) -> Result<Result<SearchAnswer, &'static str>, RpcError> {
    let (searcher, view, question) = (Arc::clone(searcher), Arc::clone(view), Arc::clone(question));
    let consulted = consulted.clone();
    let work = move || {
        SearchState {
            searcher: &searcher,
            view: &view,
            question: &question,
            consulted: &consulted,
        }
        .by_entries()
    };
    tokio::task::spawn_blocking(work).await.map_err(task_failed)?
}

/// Answers by search; returns `None` if the model changed in the meantime.
async fn search(
    searcher: &Arc<Searcher>,
    view: &Arc<WorkspaceView>,
    question: &Arc<SearchQuestion>,
    consulted: &Arc<EntryConsultation>,
) -> Result<Option<SearchAnswer>, RpcError> {
    let model = view.snapshot().model.clone().filter(|_| question.meaning);
    let waiting = model
        .clone()
        .map(|model| searcher.embed.query(model, question.request.query.clone()));
    // Words are looked up while the model computes the vector of the query.
    let words = (question.mode == SearchMode::Hybrid).then(|| {
        let (view, question) = (Arc::clone(view), Arc::clone(question));
        tokio::task::spawn_blocking(move || question.postings(&view, &view.snapshot()).map(|_| ()))
    });
    let vector = match waiting {
        Some(answer) => tokio::time::timeout(PATIENCE, answer)
            .await
            .ok()
            .and_then(Result::ok)
            .flatten(),
        None => None,
    };
    if let Some(words) = words {
        words
            .await
            .map_err(task_failed)?
            .map_err(|error| search_error(searcher, view, error))?;
    }
    if question.mode == SearchMode::Vector && vector.is_none() {
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
        let why = degraded.map_or_else(|| "the query has no vector".to_owned(), |(_, why)| why);
        return Err(
            RpcError::new(ErrorKind::Degraded, format!("could not search by meaning: {why}")).hint(
                "until the model is installed, mode hybrid searches by keyword; to install it: hippoctl \
                 model pull",
            ),
        );
    }
    let (searcher, view, question) = (Arc::clone(searcher), Arc::clone(view), Arc::clone(question));
    let consulted = Arc::clone(consulted);
    let recall = move || {
        SearchState {
            searcher: &searcher,
            view: &view,
            question: &question,
            consulted: &consulted,
        }
        .answer(vector.as_deref(), model.as_deref())
    };
    tokio::task::spawn_blocking(recall).await.map_err(task_failed)?
}
