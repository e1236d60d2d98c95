//! Integration with the service manager.
//!
//! Implements the protocols of systemd: socket activation, readiness, status text, watchdog, and journal
//! lines. They are inactive without a service manager.

#[cfg(unix)]
mod activation;
#[cfg(windows)]
#[path = "service/no_activation.rs"]
mod activation;
mod journal;
mod news;
mod watchdog;

pub use activation::{PassedSocket, passed};
pub use journal::{JournalFormat, reads_stderr};
pub use news::{announce, stopping};
