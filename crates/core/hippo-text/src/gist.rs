//! Selection of the sentences and phrases that matter in a text.

pub mod headings;
pub mod label;
pub mod line;
pub mod phrases;
pub mod summary;
pub mod words;

/// Marks of machine-written log lines: calls to an agent and its answers.
#[rustfmt::skip] // keep the list compact
pub const MACHINE: [&str; 6] = [
    "HEARTBEAT", "NO_REPLY", "message_id", "Session Key", "Session ID", "System:",
];
