//! Liveness probe of the engine for the service manager's watchdog.

use std::time::Duration;

use tokio::time::MissedTickBehavior;

use crate::tasks::Pulse;

/// Reports liveness twice per watchdog period, each time after a probe has shown that the engine makes progress.
/// Returns when the engine can no longer be probed.
pub async fn watch<W: Future<Output = ()>>(
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
        // Progress before the probe does not count, and a hanging engine receives only one probe.
        let hung = tokio::time::timeout(SHORT * 20, &mut watched).await;
        assert!(hung.is_err());
        let counts = || (asked.load(Ordering::Relaxed), told.load(Ordering::Relaxed));
        assert_eq!(counts(), (1, 0));
        // The engine made progress without reaching the probe.
        pulse.beat();
        tokio::select! {
            () = &mut watched => {}
            () = async { while counts().1 == 0 { tokio::task::yield_now().await } } => {}
        }
        assert_eq!(counts().1, 1);
    }
}
