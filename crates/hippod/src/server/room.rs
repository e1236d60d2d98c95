//! Memory for large requests: a shared budget of all connections.

use std::sync::Arc;
use std::time::Duration;

use hippo_proto::FrameReader;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Bytes of large requests that are held at the same time, complete or not, in MiB.
const ALL: usize = 128;
const MIB: usize = 1024 * 1024;
/// Requests of up to this many bytes need no place in the budget.
const SMALL: usize = 64 * 1024;
/// How long a large request waits for its place in the budget.
const PATIENCE: Duration = Duration::from_secs(30);

/// The budget of all connections.
#[derive(Debug, Clone)]
pub struct Budget(Arc<Semaphore>);

/// What one connection holds of the budget for the line that it is reading.
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
    /// A connection that holds nothing yet.
    pub fn of(budget: Budget) -> Self {
        Self { budget, held: None }
    }

    /// Waits for room for the line that is not complete. Returns false when there was none within the patience.
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

    /// Hands the place over to the request that is complete.
    pub fn take(&mut self) -> Option<OwnedSemaphorePermit> {
        self.held.take()
    }
}
