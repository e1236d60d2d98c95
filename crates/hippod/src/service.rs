//! What does the daemon say to the service manager that started it, and what does it take from it?
//!
//! The protocols of systemd: a socket that is bound already, readiness, a status text, a watchdog, lines for its
//! journal. Without such a manager nothing here does anything.

#[cfg(unix)]
mod activation;
#[cfg(windows)]
#[path = "service/no_activation.rs"]
mod activation;
mod journal;
mod news;
mod watchdog;

pub use activation::{Passed, passed};
pub use journal::{Lines, reads_stderr};
pub use news::{announce, stopping};
pub use watchdog::Pulse;

/// The environment variables of the protocols. They are meant for this process alone: its children go without them.
pub const VARIABLES: [&str; 6] = [
    "LISTEN_FDNAMES",
    "LISTEN_FDS",
    "LISTEN_PID",
    "NOTIFY_SOCKET",
    "WATCHDOG_PID",
    "WATCHDOG_USEC",
];
