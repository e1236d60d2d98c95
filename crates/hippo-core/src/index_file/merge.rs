//! What holds when the file and the store have both changed since the file was last written?
//!
//! Three versions of the entries are compared as the file writes them ([`as_written`]): `base`, which the daemon wrote last, `theirs`, which
//! the file says now, and `ours`, which the store says. What a person or an agent changed in the file wins, and what it
//! replaces is reported. After the merge, `theirs` is the next `base`.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use super::{Settings, as_written};
use crate::entry::{Entry, EntryId};

/// What a merge decided.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Merge {
    /// The entries that hold: those of the file in its order, then those that only the store has.
    pub entries: Vec<Entry>,
    /// Entries that somebody removed from the file: they stay forgotten.
    pub tombstones: Vec<EntryId>,
    /// Entries that are new in the file; a tombstone that they had is void.
    pub adopted: Vec<EntryId>,
    /// Fields that were taken over from the file. A strength taken over holds from the time of reading on: the caller sets `accessed`.
    pub taken: Vec<(EntryId, Field)>,
    /// Where both had changed.
    pub conflicts: Vec<Conflict>,
}

/// A field of an entry that people change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Field {
    /// The heading.
    Topic,
    /// The summary.
    Summary,
    /// The pointers.
    Pointers,
    /// The tags.
    Tags,
    /// The related entries.
    Related,
    /// Priority, and the rule that set it.
    Priority,
    /// The strength.
    Strength,
    /// The day of the last access.
    Accessed,
    /// The number of accesses.
    Hits,
    /// The day of creation.
    Created,
    /// Who made it.
    Origin,
    /// The number of changes.
    Version,
}

/// Both sides changed one thing.
#[derive(Debug, Clone, PartialEq)]
pub struct Conflict {
    /// The entry.
    pub id: EntryId,
    /// What decided.
    pub rule: Rule,
    /// The store's entry that did not hold, or not in this field; `None` when the store had dropped it.
    pub ours: Option<Entry>,
}

/// What decides a conflict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// Both changed the field: the file's holds.
    FileWins(Field),
    /// The entry was removed from the file and changed in the store: it is forgotten.
    RemovalWins,
    /// The entry was changed in the file and dropped by the store: it stays.
    ChangeBeatsPruning,
}

/// Merges three versions; `forgotten` are the tombstones so far. Of two entries with one id the first counts.
///
/// An empty file is believed: whether one that lost most of its entries at once is to be, the caller decides by `tombstones`.
#[must_use]
pub fn merge(
    base: &[Entry],
    theirs: &[Entry],
    ours: &[Entry],
    forgotten: &BTreeSet<EntryId>,
    settings: &Settings,
) -> Merge {
    let (bases, stored) = (by_id(base), by_id(ours));
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
                    out.conflict(id, Rule::ChangeBeatsPruning, None);
                    out.entries.push(their.clone());
                }
            }
            (base, Some(our)) => {
                let mut one = One {
                    base: base.map(|base| as_written(base, settings)),
                    their: as_written(their, settings),
                    our: as_written(our, settings),
                    out: &mut out,
                };
                let merged = one.merged(their, our);
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
            out.conflict(id, Rule::RemovalWins, Some(our));
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

fn by_id(entries: &[Entry]) -> BTreeMap<&EntryId, &Entry> {
    entries.iter().rev().map(|entry| (&entry.id, entry)).collect()
}

impl Merge {
    fn conflict(&mut self, id: &EntryId, rule: Rule, ours: Option<&Entry>) {
        self.conflicts.push(Conflict {
            id: id.clone(),
            rule,
            ours: ours.cloned(),
        });
    }
}

/// One entry that the file and the store have, each version as written.
struct One<'a> {
    base: Option<Entry>,
    their: Entry,
    our: Entry,
    out: &'a mut Merge,
}

impl One<'_> {
    /// Every field is named, so that a new one cannot be forgotten.
    fn merged(&mut self, their: &Entry, our: &Entry) -> Entry {
        let text = |it: &mut Self, field| it.takes(field, our);
        let priority = text(self, Field::Priority);
        Entry {
            id: our.id.clone(),
            topic: pick(text(self, Field::Topic), &their.topic, &our.topic),
            summary: pick(text(self, Field::Summary), &their.summary, &our.summary),
            pointers: pick(text(self, Field::Pointers), &their.pointers, &our.pointers),
            created: pick(text(self, Field::Created), &their.created, &our.created),
            accessed: self.accessed(their, our),
            replayed_to: our.replayed_to,
            hits: self.hits(our),
            strength: if self.base.is_some() && text(self, Field::Strength) {
                their.strength
            } else {
                our.strength
            },
            tags: pick(text(self, Field::Tags), &their.tags, &our.tags),
            related: pick(text(self, Field::Related), &their.related, &our.related),
            priority: pick(priority, &their.priority, &our.priority),
            priority_rule: pick(priority, &their.priority_rule, &our.priority_rule),
            origin: pick(text(self, Field::Origin), &their.origin, &our.origin),
            version: pick(text(self, Field::Version), &their.version, &our.version),
        }
    }

    /// Whether the file's field holds; tells when it does.
    fn takes(&mut self, field: Field, our: &Entry) -> bool {
        let base = self.base.as_ref();
        if base.is_some_and(|base| same(field, base, &self.their)) || same(field, &self.our, &self.their) {
            return false;
        }
        let changed = base.is_none_or(|base| !same(field, base, &self.our));
        let id = self.our.id.clone();
        if changed {
            self.out.conflict(&id, Rule::FileWins(field), Some(our));
        }
        self.out.taken.push((id, field));
        true
    }

    /// Agents that follow v1 count accesses in the file themselves: theirs are added to ours.
    fn hits(&mut self, our: &Entry) -> u32 {
        let Some(base) = self.base.as_ref().filter(|base| base.hits != self.their.hits) else {
            return our.hits;
        };
        let sum = i64::from(our.hits) + i64::from(self.their.hits) - i64::from(base.hits);
        self.out.taken.push((our.id.clone(), Field::Hits));
        u32::try_from(sum.max(0)).unwrap_or(u32::MAX)
    }

    /// The later access of both, in the precision of the side that has it.
    fn accessed(&mut self, their: &Entry, our: &Entry) -> crate::time::Timestamp {
        let Some(base) = &self.base else {
            return our.accessed;
        };
        let known = base.accessed == self.their.accessed || self.our.accessed == self.their.accessed;
        let later = self.our.accessed > self.their.accessed && self.our.accessed != base.accessed;
        if known || later {
            return our.accessed;
        }
        self.out.taken.push((our.id.clone(), Field::Accessed));
        their.accessed
    }
}

fn pick<T: Clone>(takes: bool, their: &T, our: &T) -> T {
    if takes { their.clone() } else { our.clone() }
}

/// Whether two entries as written agree in a field.
fn same(field: Field, one: &Entry, other: &Entry) -> bool {
    match field {
        Field::Topic => one.topic == other.topic,
        Field::Summary => one.summary == other.summary,
        Field::Pointers => one.pointers == other.pointers,
        Field::Tags => one.tags == other.tags,
        Field::Related => one.related == other.related,
        Field::Priority => one.priority == other.priority && one.priority_rule == other.priority_rule,
        Field::Strength => one.strength == other.strength,
        Field::Accessed => one.accessed == other.accessed,
        Field::Hits => one.hits == other.hits,
        Field::Created => one.created == other.created,
        Field::Origin => one.origin == other.origin,
        Field::Version => one.version == other.version,
    }
}
