//! Local page: an HTTP server on 127.0.0.1 that shows the memory of the daemon's workspaces.
//!
//! The server belongs to the client, not to the daemon. It ends with the command, or after [`IDLE`] without a request.
//! Its threats and defences are in docs/ui.md.

mod api;
mod assets;
mod guard;
mod http;
mod peer;
mod server;

use std::time::Duration;

pub use server::{PageServer, ServerOptions};

/// Time without a request after which the server ends.
pub const IDLE: Duration = Duration::from_secs(30 * 60);
