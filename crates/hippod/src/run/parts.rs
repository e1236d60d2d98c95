//! Construction of the daemon's components.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::{Context, Result};
use tokio::sync::{broadcast, watch};

use hippo_proto::Paths;

use crate::backup::Backups;
use crate::clock::Clock;
use crate::config::Config;
use crate::contexts::Contexts;
use crate::cycles::CycleRunner;
use crate::doctor::Doctor;
use crate::embed_worker::{EmbedSink, EmbedWorker};
use crate::engine::{self, Engine, Resources};
use crate::local_share::LocalShares;
use crate::measures::Measures;
use crate::memory::MemoryWriter;
use crate::message::{EngineHandle, EngineMessage};
use crate::models::Models;
use crate::recall::{Recalls, Searcher};
use crate::registry::Registry;
use crate::server::{Components, SessionFlusher};
use crate::share::TeamShare;
use crate::status::StatusReporter;
use crate::tasks::{OneAtATime, Pulse};
use crate::tree::Trees;
use crate::views::Views;

/// Maximum number of events that are buffered for a slow subscriber.
const NEWS_KEPT: usize = 1024;

/// The components of a daemon, which [`run`](super::run) starts and stops.
pub(super) struct DaemonParts {
    /// Components that serve requests.
    pub components: Components,
    /// The engine, which is not running yet.
    pub engine: Engine,
    /// Handle to the embed worker.
    pub embed: EmbedWorker,
    /// Thread of the embed worker.
    pub embed_thread: JoinHandle<()>,
    /// Liveness signal of the engine.
    pub pulse: Pulse,
    /// True during shutdown while a database whose file was deleted is written to disk again.
    pub rescuing: Arc<AtomicBool>,
}

/// Creates the components of the daemon, and starts the embed worker.
///
/// # Errors
/// Fails if the built-in list of models cannot be read, or if the thread of the embed worker cannot be started.
pub(super) fn build_parts(
    config: Config,
    paths: Paths,
    clock: Arc<dyn Clock>,
    (registry, local_shares): (Registry, Arc<LocalShares>),
) -> Result<DaemonParts> {
    let models = Arc::new(Models::new(&paths, &config.embed)?);
    let (handle, inbox) = engine::create_channel();
    let (embed, embed_thread) = start_embedding(&models, &config, handle.clone())?;
    let measures = Arc::new(Measures::new(clock.now()));
    let started = clock.monotonic();
    let (news, pulse) = (broadcast::Sender::new(NEWS_KEPT), Pulse::default());
    let rescuing = Arc::new(AtomicBool::new(false));
    let (config, views) = (Arc::new(config), Arc::new(Views::default()));
    let state = &paths.state;
    let memory = MemoryWriter::new(Arc::clone(&views), Arc::clone(&clock), handle.clone());
    let contexts = Arc::new(Contexts::new(
        state.clone(),
        Arc::clone(&views),
        Arc::clone(&clock),
        memory.clone(),
    ));
    let trees = Arc::new(Trees::new(state.clone(), Arc::clone(&views), Arc::clone(&clock)));
    let cycles = Arc::new(CycleRunner {
        views: Arc::clone(&views),
        clock: Arc::clone(&clock),
        engine: handle.clone(),
        memory: memory.clone(),
        trees: Arc::clone(&trees),
    });
    let flusher = SessionFlusher {
        views: Arc::clone(&views),
        memory: memory.clone(),
        contexts: Arc::clone(&contexts),
        trees: Arc::clone(&trees),
    };
    let share = Arc::new(TeamShare::new(&config.share.postgres, &paths, Arc::clone(&views)));
    let searcher = Searcher {
        views: Arc::clone(&views),
        clock: Arc::clone(&clock),
        embed: embed.clone(),
        models: Arc::clone(&models),
        engine: handle.clone(),
        recalls: Recalls::default(),
        share: Arc::clone(&share),
        local_shares: Arc::clone(&local_shares),
        early: OneAtATime::default(),
    };
    let backups = Backups {
        views: Arc::clone(&views),
        clock: Arc::clone(&clock),
        paths: paths.clone(),
        include: config.sources.include.clone(),
        contexts: Arc::clone(&contexts),
        queue: OneAtATime::default(),
    };
    let doctor = Doctor {
        paths: paths.clone(),
        views: Arc::clone(&views),
        engine: handle.clone(),
        embed: embed.clone(),
        models: Arc::clone(&models),
        contexts: Arc::clone(&contexts),
        trees: Arc::clone(&trees),
    };
    let reporter = StatusReporter {
        started,
        clock: Arc::clone(&clock),
        paths: paths.clone(),
        threads: config.embed.threads,
        views: Arc::clone(&views),
        embed: embed.clone(),
        models: Arc::clone(&models),
        contexts: Arc::clone(&contexts),
        trees: Arc::clone(&trees),
        measures: Arc::clone(&measures),
    };
    let resources = Resources {
        config: Arc::clone(&config),
        paths: paths.clone(),
        clock: Arc::clone(&clock),
        views: Arc::clone(&views),
        registry,
        local_shares: Arc::clone(&local_shares),
        embed: embed.clone(),
        models: Arc::clone(&models),
        contexts: Arc::clone(&contexts),
        measures: Arc::clone(&measures),
        news: news.clone(),
        pulse: pulse.clone(),
        rescuing: Arc::clone(&rescuing),
    };
    let engine = Engine::new(inbox, resources);
    let components = Components {
        clock,
        stop: watch::Sender::new(false),
        news,
        measures,
        views,
        engine: handle,
        memory,
        cycles,
        trees,
        contexts,
        flusher: Arc::new(flusher),
        searcher: Arc::new(searcher),
        models,
        share,
        local_shares,
        backups: Arc::new(backups),
        doctor: Arc::new(doctor),
        reporter: Arc::new(reporter),
    };
    Ok(DaemonParts {
        components,
        engine,
        embed,
        embed_thread,
        pulse,
        rescuing,
    })
}

fn start_embedding(
    models: &Models,
    config: &Config,
    engine: EngineHandle,
) -> Result<(EmbedWorker, JoinHandle<()>)> {
    let sink: EmbedSink = Box::new(move |event| {
        engine.send(EngineMessage::Embed(event));
    });
    let configured = models.configured().map_or_else(|| "".into(), |model| model.id);
    let idle = Duration::from_secs(config.embed.idle_unload_secs);
    EmbedWorker::start(models.loader(), configured, models.state(), idle, sink)
        .context("could not start the embedding thread")
}
