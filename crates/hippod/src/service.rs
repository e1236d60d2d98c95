//! Integration with the service manager.
//!
//! Implements the protocols of systemd: socket activation, readiness and watchdog. They are inactive without a service
//! manager.

mod activation;
mod news;

pub use activation::{PassedSocket, passed};
pub use news::{announce, stopping};
