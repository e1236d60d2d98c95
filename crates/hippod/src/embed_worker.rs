//! Worker thread that owns the embedding models.
//!
//! Queries take precedence over passages. A model is loaded on first use and unloaded after an idle period. During a
//! change of model, two models are in use: the old model answers queries until all vectors of the new model are
//! computed.

mod state;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};
use tokio::sync::oneshot;

use hippo_embed::{EmbedError, Embedder, WordVectors};
use hippo_rank::rerank;
use hippo_text::chunk::text;

use state::EmbedState;
pub use state::{EmbedCounters, ModelPhase};

/// Callback that creates the embedder for a model id in text form.
pub type Loader = Box<dyn FnMut(&str) -> Result<Box<dyn Embedder>, EmbedError> + Send>;
/// Callback for the worker's events, invoked on its thread.
pub type EmbedSink = Box<dyn Fn(EmbedEvent) + Send>;

/// A run of adjacent chunks, embedded together so that each vector includes the context of its neighbours.
#[derive(Debug, Clone)]
pub struct Passage {
    /// The headings above the chunks, outermost first.
    pub context: String,
    /// The visible texts of the chunks, in order.
    pub texts: Vec<String>,
    /// For each text, true if its vector is requested. The other texts only provide context.
    pub wanted: Vec<bool>,
    /// The hashes of the texts.
    pub hashes: Vec<[u8; 16]>,
}

/// Passages of one workspace.
#[derive(Debug, Clone)]
pub struct EmbedJob {
    /// Id of the workspace, returned unchanged with the result.
    pub workspace: u64,
    /// Text form of the model id.
    pub model: Arc<str>,
    /// The passages to embed.
    pub passages: Vec<Passage>,
}

/// Event from the worker.
#[derive(Debug)]
pub enum EmbedEvent {
    /// A finished job. Texts that the model rejected have no embedding.
    Done {
        /// The job's workspace.
        workspace: u64,
        /// One embedding for each requested text.
        embeddings: Vec<hippo_store::db::Embedding>,
    },
    /// A job that could not run because the model is unavailable.
    Refused {
        /// The job's workspace.
        workspace: u64,
    },
    /// A change of the model's state.
    State(ModelPhase),
}

/// Vector of a query, and the word vectors of its model.
#[derive(Debug, Clone)]
pub struct EmbeddedQuery {
    /// Vector of the query, with unit length.
    pub vector: Vec<f32>,
    /// Vectors of single words, if the second ranking can use them.
    pub words: Option<Arc<WordVectors>>,
}

struct Query {
    model: Arc<str>,
    text: String,
    reply: oneshot::Sender<Option<EmbeddedQuery>>,
}

#[derive(Default)]
struct Queue {
    queries: VecDeque<Query>,
    jobs: VecDeque<EmbedJob>,
    /// Reset to perform after the installed files changed: the configured model and its new state.
    reset: Option<(Arc<str>, ModelPhase)>,
    stop: bool,
}

struct EmbedShared {
    queue: Mutex<Queue>,
    wake: Condvar,
    state: Mutex<EmbedState>,
}

/// Handle to the worker thread.
#[derive(Clone)]
pub struct EmbedWorker {
    shared: Arc<EmbedShared>,
}

impl EmbedWorker {
    /// Starts the thread. `configured` is the model whose state [`EmbedWorker::state`] returns. A model that is unused
    /// for the time `idle` is unloaded.
    ///
    /// # Errors
    /// Fails if the operating system cannot start a thread.
    pub fn start(
        loader: Loader,
        configured: Arc<str>,
        initial: ModelPhase,
        idle: Duration,
        sink: EmbedSink,
    ) -> std::io::Result<(Self, JoinHandle<()>)> {
        let shared = Arc::new(EmbedShared {
            queue: Mutex::default(),
            wake: Condvar::new(),
            state: Mutex::new(EmbedState {
                models: BTreeMap::from([(Arc::clone(&configured), initial)]),
                configured,
                counters: EmbedCounters::default(),
            }),
        });
        let worker = EmbedThread {
            shared: Arc::clone(&shared),
            loader,
            idle,
            sink,
            models: BTreeMap::new(),
        };
        let thread = std::thread::Builder::new()
            .name("embed".into())
            .spawn(move || worker.run())?;
        Ok((Self { shared }, thread))
    }

    /// Requests the vector of a query. Queries are computed before passages. The result is `None` if the model is
    /// unavailable.
    pub fn query(&self, model: Arc<str>, text: String) -> oneshot::Receiver<Option<EmbeddedQuery>> {
        let (reply, answer) = oneshot::channel();
        self.shared
            .queue
            .lock()
            .queries
            .push_back(Query { model, text, reply });
        self.shared.wake.notify_one();
        answer
    }

    /// Submits passages; the worker passes the result to the sink.
    pub fn submit(&self, job: EmbedJob) {
        self.shared.queue.lock().jobs.push_back(job);
        self.shared.wake.notify_one();
    }

    /// Discards load failures and loaded models after a change of the installed files. `state` is the new
    /// state of the configured model.
    pub fn reset(&self, configured: Arc<str>, state: ModelPhase) {
        self.shared.queue.lock().reset = Some((configured, state));
        self.shared.wake.notify_one();
    }

    /// Stops the thread after the current passage. Queued jobs are dropped; their chunks remain pending.
    pub fn stop(&self) {
        let mut queue = self.shared.queue.lock();
        queue.stop = true;
        queue.jobs.clear();
        drop(queue);
        self.shared.wake.notify_one();
    }

    /// Returns the state of a model, given the text form of its id. A model that was never requested counts
    /// as unloaded.
    pub fn state_of(&self, model: &str) -> ModelPhase {
        self.shared.state.lock().of(model)
    }

    /// Returns the state of the configured model, and the counters of all models.
    pub fn state(&self) -> (ModelPhase, EmbedCounters) {
        let state = self.shared.state.lock();
        (state.of(&state.configured), state.counters.clone())
    }
}

struct EmbedThread {
    shared: Arc<EmbedShared>,
    loader: Loader,
    idle: Duration,
    sink: EmbedSink,
    models: BTreeMap<Arc<str>, LoadedModel>,
}

struct LoadedModel {
    embedder: Box<dyn Embedder>,
    /// Number of tokens of this model that are already included in the worker's counters.
    counted: u64,
}

enum EmbedWork {
    Query(Query),
    Job(EmbedJob),
    Reset(Arc<str>, ModelPhase),
    Idle,
    Stop,
}

impl EmbedThread {
    fn run(mut self) {
        loop {
            match self.next_work() {
                EmbedWork::Query(query) => self.answer(query),
                EmbedWork::Job(job) => self.embed(job),
                EmbedWork::Idle => {
                    for id in std::mem::take(&mut self.models).into_keys() {
                        self.set_state(&id, ModelPhase::Unloaded);
                    }
                }
                EmbedWork::Reset(configured, state) => {
                    self.models.clear();
                    let mut known = self.shared.state.lock();
                    known.models.clear();
                    known.configured = Arc::clone(&configured);
                    drop(known);
                    self.set_state(&configured, state);
                }
                EmbedWork::Stop => return,
            }
        }
    }

    fn next_work(&self) -> EmbedWork {
        let mut queue = self.shared.queue.lock();
        let deadline = (!self.models.is_empty()).then(|| Instant::now() + self.idle);
        loop {
            if queue.stop {
                return EmbedWork::Stop;
            }
            if let Some((configured, state)) = queue.reset.take() {
                return EmbedWork::Reset(configured, state);
            }
            if let Some(query) = queue.queries.pop_front() {
                return EmbedWork::Query(query);
            }
            if let Some(job) = queue.jobs.pop_front() {
                return EmbedWork::Job(job);
            }
            match deadline {
                None => self.shared.wake.wait(&mut queue),
                Some(deadline) if Instant::now() >= deadline => return EmbedWork::Idle,
                Some(deadline) => {
                    self.shared.wake.wait_until(&mut queue, deadline);
                }
            }
        }
    }

    fn answer(&mut self, query: Query) {
        // The caller may have stopped waiting while the model was being loaded.
        if query.reply.is_closed() {
            return;
        }
        let vector = self
            .model(&query.model)
            .and_then(|model| match model.embed_query(&query.text) {
                Ok(vector) => Some(EmbeddedQuery {
                    vector,
                    words: (model.id().name == rerank::MODEL)
                        .then(|| model.words())
                        .flatten(),
                }),
                Err(error) => {
                    tracing::warn!(%error, "could not compute the vector of a query");
                    None
                }
            });
        self.count();
        // A caller that disconnected needs no answer.
        let _ = query.reply.send(vector);
    }

    fn embed(&mut self, job: EmbedJob) {
        let workspace = job.workspace;
        if self.model(&job.model).is_none() {
            (self.sink)(EmbedEvent::Refused { workspace });
            return;
        }
        let mut embeddings = Vec::new();
        for passage in &job.passages {
            self.answer_waiting();
            if self.shared.queue.lock().stop {
                return;
            }
            if let Some(model) = self.model(&job.model) {
                embeddings.extend(embed_passage(model, passage));
            }
        }
        self.count();
        (self.sink)(EmbedEvent::Done {
            workspace,
            embeddings,
        });
    }

    /// Answers queued queries between two passages, so that a query waits for at most one pass of the model.
    fn answer_waiting(&mut self) {
        loop {
            let waiting = self.shared.queue.lock().queries.pop_front();
            let Some(query) = waiting else { return };
            self.answer(query);
        }
    }

    fn model(&mut self, id: &Arc<str>) -> Option<&mut (dyn Embedder + 'static)> {
        if !self.models.contains_key(id) {
            if !self.shared.state.lock().of(id).is_usable() {
                return None;
            }
            self.set_state(id, ModelPhase::Loading);
            let state = match (self.loader)(id) {
                Ok(embedder) => {
                    self.models
                        .insert(Arc::clone(id), LoadedModel { embedder, counted: 0 });
                    self.shared.state.lock().counters.loads += 1;
                    ModelPhase::Ready
                }
                Err(error @ EmbedError::NotInstalled(_)) => ModelPhase::Absent(error.to_string()),
                Err(error) => {
                    tracing::error!(%error, model = %id, "could not load the embedding model");
                    ModelPhase::Failed(error.to_string())
                }
            };
            self.set_state(id, state);
        }
        self.models.get_mut(id).map(|loaded| &mut *loaded.embedder)
    }

    fn set_state(&self, id: &Arc<str>, state: ModelPhase) {
        let mut known = self.shared.state.lock();
        known.models.insert(Arc::clone(id), state.clone());
        drop(known);
        (self.sink)(EmbedEvent::State(state));
    }

    fn count(&mut self) {
        for loaded in self.models.values_mut() {
            let total = loaded.embedder.word_pieces_embedded();
            self.shared.state.lock().counters.word_pieces += total.saturating_sub(loaded.counted);
            loaded.counted = total;
        }
    }
}

fn embed_passage(model: &mut (dyn Embedder + 'static), passage: &Passage) -> Vec<hippo_store::db::Embedding> {
    let plain: Vec<String> = passage
        .texts
        .iter()
        .map(|shown| text::strip_markup(shown))
        .collect();
    let texts: Vec<&str> = plain.iter().map(String::as_str).collect();
    let vectors = match model.embed_passages(&passage.context, &texts) {
        Ok(vectors) => vectors,
        Err(error) => {
            tracing::warn!(%error, "could not compute the vector of a passage");
            return Vec::new();
        }
    };
    let wanted = passage
        .wanted
        .iter()
        .zip(&passage.hashes)
        .zip(&passage.texts)
        .zip(vectors);
    wanted
        .filter(|(((wanted, _), _), _)| **wanted)
        .map(|(((_, hash), text), vector)| hippo_store::db::Embedding {
            hash: *hash,
            tokens: u32::try_from(model.count_tokens(text)).unwrap_or(u32::MAX),
            vector,
        })
        .collect()
}
