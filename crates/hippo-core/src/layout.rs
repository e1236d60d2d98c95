//! What are the index file and the files below it to look like for the entries of the store?
//!
//! The file as it is comes in, and all that people wrote comes out again: entries are updated in their own bytes, new
//! ones are put into their sections, and what leaves the file goes with its lines alone. The files below `.hippocampus/`
//! are made as a whole. The same entries give the same bytes, whenever and however often this is done.

mod lists;
mod master;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use crate::consolidation::{Place, Record};
use crate::entry::EntryId;
use crate::hierarchy::{self, FOLDER, Item, Limits, Meta, Selection};
use crate::index_file::{IndexFile, IndexFileOptions, entry_text};
use crate::time::Timestamp;
use master::{All, Master};

/// Path of the index file, relative to the workspace.
pub const INDEX_FILE: &str = "HIPPOCAMPUS.md";
/// Path of the file that lists the others, relative to the workspace.
pub const META_FILE: &str = ".hippocampus/meta.json";

/// What the files are made from.
#[derive(Debug, Clone, Copy)]
pub struct Wanted<'a> {
    /// All entries, the archived ones too.
    pub records: &'a BTreeMap<EntryId, Record>,
    /// Entries that a person removed: they are in no file.
    pub forgotten: &'a BTreeSet<EntryId>,
    /// What is listed under Quick Access.
    pub quick_access: &'a [EntryId],
    /// What `.hippocampus/meta.json` says now.
    pub meta: Option<&'a Meta>,
    /// How much the master file holds; its `other_tokens` are not used.
    pub limits: Limits,
    /// How it is written.
    pub settings: IndexFileOptions,
    /// The moment of writing.
    pub now: Timestamp,
}

/// The files as they are to be.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Files {
    /// `HIPPOCAMPUS.md`.
    pub master: Vec<u8>,
    /// Entries in it.
    pub entries: usize,
    /// Files below `.hippocampus/`, by path relative to the workspace. Other files of the same folders are of no use
    /// any more.
    pub others: BTreeMap<String, Vec<u8>>,
}

/// Whether a file below `.hippocampus/` is one that [`lay_out`] makes, or has made once.
#[must_use]
pub fn is_made_here(path: &str) -> bool {
    let below = |folder: &str| path.starts_with(&format!("{FOLDER}/{folder}/")) && path.ends_with(".md");
    path == META_FILE || below("topics") || below("temporal") || below("archive")
}

/// Lays the entries out. `current` is the index file as it is; every entry in it is known to the records, or is to go.
///
/// Within [`Limits::max_tokens`], but for entries into which a person wrote more than their fields hold: these stay. Laying out what was laid out changes nothing.
#[must_use]
pub fn lay_out(current: Option<&[u8]>, wanted: &Wanted<'_>) -> Files {
    let all = master::live(wanted);
    let Master {
        bytes,
        selection,
        items,
    } = master::lay_out(current.unwrap_or_default(), &all, wanted);
    Files {
        entries: selection.master.len(),
        others: others(&items, &selection, &all, wanted),
        master: bytes,
    }
}

/// The bytes of entries of `before` that are not in `after`, where they say more than the fields of an entry.
#[must_use]
pub fn leaving(before: &[u8], after: &[u8], settings: IndexFileOptions) -> Vec<(EntryId, Vec<u8>)> {
    let after = IndexFile::parse(after, settings);
    let stays: BTreeSet<&EntryId> = after.entries().map(|there| &there.entry.id).collect();
    let before = IndexFile::parse(before, settings);
    let leaves = before
        .entries()
        .filter(|there| there.has_other_content() && !stays.contains(&there.entry.id));
    leaves
        .map(|there| (there.entry.id.clone(), there.bytes().to_vec()))
        .collect()
}

/// The index file with entries that come back as they stood in it, by [`leaving`]; `None` where none of them is to be in
/// it and is not. It is still to be laid out.
#[must_use]
pub fn with_returning<'b>(
    current: Option<&[u8]>,
    blocks: impl Iterator<Item = (&'b EntryId, &'b Vec<u8>)>,
    wanted: &Wanted<'_>,
) -> Option<Vec<u8>> {
    let returning = |id: &EntryId| {
        let record = wanted.records.get(id)?;
        let live = !matches!(record.place, Place::Archive(_)) && !wanted.forgotten.contains(id);
        live.then_some(record)
    };
    let mut blocks = blocks
        .filter_map(|(id, block)| Some((id, block, returning(id)?)))
        .peekable();
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

/// The files below `.hippocampus/`.
fn others(
    items: &[Item],
    selection: &Selection,
    all: &All<'_>,
    wanted: &Wanted<'_>,
) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    for (path, ids) in &selection.files {
        let listed = ids
            .iter()
            .filter_map(|id| all.get(id))
            .map(|live| live.text(wanted));
        let what = "Entries for which HIPPOCAMPUS.md has no room; an access brings one back.";
        files.insert(path.clone(), listing(path, what, listed));
    }
    if !files.is_empty() {
        let mut meta = hierarchy::meta(items, selection, wanted.now);
        if let Some(known) = wanted.meta {
            let now = std::mem::replace(&mut meta.reindexed, known.reindexed);
            if meta != *known {
                meta.reindexed = now;
            }
        }
        // Numbers and texts alone: it cannot be refused.
        let text = serde_json::to_string_pretty(&meta).unwrap_or_default() + "\n";
        files.insert(META_FILE.to_owned(), text.into_bytes());
    }
    let mut months: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (id, record) in wanted.records {
        if let Place::Archive(since) = record.place
            && !wanted.forgotten.contains(id)
        {
            let day = since.date(wanted.settings.offset_seconds);
            let path = format!("{FOLDER}/archive/{:04}-{:02}.md", day.year(), day.month());
            months
                .entry(path)
                .or_default()
                .push(entry_text(&record.entry, 2, "\n", &wanted.settings));
        }
    }
    for (path, archived) in months {
        let what = "Entries that have left the index: `hippoctl index restore ID` brings one back.";
        let text = listing(&path, what, archived.iter().map(String::as_str));
        files.insert(path, text);
    }
    files
}

/// A file of entries that hippod alone writes.
fn listing<'e>(path: &str, what: &str, entries: impl Iterator<Item = &'e str>) -> Vec<u8> {
    let name = path
        .trim_start_matches(FOLDER)
        .trim_matches('/')
        .trim_end_matches(".md");
    let mut text = format!("# {name}\n\n<!-- Written by hippod; edits here are not read. {what} -->\n");
    for entry in entries {
        text.push('\n');
        text.push_str(entry);
    }
    text.into_bytes()
}
