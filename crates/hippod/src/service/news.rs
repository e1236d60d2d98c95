//! Notifications to the service manager: readiness, watchdog, shutdown.

use std::time::Duration;

use super::watchdog;
use crate::message::{EngineHandle, EngineMessage};
use crate::status::{self, StatusReporter};
use crate::tasks::Pulse;

/// Time limit for sending a notification at shutdown.
const LAST_WORD: Duration = Duration::from_millis(200);

/// Notifies the service manager of readiness, as soon as `status` can be answered, and then of each sign of life.
/// Without a service manager, returns immediately.
pub async fn announce(reporter: &StatusReporter, engine: EngineHandle, pulse: Pulse) {
    if std::env::var_os("NOTIFY_SOCKET").is_none() {
        return;
    }
    // Compute the status once as for a client, so that readiness implies a working `status`.
    status::status(reporter).await;
    tell("READY=1").await;
    if let Some(period) = watchdog_period().filter(|period| !period.is_zero()) {
        watchdog::watch(
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

/// Sends a notification from a blocking thread, because sending blocks if the service manager lags behind.
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
