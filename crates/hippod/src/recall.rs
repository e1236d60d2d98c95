//! Answers to `search`, `get` and `recall` requests.
//!
//! A search finds candidate chunks by their words and by their vectors, and ranks them. It then checks that the files
//! still contain the text, and fills the answer with the best results up to the limits.

mod attempt;
mod filter;
mod first;
mod fresh;
mod get;
mod hit;
mod index_first;
mod log;
mod note_name;
mod prompted;
mod question;
mod scratch;
mod second;
mod shared;
mod team;
mod trace;
mod why;

use std::sync::Arc;
use std::time::Instant;

use hippo_map::consolidation::PassageKey;
use hippo_proto::{
    ErrorKind, LoggedPassage, RpcError, SearchHit, SearchMode, SearchRequest, SearchResponse, Strategy,
    Viewer,
};
use hippo_rank::rank::RankedChunk;
use hippo_rank::rerank;
use hippo_store::StoreError;
use parking_lot::RwLockReadGuard;

use crate::clock::Clock;
use crate::embed_worker::{EmbedWorker, EmbeddedQuery};
use crate::errors::store_error;
use crate::local_share::LocalShares;
use crate::message::{EngineHandle, WorkspaceMessage};
use crate::models::Models;
use crate::scan::describe_left_out;
use crate::share::TeamShare;
use crate::tasks::OneAtATime;
use crate::verify::Verifier;
use crate::view::{SearchSnapshot, WorkspaceView};
use crate::views::Views;
use first::FoundByWords;
use fresh::StaleFiles;
use hit::{ChunkHit, Collector};
use index_first::{EntryConsultation, Route};
use question::SearchQuestion;
use second::SecondRanking;
use shared::OutsideSearch;

pub use get::get;
pub use prompted::{Recalls, recall};
pub use why::why;

/// Number of ranked chunks per requested result. Near-duplicates, changed texts and long texts are dropped later.
const OVERFETCH: usize = 4;

/// Handles that a search needs.
pub struct Searcher {
    /// The views of the registered workspaces.
    pub views: Arc<Views>,
    /// The daemon's clock.
    pub clock: Arc<dyn Clock>,
    /// Handle to the embed worker.
    pub embed: EmbedWorker,
    /// The installed models.
    pub models: Arc<Models>,
    /// Handle of the engine, which indexes changed files and records the effects of queries.
    pub engine: EngineHandle,
    /// Passages that sessions were given.
    pub recalls: Recalls,
    /// Sharing with a team.
    pub share: Arc<TeamShare>,
    /// Shares between workspaces.
    pub local_shares: Arc<LocalShares>,
    /// Held by the query whose chunks are found by words while its vector is computed.
    pub early: OneAtATime,
}

/// Handles `search`.
///
/// # Errors
/// Returns `no-workspace` or `warming` if the workspace is not available, `bad-request` for an invalid filter,
/// `degraded` if the mode is `vector` and search by meaning is not possible, or an error of the store.
pub async fn search(
    searcher: &Arc<Searcher>,
    viewer: Viewer,
    request: SearchRequest,
) -> Result<SearchResponse, RpcError> {
    let start = Instant::now();
    let (state, answered) = attempt::answer_fresh(searcher, viewer, request).await?;
    if answered.response.index.degraded.as_deref() == Some("no-model") {
        fresh::look_for_model(searcher);
    }
    let dropped = log::shorten(&answered.dropped);
    let mut response = trace::complete(&state, answered);
    response.took_ms = start.elapsed().as_secs_f64() * 1e3;
    log::log_search(&state, &response, dropped);
    Ok(response)
}

/// The answer to a search, with facts that only the daemon needs.
pub struct SearchAnswer {
    response: SearchResponse,
    /// The passage of each result, and true if the result is good.
    passages: Vec<(PassageKey, bool)>,
    /// True if the answer contains every result that was found.
    all: bool,
    /// True if the file of a ranked chunk no longer contains its text.
    gone: bool,
    /// Files of ranked chunks that differ from the index.
    stale: StaleFiles,
    /// Hits that the answer does not contain, best first.
    dropped: Vec<LoggedPassage>,
}

/// State of one search.
pub struct SearchState {
    searcher: Arc<Searcher>,
    view: Arc<WorkspaceView>,
    question: Arc<SearchQuestion>,
    consulted: EntryConsultation,
}

impl SearchState {
    /// Answers a query by search. `model` is the model that computed `embedded`. Returns `None` if the workspace has
    /// changed to another model since.
    fn answer(
        &self,
        embedded: Option<&EmbeddedQuery>,
        model: Option<&str>,
        found: Option<FoundByWords>,
        outside: OutsideSearch,
    ) -> Result<Option<SearchAnswer>, RpcError> {
        let mut snapshot = self.view.snapshot();
        if embedded.is_some() && snapshot.model.as_deref() != model {
            return Ok(None);
        }
        let of_days = self.question.passages_of_days(&snapshot);
        if !of_days.is_empty() {
            let answered = self.collect(snapshot, &of_days, None, None, true);
            if !answered.response.results.is_empty() {
                return Ok(Some(answered));
            }
            snapshot = self.view.snapshot();
        }
        let vector = embedded.map(|one| &*one.vector);
        let ranked = self.rank_found(&snapshot, vector, None, found)?;
        let second = match embedded {
            Some(embedded) => self.second_ranking(&snapshot, &ranked, embedded)?,
            None => None,
        };
        Ok(Some(self.collect(
            snapshot,
            &ranked,
            second,
            Some(outside),
            vector.is_some(),
        )))
    }

    /// Checks the ranked chunks against the files on disk, and creates the answer from those whose text still exists.
    /// `second` orders the first of them again, together with those from outside the workspace.
    fn collect(
        &self,
        snapshot: RwLockReadGuard<'_, SearchSnapshot>,
        ranked: &[RankedChunk],
        second: Option<SecondRanking<'_>>,
        outside: Option<OutsideSearch>,
        vector: bool,
    ) -> SearchAnswer {
        let mut collector = Collector::new(&self.question.request, self.question.limit);
        let mut places = collector.places(&snapshot, ranked).into_iter();
        let index = self.index_state(&snapshot, vector);
        let undated = self.question.is_undated(&snapshot);
        drop(snapshot);

        let mut verifier = Verifier::new(&self.view.root, self.view.config.sources.max_file_bytes);
        let mut gone = Vec::new();
        let mut check = |place: ChunkHit| {
            let text = verifier.check(&place.path, place.mark, place.span);
            if text.is_none() {
                gone.push(place);
                return None;
            }
            Some((place, text?))
        };
        let mut largest = 1.0;
        let compared = if second.is_some() { rerank::CANDIDATES } else { 0 };
        let mut first: Vec<_> = places.by_ref().take(compared).filter_map(&mut check).collect();
        let (mut from_outside, late) = self.outside_hits(outside);
        if let Some(second) = second {
            first.append(&mut from_outside);
            first.sort_by(|(one, _), (other, _)| other.first_score.total_cmp(&one.first_score));
            for (place, text) in second.order(&self.question, first) {
                if collector.is_full() {
                    break;
                }
                largest = place.score().min(largest);
                collector.take(place, text);
            }
        }
        let mut from_outside = from_outside.into_iter().peekable();
        for mut place in places {
            while let Some((hit, text)) = from_outside.next_if(|(hit, _)| hit.score() >= place.score()) {
                collector.take(hit, text);
            }
            if collector.is_full() {
                break;
            }
            place.limit_score(largest);
            if let Some((place, text)) = check(place) {
                collector.take(place, text);
            }
        }
        from_outside.for_each(|(hit, text)| collector.take(hit, text));
        let mut stale = StaleFiles {
            gone: verifier.missing_files(),
            changed: verifier.changed(),
        };
        if !stale.changed.is_empty() {
            self.searcher
                .engine
                .send_to(&self.view.root, WorkspaceMessage::Stale(stale.changed.clone()));
        }
        stale.changed.retain(|path| !stale.gone.contains(path));
        for place in &gone {
            collector.drop_hit(place, place.span.start_line, "changed");
        }
        let gone = !gone.is_empty();
        let (found, all) = (collector.best_hit_tokens(), collector.has_all());
        // Remembered answers are relevant, and scores of degraded answers are not comparable with the others. An entry
        // that matches the question does not make weak results relevant: its note may have been deleted.
        let is_whole = self.consulted.route != Route::Index && index.degraded.is_none();
        let is_hybrid = self.question.mode == SearchMode::Hybrid;
        let nothing_relevant = is_hybrid && is_whole && collector.is_irrelevant(&self.question.terms);
        let (collected, tokens, mut notes, dropped) = collector.finish(&self.question);
        notes.extend(late);
        let (results, passages): (Vec<SearchHit>, Vec<_>) = (collected.into_iter())
            .map(|one| (one.hit, (one.passage, one.is_good)))
            .unzip();
        if results.is_empty() && found.is_none() && !self.question.filter.is_set() {
            let status = self.view.status();
            notes.extend(status.and_then(|status| describe_left_out(&status.left_out, status.skipped_count)));
        }
        if results.is_empty()
            && let Some(least) = found
        {
            notes.push(format!(
                "no result fits into the budget: the best result has {least} tokens; repeat the search with a larger budget"
            ));
        }
        let by_words = self.searcher.models.are_enabled() && !self.question.meaning;
        if by_words && self.question.mode == SearchMode::Hybrid && self.consulted.route != Route::Index {
            notes.push(
                "searched only by keyword: search.vector is false in hipocampus.config.json".to_owned(),
            );
        }
        if let Some(range) = self.question.dates {
            let nothing = if undated {
                "; no text has a date in that range"
            } else {
                ""
            };
            notes.push(format!(
                "the dates in the query were read as {} to {}{nothing}",
                range.start, range.end
            ));
        }
        let response = SearchResponse {
            query: self.question.request.query.clone(),
            mode: self.question.mode,
            strategy: match self.consulted.route {
                Route::Search => Strategy::Search,
                Route::Index => Strategy::Index,
                Route::Both => Strategy::Hybrid,
            },
            results,
            tokens,
            index,
            notes,
            nothing_relevant,
            trace: None,
            took_ms: 0.0,
        };
        SearchAnswer {
            response,
            passages,
            all,
            gone,
            stale,
            dropped,
        }
    }
}

/// Returns the answer to the client for an error of the store. A damaged database is also reported to the engine, so
/// that `status` shows the damage.
fn search_error(searcher: &Searcher, view: &WorkspaceView, error: StoreError) -> RpcError {
    let refusal = store_error(&error);
    if error.needs_rebuild() {
        searcher
            .engine
            .send_to(&view.root, WorkspaceMessage::Damaged(error));
    } else {
        // Wake the workspace's thread, which then checks that the database file still exists.
        searcher
            .engine
            .send_to(&view.root, WorkspaceMessage::Stale(Vec::new()));
        if !view.has_database() {
            let what = "the database was removed; hippod is writing it again";
            return RpcError::new(ErrorKind::Warming, what).hint("try again in a moment");
        }
    }
    refusal
}
