//! Reversible changes of a consolidation run.

use std::collections::BTreeSet;
use std::mem::swap;

use serde::{Deserialize, Serialize};

use super::{ConsolidationSnapshot, EntryRecord, EntryText, FiledUse, RecordPlace, Rule};
use crate::bootstrap::TimeBand;
use hippo_types::entry::{Entry, EntryId, Pointer};
use hippo_types::time::Timestamp;

/// Change, with the rule that made it. A step is applied completely or not at all.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlanStep {
    /// Rule that made the change.
    pub rule: Rule,
    /// The change.
    pub change: EntryChange,
}

/// Content hashes of an entry's sources, in the order of its pointers.
pub type SourceHashes = Vec<Option<[u8; 16]>>;

/// Fields of an entry that change together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RecordFields {
    /// Place of the entry.
    Place(RecordPlace),
    /// Usage values in the index file; `None` if the file does not have the entry.
    Filed(Option<FiledUse>),
    /// Pointers, and the content hashes of their sources.
    Sources(Vec<Pointer>, SourceHashes),
    /// Related entries, and the subset whose links stem from common accesses.
    Related(Vec<EntryId>, BTreeSet<EntryId>),
    /// Text and version.
    Text(EntryText, u32),
    /// Strength of the entry, its curve and its last replay.
    Vigour {
        /// Strength at the start of the curve (s0).
        initial: f32,
        /// Last access.
        accessed: Timestamp,
        /// Start of the curve, if a replay moved it.
        replayed_to: Option<Timestamp>,
        /// Current strength.
        strength: f32,
        /// Start of the run that last replayed the entry.
        replayed: Option<Timestamp>,
    },
    /// Group below By Topic.
    Group(String),
    /// Heading below By Time.
    Band(Option<TimeBand>),
    /// Merged entry, which has absorbed another one, and the content hashes of its sources.
    Merged(Box<Entry>, SourceHashes),
}

impl RecordFields {
    /// Swaps these values with those of a record.
    pub fn swap_with(&mut self, record: &mut EntryRecord) {
        let entry = &mut record.entry;
        match self {
            Self::Place(place) => swap(place, &mut record.place),
            Self::Filed(filed) => swap(filed, &mut record.filed),
            Self::Sources(pointers, hashes) => {
                swap(pointers, &mut entry.pointers);
                swap(hashes, &mut record.hashes);
            }
            Self::Related(related, linked) => {
                swap(related, &mut entry.related);
                swap(linked, &mut record.linked);
            }
            Self::Text(text, version) => {
                swap(&mut text.topic, &mut entry.topic);
                swap(&mut text.summary, &mut entry.summary);
                swap(&mut text.tags, &mut entry.tags);
                swap(version, &mut entry.version);
            }
            Self::Vigour {
                initial,
                accessed,
                replayed_to,
                strength,
                replayed,
            } => {
                swap(initial, &mut entry.strength);
                swap(accessed, &mut entry.accessed);
                swap(replayed_to, &mut entry.replayed_to);
                swap(strength, &mut record.strength);
                swap(replayed, &mut record.replayed);
            }
            Self::Group(group) => swap(group, &mut record.group),
            Self::Band(band) => swap(band, &mut record.band),
            Self::Merged(merged, hashes) => {
                swap(&mut **merged, entry);
                swap(hashes, &mut record.hashes);
            }
        }
    }
}

/// Fields of one entry with the values before and after.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FieldsChange {
    /// Id of the entry.
    pub id: EntryId,
    /// Values before the change.
    pub from: RecordFields,
    /// Values after the change.
    pub to: RecordFields,
}

/// Reversible change, which contains the values before and after.
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
    /// Sets fields of one or more entries: of a merged and an absorbed entry, or of all entries of a cluster.
    Set {
        /// Changed fields, with the values before and after.
        fields: Vec<FieldsChange>,
        /// Number that the change adds to the run's demotion count; negative if the change undoes a demotion.
        demotes: i8,
    },
    /// Sets the entries under Quick Access.
    QuickAccess {
        /// Entries before the change.
        from: Vec<EntryId>,
        /// Entries after the change.
        to: Vec<EntryId>,
    },
}

impl EntryChange {
    /// Applies the change. Skips a missing entry. A demotion that is applied twice counts once.
    pub fn apply(&self, snapshot: &mut ConsolidationSnapshot) {
        match self {
            Self::Add { record } => {
                let id = record.entry.id.clone();
                snapshot.records.insert(id, (**record).clone());
            }
            Self::Remove { record } => {
                snapshot.records.remove(&record.entry.id);
            }
            Self::Set { fields, demotes } => {
                for FieldsChange { id, to, .. } in fields {
                    let Some(record) = snapshot.records.get_mut(id) else {
                        continue;
                    };
                    if matches!(to, RecordFields::Place(place) if *place != record.place) {
                        let demoted = &mut snapshot.run.demoted;
                        *demoted = demoted.saturating_add_signed(i32::from(*demotes));
                    }
                    to.clone().swap_with(record);
                }
            }
            Self::QuickAccess { to, .. } => snapshot.quick_access.clone_from(to),
        }
    }

    /// Returns the change that undoes this one.
    #[must_use]
    pub fn inverse(&self) -> Self {
        match self.clone() {
            Self::Add { record } => Self::Remove { record },
            Self::Remove { record } => Self::Add { record },
            Self::Set { mut fields, demotes } => {
                for FieldsChange { from, to, .. } in &mut fields {
                    swap(from, to);
                }
                let demotes = -demotes;
                Self::Set { fields, demotes }
            }
            Self::QuickAccess { from: to, to: from } => Self::QuickAccess { from, to },
        }
    }

    /// Returns the entries that the change concerns.
    #[must_use]
    pub fn ids(&self) -> Vec<&EntryId> {
        match self {
            Self::Add { record } | Self::Remove { record } => vec![&record.entry.id],
            Self::Set { fields, .. } => fields.iter().map(|change| &change.id).collect(),
            Self::QuickAccess { to, .. } => to.iter().collect(),
        }
    }

    /// Returns, for a merge, the kept entry after the merge and the id of the absorbed entry; `None` for other changes.
    #[must_use]
    pub fn merged(&self) -> Option<(&Entry, &EntryId)> {
        if let Self::Set { fields, .. } = self
            && let [kept, absorbed] = fields.as_slice()
            && let RecordFields::Merged(entry, _) = &kept.to
        {
            return Some((entry, &absorbed.id));
        }
        None
    }
}
