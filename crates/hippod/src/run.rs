//! Startup and shutdown of the daemon.

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
use crate::measures::Measures;
use crate::models::Models;
use crate::one_at_a_time::OneAtATime;
use crate::pulse::Pulse;
use crate::registry::Registry;
use crate::server;
use crate::service::{self, Passed};
use crate::shared::Shared;
use crate::shutdown::wait_for_stop;
use crate::ticks;
use crate::tree::{self, Trees};
use crate::views::Views;

pub use log::{LogTo, log_to};

/// Number of events buffered for a slow subscriber.
const NEWS_KEPT: usize = 1024;
/// Time limit for the engine to save its progress at shutdown.
const LAST_STEP: Duration = Duration::from_millis(800);
/// Additional time limit for rewriting a database that was removed while open. Longer than that, the service
/// manager would kill the daemon.
const RESCUE: Duration = Duration::from_secs(8);

/// Components of a daemon.
pub struct Options {
    /// The configuration.
    pub config: Config,
    /// Paths of the daemon's files.
    pub paths: Paths,
    /// Clock.
    pub clock: Arc<dyn Clock>,
    /// Socket bound by the service manager, served instead of one of our own. `paths` contains its path.
    pub passed: Option<Passed>,
}

/// Serves until `shutdown` completes, a client requests a stop, or a part of the daemon dies.
///
/// # Errors
/// Fails if another daemon holds the state folder, the socket cannot be bound, or a thread ended
/// unexpectedly.
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
        backups: OneAtATime::default(),
        rescuing: AtomicBool::new(false),
        served: AtomicU64::new(0),
        measures,
        stop: stop.clone(),
    });
    let (engine_done, mut engine_ended) = oneshot::channel::<()>();
    let engine = Engine::new(Arc::clone(&shared), inbox, registry);
    let engine_thread = std::thread::Builder::new().name("engine".into()).spawn(move || {
        // Dropped at the end of the thread, also after a panic.
        let _done = engine_done;
        engine.run();
    })?;
    tracing::info!(socket = %shared.paths.socket.display(), "hippod answers");
    // Without the scheduler, the engine checks for due cycles once an hour.
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
        () = wait_for_stop(&mut told) => None,
        _ = &mut engine_ended => Some("the engine"),
        () = &mut serving => Some("the server"),
    };
    manager.abort();
    service::stopping().await;
    // When a client requests a stop, the server ends and may be the first part to be noticed.
    let asked = stop.send_replace(true);
    if died != Some("the server") {
        serving.await;
    }
    if let Ok(mut ticks) = ticks {
        // The scheduler only sends ticks, so an error loses nothing.
        let _ = ticks.shutdown().await;
    }
    // These tasks hold no open database between two requests and can be aborted.
    keeper.abort();
    left.abort();
    trees.abort();
    shared.embed.stop();
    // Sending fails if the engine is dead.
    let _ = events.send(Event::Shutdown);
    let last_step = tokio::task::spawn_blocking(move || {
        // A panic was already reported by the thread itself.
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
        // Sending fails only during shutdown, when the engine has ended.
        let _ = events.send(Event::Embed(event));
    });
    let configured = models.configured().map_or_else(|| "".into(), |model| model.id);
    let idle = Duration::from_secs(config.embed.idle_unload_secs);
    EmbedWorker::start(models.loader(), configured, models.state(), idle, sink)
        .context("could not start the embedding thread")
}
