//! Entries of other workspaces for the index file.

use std::path::Path;

use hippo_map::layout::foreign::{ForeignEntry, format_section};
use hippo_map::truth::{DatedText, find_superseded};
use hippo_proto::SharedEntry;
use hippo_redact::without_secrets;
use hippo_types::time::Timestamp;

use super::reach::shown_pointer;
use super::{LocalShares, Reach};
use crate::view::WorkspaceView;
use crate::views::{Slot, Views};

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
        if matches!(views.slot(&owner.from), Some(Slot::Opening)) {
            return None;
        }
        let Ok(view) = owner.view(views) else { continue };
        for (strength, entry) in entries(&Reach::find(&owner, &view), &view, now) {
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

/// Returns the entries of a share with their strengths. Leaves out statements that a later one corrects.
pub(super) fn entries(reach: &Reach, view: &WorkspaceView, now: Timestamp) -> Vec<(f32, SharedEntry)> {
    let index = view.index();
    let days: Vec<String> = (reach.entries.iter())
        .map(|(record, ..)| record.entry.created.date(0).to_string())
        .collect();
    let texts: Vec<DatedText<'_>> = (reach.entries.iter().zip(&days))
        .map(|((record, ..), day)| DatedText {
            date: Some(day),
            place: (&record.entry.topic, 0),
            heading: &[],
            text: &record.entry.summary,
        })
        .collect();
    let superseded = find_superseded(&texts, 16);
    let current = reach
        .entries
        .iter()
        .zip(superseded)
        .filter(|(_, newer)| newer.is_none());
    let shown = |(record, pointers, _): &(std::sync::Arc<_>, Vec<_>, String)| {
        let record: &hippo_map::consolidation::EntryRecord = record;
        let entry = SharedEntry {
            pointer: shown_pointer(&reach.name, pointers.first()?),
            topic: without_secrets(&record.entry.topic).into_owned(),
            summary: without_secrets(&record.entry.summary).into_owned(),
        };
        Some((index.strength(record, now), entry))
    };
    current.filter_map(|(entry, _)| shown(entry)).collect()
}
