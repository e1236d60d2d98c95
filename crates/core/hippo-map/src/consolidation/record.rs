//! State of an entry beyond the index file.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::SourceHashes;
use crate::bootstrap::TimeBand;
use hippo_types::entry::{Entry, EntryId, EntryOrigin, Pointer};
use hippo_types::time::Timestamp;

/// Summary of an entry whose file is gone.
pub(super) const FILE_GONE: &str = "This file no longer exists.";
/// Summary of an entry whose section is gone.
pub(super) const SECTION_GONE: &str = "This section no longer exists.";

/// Place of an entry, with the time of the move. `EntryPlace`, the type in responses to clients, does not have this
/// time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "in", content = "since")]
pub enum RecordPlace {
    /// Live in its group.
    Index,
    /// In the Decay Queue since this time.
    Queue(Timestamp),
    /// In the archive since this time: the entry is not in the index file, but can be restored.
    Archive(Timestamp),
}

/// Usage values of an entry, as in the index file.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct FiledUse {
    /// Last access; the key `accessed` in the file.
    pub accessed: Timestamp,
    /// Number of accesses; the key `hits` in the file.
    pub hits: u32,
    /// Strength in hundredths; the key `str` in the file.
    pub hundredths: u8,
}

impl FiledUse {
    /// Returns the values that the index file should have for a record of this strength; `None` for an archived
    /// record.
    #[must_use]
    pub fn with_strength(record: &EntryRecord, strength: f32) -> Option<Self> {
        let shown = !matches!(record.place, RecordPlace::Archive(_));
        shown.then(|| Self {
            accessed: record.entry.accessed,
            hits: record.entry.hits,
            // Strengths are in [0, 1], so the cast does not overflow.
            hundredths: (strength * 100.0).round() as u8,
        })
    }
}

/// Passage of a file, identified by its content.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PassageKey {
    /// Path relative to the workspace, with `/`.
    pub path: String,
    /// Hash of the passage's text.
    pub hash: [u8; 16],
}

/// Result of a question. It is stored to answer the same question again without a search.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct LearnedAnswer {
    /// Significant terms of the question, ascending.
    pub cue: Vec<String>,
    /// Passages that answered the question, best first.
    pub passages: Vec<PassageKey>,
    /// Score of each passage at the time of the search, in (0, 1].
    pub scores: Vec<f32>,
    /// Total tokens of the passages.
    pub tokens: u64,
    /// `true` if the search had no further results.
    pub all: bool,
    /// Time of the search.
    pub at: Timestamp,
    /// Generation of the index that gave the answer. Each change of a document increases the generation.
    pub generation: u64,
}

/// Entry with its derived state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EntryRecord {
    /// Entry in the store.
    pub entry: Entry,
    /// Current strength, in [0, 1].
    pub strength: f32,
    /// Place of the entry.
    pub place: RecordPlace,
    /// Group below By Topic.
    pub group: String,
    /// Heading in By Time; `None` if the entry is not listed there.
    pub band: Option<TimeBand>,
    /// Content hashes of the entry's pointers, in the same order; `None` for each unknown hash.
    pub hashes: SourceHashes,
    /// Usage values in the index file; `None` if the entry is not in the file.
    pub filed: Option<FiledUse>,
    /// Start of the run that last replayed the entry.
    pub replayed: Option<Timestamp>,
    /// Question that created the entry, with its result; `None` for other entries.
    pub learned: Option<Box<LearnedAnswer>>,
    /// Related entries that stem from common accesses.
    pub linked: BTreeSet<EntryId>,
    /// `true` if a person wrote the text. No run overwrites such a text.
    pub by_hand: bool,
    /// `true` if a person restored the entry or undid its merge. No run merges such an entry again.
    pub apart: bool,
}

impl LearnedAnswer {
    /// Clears the result, so that the question is searched again. The question itself is kept.
    pub fn forget_answer(&mut self) {
        *self = Self {
            cue: std::mem::take(&mut self.cue),
            ..Self::default()
        };
    }
}

/// Sources and contents of an entry that a person removed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RemovedEntry {
    /// Pointers of the entry.
    pub pointers: Vec<Pointer>,
    /// Content hashes of the entry's pointers, in the same order; `None` for each unknown hash.
    pub hashes: SourceHashes,
}

impl From<&EntryRecord> for RemovedEntry {
    fn from(record: &EntryRecord) -> Self {
        Self {
            pointers: record.entry.pointers.clone(),
            hashes: record.hashes.clone(),
        }
    }
}

impl EntryRecord {
    /// Creates a live record for an entry. The current strength is the value stored in the entry.
    #[must_use]
    pub fn new(entry: Entry, group: impl Into<String>) -> Self {
        Self {
            strength: entry.strength,
            place: RecordPlace::Index,
            group: group.into(),
            band: None,
            hashes: vec![None; entry.pointers.len()],
            filed: None,
            replayed: None,
            learned: None,
            linked: BTreeSet::new(),
            by_hand: false,
            apart: false,
            entry,
        }
    }

    /// Returns `true` if a cycle found that the source of the entry is gone.
    pub(super) fn is_gone(&self) -> bool {
        [FILE_GONE, SECTION_GONE].contains(&self.entry.summary.as_str())
    }

    /// Returns the entry with the values of the index file: strength, last access and hits. Tags that hippod extracted
    /// are left out, because the file does not contain them.
    #[must_use]
    pub fn as_filed(&self) -> Option<Entry> {
        let extracted = self.entry.origin == EntryOrigin::Auto && !self.by_hand;
        let tags = self.entry.tags.iter().filter(|_| !extracted);
        self.filed.map(|filed| Entry {
            accessed: filed.accessed,
            hits: filed.hits,
            strength: f32::from(filed.hundredths) / 100.0,
            tags: tags.cloned().collect(),
            ..self.entry.clone()
        })
    }
}
