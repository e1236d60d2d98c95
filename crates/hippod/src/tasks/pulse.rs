//! Progress counter of the engine.

use tokio::sync::watch;

/// Progress counter of the engine. The engine increments it for each event and for each slice of a long step. A busy
/// engine can therefore be distinguished from one that hangs.
#[derive(Debug, Clone)]
pub struct Pulse(watch::Sender<u64>);

impl Default for Pulse {
    fn default() -> Self {
        Self(watch::Sender::new(0))
    }
}

impl Pulse {
    /// Counts one step.
    pub fn beat(&self) {
        self.0.send_modify(|beats| *beats = beats.wrapping_add(1));
    }

    /// Returns the number of steps.
    pub fn beats(&self) -> u64 {
        *self.0.borrow()
    }

    /// Returns a receiver that is notified of each step.
    pub fn subscribe(&self) -> watch::Receiver<u64> {
        self.0.subscribe()
    }
}
