//! Cancellation of work whose client disconnected.

use std::sync::atomic::{AtomicBool, Ordering};

use hippo_proto::RpcError;

use crate::errors::client_gone;

/// Cancellation of work whose client disconnected.
#[derive(Debug, Clone, Copy)]
pub struct Cancellation<'a>(Option<&'a AtomicBool>);

impl<'a> Cancellation<'a> {
    /// Cancellation that never happens: the work completes even if the client disconnects.
    pub const NEVER: Cancellation<'static> = Cancellation(None);

    /// Creates a cancellation that takes effect when the flag `given_up` is set.
    pub fn by(given_up: &'a AtomicBool) -> Self {
        Self(Some(given_up))
    }

    /// Returns an error once the work is cancelled.
    ///
    /// # Errors
    /// Returns `internal` if the client disconnected.
    pub fn check(self) -> Result<(), RpcError> {
        match self.0.is_some_and(|given_up| given_up.load(Ordering::Relaxed)) {
            true => Err(client_gone()),
            false => Ok(()),
        }
    }
}
