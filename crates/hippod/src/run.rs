//! Startup and shutdown of the daemon.

mod log;
mod parts;

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use anyhow::{Result, anyhow};
use tokio::sync::oneshot;

use hippo_proto::Paths;

use crate::backup;
use crate::clock::Clock;
use crate::config::Config;
use crate::contexts;
use crate::handles;
use crate::instance::Instance;
use crate::local_share::LocalShares;
use crate::message::EngineMessage;
use crate::registry::Registry;
use crate::server;
use crate::service::{self, PassedSocket};
use crate::sessions;
use crate::share;
use crate::tasks::wait_until_set;
use crate::ticks;
use crate::tree;
use parts::DaemonParts;

pub use log::{StderrLog, log_to};

/// Maximum time that the daemon waits at shutdown until the engine has saved its state.
const LAST_STEP: Duration = Duration::from_millis(800);
/// Additional time that the daemon waits at shutdown if a database whose file was removed must be written again. If it
/// waited longer, the service manager would kill it.
const RESCUE: Duration = Duration::from_secs(8);

/// Options of a daemon.
pub struct DaemonOptions {
    /// The configuration.
    pub config: Config,
    /// Paths of the daemon's files.
    pub paths: Paths,
    /// The daemon's clock.
    pub clock: Arc<dyn Clock>,
    /// Socket that the service manager has bound; `None` if the daemon binds its socket itself. `paths` contains the
    /// path of the socket in both cases.
    pub passed: Option<PassedSocket>,
}

/// Runs the daemon until `shutdown` completes, a client requests a stop, or a part of the daemon ends unexpectedly.
///
/// # Errors
/// Fails if another daemon holds the state folder, the socket cannot be bound, or a thread ended
/// unexpectedly.
pub async fn run(options: DaemonOptions, shutdown: impl Future<Output = ()>) -> Result<()> {
    let DaemonOptions {
        config,
        paths,
        clock,
        passed,
    } = options;
    handles::raise_limit();
    let (instance, listener) = match passed {
        None => {
            let instance = Instance::claim(&paths)?;
            let listener = instance.listen()?;
            (instance, listener)
        }
        Some(passed) => (Instance::claim_beside(&paths)?, passed.serve()?),
    };
    let registry = Registry::open(&paths.state)?;
    let local_shares = Arc::new(LocalShares::open(&paths.state)?);
    if let Err(error) = backup::finish_what_was_begun(&paths.state, &registry) {
        tracing::error!(error = %error, hint = %error.data.hint, "could not finish a restore");
    }
    backup::clear_left(&paths.state);
    let socket = paths.socket.clone();
    let DaemonParts {
        components,
        engine,
        embed,
        embed_thread,
        pulse,
        rescuing,
    } = parts::build_parts(config, paths, clock, (registry, local_shares))?;
    let components = Arc::new(components);
    let stop = components.stop.clone();
    let (engine_done, mut engine_ended) = oneshot::channel::<()>();
    let engine_thread = std::thread::Builder::new().name("engine".into()).spawn(move || {
        // Dropping this value signals the end of the thread, also after a panic.
        let _done = engine_done;
        engine.run();
    })?;
    tracing::info!(socket = %socket.display(), "hippod answers");
    // If the scheduler fails, the engine still checks for due cycles once an hour.
    let ticks = ticks::start(components.engine.clone()).await;
    if let Err(error) = &ticks {
        tracing::warn!(%error, "could not start the scheduler; cycles may start up to an hour late");
    }

    let keeper = tokio::spawn(contexts::keep(
        Arc::clone(&components.contexts),
        components.news.subscribe(),
        stop.subscribe(),
    ));
    let left = tokio::spawn(server::take_up_what_is_left(Arc::clone(&components.flusher)));
    let trees = tokio::spawn(tree::keep(
        Arc::clone(&components.trees),
        components.news.subscribe(),
        stop.subscribe(),
    ));
    let sessions = tokio::spawn(sessions::keep(
        Arc::clone(&components.views),
        Arc::clone(&components.clock),
        components.engine.clone(),
        stop.subscribe(),
    ));
    let share = tokio::spawn(share::keep(Arc::clone(&components.share), stop.subscribe()));
    let (reporter, engine) = (Arc::clone(&components.reporter), components.engine.clone());
    let manager = tokio::spawn(async move { service::announce(&reporter, engine, pulse).await });

    let mut told = stop.subscribe();
    let instance = Arc::new(instance);
    let serving = server::serve(
        Arc::clone(&components),
        listener,
        Arc::clone(&instance),
        stop.subscribe(),
    );
    tokio::pin!(serving, shutdown);
    let died = tokio::select! {
        () = &mut shutdown => None,
        () = wait_until_set(&mut told) => None,
        _ = &mut engine_ended => Some("the engine"),
        () = &mut serving => Some("the server"),
    };
    manager.abort();
    service::stopping().await;
    // After a client has requested a stop, the server may end before the request is noticed here. This is not an error.
    let asked = stop.send_replace(true);
    if died != Some("the server") {
        serving.await;
    }
    if let Ok(mut ticks) = ticks {
        // An error has no consequences, because the scheduler only sends ticks.
        let _ = ticks.shutdown().await;
    }
    // These tasks can be aborted, because they hold no open database transaction while they wait.
    keeper.abort();
    left.abort();
    trees.abort();
    sessions.abort();
    share.abort();
    embed.stop();
    components.engine.send(EngineMessage::Shutdown);
    let last_step = tokio::task::spawn_blocking(move || {
        // If a thread panicked, it has reported the panic itself.
        let _ = (engine_thread.join(), embed_thread.join());
    });
    let mut last_step = pin!(last_step);
    let mut ended = tokio::time::timeout(LAST_STEP, &mut last_step).await.is_ok();
    if !ended && rescuing.load(Ordering::Relaxed) {
        ended = tokio::time::timeout(RESCUE, &mut last_step).await.is_ok();
    }
    if !ended {
        tracing::warn!(
            "stopped before the current step had finished; the next start continues after the last saved step"
        );
    }
    drop(instance);
    match died.filter(|part| !asked || *part != "the server") {
        None => Ok(()),
        Some(part) => Err(anyhow!(
            "{part} ended unexpectedly\nhint: the end of the log contains the reason: hippoctl service logs"
        )),
    }
}
