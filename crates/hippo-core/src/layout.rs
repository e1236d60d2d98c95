//! What are the index file and the files below it to look like for the entries of the store?
//!
//! The file as it is comes in, and all that people wrote comes out again: entries are updated in their own bytes, new
//! ones are put into their sections, and what leaves the file goes with its lines alone. The files below `.hippocampus/`
//! are made as a whole. The same entries give the same bytes, whenever and however often this is done.

mod lists;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use crate::bootstrap::tokens;
use crate::consolidation::{Place, Record};
use crate::entry::{Entry, EntryId};
use crate::hierarchy::{self, FOLDER, Item, Limits, Meta, Selection};
use crate::index_file::{IndexFile, Known, Settings, as_written, entry_text};
use crate::time::Timestamp;

/// Path of the index file, relative to the workspace.
pub const INDEX_FILE: &str = "HIPPOCAMPUS.md";
/// Path of the file that lists the others, relative to the workspace.
pub const META_FILE: &str = ".hippocampus/meta.json";
/// How often room is made for lists that turn out longer than they were thought to be.
const TRIES: usize = 4;

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
    pub settings: Settings,
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
#[must_use]
pub fn lay_out(current: Option<&[u8]>, wanted: &Wanted<'_>) -> Files {
    let before = current.unwrap_or_default();
    let file = if before.trim_ascii().is_empty() {
        IndexFile::skeleton(wanted.now, wanted.settings)
    } else {
        IndexFile::parse(before, wanted.settings)
    };
    let entries: BTreeMap<&EntryId, (Entry, &Record)> = wanted
        .records
        .iter()
        .filter_map(|(id, record)| Some((id, (as_written(&record.as_filed()?, &wanted.settings), record))))
        .collect();
    let (items, mut limits) = measured(&file, &entries, wanted);
    let mut made = (Vec::new(), Selection::default());
    for _ in 0..TRIES {
        let selection = hierarchy::select(&items, &limits);
        let master = master(file.clone(), &selection, &entries, wanted);
        let size = master.len().div_ceil(4);
        made = (master, selection);
        if size <= limits.max_tokens || made.1.master.is_empty() {
            break;
        }
        limits.other_tokens += size - limits.max_tokens;
    }
    let (master, selection) = made;
    Files {
        entries: selection.master.len(),
        others: others(&items, &selection, &entries, wanted),
        master: with_header(master, before, selection.master.len(), wanted),
    }
}

/// What the selection goes by, with the room that is taken by what is no entry.
fn measured(
    file: &IndexFile,
    entries: &BTreeMap<&EntryId, (Entry, &Record)>,
    wanted: &Wanted<'_>,
) -> (Vec<Item>, Limits) {
    let placed = file.placed();
    let spans: BTreeMap<&EntryId, usize> = placed
        .iter()
        .map(|placed| (&placed.indexed.entry.id, placed.span.len()))
        .collect();
    let other = file.to_bytes().len().saturating_sub(spans.values().sum());
    let items = entries.iter().map(|(id, (entry, record))| Item {
        id: (*id).clone(),
        strength: entry.strength,
        hits: entry.hits,
        priority: entry.priority,
        group: record.group.clone(),
        date: entry.created.date(wanted.settings.offset_seconds),
        tokens: match spans.get(id) {
            Some(bytes) => bytes.div_ceil(4),
            None => tokens(&entry_text(entry, 4, "\n", &wanted.settings)) + 1,
        },
        in_master: spans.contains_key(id),
    });
    let limits = Limits {
        other_tokens: other.div_ceil(4),
        ..wanted.limits
    };
    (items.collect(), limits)
}

fn master(
    mut file: IndexFile,
    selection: &Selection,
    entries: &BTreeMap<&EntryId, (Entry, &Record)>,
    wanted: &Wanted<'_>,
) -> Vec<u8> {
    let sections: BTreeMap<EntryId, Vec<String>> = file
        .placed()
        .into_iter()
        .map(|placed| {
            let section = placed.section.into_iter().map(str::to_owned).collect();
            (placed.indexed.entry.id.clone(), section)
        })
        .collect();
    for id in sections.keys().filter(|id| !selection.master.contains(*id)) {
        file.remove(id);
    }
    let mut new = Vec::new();
    for id in &selection.master {
        let Some((entry, record)) = entries.get(id) else {
            continue;
        };
        let Some(section) = sections.get(id) else {
            new.push((entry, *record));
            continue;
        };
        if file.get(id).is_some_and(|there| there.entry != *entry) {
            // It is there: it was found a moment ago.
            let _ = file.update(entry);
        }
        if let Some(to) = moves(section, record) {
            let _ = file.relocate(id, &to);
        }
    }
    // What matters most comes first in its section.
    new.sort_by(|(a, _), (b, _)| {
        let order = b
            .priority
            .cmp(&a.priority)
            .then(b.strength.total_cmp(&a.strength));
        order.then(b.created.cmp(&a.created)).then(a.id.cmp(&b.id))
    });
    for (entry, record) in new {
        // It is not there: it was looked for a moment ago.
        let _ = file.insert(entry, &section_of(record));
    }
    lists::write(&mut file, selection, entries, wanted);
    file.to_bytes()
}

/// Where an entry belongs.
fn section_of(record: &Record) -> Vec<&str> {
    match record.place {
        Place::Queue(_) => vec![Known::DecayQueue.title()],
        Place::Index | Place::Archive(_) if record.group.is_empty() => vec![Known::ByTopic.title()],
        Place::Index | Place::Archive(_) => vec![Known::ByTopic.title(), &record.group],
    }
}

/// Where an entry that stands in `section` is to be moved. A section that a person made for it is left alone.
fn moves<'r>(section: &[String], record: &'r Record) -> Option<Vec<&'r str>> {
    let to = section_of(record);
    let same = section.len() == to.len()
        && section
            .iter()
            .zip(&to)
            .all(|(is, to)| is.to_lowercase() == to.to_lowercase());
    let known = section.first().and_then(|title| Known::of(title));
    let ours = match known {
        Some(Known::DecayQueue) => true,
        Some(Known::ByTopic) => section.len() <= 2 || matches!(record.place, Place::Queue(_)),
        _ => matches!(record.place, Place::Queue(_)),
    };
    (ours && !same).then_some(to)
}

/// States in the header how many entries there are and when they were written, unless nothing else has changed.
fn with_header(master: Vec<u8>, before: &[u8], entries: usize, wanted: &Wanted<'_>) -> Vec<u8> {
    if master == before {
        return master;
    }
    let mut file = IndexFile::parse(&master, wanted.settings);
    file.set_header(entries, wanted.now);
    file.to_bytes()
}

/// The files below `.hippocampus/`.
fn others(
    items: &[Item],
    selection: &Selection,
    entries: &BTreeMap<&EntryId, (Entry, &Record)>,
    wanted: &Wanted<'_>,
) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    for (path, ids) in &selection.files {
        let listed = ids
            .iter()
            .filter_map(|id| entries.get(id))
            .map(|(entry, _)| entry);
        let what = "Entries for which HIPPOCAMPUS.md has no room; an access brings one back.";
        files.insert(path.clone(), listing(path, what, listed, wanted));
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
    let mut months: BTreeMap<String, Vec<&Entry>> = BTreeMap::new();
    for (id, record) in wanted.records {
        if let Place::Archive(since) = record.place
            && !wanted.forgotten.contains(id)
        {
            let day = since.date(wanted.settings.offset_seconds);
            let path = format!("{FOLDER}/archive/{:04}-{:02}.md", day.year(), day.month());
            months.entry(path).or_default().push(&record.entry);
        }
    }
    for (path, archived) in months {
        let what = "Entries that have left the index: `hippoctl index restore ID` brings one back.";
        let text = listing(&path, what, archived.into_iter(), wanted);
        files.insert(path, text);
    }
    files
}

/// A file of entries that hippod alone writes.
fn listing<'e>(
    path: &str,
    what: &str,
    entries: impl Iterator<Item = &'e Entry>,
    wanted: &Wanted<'_>,
) -> Vec<u8> {
    let name = path
        .trim_start_matches(FOLDER)
        .trim_matches('/')
        .trim_end_matches(".md");
    let mut text = format!("# {name}\n\n<!-- Written by hippod; edits here are not read. {what} -->\n");
    for entry in entries {
        text.push('\n');
        text.push_str(&entry_text(entry, 2, "\n", &wanted.settings));
    }
    text.into_bytes()
}
