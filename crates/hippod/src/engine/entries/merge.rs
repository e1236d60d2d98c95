//! Merging of edits in the index file into the store.

mod doubt;
mod fields;

use std::collections::{BTreeMap, BTreeSet};

use hippo_map::consolidation::{EntryRecord, RecordPlace, RemovedEntry};
use hippo_map::index_file::merge::{self, ConflictRule, EntryField};
use hippo_map::index_file::{IndexFile, IndexedEntry, merge_text};
use hippo_map::layout::INDEX_FILE;
use hippo_store::StoreError;
use hippo_store::db::{Access, Store, Tombstone};
use hippo_text::text::plural;
use hippo_types::entry::{Entry, EntryId};

use super::WorkspaceEntries;
use super::files::{FileEnvironment, VersionOrigin, old_key, same_header, versions, words};
use crate::clock::rfc3339;
use doubt::{doubtful, unmarked};

use doubt::HoldReason;
pub(super) use doubt::{HeldRemovals, cut_off};
use fields::{brought_back, put_into, take_fields};

pub(super) use fields::adopted;

/// Advice to a person about removals of entries that are held back.
const HELD_FIX: &str = "restore the entries in the file; or remove the file, so that hippod writes it again with \
                        the entries; or confirm the removal of the entries: hippoctl sync --accept-deletions";
/// Origin of the bytes to merge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MergeSource<'a> {
    /// The index file.
    File,
    /// The index file with this content, and a conflict copy of it. The next write adds the text of the copy.
    Copy(&'a [u8]),
    /// The replaced copy in this slot, to which an editor wrote.
    Replaced(u32),
}

impl WorkspaceEntries {
    /// Merges the changes between `base` and `bytes` into the store, and makes the content of the file the new base. If the
    /// removals look like an accident, merges nothing and returns false. If `source` is the file itself, the removals are then
    /// held back.
    ///
    /// # Errors
    /// See [`StoreError`]. After an error, nothing is merged.
    pub fn merge(
        &mut self,
        store: &mut Store,
        now: &FileEnvironment,
        base: &[u8],
        bytes: &[u8],
        source: MergeSource<'_>,
    ) -> Result<bool, StoreError> {
        let settings = now.settings();
        let origin = match source {
            MergeSource::File => versions::origin(&self.file.kept, base, bytes, now.now, settings),
            MergeSource::Copy(_) => VersionOrigin::Current,
            MergeSource::Replaced(_) => versions::version_of(&self.file.kept, base, bytes),
        };
        // If an editor saved an older version, that version is the base: the editor did not remove the entries that
        // were added since.
        let known = base;
        let base = match &origin {
            VersionOrigin::Buffer(older) => older,
            VersionOrigin::Current | VersionOrigin::PutBack(_) => base,
        };
        let put_back = match origin {
            VersionOrigin::PutBack(written) => Some(written),
            _ => None,
        };
        let (before, after) = (
            IndexFile::parse(base, settings),
            IndexFile::parse(bytes, settings),
        );
        let mut no_entries = unmarked(base, bytes);
        let is_claimed =
            |there: &&IndexedEntry| there.states_id() || self.known.records.contains_key(&there.entry.id);
        let unclaimed = before.entries().filter(|there| !is_claimed(there));
        no_entries.extend(unclaimed.map(|there| first_line(there.bytes())));
        let is_entry =
            |there: &&IndexedEntry| there.states_id() || !no_entries.contains(first_line(there.bytes()));
        let copies = |there: &IndexedEntry| there.entry.clone();
        let base_entries: Vec<Entry> = before.entries().filter(is_claimed).map(copies).collect();
        let mut theirs: Vec<Entry> = after.entries().filter(is_entry).map(copies).collect();
        if put_back.is_some() {
            keep_counts(&mut theirs, &base_entries);
        }
        let ours: Vec<Entry> = self
            .known
            .records
            .values()
            .filter(|record| !matches!(record.place, RecordPlace::Archive(_)))
            .map(|record| record.as_filed().unwrap_or_else(|| record.entry.clone()))
            .collect();
        let merged = merge::merge(&base_entries, &theirs, &ours, &self.forgotten(), &settings);
        let accepted = self.file.accept_removals && source == MergeSource::File;
        let doubt = match put_back {
            // A person who restores an old version may want to keep the entries that were added after that version.
            Some(written) => (!merged.tombstones.is_empty()).then(|| HeldRemovals {
                entries: merged.tombstones.clone(),
                because: HoldReason::PutBack(written),
            }),
            None => doubtful(&merged, &base_entries, &theirs, cut_off(base, bytes)),
        };
        if let Some(held) = doubt.filter(|_| !accepted) {
            if source == MergeSource::File {
                let (entries, because) = (held.entries.len(), held.because);
                let held = Some(held);
                if self.file.held != held {
                    tracing::warn!(
                        root = %now.root().display(), entries, of = base_entries.len(), ?because,
                        "entries were removed from the index file, perhaps by accident; hippod keeps the \
                         entries until a person confirms the removal"
                    );
                }
                self.file.held = held;
            }
            return Ok(false);
        }
        let (was_in, is_in) = (sections(&before), sections(&after));
        let by_id: BTreeMap<&EntryId, &Entry> = theirs.iter().map(|entry| (&entry.id, entry)).collect();
        let taken: BTreeSet<(&EntryId, EntryField)> =
            merged.taken.iter().map(|(id, field)| (id, *field)).collect();
        let mut revived = Vec::new();
        let mut wanted: Vec<EntryId> = merged.adopted.clone();
        let mut changed: Vec<EntryRecord> = Vec::new();
        for entry in &merged.entries {
            let section = is_in.get(&entry.id);
            let mut record = match self.known.records.get(&entry.id) {
                Some(known) if merged.adopted.contains(&entry.id) => {
                    let mut record = brought_back(known, entry, now);
                    if let Some(section) = section {
                        put_into(&mut record, section);
                    }
                    record
                }
                Some(known) => {
                    let mut record = known.clone();
                    take_fields(&mut record, entry, by_id.get(&entry.id).copied(), &taken, now);
                    if section != was_in.get(&entry.id)
                        && let Some(section) = section
                        && put_into(&mut record, section)
                    {
                        revived.push(entry.id.clone());
                    }
                    record
                }
                None => adopted(entry, section, now),
            };
            if matches!(record.place, RecordPlace::Archive(_)) && by_id.contains_key(&entry.id) {
                // A person changed the entry in the file while a run archived the entry. It stays in the index.
                record.place = RecordPlace::Index;
                wanted.push(entry.id.clone());
            }
            if self.known.records.get(&entry.id) != Some(&record) {
                changed.push(record);
            }
        }
        let mut batch = store.begin_entries()?;
        for record in &changed {
            batch.put_record(record)?;
        }
        for id in &wanted {
            batch.drop_tombstone(id)?;
        }
        let mut gone = Vec::new();
        for id in &merged.tombstones {
            let removed = self.known.records.get(id).map(RemovedEntry::from);
            let tombstone = Tombstone {
                removed: removed.unwrap_or_default(),
                at: now.now,
            };
            batch.put_tombstone(id, &tombstone)?;
            if let Some(record) = self.known.records.get(id) {
                let mut record = record.clone();
                record.place = RecordPlace::Archive(now.now);
                record.filed = None;
                batch.put_record(&record)?;
                changed.push(record);
            }
            gone.push((id.clone(), tombstone));
        }
        if !merged.tombstones.is_empty() {
            // Keep the complete text of removed entries, in case they are restored.
            self.file.keep_entries(base, bytes, now);
        }
        let kept = &mut self.file.kept;
        match (source, &origin) {
            (MergeSource::File, VersionOrigin::Buffer(older)) => {
                // The file contains the older version with edits, so the changes that were made since that version must
                // be applied again, as if they were edits. Text that only the older version contains does not count as
                // removed, because the last version may not derive from the older one.
                words::note(kept, older, &merge_text(b"", known, older, settings), now.now);
            }
            (MergeSource::File, _) => {}
            (MergeSource::Copy(current), _) => words::note(kept, current, bytes, now.now),
            // The copy was made from an unknown version, so text that the copy lacks does not count as removed.
            (MergeSource::Replaced(_), VersionOrigin::Current) if !same_header(base, bytes) => {
                words::note(kept, base, &merge_text(b"", bytes, base, settings), now.now);
            }
            // A copy that is only the beginning of its base contains nothing new. The program that writes the copy may
            // not have finished.
            (MergeSource::Replaced(_), _) if base.starts_with(bytes) => {}
            (MergeSource::Replaced(_), _) => words::note(kept, base, bytes, now.now),
        }
        kept.write(&mut batch)?;
        let (key, content) = match source {
            MergeSource::File => (INDEX_FILE.to_owned(), bytes),
            MergeSource::Copy(current) => (INDEX_FILE.to_owned(), current),
            MergeSource::Replaced(slot) => (old_key(slot), bytes),
        };
        batch.put_base(&key, content, now.now)?;
        let day = now.now.date(now.offset_seconds);
        let accesses: Vec<Access> = revived
            .into_iter()
            .map(|entry| Access {
                entry,
                at: now.now,
                day,
            })
            .collect();
        batch.record_accesses(&accesses)?;
        batch.commit()?;

        self.file.kept.are_saved();
        tracing::info!(
            root = %now.root().display(),
            changed = changed.len(), adopted = merged.adopted.len(), removed = gone.len(), conflicts = merged.conflicts.len(),
            "merged edits of the index file"
        );
        for conflict in &merged.conflicts {
            self.file.conflicts.push(describe_conflict(conflict));
        }
        if let Some(written) = put_back {
            let (written, back) = (rfc3339(written), merged.adopted.len());
            let others: BTreeSet<&EntryId> = merged.taken.iter().map(|(id, _)| id).collect();
            self.file.conflicts.push(format!(
                "{INDEX_FILE} was restored to its version of {written}: restored the previous text of {}, added {}, \
                 removed {}",
                plural(others.len() as u64, "entry"),
                plural(back as u64, "entry"),
                plural(gone.len() as u64, "entry")
            ));
        }
        if source == MergeSource::File && matches!(&origin, VersionOrigin::Buffer(older) if older == bytes) {
            self.file.conflicts.push(format!(
                "an editor saved {INDEX_FILE} as it was a short time ago, without new edits, so hippod kept its \
                 own later changes; to restore the older version, wait a few minutes and save it again"
            ));
        }
        if let MergeSource::Replaced(_) = source {
            versions::note(&mut self.file.kept, bytes, now.now);
            self.file.kept.put(key, bytes, now.now);
        } else {
            self.file.set_base(Some(content), now.now);
            self.file.held = None;
            self.file.unwritten |= source != MergeSource::File || origin != VersionOrigin::Current;
            self.file.outdated = true;
        }
        for record in changed {
            self.known.records.insert(record.entry.id.clone(), record);
        }
        for id in &wanted {
            self.known.tombstones.remove(id);
        }
        self.known.tombstones.extend(gone);
        self.known.journal += accesses.len();
        self.changed(now.at);
        Ok(true)
    }

    /// Returns a message about the removals that are held back, and advice for the user; `None` if no removal is held
    /// back.
    pub fn held_problem(&self) -> Option<(String, &'static str)> {
        let HeldRemovals { entries, because } = self.file.held.as_ref()?;
        let number = entries.len();
        let entries = if number == 1 { "entry" } else { "entries" };
        let what = match because {
            HoldReason::Many => {
                format!("{number} {entries} disappeared from {INDEX_FILE} at once and are kept")
            }
            HoldReason::CutOff => format!(
                "the end of {INDEX_FILE} is missing, as if a program had stopped while writing the file; text that \
                 hippod did not write may be missing as well; {number} missing {entries} are kept"
            ),
            HoldReason::PutBack(written) => format!(
                "{INDEX_FILE} was restored to its version of {}; {number} {entries} that this version does not \
                 contain are kept",
                rfc3339(*written)
            ),
        };
        Some((what, HELD_FIX))
    }

    /// Returns one message about the removals that are held back, including the advice; `None` if no removal is held
    /// back.
    pub fn held_story(&self) -> Option<String> {
        let (what, fix) = self.held_problem()?;
        Some(format!(
            "{what}; hippod does not read or write the file until you decide: {fix}"
        ))
    }
}

fn first_line(bytes: &[u8]) -> &[u8] {
    let mut lines = bytes.split(|byte| *byte == b'\n');
    lines.next().unwrap_or_default().trim_ascii()
}

/// Copies the current access counts to the entries of a restored older file, because the later accesses still count.
fn keep_counts(theirs: &mut [Entry], base: &[Entry]) {
    let base: BTreeMap<&EntryId, &Entry> = base.iter().map(|entry| (&entry.id, entry)).collect();
    for their in theirs {
        if let Some(known) = base.get(&their.id) {
            their.hits = known.hits;
            their.accessed = known.accessed;
            their.strength = known.strength;
            their.version = known.version;
        }
    }
}

/// Returns for each entry of a file the headings above the entry, outermost first.
fn sections(file: &IndexFile) -> BTreeMap<EntryId, Vec<String>> {
    file.placed_entries()
        .into_iter()
        .map(|placed| {
            let section = placed.section.into_iter().map(str::to_owned).collect();
            (placed.indexed.entry.id.clone(), section)
        })
        .collect()
}

/// Returns hippod's own value of a field, which the value in the file replaces, as text for people; `None` for numbers
/// and times.
fn replaced(ours: &Entry, field: EntryField) -> Option<String> {
    let list = |all: &[String]| all.join(", ");
    let text = match field {
        EntryField::Topic => ours.topic.clone(),
        EntryField::Summary => ours.summary.clone(),
        EntryField::Pointers => list(&ours.pointers.iter().map(ToString::to_string).collect::<Vec<_>>()),
        EntryField::Tags => list(&ours.tags),
        EntryField::Related => list(&ours.related.iter().map(ToString::to_string).collect::<Vec<_>>()),
        EntryField::Priority => ours.priority.to_string(),
        EntryField::Strength
        | EntryField::Accessed
        | EntryField::Hits
        | EntryField::Created
        | EntryField::Origin
        | EntryField::Version => {
            return None;
        }
    };
    Some(if text.is_empty() {
        "nothing".to_owned()
    } else {
        text
    })
}

fn describe_conflict(conflict: &merge::MergeConflict) -> String {
    let id = &conflict.id;
    match conflict.rule {
        ConflictRule::FileWins(field) => {
            let replaced = conflict.ours.as_ref().and_then(|entry| replaced(entry, field));
            let replaced = replaced.map_or_else(String::new, |replaced| format!("; hippod had: {replaced}"));
            let field = format!("{field:?}").to_lowercase();
            format!(
                "{id}: {field} was changed both in {INDEX_FILE} and by hippod; the value in the file is \
                 kept{replaced}"
            )
        }
        ConflictRule::RemovalWins => {
            format!(
                "{id}: the entry was removed from {INDEX_FILE} while hippod changed the entry; the entry \
                 stays removed; to restore it: hippoctl index restore {id}"
            )
        }
        ConflictRule::ChangeBeatsPruning => {
            format!(
                "{id}: the entry was changed in {INDEX_FILE} while hippod archived the entry; the entry \
                 stays in the index"
            )
        }
    }
}
