//! From a configuration to a daemon that serves, and back to nothing.

mod log;

use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use tokio::sync::{broadcast, oneshot, watch};

use hippo_proto::Paths;

use crate::backup;
use crate::clock::Clock;
use crate::config::Config;
use crate::contexts::{self, Contexts};
use crate::embed_worker::{EmbedWorker, Sink};
use crate::engine::Engine;
use crate::event::Event;
use crate::handles;
use crate::instance::Instance;
use crate::models::Models;
use crate::registry::Registry;
use crate::server::{self, Measures};
use crate::service::{self, Passed, Pulse};
use crate::shared::{Shared, Turns, Views, stopped};
use crate::ticks;
use crate::tree::{self, Trees};

pub use log::{LogTo, log_to};

/// Events kept for a subscriber that reads slowly.
const NEWS_KEPT: usize = 1024;
/// How long the engine may take to save what a next start can use.
const LAST_STEP: Duration = Duration::from_millis(800);
/// How long it may take in addition to write a database again that was taken away: with it the service manager's patience ends.
const RESCUE: Duration = Duration::from_secs(8);

/// What a daemon is made of.
pub struct Options {
    /// The configuration.
    pub config: Config,
    /// Where things live.
    pub paths: Paths,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// A socket that the service manager bound, to be served in the place of an own one. `paths` names it.
    pub passed: Option<Passed>,
}

/// Serves until `shutdown` is done, a client asks to stop, or a part of the daemon dies.
///
/// # Errors
/// When another daemon holds the state folder, the socket cannot be bound, or a thread ended on its own.
pub async fn run(options: Options, shutdown: impl Future<Output = ()>) -> Result<()> {
    let Options {
        config,
        paths,
        clock,
        passed,
    } = options;
    handles::raise_limit();
    let claimed = match passed {
        None => Instance::claim(&paths).and_then(|instance| {
            let listener = instance.listen()?;
            Ok((instance, listener))
        }),
        Some(passed) => Instance::claim_beside(&paths).and_then(|instance| {
            let listener = passed.serve()?;
            Ok((instance, listener))
        }),
    };
    let (instance, listener) = claimed.map_err(|error| {
        let hint = error.hint();
        anyhow!("{error}\nhint: {hint}")
    })?;
    let registry = Registry::open(&paths.state)?;
    if let Err(error) = backup::finish_what_was_begun(&paths.state, &registry) {
        tracing::error!(error = %error, hint = %error.data.hint, "could not finish a restore");
    }
    backup::clear_left(&paths.state);
    let models = Models::new(&paths, &config.embed)?;
    let (events, inbox) = mpsc::channel();
    let (embed, embed_thread) = start_embedding(&models, &config, events.clone())?;
    let stop = watch::Sender::new(false);
    let measures = Measures::new(clock.now());
    let shared = Arc::new(Shared {
        started: clock.monotonic(),
        config,
        paths,
        clock,
        embed,
        models,
        events: events.clone(),
        news: broadcast::Sender::new(NEWS_KEPT),
        views: Views::default(),
        contexts: Contexts::default(),
        trees: Trees::default(),
        pulse: Pulse::default(),
        backups: Turns::default(),
        rescuing: AtomicBool::new(false),
        served: AtomicU64::new(0),
        measures,
        stop: stop.clone(),
    });
    let (engine_done, mut engine_ended) = oneshot::channel::<()>();
    let engine = Engine::new(Arc::clone(&shared), inbox, registry);
    let engine_thread = std::thread::Builder::new().name("engine".into()).spawn(move || {
        // Dropped at the end of the thread, by a panic too.
        let _done = engine_done;
        engine.run();
    })?;
    tracing::info!(socket = %shared.paths.socket.display(), "hippod answers");
    // Without it the engine looks at what is due once an hour.
    let ticks = ticks::start(events.clone()).await;
    if let Err(error) = &ticks {
        tracing::warn!(%error, "could not start the scheduler; cycles may come up to an hour late");
    }

    let keeper = tokio::spawn(contexts::keep(Arc::clone(&shared), stop.subscribe()));
    let left = tokio::spawn(server::take_up_what_is_left(Arc::clone(&shared)));
    let trees = tokio::spawn(tree::keep(Arc::clone(&shared), stop.subscribe()));
    let manager = tokio::spawn(service::announce(Arc::clone(&shared)));

    let mut told = stop.subscribe();
    let instance = Arc::new(instance);
    let serving = server::serve(
        Arc::clone(&shared),
        listener,
        Arc::clone(&instance),
        stop.subscribe(),
    );
    tokio::pin!(serving, shutdown);
    let died = tokio::select! {
        () = &mut shutdown => None,
        () = stopped(&mut told) => None,
        _ = &mut engine_ended => Some("the engine"),
        () = &mut serving => Some("the server"),
    };
    manager.abort();
    service::stopping().await;
    // The server ends when a client asks to stop, and may be heard of first.
    let asked = stop.send_replace(true);
    if died != Some("the server") {
        serving.await;
    }
    if let Ok(mut ticks) = ticks {
        // It only ticks: nothing is lost with it.
        let _ = ticks.shutdown().await;
    }
    // Between two requests to a database nothing of it is left open.
    keeper.abort();
    left.abort();
    trees.abort();
    shared.embed.stop();
    // A dead engine takes no events.
    let _ = events.send(Event::Shutdown);
    let last_step = tokio::task::spawn_blocking(move || {
        // A panic was reported by the thread itself.
        let _ = (engine_thread.join(), embed_thread.join());
    });
    let mut last_step = pin!(last_step);
    let mut ended = tokio::time::timeout(LAST_STEP, &mut last_step).await.is_ok();
    if !ended && shared.rescuing.load(Ordering::Relaxed) {
        ended = tokio::time::timeout(RESCUE, &mut last_step).await.is_ok();
    }
    if !ended {
        tracing::warn!("stopped in the middle of a step; the next start goes on from the last saved one");
    }
    drop(instance);
    match died.filter(|part| !asked || *part != "the server") {
        None => Ok(()),
        Some(part) => Err(anyhow!(
            "{part} ended unexpectedly; its last words are in the log"
        )),
    }
}

fn start_embedding(
    models: &Models,
    config: &Config,
    events: mpsc::Sender<Event>,
) -> Result<(EmbedWorker, std::thread::JoinHandle<()>)> {
    let sink: Sink = Box::new(move |event| {
        // The engine is gone only when the daemon ends.
        let _ = events.send(Event::Embed(event));
    });
    let configured = models.configured().map_or_else(|| "".into(), |model| model.id);
    let idle = Duration::from_secs(config.embed.idle_unload_secs);
    EmbedWorker::start(models.loader(), configured, models.state(), idle, sink)
        .context("could not start the embedding thread")
}
