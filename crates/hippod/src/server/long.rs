//! Requests that take long: in the background, with progress to the client, stopped when the client goes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hippo_proto::{Id, Progress, RpcError};

use super::connection::Outbox;
use super::dispatch::blocking;
use crate::shared::Shared;

/// Hears of stage, item, how much is done, and how much there is in all.
pub type Tell<'a> = &'a mut dyn FnMut(&'static str, &str, u64, Option<u64>);

/// Does the work; it ends early where the flag is set.
///
/// # Errors
/// As the work says, or `internal` when the client is gone.
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
            // A client that reads slowly sees fewer steps.
            let _ = lines.try_send(news.to_line());
        };
        work(shared, &mut tell, &given_up)
    });
    tokio::select! {
        done = work => done,
        () = outbox.gone() => Err(nobody_waits()),
    }
}

/// Cancellation of work whose client is gone.
#[derive(Debug, Clone, Copy)]
pub struct Cancellation<'a>(Option<&'a AtomicBool>);

impl<'a> Cancellation<'a> {
    /// Work that is finished whether or not a client waits.
    pub const NEVER: Cancellation<'static> = Cancellation(None);

    /// Work of [`at_length`], cancelled by its flag.
    pub fn by(given_up: &'a AtomicBool) -> Self {
        Self(Some(given_up))
    }

    /// Fails once the work is cancelled.
    ///
    /// # Errors
    /// `internal` when the client is gone.
    pub fn check(self) -> Result<(), RpcError> {
        match self.0.is_some_and(|given_up| given_up.load(Ordering::Relaxed)) {
            true => Err(nobody_waits()),
            false => Ok(()),
        }
    }
}

/// Nobody waits for the answer any more.
pub fn nobody_waits() -> RpcError {
    RpcError::internal("the client is gone").hint("ask again")
}

/// Sets a flag when it goes, also when the future that holds it is dropped half way.
struct SetOnDrop(Arc<AtomicBool>);

impl Drop for SetOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
