//! Background maintenance of sessions.
//!
//! It closes idle sessions, updates entries, and removes expired contents.

use std::sync::Arc;
use std::time::{Duration, Instant};

use hippo_context::lifecycle::Trigger;
use hippo_proto::{ContextCloseRequest, Cycle, Event, RpcError};
use hippo_store::contexts::{ContextError, ContextReader, SessionRow};
use hippo_types::time::{DAY_MS, Timestamp};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{broadcast, watch};

use super::Contexts;
use super::session::changed;
use super::{close, now, refusal};
use crate::clock::Clock;
use crate::tasks::{run_blocking_on, wait_until_set};
use crate::view::WorkspaceView;

/// Interval between two rounds over all workspaces.
const ROUND: Duration = Duration::from_secs(3600);
/// Maximum time by which the wall clock may advance more than the monotonic clock between two rounds. A larger
/// difference means that a user or a program set the wall clock; in such a round, nothing expires.
const AHEAD: Duration = Duration::from_secs(24 * 3600);
/// Number of days without use after which a session is closed. It is long enough for a session to stay open over a
/// holiday.
const IDLE_DAYS: i64 = 30;

/// Maintains the sessions of all workspaces every hour, and after each archival cycle, until the daemon stops.
pub async fn keep(
    contexts: Arc<Contexts>,
    mut news: broadcast::Receiver<Event>,
    mut stop: watch::Receiver<bool>,
) {
    let mut rounds = tokio::time::interval(ROUND);
    rounds.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    // The first tick fires immediately.
    rounds.tick().await;
    let mut last = ClockTimes::of(&*contexts.clock);
    loop {
        let due: Vec<(Arc<WorkspaceView>, Trigger)> = tokio::select! {
            () = wait_until_set(&mut stop) => return,
            _ = rounds.tick() => {
                let set = ClockTimes::of(&*contexts.clock).was_set_since(&last);
                last = ClockTimes::of(&*contexts.clock);
                if set {
                    tracing::warn!("the clock was set forward; hippod checks for idle sessions again in an \
                                    hour");
                    continue;
                }
                let views = contexts.views.open();
                views.into_iter().map(|view| (view, Trigger::TurnComplete)).collect()
            }
            heard = news.recv() => match heard {
                // Setting the clock forward also makes archival cycles due.
                Ok(Event::Cycle { cycle: Cycle::Archival, .. })
                    if ClockTimes::of(&*contexts.clock).was_set_since(&last) => continue,
                Ok(Event::Cycle { workspace, cycle: Cycle::Archival, .. }) => {
                    let views = contexts.views.open();
                    let it = views.into_iter().find(|view| view.root.as_os_str() == workspace.as_str());
                    it.map(|view| (view, Trigger::DefragCycle)).into_iter().collect()
                }
                Ok(_) | Err(RecvError::Lagged(_)) => continue,
                Err(RecvError::Closed) => return,
            },
        };
        for (view, trigger) in due {
            if let Err(error) = look_after(&contexts, &view, trigger).await {
                tracing::warn!(root = %view.root.display(), error = error.message, "could not check for idle sessions; retrying in an hour");
            }
        }
    }
}

/// A moment on both clocks.
struct ClockTimes(Timestamp, Instant);

impl ClockTimes {
    fn of(clock: &dyn Clock) -> Self {
        Self(clock.now(), clock.monotonic())
    }

    /// Returns whether the wall clock ran ahead of the monotonic clock by more than [`AHEAD`].
    fn was_set_since(&self, before: &Self) -> bool {
        let wall = u64::try_from(self.0.0.saturating_sub(before.0.0)).unwrap_or(0);
        let steady = self.1.saturating_duration_since(before.1);
        Duration::from_millis(wall).saturating_sub(steady) > AHEAD
    }
}

async fn look_after(
    contexts: &Arc<Contexts>,
    view: &Arc<WorkspaceView>,
    trigger: Trigger,
) -> Result<(), RpcError> {
    let place = contexts.database_of(&view.root);
    let Some(sessions) = place.read(ContextReader::sessions)? else {
        return Ok(());
    };
    let before = now(contexts).saturating_sub(IDLE_DAYS * DAY_MS);
    let (over, open): (Vec<SessionRow>, Vec<SessionRow>) = sessions
        .into_iter()
        .filter(|session| session.closed_ms.is_none())
        .partition(|session| session.last_used_ms < before);
    for session in over {
        let id = session.id.clone();
        match close(contexts, ContextCloseRequest { session: session.id }).await {
            Ok(_) => tracing::info!(session = id, "closing a session that was idle for a long time"),
            // After this error, the other sessions are still closed, and expired contents are still removed.
            Err(error) => tracing::warn!(
                session = id,
                error = error.message,
                "could not close an idle session; retrying in an hour"
            ),
        }
    }
    let view = Arc::clone(view);
    run_blocking_on(contexts, move |contexts| tidy(contexts, &view, &open, trigger)).await
}

/// Updates the entries of open sessions, removes expired contents, and frees their disk space.
fn tidy(
    contexts: &Contexts,
    view: &WorkspaceView,
    open: &[SessionRow],
    trigger: Trigger,
) -> Result<(), RpcError> {
    let place = contexts.database_of(&view.root);
    if trigger == Trigger::DefragCycle {
        for session in open {
            let mut held = place.held()?;
            let (store, sessions) = held.parts()?;
            let entries = sessions.entries(store, &session.id)?;
            let plan = entries.plan(trigger, session.turn, session.turn);
            let changed = changed(entries, &plan);
            match sessions.update(store, &session.id, &changed, session.last_used_ms) {
                // The session may have been closed after the list was read.
                Ok(()) | Err(ContextError::ClosedSession(_)) => {}
                Err(error) => return Err(refusal(error)),
            }
        }
    }
    let settings = &view.config.context;
    let trimmed =
        place.write(|store| store.trim(settings.budget_bytes(), settings.keep_days, now(contexts)))?;
    if !trimmed.contents.is_empty() {
        tracing::info!(root = %view.root.display(), contents = trimmed.contents.len(), bytes = trimmed.stored_bytes, "removed expired contents of closed sessions");
        place.write(|store| Ok(store.tidy()?))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elapsed_time_is_distinguished_from_a_changed_clock() {
        let begun = Instant::now();
        let day = Duration::from_secs(24 * 3600);
        let at = |wall: i64, steady: u32| ClockTimes(Timestamp(wall * DAY_MS), begun + day * steady);
        assert!(!at(40, 40).was_set_since(&at(0, 0)));
        assert!(!at(1, 0).was_set_since(&at(0, 0)));
        assert!(at(2, 0).was_set_since(&at(0, 0)));
        assert!(at(200, 1).was_set_since(&at(0, 0)));
        assert!(!at(-200, 1).was_set_since(&at(0, 0)));
    }
}
