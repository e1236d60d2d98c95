//! What is known of an entry beside what the index file says?

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::bootstrap::TimeBand;
use crate::entry::{Entry, EntryId, Pointer};
use crate::time::Timestamp;

/// Where an entry stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "in", content = "since")]
pub enum Place {
    /// In its group, alive.
    Index,
    /// In the Decay Queue, since then.
    Queue(Timestamp),
    /// Out of the index file, restorable, since then.
    Archive(Timestamp),
}

/// What the index file says of an entry's use.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Filed {
    /// `accessed`.
    pub accessed: Timestamp,
    /// `hits`.
    pub hits: u32,
    /// `str`, in hundredths.
    pub hundredths: u8,
}

impl Filed {
    /// What the file is to say of a record; `None` for an archived one.
    #[must_use]
    pub fn of(record: &Record) -> Option<Self> {
        Self::at(record, record.strength)
    }

    /// The same at another strength.
    pub(super) fn at(record: &Record, strength: f32) -> Option<Self> {
        let shown = !matches!(record.place, Place::Archive(_));
        shown.then(|| Self {
            accessed: record.entry.accessed,
            hits: record.entry.hits,
            // Saturates: strengths are in [0, 1].
            hundredths: (strength * 100.0).round() as u8,
        })
    }
}

/// A passage of a file, known by what it says.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Passage {
    /// Path relative to the workspace, with `/`.
    pub path: String,
    /// Hash of its text.
    pub hash: [u8; 16],
}

/// What a question found, so that the same question is answered again without a search.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Learned {
    /// Terms of the question that say something, ascending.
    pub cue: Vec<String>,
    /// What answered it, the best first.
    pub passages: Vec<Passage>,
    /// Score of each passage then, in (0, 1].
    pub scores: Vec<f32>,
    /// Tokens of the passages together.
    pub tokens: u64,
    /// The search had no more to give.
    pub all: bool,
    /// When it was found.
    pub at: Timestamp,
    /// Generation of the documents then.
    #[serde(default)]
    pub generation: u64,
}

/// An entry with what is known beside it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The entry as the store has it.
    pub entry: Entry,
    /// Current strength, in [0, 1].
    pub strength: f32,
    /// Where it stands.
    pub place: Place,
    /// Its group below By Topic.
    pub group: String,
    /// Its heading below By Time; `None`: not listed there.
    pub band: Option<TimeBand>,
    /// Hashes of what its pointers pointed at, in their order; `None`: not known yet.
    pub hashes: Vec<Option<[u8; 16]>>,
    /// What the index file says; `None`: it is not in the file.
    pub filed: Option<Filed>,
    /// Since when its strength has been above the threshold for [`super::Rule::Consolidate`].
    pub strong_since: Option<Timestamp>,
    /// It has proved itself.
    pub consolidated: bool,
    /// Start of the run that replayed it last.
    pub replayed: Option<Timestamp>,
    /// The question that made it, and what that found; `None` for an entry that no question made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub learned: Option<Box<Learned>>,
    /// Of its related entries, those that common accesses made.
    #[serde(default)]
    pub linked: BTreeSet<EntryId>,
    /// A person wrote its text: no run writes over it.
    #[serde(default)]
    pub by_hand: bool,
    /// A person brought it back from the archive, or took back what merged it: no run merges it away.
    #[serde(default)]
    pub apart: bool,
}

impl Learned {
    /// Forgets what was found: asked again, it is searched for again. The question stays known.
    pub fn forget_answer(&mut self) {
        *self = Self {
            cue: std::mem::take(&mut self.cue),
            ..Self::default()
        };
    }
}

/// What a person removed: where it stood, and what it said then.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Removed {
    /// What it pointed at.
    pub pointers: Vec<Pointer>,
    /// Hashes of what its pointers pointed at, in their order; `None`: not known.
    pub hashes: Vec<Option<[u8; 16]>>,
}

impl From<&Record> for Removed {
    fn from(record: &Record) -> Self {
        Self {
            pointers: record.entry.pointers.clone(),
            hashes: record.hashes.clone(),
        }
    }
}

impl Record {
    /// A live entry of which nothing else is known yet, as strong as the entry says.
    #[must_use]
    pub fn new(entry: Entry, group: impl Into<String>) -> Self {
        Self {
            strength: entry.strength,
            place: Place::Index,
            group: group.into(),
            band: None,
            hashes: vec![None; entry.pointers.len()],
            filed: None,
            strong_since: None,
            consolidated: false,
            replayed: None,
            learned: None,
            linked: BTreeSet::new(),
            by_hand: false,
            apart: false,
            entry,
        }
    }

    /// The entry as the index file says it: strength, last access and hits as last filed.
    #[must_use]
    pub fn as_filed(&self) -> Option<Entry> {
        self.filed.map(|filed| Entry {
            accessed: filed.accessed,
            hits: filed.hits,
            strength: f32::from(filed.hundredths) / 100.0,
            ..self.entry.clone()
        })
    }
}
