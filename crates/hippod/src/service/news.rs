//! Notifications to the service manager: readiness, watchdog, shutdown.

use std::time::Duration;

use tokio::time::MissedTickBehavior;

use crate::message::{EngineHandle, EngineMessage};
use crate::status::{self, StatusReporter};
use crate::tasks::Pulse;

/// Time limit for sending a notification at shutdown.
const LAST_WORD: Duration = Duration::from_millis(200);

/// Notifies the service manager that the daemon is ready, as soon as it can answer `status`. Then notifies the
/// watchdog until the engine stops. Returns immediately without a service manager.
pub async fn announce(reporter: &StatusReporter, engine: EngineHandle, pulse: Pulse) {
    if std::env::var_os("NOTIFY_SOCKET").is_none() {
        return;
    }
    // Compute the status as for a client, so that a daemon that is ready can also answer `status`.
    status::status(reporter).await;
    tell("READY=1").await;
    if let Some(period) = watchdog_period().filter(|period| !period.is_zero()) {
        watch(
            &pulse,
            period,
            || engine.send(EngineMessage::Pulse),
            || tell("WATCHDOG=1"),
        )
        .await;
    }
}

/// Notifies the service manager of the shutdown.
pub async fn stopping() {
    // A blocked service manager must not delay the shutdown.
    let _ = tokio::time::timeout(LAST_WORD, tell("STOPPING=1")).await;
}

/// Sends a notification from a blocking thread, because sending blocks while the service manager is busy.
async fn tell(message: &'static str) {
    let sending = tokio::task::spawn_blocking(move || send(message));
    if let Ok(Err(error)) = sending.await {
        tracing::warn!(%error, "could not report the status to the service manager");
    }
}

fn send(message: &str) -> std::io::Result<()> {
    sd_notify::notify(&[sd_notify::NotifyState::Custom(message)])
}

/// Returns the watchdog interval that the service manager expects.
fn watchdog_period() -> Option<Duration> {
    sd_notify::watchdog_enabled()
}

/// Notifies the watchdog twice per period, each time after a probe has shown that the engine makes progress. Returns
/// when the engine can no longer be probed.
async fn watch<W: Future<Output = ()>>(
    pulse: &Pulse,
    period: Duration,
    ask: impl Fn() -> bool,
    well: impl Fn() -> W,
) {
    let mut beats = pulse.subscribe();
    // A zero interval would panic.
    let mut times = tokio::time::interval((period / 2).max(Duration::from_millis(1)));
    times.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        times.tick().await;
        beats.mark_unchanged();
        if !ask() || beats.changed().await.is_err() {
            return;
        }
        well().await;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    const SHORT: Duration = Duration::from_millis(2);

    #[tokio::test]
    async fn a_responsive_engine_is_reported_alive() {
        let (pulse, told) = (Pulse::default(), AtomicU64::new(0));
        let ask = || {
            pulse.beat();
            told.load(Ordering::Relaxed) < 3
        };
        let well = || async {
            told.fetch_add(1, Ordering::Relaxed);
        };
        watch(&pulse, SHORT, ask, well).await;
        assert_eq!(told.load(Ordering::Relaxed), 3);
    }

    #[tokio::test]
    async fn a_hanging_engine_is_not_alive_but_a_progressing_one_is() {
        let (pulse, told, asked) = (Pulse::default(), AtomicU64::new(0), AtomicU64::new(0));
        pulse.beat();
        let ask = || {
            asked.fetch_add(1, Ordering::Relaxed);
            true
        };
        let well = || async {
            told.fetch_add(1, Ordering::Relaxed);
        };
        let watched = watch(&pulse, SHORT, ask, well);
        tokio::pin!(watched);
        // Progress before the probe does not count, and a hanging engine receives no second probe.
        let hung = tokio::time::timeout(SHORT * 20, &mut watched).await;
        assert!(hung.is_err());
        let counts = || (asked.load(Ordering::Relaxed), told.load(Ordering::Relaxed));
        assert_eq!(counts(), (1, 0));
        // The engine makes progress, but has not answered the probe yet.
        pulse.beat();
        tokio::select! {
            () = &mut watched => {}
            () = async { while counts().1 == 0 { tokio::task::yield_now().await } } => {}
        }
        assert_eq!(counts().1, 1);
    }
}
