//! Connections that have not sent a request yet.
//!
//! Such a connection is closed after a minute, or earlier if all connection slots are taken.

use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::sync::Notify;

/// Maximum time without a request.
const PATIENCE: Duration = Duration::from_secs(60);
/// Maximum time without a request if all slots are taken and another client connects.
const SHORT: Duration = Duration::from_secs(1);

/// Connections without a first request, oldest first.
#[derive(Debug, Default)]
pub struct SilentConnections(Mutex<Vec<Arc<SilentConnection>>>);

#[derive(Debug)]
struct SilentConnection {
    since: Instant,
    end: Notify,
}

/// Registration of a connection without a first request. Dropping the guard ends the registration.
pub struct SilentGuard {
    of: Arc<SilentConnections>,
    waiting: Arc<SilentConnection>,
}

impl SilentConnections {
    /// Registers a new connection.
    pub fn begin(self: &Arc<Self>) -> SilentGuard {
        let waiting = Arc::new(SilentConnection {
            since: Instant::now(),
            end: Notify::new(),
        });
        self.0.lock().push(Arc::clone(&waiting));
        SilentGuard {
            of: Arc::clone(self),
            waiting,
        }
    }

    /// Closes the oldest connection if it has been silent for a second. Returns whether a connection was closed.
    pub fn end_one(&self) -> bool {
        let mut all = self.0.lock();
        if all.first().is_none_or(|oldest| oldest.since.elapsed() < SHORT) {
            return false;
        }
        all.remove(0).end.notify_one();
        true
    }
}

impl SilentGuard {
    /// Returns once the connection must be closed: after the maximum time, or when another client needs its slot.
    pub async fn ends(&self) {
        let left = PATIENCE.saturating_sub(self.waiting.since.elapsed());
        // A timeout closes the connection as well.
        let _ = tokio::time::timeout(left, self.waiting.end.notified()).await;
    }
}

impl Drop for SilentGuard {
    fn drop(&mut self) {
        self.of
            .0
            .lock()
            .retain(|other| !Arc::ptr_eq(other, &self.waiting));
    }
}
