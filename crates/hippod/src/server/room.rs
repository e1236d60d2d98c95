//! Shared memory budget for large requests.

use std::sync::Arc;
use std::time::Duration;

use hippo_proto::FrameReader;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Maximum total size in MiB of all large requests that are in memory, whether received completely or in part.
const ALL: usize = 128;
const MIB: usize = 1024 * 1024;
/// Maximum size in bytes of a request that does not count against the budget.
const SMALL: usize = 64 * 1024;
/// Maximum time for which a large request waits for its share of the budget.
const PATIENCE: Duration = Duration::from_secs(30);

/// Budget shared by all connections.
#[derive(Debug, Clone)]
pub struct Budget(Arc<Semaphore>);

/// Share of the budget that a connection holds for the line it is reading.
#[derive(Debug)]
pub struct Room {
    budget: Budget,
    held: Option<OwnedSemaphorePermit>,
}

impl Default for Budget {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(ALL)))
    }
}

impl Room {
    /// Creates an empty share for a connection.
    pub fn of(budget: Budget) -> Self {
        Self { budget, held: None }
    }

    /// Waits until the share covers the part of the line that was received. Returns false on a timeout.
    pub async fn grow(&mut self, frames: &FrameReader) -> bool {
        let length = frames.partial_len();
        let held = self.held.as_ref().map_or(0, OwnedSemaphorePermit::num_permits);
        let wanted = if length > SMALL { length.div_ceil(MIB) } else { 0 };
        let Ok(more @ 1..) = u32::try_from(wanted.saturating_sub(held)) else {
            return true;
        };
        let place = Arc::clone(&self.budget.0).acquire_many_owned(more);
        let Ok(Ok(place)) = tokio::time::timeout(PATIENCE, place).await else {
            self.held = None;
            return false;
        };
        match &mut self.held {
            Some(held) => held.merge(place),
            None => self.held = Some(place),
        }
        true
    }

    /// Transfers the share to the completed request.
    pub fn take(&mut self) -> Option<OwnedSemaphorePermit> {
        self.held.take()
    }
}
