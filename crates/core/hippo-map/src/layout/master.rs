//! Layout of the index file with the selected entries.
//!
//! The file is laid out repeatedly until it no longer changes, so that a later layout of the same entries changes
//! nothing. One pass is not always enough, because new entries also need room for section headings and marks.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::LayoutInput;
use super::lists::{self, GeneratedLists};
use crate::consolidation::{EntryRecord, RecordPlace};
use crate::hierarchy::{self, EntryWorth, Limits, MasterSelection, SelectionItem};
use crate::index_file::{IndexFile, IndexSection, as_written, written_text};
use hippo_types::entry::{Entry, EntryId};

/// Number of passes in which entries may be both added and removed.
const OPEN: usize = 5;
/// Maximum number of passes. Passes after [`OPEN`] only remove entries, so that the layout terminates.
const TIMES: usize = 12;

/// Number of bytes that a new entry needs beyond its text: two for additional heading marks, and one for an empty line.
const AROUND: usize = 3;

/// Entry that belongs to a file of the index.
pub(super) struct LiveEntry<'a> {
    pub record: &'a EntryRecord,
    /// The entry with the values for the file, but with timestamps in full precision.
    pub filed: Entry,
    /// The entry as it is read back from a file.
    pub written: Entry,
    /// The entry as text in a file that only hippod writes.
    pub text: String,
}

/// Entries in the index, by their ids as written.
pub(super) type LiveEntries<'a> = BTreeMap<EntryId, LiveEntry<'a>>;

/// Generated index file and the selection of entries.
pub(super) struct MasterFile {
    pub bytes: Vec<u8>,
    pub selection: MasterSelection,
}

/// Returns the entries of the index file and of the files below `.hippocampus/`. Archived and forgotten entries are
/// left out. Learned questions are left out too, unless a person wrote their text or the current file adds text to
/// them.
pub(super) fn collect_live<'a>(current: &[u8], wanted: &LayoutInput<'a>) -> LiveEntries<'a> {
    let mut all = LiveEntries::new();
    let file = IndexFile::parse(current, wanted.settings);
    let annotated = file.entries().filter(|there| there.has_other_content());
    let kept: BTreeSet<&EntryId> = annotated.map(|there| &there.entry.id).collect();
    for (id, record) in wanted.records {
        let is_question = record.learned.is_some() && !record.by_hand && !kept.contains(id);
        if is_question || wanted.forgotten.contains(id) || matches!(record.place, RecordPlace::Archive(_)) {
            continue;
        }
        if let Some(filed) = record.as_filed() {
            let written = as_written(&filed, &wanted.settings);
            all.entry(written.id.clone()).or_insert_with(|| LiveEntry {
                record,
                filed,
                text: written_text(&written, None, "\n", &wanted.settings),
                written,
            });
        }
    }
    all
}

/// Lays out the index file.
pub(super) fn lay_out(before: &[u8], all: &LiveEntries<'_>, wanted: &LayoutInput<'_>) -> MasterFile {
    let lists = GeneratedLists::build(all, wanted);
    let laid = [true, false]
        .into_iter()
        .find_map(|moving| settle(before, all, &lists, wanted, moving));
    let mut laid = laid.unwrap_or_else(|| keep_unchanged(before, all, wanted));
    if laid.bytes != before {
        let mut same = IndexFile::parse(before, wanted.settings);
        same.set_header(laid.selection.master.len(), wanted.now);
        if same.to_bytes() == laid.bytes {
            laid.bytes = before.to_vec();
        }
    }
    laid
}

/// Lays out the file until it no longer changes; `None` if it does not settle.
fn settle(
    before: &[u8],
    all: &LiveEntries<'_>,
    lists: &GeneratedLists,
    wanted: &LayoutInput<'_>,
    moving: bool,
) -> Option<MasterFile> {
    let mut bytes = before.to_vec();
    for time in 0..TIMES {
        let next = run_pass(&bytes, all, lists, wanted, time < OPEN, moving);
        if next.bytes == bytes {
            return Some(next);
        }
        bytes = next.bytes;
    }
    None
}

/// Returns the file unchanged, for a file whose layout never settles because its marks change the meaning of every
/// edit.
fn keep_unchanged(before: &[u8], all: &LiveEntries<'_>, wanted: &LayoutInput<'_>) -> MasterFile {
    let items = MasterContent::read(&IndexFile::parse(before, wanted.settings), all, wanted).items;
    let all_of_it = Limits {
        max_tokens: usize::MAX,
        max_entries: usize::MAX,
        fill: 0.0,
        other_tokens: 0,
    };
    MasterFile {
        bytes: before.to_vec(),
        selection: hierarchy::select_entries(&items, &all_of_it),
    }
}

/// Content of an index file.
struct MasterContent {
    /// Sections of the entries in the file, without entries that belong to people. hippod may change only the listed
    /// entries.
    sections: BTreeMap<EntryId, Vec<String>>,
    /// Entries in `sections` whose id is not written in the file.
    unnamed: BTreeSet<EntryId>,
    /// All entries, with their sizes in bytes.
    items: Vec<SelectionItem>,
    /// Number of bytes outside the entries.
    other: usize,
}

impl MasterContent {
    fn read(file: &IndexFile, all: &LiveEntries<'_>, wanted: &LayoutInput<'_>) -> Self {
        let mut sections = BTreeMap::new();
        let mut unnamed = BTreeSet::new();
        let mut there: BTreeMap<EntryId, (usize, bool)> = BTreeMap::new();
        let mut other = file.to_bytes().len();
        for placed in file.placed_entries() {
            let (indexed, id) = (placed.indexed, &placed.indexed.entry.id);
            if !indexed.states_id() {
                let is_known = wanted.records.contains_key(id) || wanted.forgotten.contains(id);
                if !all.contains_key(id) && !is_known {
                    // A person wrote these lines, and they were not adopted as an entry.
                    continue;
                }
                unnamed.insert(id.clone());
            }
            other -= placed.span.len();
            let kept = indexed.has_other_content() || file.copied_ids().contains(id);
            there.insert(id.clone(), (placed.span.len(), kept));
            let section = placed.section.into_iter().map(str::to_owned);
            sections.insert(id.clone(), section.collect());
        }
        let items = all.iter().map(|(id, live)| {
            let place = there.get(id);
            let first = live.written.pointers.first();
            SelectionItem {
                id: id.clone(),
                strength: live.written.strength,
                hits: live.written.hits,
                priority: live.written.priority,
                group: live.record.group.clone(),
                file: first.map_or_else(String::new, |first| first.path.clone()),
                worth: EntryWorth::of(&live.written),
                date: live.written.created.date(wanted.settings.offset_seconds),
                tokens: place.map_or(live.text.len() + AROUND, |(size, _)| *size),
                in_master: place.is_some(),
                // Text beyond the fields, and copies of an entry, exist only in the index file.
                annotated: place.is_some_and(|(_, kept)| *kept),
            }
        });
        Self {
            items: items.collect(),
            sections,
            unnamed,
            other,
        }
    }
}

/// Runs one pass of the layout. If `open` is `false`, no entry is added.
fn run_pass(
    bytes: &[u8],
    all: &LiveEntries<'_>,
    lists: &GeneratedLists,
    wanted: &LayoutInput<'_>,
    open: bool,
    moving: bool,
) -> MasterFile {
    let mut file = if bytes.trim_ascii().is_empty() {
        IndexFile::skeleton(wanted.now, wanted.settings)
    } else {
        IndexFile::parse(bytes, wanted.settings)
    };
    lists.write(&mut file);
    let standing = MasterContent::read(&file, all, wanted);
    // Use sizes in bytes: sizes in tokens are rounded, and the rounding errors of all entries would add up.
    let mut limits = Limits {
        max_tokens: wanted.limits.max_tokens.saturating_mul(4),
        other_tokens: standing.other,
        fill: if open { wanted.limits.fill } else { 0.0 },
        ..wanted.limits
    };
    let mut more = 0;
    loop {
        let selection = hierarchy::select_entries(&standing.items, &limits);
        let made = build_file(bytes, file.clone(), &standing, &selection, all, wanted, moving);
        let over = made.len().saturating_sub(limits.max_tokens);
        let items = standing.items.iter();
        let mut inside = items.filter(|item| selection.master.contains(&item.id));
        if over == 0 || inside.all(|item| item.annotated) {
            return MasterFile {
                bytes: made,
                selection,
            };
        }
        // At least double the margin each time, to limit the number of attempts.
        more = over.max(more * 2);
        limits.other_tokens = limits.other_tokens.saturating_add(more);
    }
}

/// Builds the file with the selected entries.
fn build_file(
    bytes: &[u8],
    mut file: IndexFile,
    standing: &MasterContent,
    selection: &MasterSelection,
    all: &LiveEntries<'_>,
    wanted: &LayoutInput<'_>,
    moving: bool,
) -> Vec<u8> {
    let stays = |id: &EntryId| selection.master.contains(id);
    let ids = standing.sections.keys();
    let gone: BTreeSet<EntryId> = ids.filter(|id| !stays(id)).cloned().collect();
    let fixed = immovable_entries(&file);
    let sections = standing.sections.iter();
    let moves: Vec<(&EntryId, Vec<String>)> = sections
        .filter(|(id, _)| moving && stays(id) && !fixed.contains(*id))
        .filter_map(|(id, section)| Some((id, target_section(section, all.get(id)?.record)?)))
        .collect();
    if !(gone.is_empty() && moves.is_empty()) {
        let unnamed = standing.unnamed.iter().filter(|id| stays(id));
        for live in unnamed.filter_map(|id| all.get(id)) {
            file.edit(&live.filed, true);
        }
    }
    file.remove_all(&gone);
    file.separate_headings(|id| wanted.records.contains_key(id));
    let differs = |there: &Entry| all.get(&there.id).filter(|live| live.written != *there);
    let differing: Vec<&LiveEntry<'_>> = file
        .entries()
        .filter(|there| stays(&there.entry.id))
        .filter_map(|there| differs(&there.entry))
        .collect();
    for live in differing {
        file.update(&live.filed);
    }
    for (id, to) in moves {
        let to: Vec<&str> = to.iter().map(String::as_str).collect();
        file.relocate(id, &to);
    }
    let ids = selection.master.iter();
    let new = ids.filter(|id| !standing.sections.contains_key(*id));
    let mut new: Vec<&LiveEntry<'_>> = new.filter_map(|id| all.get(id)).collect();
    // Order of new entries in a section: first the entries of files in the workspace's root, then the newest. The entry
    // of a file precedes the entries of its sections.
    let newest = |entry: &Entry| Reverse((EntryWorth::of(entry).kind, entry.created));
    new.sort_by(|a, b| {
        let (a, b) = (&a.written, &b.written);
        (newest(a), &a.pointers, &a.id).cmp(&(newest(b), &b.pointers, &b.id))
    });
    for live in new {
        let section = section_of(live.record);
        let section: Vec<&str> = section.iter().map(String::as_str).collect();
        file.insert(&live.filed, &section);
    }
    lists::write_meta(&mut file, selection, all, wanted);
    let made = file.to_bytes();
    if made == bytes {
        return made;
    }
    file.set_header(selection.master.len(), wanted.now);
    file.to_bytes()
}

/// Returns the entries that cannot be moved: they contain a mark that could close an unclosed mark elsewhere.
fn immovable_entries(file: &IndexFile) -> BTreeSet<EntryId> {
    if !file.has_open_marks() {
        return BTreeSet::new();
    }
    let marked = file.entries().filter(|there| {
        let text = String::from_utf8_lossy(there.bytes());
        ["```", "~~~", "hippod"].iter().any(|mark| text.contains(mark))
    });
    marked.map(|there| there.entry.id.clone()).collect()
}

/// Returns the section of an entry.
pub(super) fn section_of(record: &EntryRecord) -> Vec<String> {
    // White space is normalized as in a heading.
    let group: Vec<&str> = record.group.split_whitespace().collect();
    match record.place {
        RecordPlace::Queue(_) => vec![IndexSection::DecayQueue.name().to_owned()],
        _ if group.is_empty() => vec![IndexSection::ByTopic.name().to_owned()],
        _ => vec![IndexSection::ByTopic.name().to_owned(), group.join(" ")],
    }
}

/// Returns the section to which an entry must move, if any. Sections that people made are left unchanged.
fn target_section(section: &[String], record: &EntryRecord) -> Option<Vec<String>> {
    let to = section_of(record);
    let lower = |path: &[String]| path.join("\n").to_lowercase();
    let same = lower(section) == lower(&to);
    let known = section.first().and_then(|title| IndexSection::from_title(title));
    let ours = match known {
        Some(IndexSection::DecayQueue) => true,
        Some(IndexSection::ByTopic) => section.len() <= 2 || matches!(record.place, RecordPlace::Queue(_)),
        _ => matches!(record.place, RecordPlace::Queue(_)),
    };
    (ours && !same).then_some(to)
}
