//! How does a scenario move the clock of a daemon?

use std::sync::Arc;
use std::time::Duration;

use hippo_core::time::Timestamp;
use hippo_proto::{Client, Paths};
use hippod::clock::{Clock, ManualClock};
use hippod::config::Config;
use hippod::{Options, run};

use crate::{Caller, PATIENCE, Scratch};

/// A daemon within this process, whose clock moves when it is told to.
pub struct Clocked {
    clock: Arc<ManualClock>,
    socket: std::path::PathBuf,
    runtime: Option<tokio::runtime::Runtime>,
    task: Option<tokio::task::JoinHandle<anyhow::Result<()>>>,
    stop: Option<tokio::sync::oneshot::Sender<()>>,
}

impl Clocked {
    /// Starts it at `now` (RFC 3339) in UTC, with settings as in the environment.
    pub fn start(scratch: &Scratch, now: &str, settings: &[(&str, &str)]) -> Self {
        let paths = Paths::below(&scratch.home());
        let socket = paths.socket.clone();
        let defaults = [
            ("HIPPOD_EMBED_MODEL", "hash"),
            ("HIPPOD_EMBED_SPARE", "false"),
            ("HIPPOD_INDEX_TOKENS_PER_FILE", "0"),
        ];
        let variables = defaults.iter().chain(settings);
        let variables = variables.map(|(name, value)| ((*name).into(), (*value).into()));
        let config = Config::load(&paths.config_file, variables, &[]).expect("a configuration");
        let now: jiff::Timestamp = now.parse().expect("a moment");
        let now = Timestamp(now.as_millisecond());
        let clock = Arc::new(ManualClock::new(now, jiff::tz::TimeZone::UTC));
        let options = Options {
            config,
            paths,
            clock: clock.clone(),
            passed: None,
        };
        let runtime = tokio::runtime::Runtime::new().expect("a runtime");
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        let task = runtime.spawn(run(options, async {
            // Dropped without a word, it stops as well.
            let _ = stopped.await;
        }));
        let started = Self {
            clock,
            socket,
            runtime: Some(runtime),
            task: Some(task),
            stop: Some(stop),
        };
        drop(started.client());
        started
    }

    /// A client, as soon as there is an answer.
    pub fn client(&self) -> Caller {
        loop {
            match Client::connect(&self.socket, Some(PATIENCE)) {
                Ok(client) => return Caller::new(client),
                Err(error) => assert!(
                    self.task.as_ref().is_some_and(|task| !task.is_finished()),
                    "the daemon has ended: {error}"
                ),
            }
            std::thread::yield_now();
        }
    }

    /// Time passes.
    pub fn advance(&self, by: Duration) {
        self.clock.advance(by);
    }

    /// Somebody sets the clock (RFC 3339); the time that delays go by is not moved.
    pub fn set(&self, now: &str) {
        let now: jiff::Timestamp = now.parse().expect("a moment");
        self.clock.set_wall(Timestamp(now.as_millisecond()));
    }

    /// What it is by this clock.
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }
}

impl Drop for Clocked {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let (Some(runtime), Some(task)) = (self.runtime.take(), self.task.take()) {
            // A scenario that failed already says so by itself.
            let _ = runtime.block_on(task);
        }
    }
}
