//! Initial index entries of a workspace (v1 App. B).
//!
//! Each file is cut into units, and each unit becomes an entry. The topic is taken from the headings, the summary is
//! the most representative sentence, the tags are distinctive phrases, and the pointers lead to the sections of the
//! unit. Words are weighted by their rarity in the whole workspace. The result is deterministic, and an id depends only
//! on the path and the headings.

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
use hippo_text::source::SourceKind;
use hippo_types::entry::{Entry, EntryId, EntryPriority};
use hippo_types::time::Timestamp;
use hippo_types::tokens;
use work::EntryBuilder;

pub use group::{DAILY_LOGS, INFRASTRUCTURE, PEOPLE, PROJECTS, TECHNICAL, TimeBand};
pub use priority::{PriorityRule, default_rules};

/// Maximum number of entries per file. v1 §9.1 gives 30 to 50 entries for 10 files, and 400 to 1,000 for 200 files.
pub const ENTRIES_PER_FILE: usize = 5;
/// Default maximum number of entries of a workspace (v1 §9.1).
pub const MOST_ENTRIES: usize = 1_000;
/// Maximum number of attempts to meet a token limit.
const TRIES: usize = 8;
/// Bytes of an entry's `hx` comment without id and tags: dates, hits, strength, source.
const FIELDS: usize = 72;

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
    /// Modification time, which is also the date of content without a date of its own.
    pub modified: Timestamp,
    /// `true` if the file already has entries. Its words then count as background, and it gets no new entry.
    pub known: bool,
}

/// Limits and options of bootstrap.
#[derive(Debug, Clone)]
pub struct BootstrapSettings {
    /// Maximum number of entries; `None` means [`ENTRIES_PER_FILE`] per file and at most [`MOST_ENTRIES`].
    pub max_entries: Option<usize>,
    /// Maximum tokens of all entries as written; `None` means no limit. If not even one entry fits, no entries are
    /// created.
    pub max_tokens: Option<usize>,
    /// Time of the scan.
    pub now: Timestamp,
    /// Offset of the local time zone from UTC in seconds.
    pub offset_seconds: i32,
    /// Maximum age of the initial access in days, so that a first index does not start weak. After 21 days, a strength
    /// of 0.30 remains, which is the minimum for an answer in v1 §6.3.
    pub oldest_start: u16,
    /// Rules that set priorities; the first match is used.
    pub priority_rules: Vec<PriorityRule>,
    /// Ids that are already taken.
    pub taken: BTreeSet<EntryId>,
}

impl Default for BootstrapSettings {
    fn default() -> Self {
        Self {
            max_entries: None,
            max_tokens: None,
            now: Timestamp::default(),
            offset_seconds: 0,
            oldest_start: 21,
            priority_rules: default_rules(),
            taken: BTreeSet::new(),
        }
    }
}

/// New entry with its group below By Topic.
#[derive(Debug, Clone, PartialEq)]
pub struct BootstrapEntry {
    /// Entry.
    pub entry: Entry,
    /// Heading below By Topic.
    pub group: String,
}

/// Estimates the tokens of an entry in the index file with all its fields.
#[must_use]
pub fn entry_tokens(entry: &Entry) -> usize {
    let pointers = entry.pointers.iter().map(|pointer| {
        pointer.path.len() + pointer.section.as_ref().map_or(0, |section| section.len() + 3) + 3
    });
    let lists = entry.tags.iter().map(|tag| tag.len() + 1);
    let related = entry.related.iter().map(|id| id.0.len() + 1);
    let bytes = entry.topic.len()
        + entry.summary.len()
        + 8
        + pointers.sum::<usize>()
        + lists.sum::<usize>()
        + related.sum::<usize>()
        + entry.id.0.len()
        + FIELDS;
    tokens::of_bytes(bytes)
}

/// Creates the entries of a workspace, by path and position.
///
/// Nodes of the compaction tree are skipped, because they repeat the logs.
#[must_use]
pub fn bootstrap(files: &[MemoryFile<'_>], settings: &BootstrapSettings) -> Vec<BootstrapEntry> {
    let mut files: Vec<&MemoryFile<'_>> = files
        .iter()
        .filter(|file| !matches!(file.kind, SourceKind::Node(_)))
        .collect();
    files.sort_by_key(|file| file.path);
    let mut work = EntryBuilder::new(&files, settings);
    let new = files.iter().filter(|file| !file.known).count();
    let most = settings
        .max_entries
        .unwrap_or_else(|| (new * ENTRIES_PER_FILE).min(MOST_ENTRIES));
    let mut entries = create_entries(&mut work, most);
    let Some(limit) = settings.max_tokens else {
        return entries;
    };
    // The size of entries depends on how finely files are cut, so the number that fits is searched for from both sides.
    let (mut fits, mut over, mut guess) = (0, most + 1, most);
    let mut best = Vec::new();
    for _ in 0..TRIES {
        let size: usize = entries.iter().map(|new| entry_tokens(&new.entry)).sum();
        if size <= limit {
            fits = guess;
            best = entries;
            if guess == most || size * 20 >= limit * 19 {
                break;
            }
        } else {
            over = guess;
        }
        if over - fits <= 1 {
            break;
        }
        guess = (guess * limit / size.max(1)).clamp(fits + 1, over - 1);
        entries = create_entries(&mut work, guess);
    }
    best
}

/// Creates at most `most` entries, in the order of their pointers.
fn create_entries(work: &mut EntryBuilder<'_>, most: usize) -> Vec<BootstrapEntry> {
    let mut entries = work.entries(most);
    entries.sort_by(|a, b| a.entry.pointers.cmp(&b.entry.pointers));
    entries
}

/// Summary and priority of one text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Gist {
    /// One-line summary.
    pub summary: String,
    /// Priority inferred from the text, and the name of the rule.
    pub priority: Option<(EntryPriority, String)>,
}

/// Returns the gist of a text below a heading.
#[must_use]
pub fn extract_gist(rules: &[PriorityRule], heading: &str, text: &str) -> Gist {
    let bytes = format!("# {heading}\n\n{text}\n").into_bytes();
    let document = chunk::chunk(&bytes);
    let lines = line::lines(&document, &bytes, 0, document.chunks.len());
    let mut words = words::WordCounts::new();
    words.begin_block();
    for line in &lines {
        words.count(&line.text);
    }
    let summary = summary::extract_summary(&mut words, &lines, &HashSet::new(), "");
    let rule = priority::infer_priority(rules, &[heading], &lines);
    Gist {
        summary,
        priority: rule.map(|rule| (rule.priority, rule.name.clone())),
    }
}
