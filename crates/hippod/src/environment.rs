//! Environment variables that child processes do not inherit.

/// Environment variables of the service manager's protocols. They apply only to this process, so child processes do not
/// inherit them.
#[rustfmt::skip] // keep the list compact
pub const SERVICE_VARIABLES: [&str; 6] = [
    "LISTEN_FDNAMES", "LISTEN_FDS", "LISTEN_PID", "NOTIFY_SOCKET", "WATCHDOG_PID", "WATCHDOG_USEC",
];
