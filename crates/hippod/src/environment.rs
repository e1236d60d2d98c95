//! Environment variables that child processes do not inherit.

/// Environment variables of the service manager's protocols. They apply only to this process, so child processes do not
/// inherit them.
#[rustfmt::skip] // a list is read in lines
pub const SERVICE_VARIABLES: [&str; 6] = [
    "LISTEN_FDNAMES", "LISTEN_FDS", "LISTEN_PID", "NOTIFY_SOCKET", "WATCHDOG_PID", "WATCHDOG_USEC",
];
