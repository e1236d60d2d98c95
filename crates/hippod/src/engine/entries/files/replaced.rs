//! Replaced copies of the index file.
//!
//! When hippod replaces the index file, it keeps the previous file in a slot, under another name in the same folder,
//! because an editor may still write to that file. A moment later, hippod merges edits from this replaced copy. A copy
//! that cannot be merged is renamed and reported. A copy that contains only the beginning of its expected content is
//! deleted.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use hippo_map::layout::{INDEX_FILE, foreign};
use hippo_store::StoreError;
use hippo_store::db::Store;
use hippo_store::shared_file::{SLOTS, SharedFile};

use super::super::WorkspaceEntries;
use super::write::unwritable_issue;
use super::{AGAIN, FileEnvironment, LARGEST, OpenedIndexFile, open_folder, words};

/// Delay after which a replaced copy is checked, in case an editor still wrote to it.
pub(super) const SETTLE: Duration = Duration::from_secs(1);
/// Maximum number of passes over the replaced copies at shutdown. Each pass merges late edits into the index file,
/// which replaces the file again.
const CLOSINGS: usize = 4;
/// Reason why hippod keeps a replaced copy for the user, if the copy cannot be an index file.
const NO_TEXT: &str = "it is not a text file, or it is too long for an index file";
/// Reason why hippod keeps a replaced copy for the user, if the copy lacks many entries.
pub(super) const DOUBTFUL: &str = "it lacks many entries, or its end";
/// Reason why hippod keeps a replaced copy for the user, if the database of that time is lost.
const UNKNOWN: &str = "hippod cannot determine which of its lines the index file lacks";
/// Key under which the store keeps the new content of the file while a write is in progress.
pub(super) const NEXT: &str = "HIPPOCAMPUS.md.next";

/// Returns the key under which the store keeps the expected content of a replaced copy until its slot is released.
pub fn old_key(slot: u32) -> String {
    format!("HIPPOCAMPUS.md.old-{slot}")
}

/// A replaced copy of the index file.
#[derive(Debug)]
pub(super) struct ReplacedCopy {
    pub slot: u32,
    /// Time of the final check of the copy. After that time, no editor is expected to write to it.
    pub due: Instant,
}

impl WorkspaceEntries {
    /// Completes a replacement of the file during which the last process was stopped. `current` is the content of the
    /// file now. Returns whether the recovery is complete.
    pub(super) fn recover(
        &mut self,
        store: &mut Store,
        now: &FileEnvironment,
        file: &SharedFile,
        current: &[u8],
    ) -> Result<bool, StoreError> {
        if self.file.recovered {
            return Ok(true);
        }
        let mut found = Vec::new();
        for slot in 0..SLOTS {
            match file.read_slot(slot) {
                Ok(bytes) => found.extend(bytes.map(|bytes| (slot, foreign::split(&bytes).0))),
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
        let kept = &self.file.kept;
        let next = kept.bytes(NEXT).map(<[u8]>::to_vec);
        let never_placed = file.tidy();
        let mut placed = next.as_ref().is_some_and(|next| next == current);
        let mut late = Vec::new();
        let mut aside = Vec::new();
        for (slot, bytes) in found {
            match (kept.bytes(&old_key(slot)), &next) {
                _ if !is_text(&bytes) => aside.push((slot, NO_TEXT)),
                (Some(old), _) => late.push((slot, old.to_vec(), bytes)),
                // The slot contains the new bytes: the last process wrote them but did not move them into place.
                (None, Some(next)) if never_placed || bytes == *next => let_go(file, slot),
                (None, Some(_)) => {
                    placed = true;
                    late.push((slot, self.file.base().unwrap_or_default().to_vec(), bytes));
                }
                // The slot was used with a database that is lost. Without it, edits in the slot cannot be identified,
                // so the copy is kept if it has lines that the index file lacks.
                (None, None) if says_more(&bytes, current) => aside.push((slot, UNKNOWN)),
                (None, None) => let_go(file, slot),
            }
        }
        if let Some(next) = next.filter(|_| placed) {
            self.file.set_base(Some(&next), now.now);
            self.file.kept.save(store)?;
        }
        for (slot, old, late) in late {
            if self.merge_late(store, now, &old, &late, slot)? || old.starts_with(&late) {
                let_go(file, slot);
            } else {
                aside.push((slot, DOUBTFUL));
            }
        }
        for (slot, why) in aside {
            self.set_aside(now, file, slot, why);
        }
        self.file.kept.remove(NEXT);
        for slot in 0..SLOTS {
            self.file.kept.remove(&old_key(slot));
        }
        self.file.kept.save(store)?;
        self.file.recovered = true;
        Ok(true)
    }

    /// Renames a replaced copy that cannot be merged, so that the user finds it in the folder of the index file.
    /// Returns whether the slot is free then.
    fn set_aside(&mut self, now: &FileEnvironment, file: &SharedFile, slot: u32, why: &str) -> bool {
        match file.set_aside(slot) {
            Ok(kept) => {
                let kept = kept
                    .file_name()
                    .unwrap_or_default()
                    .to_string_lossy()
                    .into_owned();
                tracing::warn!(root = %now.root().display(), kept, "the previous version of the index file is \
                                                                  kept in the same folder");
                self.file.conflicts.push(format!(
                    "{kept}: an earlier version of {INDEX_FILE}, kept for this reason: {why}; copy the lines \
                     that {INDEX_FILE} lacks into {INDEX_FILE}, then remove {kept}"
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
        now: &FileEnvironment,
        at: usize,
    ) -> Result<(), StoreError> {
        let Some(replaced) = self.file.replaced.get_mut(at) else {
            return Ok(());
        };
        // If this check fails, the copy stays in its slot until the next check.
        replaced.due = now.at + AGAIN;
        let slot = replaced.slot;
        let Ok(OpenedIndexFile { file, .. }) = open_folder(now.root()) else {
            return Ok(());
        };
        let late = match file.read_slot(slot) {
            Ok(late) => late.map(|late| foreign::split(&late).0),
            Err(error) => {
                tracing::warn!(%error, "could not read the previous version of the index file; retrying");
                return Ok(());
            }
        };
        let taken = self.file.kept.bytes(&old_key(slot)).unwrap_or_default().to_vec();
        let why = match &late {
            None => None,
            Some(late) if !is_text(late) => Some(NO_TEXT),
            Some(late) => {
                let is_known = self.merge_late(store, now, &taken, late, slot)? || taken.starts_with(late);
                (!is_known).then_some(DOUBTFUL)
            }
        };
        if why.is_some_and(|why| !self.set_aside(now, &file, slot, why)) {
            return Ok(());
        }
        let_go(&file, slot);
        self.file.kept.remove(&old_key(slot));
        self.file.kept.save(store)?;
        self.file.replaced.retain(|replaced| replaced.slot != slot);
        Ok(())
    }

    /// Checks all replaced copies a last time and releases their slots, before the workspace is closed.
    ///
    /// # Errors
    /// See [`StoreError`]. After an error, the next start completes the work.
    pub fn close_file(&mut self, store: &mut Store, now: &FileEnvironment) -> Result<(), StoreError> {
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
            if words::are_none(&self.file.kept) || !self.may_write() {
                break;
            }
            self.write(store, now)?;
        }
        Ok(())
    }
}

/// Returns whether `bytes` contains a line that `file` lacks. Lines with HTML comments are ignored, because hippod
/// rewrites them on each write.
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

/// Returns whether the bytes can be the content of an index file.
pub(super) fn is_text(bytes: &[u8]) -> bool {
    bytes.len() as u64 <= LARGEST && !bytes.contains(&0)
}

fn let_go(file: &SharedFile, slot: u32) {
    if let Err(error) = file.settle(slot) {
        tracing::warn!(%error, "could not remove the previous version of the index file; it will block a \
                                later write");
    }
}
