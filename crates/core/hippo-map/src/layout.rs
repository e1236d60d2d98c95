//! Layout of the index file and the files below it.
//!
//! The input is the current index file. All text in it that people wrote is kept. Entries are updated in their own
//! bytes, and new entries are inserted into their sections. If an entry is removed, only its own lines are removed. The
//! files below `.hippocampus/` are generated completely. The output is deterministic, and laying it out again changes
//! nothing.

pub mod foreign;
mod lists;
mod master;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use crate::consolidation::{EntryRecord, RecordPlace};
use crate::hierarchy::{FOLDER, Limits, MasterSelection};
use crate::index_file::{IndexFile, IndexFileOptions, IndexedEntry, entry_text};
use hippo_types::entry::EntryId;
use hippo_types::time::Timestamp;
use master::{LiveEntries, MasterFile};

/// Path of the index file, relative to the workspace.
pub const INDEX_FILE: &str = "HIPPOCAMPUS.md";

/// Input of the layout.
#[derive(Debug, Clone, Copy)]
pub struct LayoutInput<'a> {
    /// All entries, including archived ones.
    pub records: &'a BTreeMap<EntryId, EntryRecord>,
    /// Entries that a person removed; no file contains them.
    pub forgotten: &'a BTreeSet<EntryId>,
    /// Entries under Quick Access.
    pub quick_access: &'a [EntryId],
    /// Limits of the master file; `other_tokens` is ignored.
    pub limits: Limits,
    /// Options of the index file.
    pub settings: IndexFileOptions,
    /// Time of writing.
    pub now: Timestamp,
}

/// Generated files.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LaidOutFiles {
    /// Content of `HIPPOCAMPUS.md`.
    pub master: Vec<u8>,
    /// Number of entries in the index file.
    pub entries: usize,
    /// Files below `.hippocampus/`, by path relative to the workspace. An existing generated file in this folder is
    /// obsolete if it is not listed here.
    pub others: BTreeMap<String, Vec<u8>>,
}

/// Returns `true` for a file below `.hippocampus/` that [`lay_out`] generates or once generated.
#[must_use]
pub fn is_generated_path(path: &str) -> bool {
    let below = |folder: &str| path.starts_with(&format!("{FOLDER}/{folder}/")) && path.ends_with(".md");
    below("topics") || below("temporal") || below("archive")
}

/// Lays out the entries. `current` is the current index file. An entry in it that has an id but no record is removed.
///
/// The result is within [`Limits::max_tokens`]. The only exception is entries with text beyond their fields, which
/// stay. Laying out the result again changes nothing.
#[must_use]
pub fn lay_out(current: Option<&[u8]>, wanted: &LayoutInput<'_>) -> LaidOutFiles {
    let all = master::collect_live(current.unwrap_or_default(), wanted);
    let MasterFile { bytes, selection } = master::lay_out(current.unwrap_or_default(), &all, wanted);
    LaidOutFiles {
        entries: selection.master.len(),
        others: generate_other_files(&selection, &all, wanted),
        master: bytes,
    }
}

/// Returns the bytes of entries that are in `before` but not in `after`, and have text beyond their fields.
#[must_use]
pub fn leaving_entries(before: &[u8], after: &[u8], settings: IndexFileOptions) -> Vec<(EntryId, Vec<u8>)> {
    let after = IndexFile::parse(after, settings);
    let stays: BTreeSet<&EntryId> = after.entries().map(|there| &there.entry.id).collect();
    let before = IndexFile::parse(before, settings);
    let leaves = |there: &&IndexedEntry| there.has_other_content() && !stays.contains(&there.entry.id);
    let saved = |there: &IndexedEntry| (there.entry.id.clone(), there.bytes().to_vec());
    before.entries().filter(leaves).map(saved).collect()
}

/// Inserts entries that are live again into the index file, from the bytes that [`leaving_entries`] saved. Returns the
/// new file, or `None` if no entry is live again.
///
/// The caller must lay out the result again.
#[must_use]
pub fn insert_returning<'b>(
    current: Option<&[u8]>,
    blocks: impl Iterator<Item = (&'b EntryId, &'b Vec<u8>)>,
    wanted: &LayoutInput<'_>,
) -> Option<Vec<u8>> {
    let returning = |id: &EntryId| {
        let record = wanted.records.get(id)?;
        let live = !matches!(record.place, RecordPlace::Archive(_)) && !wanted.forgotten.contains(id);
        live.then_some(record)
    };
    let blocks = blocks.filter_map(|(id, block)| Some((id, block, returning(id)?)));
    let mut blocks = blocks.peekable();
    blocks.peek()?;
    let mut file = match current.filter(|bytes| !bytes.trim_ascii().is_empty()) {
        Some(bytes) => IndexFile::parse(bytes, wanted.settings),
        None => IndexFile::skeleton(wanted.now, wanted.settings),
    };
    let mut came = false;
    for (id, block, record) in blocks {
        let section = master::section_of(record);
        let section: Vec<&str> = section.iter().map(String::as_str).collect();
        came |= file.insert_bytes(id, block, &section);
    }
    if !came {
        return None;
    }
    let entries = file.entries().count();
    file.set_header(entries, wanted.now);
    Some(file.to_bytes())
}

/// Generates the files below `.hippocampus/`.
fn generate_other_files(
    selection: &MasterSelection,
    all: &LiveEntries<'_>,
    wanted: &LayoutInput<'_>,
) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    for (path, ids) in &selection.files {
        let listed = ids.iter().filter_map(|id| Some(&all.get(id)?.text));
        let what = "Entries that do not fit into HIPPOCAMPUS.md; an access moves one back.";
        files.insert(path.clone(), format_listing(path, what, listed));
    }
    let mut months: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (id, record) in wanted.records {
        if let RecordPlace::Archive(since) = record.place
            && !wanted.forgotten.contains(id)
        {
            let day = since.date(wanted.settings.offset_seconds);
            let path = format!("{FOLDER}/archive/{:04}-{:02}.md", day.year(), day.month());
            let archived = months.entry(path).or_default();
            archived.push(entry_text(&record.entry, None, "\n", &wanted.settings));
        }
    }
    for (path, archived) in months {
        let what = "Entries that were archived: `hippoctl index restore ID` restores one.";
        let text = format_listing(&path, what, archived.iter());
        files.insert(path, text);
    }
    files
}

/// Formats a file of entries that only hippod writes.
fn format_listing<'e>(path: &str, what: &str, entries: impl Iterator<Item = &'e String>) -> Vec<u8> {
    let name = path.trim_start_matches(FOLDER).trim_matches('/');
    let name = name.trim_end_matches(".md");
    let mut text = format!("# {name}\n\n<!-- Written by hippod; edits here are not read. {what} -->\n");
    entries.for_each(|entry| text.extend(["\n", entry]));
    text.into_bytes()
}
