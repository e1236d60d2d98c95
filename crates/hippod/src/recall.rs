//! Answering a question: candidates from words and vectors, ranked, checked against the disk, packed.

mod filter;
mod get;
mod hit;

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use hippo_core::retrieval::collapse;
use hippo_core::retrieval::dates::{self, DateRange};
use hippo_core::retrieval::rank::{self, Postings, RankInput, RankScratch, Ranked, VectorHits};
use hippo_core::retrieval::terms::{self, QueryTerm};
use hippo_core::time::Date;
use hippo_proto::{
    ErrorKind, IndexState, MAX_LIMIT, Mode, RpcError, SearchRequest, SearchResponse, Strategy,
};
use hippo_store::StoreError;
use hippo_store::vector::PreparedQuery;

use crate::clock::date_in;
use crate::config;
use crate::engine::store_error;
use crate::event::Event;
use crate::shared::Shared;
use crate::verify::Verifier;
use crate::view::{Picture, WorkspaceView};
use filter::Filter;
use hit::Collector;

pub use get::get;

/// Chunks that the vector index proposes.
const VECTOR_CANDIDATES: usize = 300;
/// Of these, the nearest whose cosine is taken from the exact vector.
const RESCORED: usize = 40;
/// Chunks that are ranked for each one asked for: some are near-duplicates, some changed on disk, some do not fit.
const OVERFETCH: usize = 4;
/// How long an answer waits for the query's vector; loading the model takes a part of a second.
const PATIENCE: Duration = Duration::from_secs(5);

/// Answers `search`.
///
/// # Errors
/// `no-workspace`, `warming`, `bad-request` for a filter that cannot be understood, `degraded` where vectors alone
/// are asked for and there is no model, `internal` with the store's own words.
pub async fn search(shared: &Arc<Shared>, request: SearchRequest) -> Result<SearchResponse, RpcError> {
    let start = Instant::now();
    if request.agent.is_some() {
        return Err(
            RpcError::bad_request("agent scopes are not served by this version")
                .hint("leave \"agent\" out; each workspace is one scope"),
        );
    }
    let view = shared.views.get(&request.workspace).await?;
    let zone = view
        .config
        .search
        .time_zone()
        .unwrap_or_else(|| shared.clock.time_zone());
    let today = date_in(shared.clock.now(), &zone);
    let question = Arc::new(Question::new(request, &view.root, &view.config.search, today)?);
    // The model may change between the question's vector and the ranking: then it is embedded anew, once at most.
    for _ in 0..2 {
        if let Some(mut response) = attempt(shared, &view, &question).await? {
            response.took_ms = start.elapsed().as_secs_f64() * 1e3;
            return Ok(response);
        }
    }
    Err(
        RpcError::new(ErrorKind::Warming, "the embedding model is being changed")
            .hint("ask again in a moment"),
    )
}

/// One answer; nothing where the model changed while it was made.
async fn attempt(
    shared: &Arc<Shared>,
    view: &Arc<WorkspaceView>,
    question: &Arc<Question>,
) -> Result<Option<SearchResponse>, RpcError> {
    let model = match question.mode {
        Mode::Lexical => None,
        // Vectors of earlier days do not speak when search by meaning is switched off.
        Mode::Hybrid | Mode::Vector => view
            .picture()
            .model
            .clone()
            .filter(|_| shared.config.embed.enabled),
    };
    let waiting = model
        .clone()
        .map(|model| shared.embed.query(model, question.request.query.clone()));
    // Words are looked up while the model is at work on the meaning.
    let words = (question.mode == Mode::Hybrid).then(|| {
        let (view, question) = (Arc::clone(view), Arc::clone(question));
        tokio::task::spawn_blocking(move || question.postings(&view, &view.picture()).map(|_| ()))
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
            .map_err(gone)?
            .map_err(|error| refused(shared, view, error))?;
    }
    if question.mode == Mode::Vector && vector.is_none() {
        let degraded = view.freshness().degraded;
        let why = degraded.map_or_else(|| "no vector of the question".to_owned(), |(_, why)| why);
        return Err(
            RpcError::new(ErrorKind::Degraded, format!("could not search by meaning: {why}"))
                .hint("hippoctl model pull installs the model; mode hybrid answers by words meanwhile"),
        );
    }
    let (shared, view, question) = (Arc::clone(shared), Arc::clone(view), Arc::clone(question));
    let recall = move || {
        Recall {
            shared: &shared,
            view: &view,
            question: &question,
        }
        .answer(vector.as_deref(), model.as_deref())
    };
    tokio::task::spawn_blocking(recall).await.map_err(gone)?
}

/// What is asked, with the configuration's defaults filled in.
struct Question {
    request: SearchRequest,
    mode: Mode,
    limit: usize,
    filter: Filter,
    terms: Vec<QueryTerm>,
    expressions: Vec<String>,
    dates: Option<DateRange>,
}

impl Question {
    fn new(
        request: SearchRequest,
        root: &Path,
        defaults: &config::Search,
        today: Date,
    ) -> Result<Self, RpcError> {
        let mut terms = terms::query_terms(&request.query);
        if terms.iter().any(|term| !term.stop) {
            terms.retain(|term| !term.stop);
        }
        let limit = match (request.limit, request.budget_tokens) {
            (Some(limit), _) => limit as usize,
            // The budget says how many.
            (None, Some(_)) => MAX_LIMIT as usize,
            (None, None) => defaults.limit,
        };
        Ok(Self {
            mode: request.mode.unwrap_or(defaults.default_mode),
            limit,
            filter: Filter::new(&request, root)?,
            expressions: terms.iter().map(terms::fts_query).collect(),
            terms,
            dates: dates::date_range(&request.query, today),
            request,
        })
    }

    fn postings(&self, view: &WorkspaceView, picture: &Picture) -> Result<Vec<Arc<[u32]>>, StoreError> {
        view.postings(picture, &self.expressions)
    }
}

/// One search at work.
struct Recall<'a> {
    shared: &'a Shared,
    view: &'a WorkspaceView,
    question: &'a Question,
}

impl Recall<'_> {
    /// `model` is the one that made `vector`; nothing where another one answers by now.
    fn answer(
        &self,
        vector: Option<&[f32]>,
        model: Option<&str>,
    ) -> Result<Option<SearchResponse>, RpcError> {
        let picture = self.view.picture();
        if vector.is_some() && picture.model.as_deref() != model {
            return Ok(None);
        }
        let ranked = self.rank(&picture, vector)?;
        let mut collector = Collector::new(&self.question.request, self.question.limit);
        let places = collector.places(&picture, &ranked);
        let index = self.index_state(&picture, vector.is_some());
        drop(picture);

        let mut verifier = Verifier::new(&self.view.root, self.view.config.sources.max_file_bytes);
        for place in places {
            if collector.is_full() {
                break;
            }
            if let Some(text) = verifier.check(&place.path, place.mark, place.span) {
                collector.take(place, text);
            }
        }
        let changed = verifier.changed();
        if !changed.is_empty() {
            // The engine is gone only when the daemon ends.
            let _ = self.shared.events.send(Event::Stale {
                root: self.view.root.clone(),
                paths: changed,
            });
        }
        let found = collector.found();
        let (results, tokens, mut notes) = collector.finish();
        if results.is_empty()
            && let Some(least) = found
        {
            notes.push(format!(
                "nothing fits into the budget: the best result takes {least} tokens"
            ));
        }
        if let Some(range) = self.question.dates {
            notes.push(format!("dates understood as {} to {}", range.start, range.end));
        }
        Ok(Some(SearchResponse {
            query: self.question.request.query.clone(),
            mode: self.question.mode,
            strategy: Strategy::Search,
            results,
            tokens,
            index,
            notes,
            took_ms: 0.0,
        }))
    }

    fn rank(&self, picture: &Picture, vector: Option<&[f32]>) -> Result<Vec<Ranked>, RpcError> {
        let lists = match self.question.mode {
            Mode::Vector => Vec::new(),
            Mode::Hybrid | Mode::Lexical => self
                .question
                .postings(self.view, picture)
                .map_err(|error| refused(self.shared, self.view, error))?,
        };
        let postings: Vec<Postings<'_>> = self
            .question
            .terms
            .iter()
            .zip(&lists)
            .map(|(term, chunks)| Postings { term, chunks })
            .collect();
        let passes = |chunk: u32| self.question.filter.passes(picture, chunk);
        let prepared = vector.and_then(|vector| PreparedQuery::new(vector).ok());
        let vectors = match &prepared {
            Some(query) => Some(self.nearest(picture, query, &passes)?),
            None => None,
        };
        let neighbours = |chunks: &[u32]| match &prepared {
            Some(query) => picture.vectors.scores(query, chunks).unwrap_or_default(),
            None => vec![f32::NAN; chunks.len()],
        };
        let wanted = self.question.limit * OVERFETCH + 20;
        let input = RankInput {
            corpus: &picture.corpus,
            mode: match self.question.mode {
                Mode::Hybrid => rank::Mode::Hybrid,
                Mode::Lexical => rank::Mode::Lexical,
                Mode::Vector => rank::Mode::Vector,
            },
            postings: &postings,
            vectors: vectors.as_ref(),
            neighbour_scores: &neighbours,
            filter: &passes,
            dates: self.question.dates,
            limit: wanted,
        };
        let ranked = with_scratch(|scratch| rank::rank(&input, scratch));
        let mut ranked = collapse::collapse(&ranked, &picture.corpus, wanted);
        if let Some(least) = self.question.request.min_score {
            ranked.retain(|hit| hit.score >= least);
        }
        Ok(ranked)
    }

    fn nearest(
        &self,
        picture: &Picture,
        query: &PreparedQuery,
        passes: &(dyn Fn(u32) -> bool + Sync),
    ) -> Result<VectorHits, RpcError> {
        let filter = self.question.filter.is_set().then_some(passes);
        // Coarse cosines are good to 0.01; only the order at the top needs more.
        let rescore = |chunks: &[u32]| {
            let exact = &chunks[..chunks.len().min(RESCORED)];
            self.view
                .with_reader(|reader| reader.vectors(exact))
                .unwrap_or_default()
        };
        let found = picture
            .vectors
            .search_prepared(query, VECTOR_CANDIDATES, filter, &rescore);
        found
            .map(|hits| VectorHits { hits })
            .map_err(|error| RpcError::internal(format!("could not search by meaning: {error}")))
    }

    fn index_state(&self, picture: &Picture, vector: bool) -> IndexState {
        let freshness = self.view.freshness();
        let wants_meaning = self.question.mode != Mode::Lexical && self.shared.config.embed.enabled;
        let degraded = freshness.degraded.or_else(|| {
            let missing = wants_meaning && !vector && !picture.vectors.is_empty();
            missing.then(|| {
                (
                    "model-late",
                    "the model gave no vector in time; answered by words".to_owned(),
                )
            })
        });
        let (degraded, why) = degraded.unzip();
        IndexState {
            generation: picture.generation,
            pending: freshness.pending,
            lag_ms: freshness.behind_since.map_or(0, |since| {
                u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX)
            }),
            degraded: degraded.map(str::to_owned),
            why,
        }
    }
}

/// The store's refusal for the client; a damage is told to the engine, so that `status` knows of it too.
fn refused(shared: &Shared, view: &WorkspaceView, error: StoreError) -> RpcError {
    let refusal = store_error(&error);
    if error.needs_rebuild() {
        // The engine is gone only when the daemon ends.
        let _ = shared.events.send(Event::Damaged {
            root: view.root.clone(),
            error,
        });
    }
    refusal
}

/// Ranking keeps arrays by chunk id; a few of them are handed from query to query.
fn with_scratch<T>(work: impl FnOnce(&mut RankScratch) -> T) -> T {
    static KEPT: Mutex<Vec<RankScratch>> = Mutex::new(Vec::new());
    let mut scratch = KEPT
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .pop()
        .unwrap_or_default();
    let result = work(&mut scratch);
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if kept.len() < 2 {
        kept.push(scratch);
    }
    result
}

/// A task that panicked, or a daemon that is ending.
pub fn gone(error: tokio::task::JoinError) -> RpcError {
    tracing::error!(%error, "a request failed");
    RpcError::internal("the request failed inside the daemon").hint("hippoctl logs tells more")
}
