//! Initial index entries of a workspace (v1 App. B).
//!
//! Each file is cut into units, and each unit becomes an entry. The topic is taken from the headings, the summary is
//! the most representative sentence, the tags are distinctive phrases, and the pointers lead to the sections of the
//! unit. Words are weighted by their rarity in the whole workspace. The result is deterministic, and the id of an entry
//! depends only on the path and the headings.

mod group;
mod priority;
#[cfg(test)]
mod tests;
pub(crate) mod topic;
mod units;
mod work;

use std::collections::{BTreeSet, HashSet};

use hippo_text::chunk::{self, Document};
use hippo_text::gist::{line, summary, words};
use hippo_text::instruction;
use hippo_text::source::SourceKind;
use hippo_types::entry::{Entry, EntryId, EntryPriority};
use hippo_types::time::Timestamp;
use work::EntryBuilder;

pub use group::{DAILY_LOGS, INFRASTRUCTURE, PEOPLE, PROJECTS, TECHNICAL, TimeBand};

/// Maximum number of entries per file. v1 §9.1 gives 30 to 50 entries for 10 files, and 400 to 1,000 for 200 files.
pub const ENTRIES_PER_FILE: usize = 5;
/// Default maximum number of entries of a workspace (v1 §9.1).
pub const MOST_ENTRIES: usize = 1_000;

/// Markdown file of the workspace.
#[derive(Debug, Clone, Copy)]
pub struct MemoryFile<'a> {
    /// Path relative to the workspace, with `/`.
    pub path: &'a str,
    /// Kind of source.
    pub kind: SourceKind,
    /// Chunks of the file.
    pub document: &'a Document,
    /// Bytes of the file.
    pub bytes: &'a [u8],
    /// Modification time. Content without a date of its own gets this date.
    pub modified: Timestamp,
    /// `true` if the file already has entries. The scan then counts the file's words, but creates no entry for the
    /// file.
    pub known: bool,
}

/// Limits and options of bootstrap.
#[derive(Debug, Clone, Default)]
pub struct BootstrapSettings {
    /// Maximum number of entries; `None` means [`ENTRIES_PER_FILE`] per file and at most [`MOST_ENTRIES`].
    pub max_entries: Option<usize>,
    /// Time of the scan.
    pub now: Timestamp,
    /// Offset of the local time zone from UTC in seconds.
    pub offset_seconds: i32,
    /// Ids that are already taken.
    pub taken: BTreeSet<EntryId>,
}

/// New entry, and the name of its group in the section By Topic.
#[derive(Debug, Clone, PartialEq)]
pub struct BootstrapEntry {
    /// The new entry.
    pub entry: Entry,
    /// Heading of the group in the section By Topic.
    pub group: String,
}

/// Creates the entries of a workspace. Returns them in order of path and position.
///
/// Skips derived files: nodes of the compaction tree, and pages of sessions. Skips files whose path reads like an
/// instruction, because an entry contains the path.
#[must_use]
pub fn bootstrap(files: &[MemoryFile<'_>], settings: &BootstrapSettings) -> Vec<BootstrapEntry> {
    let mut files: Vec<&MemoryFile<'_>> = files
        .iter()
        .filter(|file| !file.kind.is_derived() && !instruction::is_instruction(file.path))
        .collect();
    files.sort_by_key(|file| file.path);
    let new = files.iter().filter(|file| !file.known).count();
    let most = settings
        .max_entries
        .unwrap_or_else(|| (new * ENTRIES_PER_FILE).min(MOST_ENTRIES));
    let mut entries = EntryBuilder::new(&files, settings).entries(most);
    entries.sort_by(|a, b| a.entry.pointers.cmp(&b.entry.pointers));
    entries
}

/// Returns a one-line summary of the text below a heading. Also returns the priority and the name of the rule that sets
/// it, if a rule matches.
#[must_use]
pub fn extract_gist(heading: &str, text: &str) -> (String, Option<(EntryPriority, String)>) {
    let bytes = format!("# {heading}\n\n{text}\n").into_bytes();
    let document = chunk::chunk(&bytes);
    let mut lines = line::lines(&document, &bytes, 0, document.chunks.len());
    let mut words = words::WordCounts::new();
    words.begin_block();
    for line in &lines {
        words.count(&line.text);
    }
    let rule = priority::infer_priority(&[heading], &lines);
    let hidden = line::remove_instructions(&mut lines);
    let summary = summary::extract_summary(&mut words, &lines, &HashSet::new(), "");
    let summary = line::or_mark(summary, hidden);
    (summary, rule.map(|rule| (rule.priority, rule.name.to_owned())))
}
