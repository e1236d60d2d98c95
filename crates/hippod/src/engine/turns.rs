//! Limit on concurrent turns.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Number of concurrent turns above which further turns wait.
const AT_ONCE: usize = 4;
/// Maximum wait for other turns, because a turn may hang, for example on a slow disk.
const PATIENCE: Duration = Duration::from_secs(1);

/// Number of running turns.
#[derive(Default)]
pub(super) struct Turns {
    running: Mutex<usize>,
    ended: Condvar,
}

/// A running turn; it ends on drop.
pub(super) struct RunningTurn<'t>(&'t Turns);

impl Turns {
    /// Begins a turn once few others run, or after a while.
    pub fn begin(&self) -> RunningTurn<'_> {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self
            .ended
            .wait_timeout_while(running, PATIENCE, |running| *running >= AT_ONCE);
        *waited.unwrap_or_else(PoisonError::into_inner).0 += 1;
        RunningTurn(self)
    }
}

impl Drop for RunningTurn<'_> {
    fn drop(&mut self) {
        *self.0.running.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        self.0.ended.notify_one();
    }
}
