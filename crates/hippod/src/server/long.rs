//! Long-running requests.
//!
//! They run in the background with progress reports, and stop if the client disconnects.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hippo_proto::{Id, Progress, RpcError};

use super::connection::Outbox;
use super::dispatch::blocking;
use crate::shared::Shared;

/// Progress callback: stage, item, amount done, and total amount if known.
pub type Tell<'a> = &'a mut dyn FnMut(&'static str, &str, u64, Option<u64>);

/// Runs the work in the background. The work should end early once the flag is set.
///
/// # Errors
/// The error of the work, or `internal` if the client disconnected.
pub async fn at_length<T: Send + 'static>(
    shared: &Arc<Shared>,
    id: &Id,
    outbox: &Outbox,
    work: impl FnOnce(&Shared, Tell<'_>, &AtomicBool) -> Result<T, RpcError> + Send + 'static,
) -> Result<T, RpcError> {
    let given_up = Arc::new(AtomicBool::new(false));
    let _dropped = SetOnDrop(Arc::clone(&given_up));
    let (id, lines) = (id.clone(), outbox.lines.clone());
    let work = blocking(shared, move |shared| {
        let mut tell = |stage: &'static str, item: &str, done: u64, total: Option<u64>| {
            let news = Progress {
                id: id.clone(),
                stage: stage.to_owned(),
                item: item.to_owned(),
                done,
                total,
            };
            // A slow reader misses some progress reports.
            let _ = lines.try_send(news.to_line());
        };
        work(shared, &mut tell, &given_up)
    });
    tokio::select! {
        done = work => done,
        () = outbox.gone() => Err(nobody_waits()),
    }
}

/// Cancellation of work whose client disconnected.
#[derive(Debug, Clone, Copy)]
pub struct Cancellation<'a>(Option<&'a AtomicBool>);

impl<'a> Cancellation<'a> {
    /// Never cancelled: the work finishes even if the client disconnects.
    pub const NEVER: Cancellation<'static> = Cancellation(None);

    /// Creates the cancellation for work of [`at_length`] from its flag.
    pub fn by(given_up: &'a AtomicBool) -> Self {
        Self(Some(given_up))
    }

    /// Returns an error once the work is cancelled.
    ///
    /// # Errors
    /// `internal` if the client disconnected.
    pub fn check(self) -> Result<(), RpcError> {
        match self.0.is_some_and(|given_up| given_up.load(Ordering::Relaxed)) {
            true => Err(nobody_waits()),
            false => Ok(()),
        }
    }
}

/// Returns the error for a disconnected client.
pub fn nobody_waits() -> RpcError {
    RpcError::internal("the client disconnected").hint("try again")
}

/// Guard that sets a flag on drop, also if its future is dropped halfway.
struct SetOnDrop(Arc<AtomicBool>);

impl Drop for SetOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
