//! Rendering of stored sessions in `status`.

use hippo_proto::ContextsStatus;

use crate::render::{bytes, count_entries, one_line, plural};

/// Returns a line in the layout of the workspace's status.
pub fn line(contexts: &ContextsStatus) -> String {
    let ContextsStatus {
        sessions,
        open,
        entries,
        contents,
        stored_bytes,
        raw_bytes,
        budget_bytes,
        oldest,
    } = contexts;
    let entries = count_entries(*entries);
    let since = oldest
        .as_deref()
        .map(|oldest| format!(" since {}", one_line(oldest)));
    format!(
        "  contexts {}, {open} open, {entries}; {} kept{} in {} of {}, uncompressed {}\n",
        plural(*sessions, "session"),
        plural(*contents, "content"),
        since.unwrap_or_default(),
        bytes(*stored_bytes),
        bytes(*budget_bytes),
        bytes(*raw_bytes),
    )
}
