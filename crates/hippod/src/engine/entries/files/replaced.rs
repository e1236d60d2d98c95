//! Replaced copies of the index file.
//!
//! When the file is replaced, its previous bytes are kept in a slot beside it, because an editor may still write to
//! them. If such a copy can be parsed, its edits are merged. Any other copy is put back into the file as soon as
//! possible, where it is held and reported; until then, it stays in its slot. A copy is dropped without a merge only if
//! it is the beginning of a known text.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use hippo_map::layout::INDEX_FILE;
use hippo_store::StoreError;
use hippo_store::db::{Base, Store};
use hippo_store::shared_file::{SLOTS, SharedFile};

use super::super::WorkspaceEntries;
use super::write::{WriteOutcome, unwritable_issue};
use super::{AGAIN, FileEnvironment, LARGEST, OpenedIndexFile, open_folder};

/// Delay before a replaced copy is checked again, in case an editor had it open.
pub(super) const SETTLE: Duration = Duration::from_secs(1);
/// Maximum number of passes over the replaced copies at shutdown. Each pass writes late edits to the index file.
const CLOSINGS: usize = 4;
/// Reason for which a copy that cannot be an index file is kept beside the file.
const NO_TEXT: &str = "it is not a text file, or it is too long for an index file";
/// Key under which the bytes about to be written are stored.
pub(super) const NEXT: &str = "HIPPOCAMPUS.md.next";

/// Returns the key under which a replaced copy is stored until its slot is released.
pub fn old_key(slot: u32) -> String {
    format!("HIPPOCAMPUS.md.old-{slot}")
}

/// A replaced copy of the index file.
#[derive(Debug)]
pub(super) struct ReplacedCopy {
    pub slot: u32,
    /// Time of the last check. After it, no editor is expected to write to the copy.
    pub due: Instant,
    /// The content that has already been merged.
    pub taken: Vec<u8>,
}

impl WorkspaceEntries {
    /// Determines how far the last process got if it was stopped while it replaced the file, whose content is now
    /// `current`. Returns whether recovery is complete.
    pub(super) fn recover(
        &mut self,
        store: &mut Store,
        now: FileEnvironment<'_>,
        file: &SharedFile,
        current: &[u8],
    ) -> Result<bool, StoreError> {
        if self.file.recovered {
            return Ok(true);
        }
        let mut found = Vec::new();
        for slot in 0..SLOTS {
            match file.read_slot(slot) {
                Ok(bytes) => found.extend(bytes.map(|bytes| (slot, bytes))),
                Err(error) => {
                    let beside = file.replaced_path(slot);
                    let what = format!(
                        "the previous version of {INDEX_FILE} cannot be read: {}: {error}",
                        beside.display()
                    );
                    self.file.block(
                        now,
                        unwritable_issue(what, "give hippod permission to read the file".to_owned()),
                    );
                    return Ok(false);
                }
            }
        }
        let next = store.base(NEXT)?.map(|base| base.bytes);
        let never_placed = file.tidy();
        let mut placed = next.as_ref().is_some_and(|next| next == current);
        let mut late = Vec::new();
        for (slot, bytes) in found {
            if !is_text(&bytes) {
                self.set_aside(now, file, slot, NO_TEXT);
                continue;
            }
            match (store.base(&old_key(slot))?, &next) {
                (Some(Base { bytes: old, .. }), _) => late.push((slot, old, bytes)),
                // These are the new bytes themselves: they were written but never moved into place.
                (None, Some(next)) if never_placed || bytes == *next => let_go(file, slot),
                (None, Some(_)) => {
                    placed = true;
                    late.push((slot, self.file.base.clone().unwrap_or_default(), bytes));
                }
                // The slot belongs to a lost database. The index file contains what was written then, but later edits
                // in the slot cannot be identified.
                (None, None) if says_more(&bytes, current) => {
                    self.set_aside(
                        now,
                        file,
                        slot,
                        "hippod cannot determine which lines of this copy the index file lacks",
                    );
                }
                (None, None) => let_go(file, slot),
            }
        }
        if let Some(next) = next.filter(|_| placed) {
            self.file.set_base(Some(next), now.now);
            self.note_base(store, now)?;
        }
        let mut waiting: Vec<(u32, Vec<u8>)> = Vec::new();
        for (slot, old, late) in late {
            if self.merge_late(store, now, &old, &late, slot)? || old.starts_with(&late) {
                let_go(file, slot);
            } else {
                waiting.push((slot, old));
            }
        }
        let mut batch = store.begin_entries()?;
        batch.drop_base(NEXT)?;
        for slot in 0..SLOTS {
            match waiting.iter().find(|(kept, _)| *kept == slot) {
                Some((_, old)) => batch.put_base(&old_key(slot), old, now.now)?,
                None => batch.drop_base(&old_key(slot))?,
            }
        }
        batch.commit()?;
        self.file.recovered = true;
        for (slot, taken) in waiting {
            let due = now.at;
            self.file.replaced.push(ReplacedCopy { slot, due, taken });
        }
        Ok(true)
    }

    /// Renames a copy that cannot be merged and keeps it beside the file for the user. Returns whether its slot is
    /// free.
    fn set_aside(&mut self, now: FileEnvironment<'_>, file: &SharedFile, slot: u32, why: &str) -> bool {
        match file.set_aside(slot) {
            Ok(kept) => {
                let kept = kept
                    .file_name()
                    .unwrap_or_default()
                    .to_string_lossy()
                    .into_owned();
                tracing::warn!(root = %now.root.display(), kept, "the previous version of the index file is \
                                                                  kept in the same folder");
                self.file.conflicts.push(format!(
                    "{kept}: an earlier version of {INDEX_FILE}, kept for this reason: {why}; copy the \
                     missing lines, then remove this file"
                ));
                true
            }
            Err(error) => {
                tracing::warn!(%error, "could not rename the previous version of the index file; it keeps \
                                        its name");
                false
            }
        }
    }

    /// Checks a replaced copy for the last time and releases its slot.
    pub(super) fn settle(
        &mut self,
        store: &mut Store,
        now: FileEnvironment<'_>,
        at: usize,
    ) -> Result<(), StoreError> {
        let Some(replaced) = self.file.replaced.get_mut(at) else {
            return Ok(());
        };
        // After a failure, the copy stays in its slot and is checked again later.
        replaced.due = now.at + AGAIN;
        let (slot, taken) = (replaced.slot, replaced.taken.clone());
        if self.settle_slot(store, now, slot, &taken)? {
            self.file.replaced.retain(|replaced| replaced.slot != slot);
        }
        Ok(())
    }

    /// Returns whether the slot was released.
    fn settle_slot(
        &mut self,
        store: &mut Store,
        now: FileEnvironment<'_>,
        slot: u32,
        taken: &[u8],
    ) -> Result<bool, StoreError> {
        let Ok(OpenedIndexFile { file, .. }) = open_folder(now.root) else {
            return Ok(false);
        };
        let late = match file.read_slot(slot) {
            Ok(late) => late,
            Err(error) => {
                tracing::warn!(%error, "could not read the previous version of the index file; retrying");
                return Ok(false);
            }
        };
        if let Some(late) = &late
            && !is_text(late)
        {
            if !self.set_aside(now, &file, slot, NO_TEXT) {
                return Ok(false);
            }
        } else if let Some(late) = late
            && !self.merge_late(store, now, taken, &late, slot)?
            && !taken.starts_with(&late)
            && !self.bring_back(store, now, taken, late)?
        {
            return Ok(false);
        }
        let_go(&file, slot);
        let mut batch = store.begin_entries()?;
        batch.drop_base(&old_key(slot))?;
        batch.commit()?;
        Ok(true)
    }

    /// Checks all replaced copies once more and releases their slots, because the daemon is ending.
    ///
    /// # Errors
    /// See [`StoreError`]. After an error, the next start completes the work.
    pub fn close_file(&mut self, store: &mut Store, now: FileEnvironment<'_>) -> Result<(), StoreError> {
        for _ in 0..CLOSINGS {
            let slots: Vec<u32> = self.file.replaced.iter().map(|replaced| replaced.slot).collect();
            for slot in slots {
                let at = self
                    .file
                    .replaced
                    .iter()
                    .position(|replaced| replaced.slot == slot);
                if let Some(at) = at {
                    self.settle(store, now, at)?;
                }
            }
            if self.file.words.is_empty() || !self.may_write() {
                break;
            }
            self.write(store, now)?;
        }
        Ok(())
    }

    /// Puts an edit made during a replacement back into the file, where it is held and reported. Returns whether it was
    /// put back; if another version is already held, that version takes precedence.
    fn bring_back(
        &mut self,
        store: &mut Store,
        now: FileEnvironment<'_>,
        base: &[u8],
        late: Vec<u8>,
    ) -> Result<bool, StoreError> {
        let Some(current) = self.take_over(store, now)? else {
            return Ok(false);
        };
        // The current text counts as a separate edit, which is merged again after a person has decided.
        self.file.words.are_not_written();
        let number = self.file.words.note(base, &current);
        if self.replace(store, now, Some(current), late)? == WriteOutcome::Refused {
            self.file.words.cancel(number);
            return Ok(false);
        }
        self.file.set_base(Some(base.to_vec()), now.now);
        self.note_base(store, now)?;
        self.file.look(now.at);
        Ok(true)
    }
}

/// Returns whether `bytes` contains text that the file lacks. Comment lines that hippod rewrites on each write are
/// ignored.
fn says_more(bytes: &[u8], file: &[u8]) -> bool {
    let lines = |bytes: &[u8]| -> BTreeSet<Vec<u8>> {
        let lines = bytes.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
        lines
            .filter(|line| !line.is_empty() && !line.starts_with(b"<!-- "))
            .map(<[u8]>::to_vec)
            .collect()
    };
    !lines(bytes).is_subset(&lines(file))
}

/// Returns whether the bytes can be an index file.
pub(super) fn is_text(bytes: &[u8]) -> bool {
    bytes.len() as u64 <= LARGEST && !bytes.contains(&0)
}

fn let_go(file: &SharedFile, slot: u32) {
    if let Err(error) = file.settle(slot) {
        tracing::warn!(%error, "could not remove the previous version of the index file; it will block a \
                                later write");
    }
}
