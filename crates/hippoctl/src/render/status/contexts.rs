//! Rendering of stored sessions in `status`.

use hippo_proto::ContextsStatus;

use crate::render::{bytes, count_entries, one_line, plural};

/// Returns the line about stored sessions in the status of a workspace.
pub fn line(contexts: &ContextsStatus) -> String {
    let oldest = contexts.oldest.as_deref();
    let since = oldest.map(|oldest| format!(" since {}", one_line(oldest)));
    let contents = format!(
        "{}, {} open, {}; {} kept{} in {} of {}, uncompressed {}",
        plural(contexts.sessions, "session"),
        contexts.open,
        count_entries(contexts.entries),
        plural(contexts.contents, "content"),
        since.unwrap_or_default(),
        bytes(contexts.stored_bytes),
        bytes(contexts.budget_bytes),
        bytes(contexts.raw_bytes),
    );
    super::line("contexts", &contents)
}
