//! Three-way merge of the entries of the index file and the store.
//!
//! Three versions are compared in the form that the file can contain ([`as_written`]): `base`, the daemon's last write;
//! `theirs`, the file now; and `ours`, the store. Changes in the file take precedence, and the values of the store that
//! they replace are reported. After the merge, `theirs` is the next `base`.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use super::{IndexFileOptions, as_written};
use hippo_types::entry::{Entry, EntryId};

/// Result of a merge.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Merge {
    /// Merged entries: those of the file in file order, then those only in the store.
    pub entries: Vec<Entry>,
    /// Entries that were removed from the file and stay forgotten.
    pub tombstones: Vec<EntryId>,
    /// Entries that are new in the file. If such an entry has a tombstone, the tombstone becomes void.
    pub adopted: Vec<EntryId>,
    /// Fields whose value was taken from the file. For a strength, the caller also sets `accessed` to the
    /// time of reading.
    pub taken: Vec<(EntryId, EntryField)>,
    /// Changes of the same field or entry in both the file and the store.
    pub conflicts: Vec<MergeConflict>,
}

/// Field of an entry that can be edited in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EntryField {
    /// Heading.
    Topic,
    /// Summary.
    Summary,
    /// Pointers.
    Pointers,
    /// Tags.
    Tags,
    /// Related entries.
    Related,
    /// Priority and the rule that set it.
    Priority,
    /// Strength.
    Strength,
    /// Day of the last access.
    Accessed,
    /// Number of accesses.
    Hits,
    /// Day of creation.
    Created,
    /// Origin of the entry.
    Origin,
    /// Number of changes.
    Version,
}

/// Conflicting changes of the file and the store.
#[derive(Debug, Clone, PartialEq)]
pub struct MergeConflict {
    /// Entry that both sides changed.
    pub id: EntryId,
    /// Rule that decided the conflict.
    pub rule: ConflictRule,
    /// Overruled entry of the store, or the entry with the overruled field; `None` if the store had dropped
    /// it.
    pub ours: Option<Entry>,
}

/// Rule that decides a conflict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConflictRule {
    /// Both changed the field: the file wins.
    FileWins(EntryField),
    /// The entry was removed from the file and changed in the store: it is forgotten.
    RemovalWins,
    /// The entry was changed in the file and dropped by the store: it is kept.
    ChangeBeatsPruning,
}

/// Merges three versions. `forgotten` contains the existing tombstones. If several entries have the same id, the first
/// is used.
///
/// An empty file counts as a removal of all entries. The caller must check `tombstones` for a suspicious loss of most
/// entries.
#[must_use]
pub fn merge(
    base: &[Entry],
    theirs: &[Entry],
    ours: &[Entry],
    forgotten: &BTreeSet<EntryId>,
    settings: &IndexFileOptions,
) -> Merge {
    let (bases, stored) = (index_by_id(base), index_by_id(ours));
    let mut out = Merge::default();
    let mut in_file = BTreeSet::new();
    for their in theirs {
        let id = &their.id;
        if !in_file.insert(id) {
            continue;
        }
        match (bases.get(id), stored.get(id)) {
            (None, None) => {
                out.adopted.push(id.clone());
                out.entries.push(their.clone());
            }
            (Some(base), None) => {
                if as_written(base, settings) != as_written(their, settings) {
                    out.conflict(id, ConflictRule::ChangeBeatsPruning, None);
                    out.entries.push(their.clone());
                }
            }
            (base, Some(our)) => {
                let mut versions = EntryVersions {
                    base: base.map(|base| as_written(base, settings)),
                    their: as_written(their, settings),
                    our: as_written(our, settings),
                    out: &mut out,
                };
                let merged = versions.merge_fields(their, our);
                out.entries.push(merged);
            }
        }
    }
    for (id, base) in &bases {
        if in_file.contains(id) {
            continue;
        }
        out.tombstones.push((*id).clone());
        if let Some(our) = stored.get(id)
            && as_written(our, settings) != as_written(base, settings)
        {
            out.conflict(id, ConflictRule::RemovalWins, Some(our));
        }
    }
    let mut seen = BTreeSet::new();
    for our in ours {
        let id = &our.id;
        let known = in_file.contains(id) || bases.contains_key(id) || forgotten.contains(id);
        if !known && seen.insert(id) {
            out.entries.push(our.clone());
        }
    }
    out
}

fn index_by_id(entries: &[Entry]) -> BTreeMap<&EntryId, &Entry> {
    entries.iter().rev().map(|entry| (&entry.id, entry)).collect()
}

impl Merge {
    fn conflict(&mut self, id: &EntryId, rule: ConflictRule, ours: Option<&Entry>) {
        self.conflicts.push(MergeConflict {
            id: id.clone(),
            rule,
            ours: ours.cloned(),
        });
    }
}

/// Versions of one entry that the file and the store have, as written to the file.
struct EntryVersions<'a> {
    base: Option<Entry>,
    their: Entry,
    our: Entry,
    out: &'a mut Merge,
}

impl EntryVersions<'_> {
    /// Merges all fields. The struct literal lists each field, so that a new one cannot be forgotten.
    fn merge_fields(&mut self, their: &Entry, our: &Entry) -> Entry {
        let text = |it: &mut Self, field| it.takes_theirs(field, our);
        let priority = text(self, EntryField::Priority);
        Entry {
            id: our.id.clone(),
            topic: pick(text(self, EntryField::Topic), &their.topic, &our.topic),
            summary: pick(text(self, EntryField::Summary), &their.summary, &our.summary),
            pointers: pick(text(self, EntryField::Pointers), &their.pointers, &our.pointers),
            created: pick(text(self, EntryField::Created), &their.created, &our.created),
            accessed: self.accessed(their, our),
            replayed_to: our.replayed_to,
            hits: self.hits(our),
            strength: if self.base.is_some() && text(self, EntryField::Strength) {
                their.strength
            } else {
                our.strength
            },
            tags: pick(text(self, EntryField::Tags), &their.tags, &our.tags),
            related: pick(text(self, EntryField::Related), &their.related, &our.related),
            priority: pick(priority, &their.priority, &our.priority),
            priority_rule: pick(priority, &their.priority_rule, &our.priority_rule),
            origin: pick(text(self, EntryField::Origin), &their.origin, &our.origin),
            version: pick(text(self, EntryField::Version), &their.version, &our.version),
        }
    }

    /// Returns `true` if the file's field wins, and records it.
    fn takes_theirs(&mut self, field: EntryField, our: &Entry) -> bool {
        let base = self.base.as_ref();
        if base.is_some_and(|base| same_field(field, base, &self.their))
            || same_field(field, &self.our, &self.their)
        {
            return false;
        }
        let changed = base.is_none_or(|base| !same_field(field, base, &self.our));
        let id = self.our.id.clone();
        if changed {
            self.out.conflict(&id, ConflictRule::FileWins(field), Some(our));
        }
        self.out.taken.push((id, field));
        true
    }

    /// Adds both counts, because agents that follow v1 count accesses in the file themselves.
    fn hits(&mut self, our: &Entry) -> u32 {
        let Some(base) = self.base.as_ref().filter(|base| base.hits != self.their.hits) else {
            return our.hits;
        };
        let sum = i64::from(our.hits) + i64::from(self.their.hits) - i64::from(base.hits);
        self.out.taken.push((our.id.clone(), EntryField::Hits));
        u32::try_from(sum.max(0)).unwrap_or(u32::MAX)
    }

    /// Returns the later access, in the precision of the side that has it.
    fn accessed(&mut self, their: &Entry, our: &Entry) -> hippo_types::time::Timestamp {
        let Some(base) = &self.base else {
            return our.accessed;
        };
        let known = base.accessed == self.their.accessed || self.our.accessed == self.their.accessed;
        let later = self.our.accessed > self.their.accessed && self.our.accessed != base.accessed;
        if known || later {
            return our.accessed;
        }
        self.out.taken.push((our.id.clone(), EntryField::Accessed));
        their.accessed
    }
}

fn pick<T: Clone>(takes: bool, their: &T, our: &T) -> T {
    if takes { their.clone() } else { our.clone() }
}

/// Returns `true` if two entries, as written, agree in a field.
fn same_field(field: EntryField, one: &Entry, other: &Entry) -> bool {
    match field {
        EntryField::Topic => one.topic == other.topic,
        EntryField::Summary => one.summary == other.summary,
        EntryField::Pointers => one.pointers == other.pointers,
        EntryField::Tags => one.tags == other.tags,
        EntryField::Related => one.related == other.related,
        EntryField::Priority => one.priority == other.priority && one.priority_rule == other.priority_rule,
        EntryField::Strength => one.strength == other.strength,
        EntryField::Accessed => one.accessed == other.accessed,
        EntryField::Hits => one.hits == other.hits,
        EntryField::Created => one.created == other.created,
        EntryField::Origin => one.origin == other.origin,
        EntryField::Version => one.version == other.version,
    }
}
