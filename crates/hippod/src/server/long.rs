//! Long-running requests.
//!
//! They run in the background with progress reports, and stop if the client disconnects.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hippo_proto::{Id, Progress, RpcError};

use super::connection::Outbox;
use crate::errors::client_gone;
use crate::tasks::run_blocking;

/// Progress callback: stage, item, amount done, and total amount if known.
pub type ProgressCallback<'a> = &'a mut dyn FnMut(&'static str, &str, u64, Option<u64>);

/// Runs the work in the background. Once the flag is set, the work should end early.
///
/// # Errors
/// The error of the work, or `internal` if the client disconnected.
pub async fn at_length<T: Send + 'static>(
    id: &Id,
    outbox: &Outbox,
    work: impl FnOnce(ProgressCallback<'_>, &AtomicBool) -> Result<T, RpcError> + Send + 'static,
) -> Result<T, RpcError> {
    let given_up = Arc::new(AtomicBool::new(false));
    let _dropped = SetOnDrop(Arc::clone(&given_up));
    let (id, lines) = (id.clone(), outbox.lines.clone());
    let work = run_blocking(move || {
        let mut tell = |stage: &'static str, item: &str, done: u64, total: Option<u64>| {
            let news = Progress {
                id: id.clone(),
                stage: stage.to_owned(),
                item: item.to_owned(),
                done,
                total,
            };
            // A slow reader misses some of the progress reports.
            let _ = lines.try_send(news.to_line());
        };
        work(&mut tell, &given_up)
    });
    tokio::select! {
        done = work => done,
        () = outbox.wait_until_gone() => Err(client_gone()),
    }
}

/// Guard that sets a flag on drop, even if its future is dropped before it completes.
struct SetOnDrop(Arc<AtomicBool>);

impl Drop for SetOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
