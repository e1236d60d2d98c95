//! Long-running requests.
//!
//! Their work runs in the background, reports its progress, and stops if the client disconnects.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hippo_proto::{Id, Progress, RpcError};

use super::connection::Outbox;
use crate::errors::client_gone;
use crate::tasks::{Cancellation, run_blocking};

/// Callback for progress: stage, item, completed amount, and total amount if known.
pub type ProgressCallback<'a> = &'a mut dyn FnMut(&'static str, &str, u64, Option<u64>);

/// Runs the work in the background, and reports its progress. The work should end soon after its flag is set.
///
/// # Errors
/// Returns the error of the work, or `internal` if the client disconnected.
pub async fn at_length<T: Send + 'static>(
    id: &Id,
    outbox: &Outbox,
    work: impl FnOnce(ProgressCallback<'_>, &AtomicBool) -> Result<T, RpcError> + Send + 'static,
) -> Result<T, RpcError> {
    let (id, lines) = (id.clone(), outbox.lines.clone());
    let work = move |given_up: &AtomicBool| {
        let mut tell = |stage: &'static str, item: &str, done: u64, total: Option<u64>| {
            let news = Progress {
                id: id.clone(),
                stage: stage.to_owned(),
                item: item.to_owned(),
                done,
                total,
            };
            // If the client reads slowly, some progress reports are dropped.
            let _ = lines.try_send(news.to_line());
        };
        work(&mut tell, given_up)
    };
    until_gone(outbox, work).await
}

/// Runs the work in the background, and cancels it if the client disconnects.
///
/// # Errors
/// Returns the error of the work, or `internal` if the client disconnected.
pub async fn cancellable<T: Send + 'static>(
    outbox: &Outbox,
    work: impl FnOnce(Cancellation<'_>) -> Result<T, RpcError> + Send + 'static,
) -> Result<T, RpcError> {
    until_gone(outbox, |given_up| work(Cancellation::by(given_up))).await
}

async fn until_gone<T: Send + 'static>(
    outbox: &Outbox,
    work: impl FnOnce(&AtomicBool) -> Result<T, RpcError> + Send + 'static,
) -> Result<T, RpcError> {
    let given_up = Arc::new(AtomicBool::new(false));
    let _dropped = SetOnDrop(Arc::clone(&given_up));
    let work = run_blocking(move || work(&given_up));
    tokio::select! {
        done = work => done,
        () = outbox.wait_until_gone() => Err(client_gone()),
    }
}

/// Guard that sets a flag on drop. A future that is dropped before completion therefore also sets the flag.
struct SetOnDrop(Arc<AtomicBool>);

impl Drop for SetOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
