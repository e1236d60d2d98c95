//! Lock for operations that run one at a time.

use std::sync::Arc;

use tokio::sync::{Mutex as Lock, OwnedMutexGuard};

/// Asynchronous lock for an operation that runs one at a time.
#[derive(Debug, Default)]
pub struct OneAtATime(Arc<Lock<()>>);

/// Guard of [`OneAtATime`].
#[derive(Debug)]
pub struct OneAtATimeGuard(#[expect(dead_code, reason = "held")] OwnedMutexGuard<()>);

impl OneAtATime {
    /// Waits for the lock without blocking a thread, because some operations take minutes.
    pub async fn enter(&self) -> OneAtATimeGuard {
        OneAtATimeGuard(Arc::clone(&self.0).lock_owned().await)
    }

    /// Takes the lock if it is free.
    pub fn enter_if_free(&self) -> Option<OneAtATimeGuard> {
        Arc::clone(&self.0).try_lock_owned().ok().map(OneAtATimeGuard)
    }
}
