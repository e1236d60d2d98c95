//! Connections that have asked nothing yet: they are closed after a while, and sooner where places are short.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

/// A connection that asks nothing for this long is closed.
const PATIENCE: Duration = Duration::from_secs(60);
/// The same where all places are taken and another client comes.
const SHORT: Duration = Duration::from_secs(1);

/// The connections that have asked nothing yet, the oldest first.
#[derive(Debug, Default)]
pub struct Silent(Mutex<Vec<Arc<Waiting>>>);

#[derive(Debug)]
struct Waiting {
    since: Instant,
    end: Notify,
}

/// A connection that has asked nothing yet; it counts as one until this value goes.
pub struct Quiet {
    of: Arc<Silent>,
    waiting: Arc<Waiting>,
}

impl Silent {
    /// A connection begins.
    pub fn begin(self: &Arc<Self>) -> Quiet {
        let waiting = Arc::new(Waiting {
            since: Instant::now(),
            end: Notify::new(),
        });
        self.all().push(Arc::clone(&waiting));
        Quiet {
            of: Arc::clone(self),
            waiting,
        }
    }

    /// Ends the oldest one, if it has been silent for a while. Returns whether there was one.
    pub fn end_one(&self) -> bool {
        let mut all = self.all();
        if all.first().is_none_or(|oldest| oldest.since.elapsed() < SHORT) {
            return false;
        }
        all.remove(0).end.notify_one();
        true
    }

    fn all(&self) -> MutexGuard<'_, Vec<Arc<Waiting>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Quiet {
    /// Returns when the connection has to end.
    pub async fn ends(&self) {
        let left = PATIENCE.saturating_sub(self.waiting.since.elapsed());
        // When the time is over the connection ends as well.
        let _ = tokio::time::timeout(left, self.waiting.end.notified()).await;
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        self.of.all().retain(|other| !Arc::ptr_eq(other, &self.waiting));
    }
}
