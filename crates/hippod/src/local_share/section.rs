//! Entries of other workspaces for the index file.

use std::path::Path;

use hippo_map::layout::foreign::{ForeignEntry, format_section};
use hippo_proto::SharedEntry;
use hippo_redact::without_secrets;
use hippo_types::time::Timestamp;

use super::{LocalShares, OwnerUnavailable, Reach};
use crate::view::WorkspaceView;
use crate::views::Views;

/// Returns the section of the index file of the workspace at `root`. Returns `None` while an owner is being opened.
pub fn section(
    shares: &LocalShares,
    views: &Views,
    root: &Path,
    now: Timestamp,
    max_tokens: usize,
) -> Option<String> {
    let mut all: Vec<(f32, ForeignEntry)> = Vec::new();
    for owner in shares.to(root) {
        let view = match owner.view(views) {
            Ok(view) => view,
            Err(OwnerUnavailable::Opening) => return None,
            Err(_) => continue,
        };
        for (strength, entry) in entries(&shares.reach(&owner, &view), &view, now) {
            let SharedEntry {
                pointer,
                topic,
                summary,
            } = entry;
            let summary = if summary.is_empty() { topic } else { summary };
            all.push((strength, ForeignEntry { pointer, summary }));
        }
    }
    all.sort_by(|(one, a), (other, b)| other.total_cmp(one).then_with(|| a.cmp(b)));
    let entries: Vec<ForeignEntry> = all.into_iter().map(|(_, entry)| entry).collect();
    Some(format_section(&entries, max_tokens))
}

/// Returns the entries that the other workspace sees, with their strengths.
pub(super) fn entries(reach: &Reach, view: &WorkspaceView, now: Timestamp) -> Vec<(f32, SharedEntry)> {
    let index = view.index();
    let shown = reach.entries.iter().filter_map(|(record, pointers, _)| {
        let pointer = format!("@{}/{}", reach.name, pointers.first()?);
        let entry = SharedEntry {
            pointer: without_secrets(&pointer).into_owned(),
            topic: without_secrets(&record.entry.topic).into_owned(),
            summary: without_secrets(&record.entry.summary).into_owned(),
        };
        Some((index.strength(record, now), entry))
    });
    shown.collect()
}
