//! What can one step of a run change, and what takes it back?

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{Filed, Place, Record, Rule, Snapshot};
use crate::bootstrap::TimeBand;
use crate::entry::{Entry, EntryId, Pointer};
use crate::time::Timestamp;

/// One change and its reason. A step is made as a whole or not at all.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// Why.
    pub rule: Rule,
    /// Which entries it is about.
    pub entries: Vec<EntryId>,
    /// What is done.
    pub change: Change,
}

/// Strength at the start of the curve, when that was, and the current strength.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Vigour {
    /// Strength at the start of the curve (s0).
    pub initial: f32,
    /// The last access; in runs of earlier builds the start of the curve.
    pub accessed: Timestamp,
    /// The start of the curve, where a replay moved it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replayed_to: Option<Timestamp>,
    /// Current strength.
    pub strength: f32,
    /// Start of the run that replayed it last.
    pub replayed: Option<Timestamp>,
}

/// From what to what.
///
/// Making a change twice is making it once. What the change does not name stays as it is, so that an access recorded in
/// the meantime is kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "do")]
pub enum Change {
    /// An entry comes.
    Add {
        /// All of it.
        record: Box<Record>,
    },
    /// The inverse of [`Change::Add`]; no plan has it.
    Remove {
        /// All of it.
        record: Box<Record>,
    },
    /// An entry changes its place.
    Move {
        /// Which.
        id: EntryId,
        /// Where it stood.
        from: Place,
        /// Where it goes.
        to: Place,
        /// What the run's count of demotions grows by.
        demotes: i8,
    },
    /// The index file is brought to what is so.
    File {
        /// Which.
        id: EntryId,
        /// What the file said.
        from: Option<Filed>,
        /// What it will say.
        to: Option<Filed>,
    },
    /// Since when an entry is strong.
    Strong {
        /// Which.
        id: EntryId,
        /// Before.
        from: Option<Timestamp>,
        /// After.
        to: Option<Timestamp>,
    },
    /// An entry points elsewhere, or its source has another content.
    Point {
        /// Which.
        id: EntryId,
        /// Pointers and hashes before.
        from: (Vec<Pointer>, Vec<Option<[u8; 16]>>),
        /// Pointers and hashes after.
        to: (Vec<Pointer>, Vec<Option<[u8; 16]>>),
    },
    /// One entry takes another one in; that one goes to the archive.
    Merge {
        /// The entry that stays, before.
        from: Box<Entry>,
        /// The entry that stays, after.
        to: Box<Entry>,
        /// Hashes of its sources before and after.
        hashes: Box<[Vec<Option<[u8; 16]>>; 2]>,
        /// The entry that is taken in.
        absorbed: EntryId,
        /// Where that one stood, and where it goes.
        places: (Place, Place),
        /// What the run's count of demotions grows by.
        demotes: i8,
    },
    /// Other entries belong to it.
    Relate {
        /// Which.
        id: EntryId,
        /// Before.
        from: Vec<EntryId>,
        /// After.
        to: Vec<EntryId>,
        /// Of these, the links that common accesses made, before and after.
        #[serde(default)]
        made: Box<[BTreeSet<EntryId>; 2]>,
    },
    /// Another summary; the version goes with it.
    Summarise {
        /// Which.
        id: EntryId,
        /// Summary and version before.
        from: (String, u32),
        /// Summary and version after.
        to: (String, u32),
    },
    /// What is listed under Quick Access.
    QuickAccess {
        /// Before.
        from: Vec<EntryId>,
        /// After.
        to: Vec<EntryId>,
    },
    /// A replay.
    Replay {
        /// Which.
        id: EntryId,
        /// Before.
        from: Vigour,
        /// After.
        to: Vigour,
    },
    /// It has proved itself.
    Consolidate {
        /// Which.
        id: EntryId,
        /// Before.
        from: bool,
        /// After.
        to: bool,
    },
    /// Another group below By Topic, for all entries of a cluster at once: half a cluster is none.
    Regroup {
        /// Each entry with its group before and after.
        moves: Vec<(EntryId, String, String)>,
    },
    /// Another heading below By Time.
    Band {
        /// Which.
        id: EntryId,
        /// Before.
        from: Option<TimeBand>,
        /// After.
        to: Option<TimeBand>,
    },
    /// A fact is proposed for long-term memory, or no longer.
    Propose {
        /// The fact.
        text: String,
        /// Whether it is proposed after the change.
        proposed: bool,
    },
}

impl Change {
    /// Makes the change. An entry that is not there any more is passed over.
    pub fn apply(&self, snapshot: &mut Snapshot) {
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

    /// Sets what a change of one record sets.
    fn set(&self, record: &mut Record) {
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
                record.entry.summary.clone_from(&to.0);
                record.entry.version = to.1;
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

    /// The change that takes this one back.
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

/// Moves an entry and counts it, once: a step made twice demotes one entry.
fn shift(snapshot: &mut Snapshot, id: &EntryId, to: Place, demotes: i8) {
    if let Some(record) = snapshot.records.get_mut(id)
        && record.place != to
    {
        record.place = to;
        snapshot.run.demoted = snapshot.run.demoted.saturating_add_signed(i32::from(demotes));
    }
}
