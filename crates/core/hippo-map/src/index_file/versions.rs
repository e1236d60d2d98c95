//! Merge of two versions of the index file that two machines wrote.
//!
//! [`super::merge`] merges the file with the store of one machine, and the file takes precedence. Here, both sides are
//! files, and neither takes precedence: exchanging the sides changes the order of the text at most.

#[cfg(test)]
mod simulation;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use super::block::IndexBlock;
use super::{IndexFile, IndexFileOptions, IndexedEntry, as_written, merge_text};
use hippo_text::text::take_room;
use hippo_types::entry::{Entry, EntryId};

/// Merges two versions of the index file that derive from `base`. If the versions have no common version, `base` is
/// empty.
///
/// - Counts (`hits`, `version`) of both sides are added. Without a base, the larger count is used.
/// - The later `accessed` and the earlier `created` are used.
/// - A pointer, a tag or a relation that one side added is kept; one that one side removed is dropped.
/// - If both sides changed another field, the side with the later access is used.
/// - An entry that one side removed is dropped, unless the other side changed it or wrote a line into it.
/// - Other text is merged by [`merge_text`].
#[must_use]
pub fn merge_versions(base: &[u8], ours: &[u8], theirs: &[u8], settings: IndexFileOptions) -> Vec<u8> {
    let [old, mut our, mut their] = [base, ours, theirs].map(|bytes| IndexFile::parse(bytes, settings));
    let written = |it: &IndexedEntry| as_written(&it.entry, &settings);
    // Removed before the merge of the text, so that text which the merge puts below such an entry stays.
    let dropped: BTreeSet<EntryId> = old
        .entries()
        .filter(
            |base| match (our.get(&base.entry.id), their.get(&base.entry.id)) {
                (Some(left), None) | (None, Some(left)) => {
                    written(left) == written(base) && !left.adds_text_to(base)
                }
                _ => false,
            },
        )
        .map(|base| base.entry.id.clone())
        .collect();
    let [ours, theirs] = [&mut our, &mut their].map(|side| {
        side.remove_all(&dropped);
        side.to_bytes()
    });
    let mut merged = IndexFile::parse(&merge_text(base, &ours, &theirs, settings), settings);
    for id in merged.entries().map(|it| it.entry.id.clone()).collect::<Vec<_>>() {
        let base = old.get(&id).map(written);
        // An unchanged entry keeps its bytes. If both sides changed it equally, counts still add up.
        if let Some((our, their)) = our.get(&id).map(written).zip(their.get(&id).map(written))
            && (our != their || base.as_ref().is_some_and(|base| *base != our))
        {
            merged.update(&merge_entry(base.as_ref(), &our, &their));
        }
    }
    let counts = [&old, &our, &their].map(count_lines);
    without_repeated_lines(&merged, &counts)
}

/// Returns the bytes of a merged file without the lines that it has too often. The comparison of the sides does not
/// recognize a line that they have in another order, or below another entry. `counts` are those of the base and of both
/// sides.
fn without_repeated_lines(
    merged: &IndexFile,
    [base, ours, theirs]: &[BTreeMap<Vec<u8>, usize>; 3],
) -> Vec<u8> {
    let mut room: BTreeMap<&Vec<u8>, usize> = base
        .iter()
        .map(|(line, base)| {
            let [ours, theirs] = [ours, theirs].map(|side| side.get(line).copied().unwrap_or(0));
            // Both sides may have dropped the same copy.
            let least = if ours.min(theirs) > 0 { ours.max(theirs) } else { 0 };
            (line, (ours + theirs).saturating_sub(*base).max(least))
        })
        .collect();
    let lines = merged.blocks.iter().flat_map(block_lines);
    let kept = lines.filter(|(_, text)| room.get_mut(text).is_none_or(|room| take_room(room, 1)));
    kept.flat_map(|(bytes, _)| bytes).copied().collect()
}

/// Counts the equal lines outside hippod's structures.
fn count_lines(file: &IndexFile) -> BTreeMap<Vec<u8>, usize> {
    let mut counts = BTreeMap::new();
    let lines = file.blocks.iter().flat_map(block_lines);
    for (_, text) in lines.filter(|(_, text)| !text.is_empty()) {
        *counts.entry(text).or_default() += 1;
    }
    counts
}

/// Returns the lines of a block, each with its text outside hippod's structures.
fn block_lines(block: &IndexBlock) -> Vec<(&[u8], Vec<u8>)> {
    let texts = match block {
        IndexBlock::Text(text) => text.clone(),
        IndexBlock::Entry(indexed) => indexed.other_text(),
        block => vec![b' '; block.bytes().len()],
    };
    let mut from = 0;
    let lines = block.bytes().split_inclusive(|byte| *byte == b'\n');
    lines
        .map(|line| {
            from += line.len();
            (line, texts[from - line.len()..from].trim_ascii().to_vec())
        })
        .collect()
}

/// Merges two versions of one entry. The struct literal lists each field, so the compiler reports a new field that is
/// not merged.
fn merge_entry(base: Option<&Entry>, our: &Entry, their: &Entry) -> Entry {
    // Both machines must choose the same side, also if the times are equal.
    let rank = |entry: &Entry| {
        (
            entry.accessed,
            entry.version,
            entry.topic.clone(),
            entry.summary.clone(),
            entry.priority,
            entry.strength.to_bits(),
        )
    };
    let sides = EntrySides {
        base,
        our,
        their,
        ours_later: rank(our) >= rank(their),
    };
    let (priority, priority_rule) = sides.value(|entry| (entry.priority, entry.priority_rule.clone()));
    Entry {
        id: our.id.clone(),
        topic: sides.value(|entry| entry.topic.clone()),
        summary: sides.value(|entry| entry.summary.clone()),
        pointers: sides.union(|entry| entry.pointers.clone()),
        created: our.created.min(their.created),
        accessed: our.accessed.max(their.accessed),
        replayed_to: our.replayed_to,
        hits: sides.count(|entry| entry.hits),
        strength: sides.value(|entry| entry.strength),
        tags: sides.union(|entry| entry.tags.clone()),
        related: sides.union(|entry| entry.related.clone()),
        priority,
        priority_rule,
        origin: sides.value(|entry| entry.origin),
        version: sides.count(|entry| entry.version),
    }
}

struct EntrySides<'a> {
    base: Option<&'a Entry>,
    our: &'a Entry,
    their: &'a Entry,
    ours_later: bool,
}

impl EntrySides<'_> {
    /// Returns the changed value. If both sides changed it, returns the value of the side with the later access.
    fn value<T: PartialEq>(&self, value: impl Fn(&Entry) -> T) -> T {
        let (our, their) = (value(self.our), value(self.their));
        match self.base.map(value) {
            Some(base) if base == our => their,
            Some(base) if base == their => our,
            _ if self.ours_later => our,
            _ => their,
        }
    }

    /// Adds the changes of both sides to a count.
    fn count(&self, value: impl Fn(&Entry) -> u32) -> u32 {
        let (our, their) = (value(self.our), value(self.their));
        self.base.map(value).map_or(our.max(their), |base| {
            let sum = i64::from(our) + i64::from(their) - i64::from(base);
            u32::try_from(sum.max(0)).unwrap_or(u32::MAX)
        })
    }

    /// Returns the elements of both sides without those of the base that one side removed.
    fn union<T: PartialEq + Clone>(&self, value: impl Fn(&Entry) -> Vec<T>) -> Vec<T> {
        let (our, their) = (value(self.our), value(self.their));
        let base = self.base.map(value).unwrap_or_default();
        let stays = |one: &T, other: &[T]| other.contains(one) || !base.contains(one);
        let mut all: Vec<T> = our.iter().filter(|one| stays(one, &their)).cloned().collect();
        let added = their.iter().filter(|one| !our.contains(one) && stays(one, &our));
        all.extend(added.cloned());
        all
    }
}
