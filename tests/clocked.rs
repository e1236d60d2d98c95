//! A daemon in this process with a manual clock.

use std::sync::Arc;
use std::time::Duration;

use hippo_proto::{Client, Paths};
use hippo_types::time::Timestamp;
use hippod::clock::{Clock, ManualClock};
use hippod::config::Config;
use hippod::{DaemonOptions, run};

use crate::{Caller, PATIENCE, Scratch};

/// A daemon in this process, with a clock that the test controls.
pub struct Clocked {
    clock: Arc<ManualClock>,
    socket: std::path::PathBuf,
    runtime: Option<tokio::runtime::Runtime>,
    task: Option<tokio::task::JoinHandle<anyhow::Result<()>>>,
    stop: Option<tokio::sync::oneshot::Sender<()>>,
}

impl Clocked {
    /// Starts the daemon at `now` (RFC 3339) in UTC, with settings as environment variables.
    pub fn start(scratch: &Scratch, now: &str, settings: &[(&str, &str)]) -> Self {
        let paths = Paths::below(&scratch.home());
        let socket = paths.socket.clone();
        let defaults = [
            ("HIPPOD_EMBED_MODEL", "hash"),
            ("HIPPOD_INDEX_TOKENS_PER_FILE", "0"),
        ];
        let variables = defaults.iter().chain(settings);
        let variables = variables.map(|(name, value)| ((*name).into(), (*value).into()));
        let config = Config::load(&paths.config_file, variables).expect("a configuration");
        let now: jiff::Timestamp = now.parse().expect("a moment");
        let now = Timestamp(now.as_millisecond());
        let clock = Arc::new(ManualClock::new(now, jiff::tz::TimeZone::UTC));
        let options = DaemonOptions {
            config,
            paths,
            clock: clock.clone(),
            passed: None,
        };
        let runtime = tokio::runtime::Runtime::new().expect("a runtime");
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        let task = runtime.spawn(run(options, async {
            // The wait also ends when the sender is dropped, so dropping the sender stops the daemon too.
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

    /// Waits until the daemon answers, and returns a client.
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

    /// Advances the clock.
    pub fn advance(&self, by: Duration) {
        self.clock.advance(by);
    }

    /// Sets the wall clock (RFC 3339). The monotonic time does not change.
    pub fn set(&self, now: &str) {
        let now: jiff::Timestamp = now.parse().expect("a moment");
        self.clock.set_wall(Timestamp(now.as_millisecond()));
    }

    /// Returns the time of this clock.
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }
}

impl Drop for Clocked {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let (Some(runtime), Some(task)) = (self.runtime.take(), self.task.take()) {
            // If the test failed, the failure has already been reported, so the result of the task is ignored.
            let _ = runtime.block_on(task);
        }
    }
}
