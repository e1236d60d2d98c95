//! Which socket did the service manager pass? None: those of this system pass no sockets.

use std::convert::Infallible;
use std::path::PathBuf;

use anyhow::Result;
use interprocess::local_socket::tokio::Listener;

use crate::instance::InstanceError;

/// A socket that listens already. There is none.
#[derive(Debug)]
pub struct Passed {
    /// Its path.
    pub path: PathBuf,
    none: Infallible,
}

impl Passed {
    /// Serves it.
    ///
    /// # Errors
    /// There are none.
    pub fn serve(self) -> Result<Listener, InstanceError> {
        match self.none {}
    }
}

/// Nothing.
///
/// # Errors
/// There are none.
pub fn passed() -> Result<Option<Passed>> {
    Ok(None)
}
