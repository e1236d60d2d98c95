//! Reversible changes of a consolidation run.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{ConsolidationSnapshot, EntryRecord, EntryText, FiledUse, RecordPlace, Rule};
use crate::bootstrap::TimeBand;
use hippo_types::entry::{Entry, EntryId, Pointer};
use hippo_types::time::Timestamp;

/// A change and its reason. A step is applied completely or not at all.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlanStep {
    /// Rule that made the change.
    pub rule: Rule,
    /// Entries that the change concerns.
    pub entries: Vec<EntryId>,
    /// The change.
    pub change: EntryChange,
}

/// Strength of an entry, its curve and its last replay.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Vigour {
    /// Strength at the start of the curve (s0).
    pub initial: f32,
    /// Last access; in the records of runs by earlier builds, the start of the curve.
    pub accessed: Timestamp,
    /// Start of the curve, if a replay moved it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replayed_to: Option<Timestamp>,
    /// Current strength.
    pub strength: f32,
    /// Start of the run that last replayed the entry.
    pub replayed: Option<Timestamp>,
}

/// Change with the values before and after.
///
/// Changes are idempotent. A change leaves all other fields unchanged, so that a concurrent access is not lost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "do")]
pub enum EntryChange {
    /// Adds an entry.
    Add {
        /// Whole record.
        record: Box<EntryRecord>,
    },
    /// Inverse of [`EntryChange::Add`]; never part of a plan.
    Remove {
        /// Whole record.
        record: Box<EntryRecord>,
    },
    /// Moves an entry to another place.
    Move {
        /// Entry.
        id: EntryId,
        /// Place before.
        from: RecordPlace,
        /// Place after.
        to: RecordPlace,
        /// Increment of the run's demotion count.
        demotes: i8,
    },
    /// Updates the values in the index file.
    File {
        /// Entry.
        id: EntryId,
        /// Values before.
        from: Option<FiledUse>,
        /// Values after.
        to: Option<FiledUse>,
    },
    /// Sets the time since which an entry is strong.
    Strong {
        /// Entry.
        id: EntryId,
        /// Time before.
        from: Option<Timestamp>,
        /// Time after.
        to: Option<Timestamp>,
    },
    /// Sets the pointers of an entry and the content hashes of its sources.
    Point {
        /// Entry.
        id: EntryId,
        /// Pointers and hashes before.
        from: (Vec<Pointer>, Vec<Option<[u8; 16]>>),
        /// Pointers and hashes after.
        to: (Vec<Pointer>, Vec<Option<[u8; 16]>>),
    },
    /// Merges one entry into another and archives it.
    Merge {
        /// Kept entry before.
        from: Box<Entry>,
        /// Kept entry after.
        to: Box<Entry>,
        /// Source hashes of the kept entry, before and after.
        hashes: Box<[Vec<Option<[u8; 16]>>; 2]>,
        /// Absorbed entry.
        absorbed: EntryId,
        /// Place of the absorbed entry, before and after.
        places: (RecordPlace, RecordPlace),
        /// Increment of the run's demotion count.
        demotes: i8,
    },
    /// Sets the related entries.
    Relate {
        /// Entry.
        id: EntryId,
        /// Related entries before.
        from: Vec<EntryId>,
        /// Related entries after.
        to: Vec<EntryId>,
        /// Related entries whose links stem from common accesses, before and after.
        #[serde(default)]
        made: Box<[BTreeSet<EntryId>; 2]>,
    },
    /// Sets the text and the version.
    Summarise {
        /// Entry.
        id: EntryId,
        /// Text and version before.
        from: Box<(EntryText, u32)>,
        /// Text and version after.
        to: Box<(EntryText, u32)>,
    },
    /// Sets the entries under Quick Access.
    QuickAccess {
        /// Entries before.
        from: Vec<EntryId>,
        /// Entries after.
        to: Vec<EntryId>,
    },
    /// Replays an entry.
    Replay {
        /// Entry.
        id: EntryId,
        /// Strength before.
        from: Vigour,
        /// Strength after.
        to: Vigour,
    },
    /// Marks an entry as consolidated.
    Consolidate {
        /// Entry.
        id: EntryId,
        /// Mark before.
        from: bool,
        /// Mark after.
        to: bool,
    },
    /// Sets the group of all entries of a cluster at once, because a partial cluster would not form a
    /// section.
    Regroup {
        /// Entries with their groups before and after.
        moves: Vec<(EntryId, String, String)>,
    },
    /// Sets the heading below By Time.
    Band {
        /// Entry.
        id: EntryId,
        /// Heading before.
        from: Option<TimeBand>,
        /// Heading after.
        to: Option<TimeBand>,
    },
    /// Adds or withdraws a proposal for long-term memory.
    Propose {
        /// Text of the fact.
        text: String,
        /// `true` if the fact is proposed after the change.
        proposed: bool,
    },
}

impl EntryChange {
    /// Applies the change. A missing entry is skipped.
    pub fn apply(&self, snapshot: &mut ConsolidationSnapshot) {
        let id = match self {
            Self::Add { record } => {
                snapshot
                    .records
                    .insert(record.entry.id.clone(), (**record).clone());
                return;
            }
            Self::Remove { record } => {
                snapshot.records.remove(&record.entry.id);
                return;
            }
            Self::Regroup { moves } => {
                for (id, _, to) in moves {
                    if let Some(record) = snapshot.records.get_mut(id) {
                        record.group.clone_from(to);
                    }
                }
                return;
            }
            Self::QuickAccess { to, .. } => return snapshot.quick_access.clone_from(to),
            Self::Propose { text, proposed } => {
                if *proposed {
                    snapshot.proposed.insert(text.clone());
                } else {
                    snapshot.proposed.remove(text);
                }
                return;
            }
            Self::Merge {
                to,
                hashes,
                absorbed,
                places,
                demotes,
                ..
            } => {
                if let Some(record) = snapshot.records.get_mut(&to.id) {
                    record.entry = (**to).clone();
                    record.hashes.clone_from(&hashes[1]);
                }
                return shift(snapshot, absorbed, places.1, *demotes);
            }
            Self::Move { id, to, demotes, .. } => return shift(snapshot, id, *to, *demotes),
            Self::File { id, .. }
            | Self::Strong { id, .. }
            | Self::Point { id, .. }
            | Self::Relate { id, .. }
            | Self::Summarise { id, .. }
            | Self::Replay { id, .. }
            | Self::Consolidate { id, .. }
            | Self::Band { id, .. } => id,
        };
        if let Some(record) = snapshot.records.get_mut(id) {
            self.set(record);
        }
    }

    /// Sets the fields of a change that concerns one record.
    fn set(&self, record: &mut EntryRecord) {
        match self {
            Self::File { to, .. } => record.filed = *to,
            Self::Strong { to, .. } => record.strong_since = *to,
            Self::Point { to, .. } => {
                record.entry.pointers.clone_from(&to.0);
                record.hashes.clone_from(&to.1);
            }
            Self::Relate { to, made, .. } => {
                record.linked.clone_from(&made[1]);
                record.entry.related.clone_from(to);
            }
            Self::Summarise { to, .. } => {
                let (text, version) = &**to;
                record.entry.topic.clone_from(&text.topic);
                record.entry.summary.clone_from(&text.summary);
                record.entry.tags.clone_from(&text.tags);
                record.entry.version = *version;
            }
            Self::Replay { to, .. } => {
                record.entry.strength = to.initial;
                record.entry.accessed = to.accessed;
                record.entry.replayed_to = to.replayed_to;
                record.strength = to.strength;
                record.replayed = to.replayed;
            }
            Self::Consolidate { to, .. } => record.consolidated = *to,
            Self::Band { to, .. } => record.band = *to,
            Self::Add { .. }
            | Self::Remove { .. }
            | Self::Move { .. }
            | Self::Merge { .. }
            | Self::QuickAccess { .. }
            | Self::Regroup { .. }
            | Self::Propose { .. } => {}
        }
    }

    /// Returns the change that undoes this one.
    #[must_use]
    pub fn inverse(&self) -> Self {
        let mut inverse = self.clone();
        match &mut inverse {
            Self::Add { record } => {
                return Self::Remove {
                    record: record.clone(),
                };
            }
            Self::Remove { record } => {
                return Self::Add {
                    record: record.clone(),
                };
            }
            Self::Move {
                from, to, demotes, ..
            } => {
                std::mem::swap(from, to);
                *demotes = -*demotes;
            }
            Self::Merge {
                from,
                to,
                hashes,
                places,
                demotes,
                ..
            } => {
                std::mem::swap(from, to);
                hashes.swap(0, 1);
                *places = (places.1, places.0);
                *demotes = -*demotes;
            }
            Self::File { from, to, .. } => std::mem::swap(from, to),
            Self::Strong { from, to, .. } => std::mem::swap(from, to),
            Self::Point { from, to, .. } => std::mem::swap(from, to),
            Self::Relate { from, to, made, .. } => {
                std::mem::swap(from, to);
                made.swap(0, 1);
            }
            Self::QuickAccess { from, to } => std::mem::swap(from, to),
            Self::Summarise { from, to, .. } => std::mem::swap(from, to),
            Self::Replay { from, to, .. } => std::mem::swap(from, to),
            Self::Consolidate { from, to, .. } => std::mem::swap(from, to),
            Self::Regroup { moves } => {
                for (_, from, to) in moves {
                    std::mem::swap(from, to);
                }
            }
            Self::Band { from, to, .. } => std::mem::swap(from, to),
            Self::Propose { proposed, .. } => *proposed = !*proposed,
        }
        inverse
    }
}

/// Moves an entry and updates the demotion count. If a step is repeated, it counts once.
fn shift(snapshot: &mut ConsolidationSnapshot, id: &EntryId, to: RecordPlace, demotes: i8) {
    if let Some(record) = snapshot.records.get_mut(id)
        && record.place != to
    {
        record.place = to;
        snapshot.run.demoted = snapshot.run.demoted.saturating_add_signed(i32::from(demotes));
    }
}
