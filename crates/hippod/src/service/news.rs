//! Notifications to the service manager: readiness, status, shutdown.

use std::sync::Arc;
use std::time::Duration;

use hippo_proto::Event;
use tokio::sync::broadcast::{self, error::RecvError};

use super::watchdog;
use crate::message::{EngineHandle, EngineMessage};
use crate::status::{self, StatusReporter};
use crate::tasks::Pulse;
use crate::views::{Slot, Views};

/// Minimum interval between status notifications; changes within the interval are combined.
const SETTLED: Duration = Duration::from_secs(2);
/// Time limit for sending a notification at shutdown.
const LAST_WORD: Duration = Duration::from_millis(200);

/// Notifies the service manager of readiness, as soon as `status` can be answered, and of every change of the status.
/// Without a service manager, returns immediately.
pub async fn announce(
    reporter: Arc<StatusReporter>,
    engine: EngineHandle,
    pulse: Pulse,
    news: broadcast::Sender<Event>,
) {
    if std::env::var_os("NOTIFY_SOCKET").is_none() {
        return;
    }
    // Compute the status once as for a client, so that readiness implies a working `status`.
    status::status(&reporter).await;
    let mut told = text(&reporter.views);
    tell(vec!["READY=1".to_owned(), format!("STATUS={told}")]).await;
    let guard = async {
        if let Some(period) = watchdog_period().filter(|period| !period.is_zero()) {
            let ask = || engine.send(EngineMessage::Pulse);
            watchdog::watch(&pulse, period, ask, || tell(vec!["WATCHDOG=1".to_owned()])).await;
        }
    };
    let report = async {
        let mut news = news.subscribe();
        let mut workspaces = reporter.views.changes();
        loop {
            tokio::select! {
                heard = news.recv() => if matches!(heard, Err(RecvError::Closed)) { return },
                changed = workspaces.changed() => if changed.is_err() { return },
            }
            tokio::time::sleep(SETTLED).await;
            let now = text(&reporter.views);
            if now != told {
                tell(vec![format!("STATUS={now}")]).await;
                told = now;
            }
        }
    };
    tokio::join!(guard, report);
}

/// Notifies the service manager of the shutdown.
pub async fn stopping() {
    // A blocked service manager must not delay the shutdown.
    let _ = tokio::time::timeout(LAST_WORD, tell(vec!["STOPPING=1".to_owned()])).await;
}

/// Sends a notification from a blocking thread, because sending blocks if the service manager lags behind.
async fn tell(message: Vec<String>) {
    let sending = tokio::task::spawn_blocking(move || send(&message));
    if let Ok(Err(error)) = sending.await {
        tracing::warn!(%error, "could not report the status to the service manager");
    }
}

#[cfg(unix)]
fn send(message: &[String]) -> std::io::Result<()> {
    let states = message.iter().map(|line| sd_notify::NotifyState::Custom(line));
    sd_notify::notify(&states.collect::<Vec<_>>())
}

/// Returns the watchdog interval that the service manager expects.
#[cfg(unix)]
fn watchdog_period() -> Option<Duration> {
    sd_notify::watchdog_enabled()
}

/// Does nothing, because no service manager of this operating system supports the protocol.
#[cfg(not(unix))]
fn send(_: &[String]) -> std::io::Result<()> {
    Ok(())
}

#[cfg(not(unix))]
fn watchdog_period() -> Option<Duration> {
    None
}

/// Returns the status of the daemon in one line, without content of the memory.
fn text(views: &Views) -> String {
    let slots = views.all();
    let (mut files, mut waiting) = (0, 0);
    let (mut opening, mut broken) = (0, 0);
    let mut words: Vec<String> = Vec::new();
    for (_, slot) in &slots {
        match slot {
            Slot::Opening => opening += 1,
            Slot::Broken(_) => broken += 1,
            Slot::Open(view) => match view.status() {
                None => opening += 1,
                Some(status) => {
                    files += status.documents;
                    waiting += status.pending;
                    words.extend(status.degraded.filter(|word| !words.contains(word)));
                }
            },
        }
    }
    let parts = [
        Some(counted(slots.len() as u64, "workspace")),
        Some(counted(files, "file")),
        (opening > 0).then(|| format!("{opening} being opened")),
        (broken > 0).then(|| format!("{broken} could not be opened (for details: hippoctl doctor)")),
        (waiting > 0).then(|| format!("{waiting} chunks wait for their vectors")),
        (!words.is_empty()).then(|| words.join(" ")),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn counted(count: u64, what: &str) -> String {
    match count {
        1 => format!("1 {what}"),
        _ => format!("{count} {what}s"),
    }
}
