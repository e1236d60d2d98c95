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
use hippo_types::time::Timestamp;

/// Result of a merge.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Merge {
    /// Merged entries: those of the file in file order, then those only in the store.
    pub entries: Vec<Entry>,
    /// Entries that were removed from the file. They stay forgotten.
    pub tombstones: Vec<EntryId>,
    /// Entries that are new in the file. The tombstone of such an entry, if any, is no longer valid.
    pub adopted: Vec<EntryId>,
    /// Fields whose value was taken from the file. For a strength, the caller also sets `accessed` to the
    /// time of reading.
    pub taken: Vec<(EntryId, EntryField)>,
    /// Fields and entries that both the file and the store changed.
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
    /// Entry of the store, overruled as a whole or in one field; `None` if the store no longer has the entry.
    pub ours: Option<Entry>,
}

/// Rule that decides a conflict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConflictRule {
    /// Both the file and the store changed the field: the value of the file is used.
    FileWins(EntryField),
    /// The entry was removed from the file and changed in the store: the entry is forgotten.
    RemovalWins,
    /// The entry was changed in the file and dropped by the store: the entry is kept.
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
                let versions = EntryVersions {
                    base: base.map(|base| as_written(base, settings)),
                    their: (their, as_written(their, settings)),
                    our: (our, as_written(our, settings)),
                    out: &mut out,
                };
                let merged = versions.merge_fields();
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

/// Versions of one entry: the base, and, for each side, the entry itself and its form as written to the file.
struct EntryVersions<'a> {
    base: Option<Entry>,
    their: (&'a Entry, Entry),
    our: (&'a Entry, Entry),
    out: &'a mut Merge,
}

impl EntryVersions<'_> {
    /// Merges all fields. The struct literal lists each field, so the compiler reports a new field that is not merged.
    fn merge_fields(mut self) -> Entry {
        let priority = |entry: &Entry| (entry.priority, entry.priority_rule.clone());
        let (priority, priority_rule) = self.merge(EntryField::Priority, priority);
        let our = self.our.0;
        Entry {
            id: our.id.clone(),
            topic: self.merge(EntryField::Topic, |entry| entry.topic.clone()),
            summary: self.merge(EntryField::Summary, |entry| entry.summary.clone()),
            pointers: self.merge(EntryField::Pointers, |entry| entry.pointers.clone()),
            created: self.merge(EntryField::Created, |entry| entry.created),
            accessed: self.accessed(),
            replayed_to: our.replayed_to,
            hits: self.hits(),
            strength: match self.base {
                Some(_) => self.merge(EntryField::Strength, |entry| entry.strength),
                None => our.strength,
            },
            tags: self.merge(EntryField::Tags, |entry| entry.tags.clone()),
            related: self.merge(EntryField::Related, |entry| entry.related.clone()),
            priority,
            priority_rule,
            origin: self.merge(EntryField::Origin, |entry| entry.origin),
            version: self.merge(EntryField::Version, |entry| entry.version),
        }
    }

    /// Returns the value of a field after the merge. If the value of the file is used, this is recorded.
    fn merge<T: PartialEq>(&mut self, field: EntryField, value: impl Fn(&Entry) -> T) -> T {
        let (their, our) = (value(&self.their.1), value(&self.our.1));
        let base = self.base.as_ref().map(&value);
        if base.as_ref() == Some(&their) || our == their {
            return value(self.our.0);
        }
        if base.is_none_or(|base| base != our) {
            let rule = ConflictRule::FileWins(field);
            self.out.conflict(&self.our.1.id, rule, Some(self.our.0));
        }
        self.take(field);
        value(self.their.0)
    }

    fn take(&mut self, field: EntryField) {
        self.out.taken.push((self.our.1.id.clone(), field));
    }

    /// Adds the counts of both sides, because agents that follow v1 count accesses in the file themselves.
    fn hits(&mut self) -> u32 {
        let (ours, theirs) = (self.our.1.hits, self.their.1.hits);
        let Some(base) = self.base.as_ref().filter(|base| base.hits != theirs) else {
            return ours;
        };
        let sum = i64::from(ours) + i64::from(theirs) - i64::from(base.hits);
        self.take(EntryField::Hits);
        u32::try_from(sum.max(0)).unwrap_or(u32::MAX)
    }

    /// Returns the time of the later access, in the precision of the side with this access.
    fn accessed(&mut self) -> Timestamp {
        let (ours, theirs) = (self.our.1.accessed, self.their.1.accessed);
        let later = |base: &Entry| ours > theirs && ours != base.accessed;
        let known = |base: &Entry| base.accessed == theirs || ours == theirs;
        if self.base.as_ref().is_none_or(|base| known(base) || later(base)) {
            return self.our.0.accessed;
        }
        self.take(EntryField::Accessed);
        self.their.0.accessed
    }
}
