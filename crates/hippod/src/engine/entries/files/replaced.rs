//! What becomes of a content that was taken out of the file's place, and that somebody may have written into since?
//!
//! What is understood is merged. What is not is put into the file's place, where it is held and reported, as soon as that
//! can be done; until then it stays where it is. Nothing of it is dropped but the beginning of what is known.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use hippo_core::layout::INDEX_FILE;
use hippo_store::StoreError;
use hippo_store::db::{Base, Store};
use hippo_store::shared_file::{SLOTS, SharedFile};

use super::super::Entries;
use super::write::{Outcome, refused};
use super::{AGAIN, LARGEST, Meant, Now, meant};

/// What was replaced is looked at again after this long, for whoever had it open.
pub(super) const SETTLE: Duration = Duration::from_secs(1);
/// A stop looks this many times at what was replaced, and writes what people put there.
const CLOSINGS: usize = 4;
/// Why a content is set aside that cannot be an index file.
const NO_TEXT: &str = "it is no text, or too long for an index file";
/// Where the store keeps what is about to be written.
pub(super) const NEXT: &str = "HIPPOCAMPUS.md.next";

/// Where the store keeps what was replaced, until that is settled.
pub fn old_key(slot: u32) -> String {
    format!("HIPPOCAMPUS.md.old-{slot}")
}

/// A content that was taken out of the file's place.
#[derive(Debug)]
pub(super) struct Replaced {
    pub slot: u32,
    /// Nobody can be writing to it any more.
    pub due: Instant,
    /// What of it has been taken over.
    pub taken: Vec<u8>,
}

impl Entries {
    /// Finds out how far the last process came that was stopped while it replaced the file, which has the bytes `current`.
    /// Answers whether it could.
    pub(super) fn recover(
        &mut self,
        store: &mut Store,
        now: Now<'_>,
        file: &SharedFile,
        current: &[u8],
    ) -> Result<bool, StoreError> {
        if self.file.recovered {
            return Ok(true);
        }
        let mut found = Vec::new();
        for slot in 0..SLOTS {
            match file.replaced(slot) {
                Ok(bytes) => found.extend(bytes.map(|bytes| (slot, bytes))),
                Err(error) => {
                    let beside = file.replaced_path(slot);
                    let what = format!(
                        "what stood in the place of {INDEX_FILE} cannot be read: {}: {error}",
                        beside.display()
                    );
                    self.file
                        .block(now, refused(what, "give hippod the right to read it".to_owned()));
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
                // The bytes themselves: written, and never put into the file's place.
                (None, Some(next)) if never_placed || bytes == *next => let_go(file, slot),
                (None, Some(_)) => {
                    placed = true;
                    late.push((slot, self.file.base.clone().unwrap_or_default(), bytes));
                }
                // Of a store that is not there any more: what was written then is in the file, but what of it somebody
                // else wrote since nobody can tell.
                (None, None) if says_more(&bytes, current) => {
                    self.set_aside(now, file, slot, "hippod cannot tell what of it is new");
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
            self.file.replaced.push(Replaced { slot, due, taken });
        }
        Ok(true)
    }

    /// Keeps a content that cannot be merged beside the file, for people. Returns whether it is out of its slot.
    fn set_aside(&mut self, now: Now<'_>, file: &SharedFile, slot: u32, why: &str) -> bool {
        match file.set_aside(slot) {
            Ok(kept) => {
                let kept = kept
                    .file_name()
                    .unwrap_or_default()
                    .to_string_lossy()
                    .into_owned();
                tracing::warn!(root = %now.root.display(), kept, "what stood in the place of the index file is kept beside it");
                self.file.conflicts.push(format!(
                    "{kept}: an earlier content of {INDEX_FILE}, and {why}; take from it what you miss, and remove it"
                ));
                true
            }
            Err(error) => {
                tracing::warn!(%error, "could not keep the replaced index file under another name; it stays where it is");
                false
            }
        }
    }

    /// Looks for the last time at something that was replaced, and lets go of it.
    pub(super) fn settle(&mut self, store: &mut Store, now: Now<'_>, at: usize) -> Result<(), StoreError> {
        let Some(replaced) = self.file.replaced.get_mut(at) else {
            return Ok(());
        };
        // Where that fails it is still there, and looked at once more when the store and the file can take it. Its slot is
        // taken until then.
        replaced.due = now.at + AGAIN;
        let (slot, taken) = (replaced.slot, replaced.taken.clone());
        if self.settle_slot(store, now, slot, &taken)? {
            self.file.replaced.retain(|replaced| replaced.slot != slot);
        }
        Ok(())
    }

    /// Answers whether there is nothing more to do about it.
    fn settle_slot(
        &mut self,
        store: &mut Store,
        now: Now<'_>,
        slot: u32,
        taken: &[u8],
    ) -> Result<bool, StoreError> {
        let Ok(Meant { file, .. }) = meant(now.root) else {
            return Ok(false);
        };
        let late = match file.replaced(slot) {
            Ok(late) => late,
            Err(error) => {
                tracing::warn!(%error, "could not read the replaced index file; it is tried again");
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

    /// Lets go of all that was replaced, after a last look: the daemon ends.
    ///
    /// # Errors
    /// See [`StoreError`]; the next start does it.
    pub fn close_file(&mut self, store: &mut Store, now: Now<'_>) -> Result<(), StoreError> {
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

    /// Puts what somebody wrote while it was being replaced into the file's place, where it is held and reported. Answers
    /// whether it is there: where something is held already, that comes first.
    fn bring_back(
        &mut self,
        store: &mut Store,
        now: Now<'_>,
        base: &[u8],
        late: Vec<u8>,
    ) -> Result<bool, StoreError> {
        let Some(current) = self.take_over(store, now)? else {
            return Ok(false);
        };
        // What has come into the file since is an edit of its own: it comes back once somebody has decided.
        self.file.words.are_not_written();
        let number = self.file.words.note(base, &current);
        if self.replace(store, now, Some(current), late)? == Outcome::Refused {
            self.file.words.cancel(number);
            return Ok(false);
        }
        self.file.set_base(Some(base.to_vec()), now.now);
        self.note_base(store, now)?;
        self.file.look(now.at);
        Ok(true)
    }
}

/// Whether there are words in `bytes` that the file does not have. What hippod writes anew each time counts for nothing.
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

/// Whether bytes can be those of an index file.
pub(super) fn is_text(bytes: &[u8]) -> bool {
    bytes.len() as u64 <= LARGEST && !bytes.contains(&0)
}

fn let_go(file: &SharedFile, slot: u32) {
    if let Err(error) = file.settle(slot) {
        tracing::warn!(%error, "could not remove the replaced index file; it is in the way of a later writing");
    }
}
