//! Socket activation on systems without it.

use std::convert::Infallible;
use std::path::PathBuf;

use anyhow::Result;
use interprocess::local_socket::tokio::Listener;

use crate::instance::InstanceError;

/// A passed socket. This type has no values.
#[derive(Debug)]
pub struct PassedSocket {
    /// Path of the socket.
    pub path: PathBuf,
    none: Infallible,
}

impl PassedSocket {
    /// Converts the socket into a listener.
    ///
    /// # Errors
    /// Never fails.
    pub fn serve(self) -> Result<Listener, InstanceError> {
        match self.none {}
    }
}

/// Returns `None`.
///
/// # Errors
/// Never fails.
pub fn passed() -> Result<Option<PassedSocket>> {
    Ok(None)
}
