//! Merging of edits in the index file into the store.

use std::time::Duration;

use hippo_store::StoreError;
use hippo_store::db::Store;

use super::super::WorkspaceEntries;
use super::super::merge::{HeldRemovals, MergeSource};
use super::write::WriteOutcome;
use super::{FileEnvironment, IndexFileReading, copies, open_folder, read, versions};

/// Delay before the file is read again after it changed during a read.
const UNSETTLED: Duration = Duration::from_millis(200);
/// Time for which the file must be missing before hippod writes it again. Some editors remove a file for a moment when
/// they save it.
const MISSING: Duration = Duration::from_secs(3);
impl WorkspaceEntries {
    /// Performs the due work on the index file: checks replaced copies, merges edits, and writes the file if necessary.
    ///
    /// # Errors
    /// See [`StoreError`]. After an error, the work is tried again.
    pub fn tend_file(&mut self, store: &mut Store, now: &FileEnvironment) -> Result<(), StoreError> {
        if !self.enabled {
            return Ok(());
        }
        self.look_below(store, now)?;
        while let Some(at) = self.file.replaced.iter().position(|old| old.due <= now.at) {
            self.settle(store, now, at)?;
        }
        if self.file.look_at.is_some_and(|at| at <= now.at) {
            let accepted = self.file.accept_removals;
            let held = self.file.held.is_some();
            self.take_over(store, now)?;
            self.file.unwritten |= held && self.file.held.is_none();
            if accepted && !self.file.unsettled {
                self.file.accept_removals = false;
            }
            if self.file.unwritten && self.is_begun() && self.may_write() {
                self.write(store, now)?;
            }
            self.put_copies_away(now);
        }
        Ok(())
    }

    /// Returns whether the file may be written now.
    pub fn may_write(&self) -> bool {
        let file = &self.file;
        let readable = file.trouble.as_ref().is_none_or(|trouble| trouble.writing);
        self.enabled && readable && file.held.is_none() && file.missing_since.is_none() && !file.unsettled
    }

    /// Reads the file and merges edits into the store. Returns the content of the file, or `None` if the file is
    /// missing or must not be written.
    pub(super) fn take_over(
        &mut self,
        store: &mut Store,
        now: &FileEnvironment,
    ) -> Result<Option<Vec<u8>>, StoreError> {
        self.file.look_at = None;
        self.file.unsettled = false;
        let meant = match open_folder(now.root()) {
            Ok(meant) => meant,
            Err(trouble) => {
                self.file.block(now, trouble);
                return Ok(None);
            }
        };
        self.file.real = Some(now.root().join(&meant.path));
        let look = match copies::are_unsettled(&meant.dir, now.now) {
            true => IndexFileReading::Unsettled,
            false => self.file.without_foreign(read(&meant), now.at),
        };
        // Recovery compares the replaced copies with the current content of the file. If the file cannot be read,
        // recovery waits.
        let there = match &look {
            IndexFileReading::Whole(bytes) => Some(&bytes[..]),
            IndexFileReading::Missing => Some(&b""[..]),
            IndexFileReading::Unsettled | IndexFileReading::Blocked(_) => None,
        };
        if let Some(there) = there
            && !self.recover(store, now, &meant.file, there)?
        {
            return Ok(None);
        }
        match look {
            IndexFileReading::Whole(bytes) => {
                self.file.missing_since = None;
                if self.file.trouble.as_ref().is_some_and(|trouble| !trouble.writing) {
                    tracing::info!(root = %now.root().display(), "the index file can be read again");
                    self.file.trouble = None;
                    self.file.unwritten = true;
                }
                versions::note_received(&mut self.file.kept, &bytes, now.now);
                if self.merge_copy(store, now, &meant.dir, &bytes)? {
                    // The merge contains the changes of the file.
                } else if self.file.base() == Some(&bytes[..]) {
                    self.file.held = None;
                } else {
                    let base = self.file.base().unwrap_or_default().to_vec();
                    self.merge(store, now, &base, &bytes, MergeSource::File)?;
                }
                Ok(self.file.held.is_none().then_some(bytes))
            }
            IndexFileReading::Unsettled => {
                self.file.unsettled = true;
                self.file.look(now.at + UNSETTLED);
                Ok(None)
            }
            IndexFileReading::Missing => {
                self.file.trouble = self.file.trouble.take().filter(|trouble| trouble.writing);
                // If the file was truncated before it disappeared, its last complete content is written again. The
                // store does not have the text that people wrote into the file.
                let is_cut_off = self.file.held.as_ref().is_some_and(HeldRemovals::is_cut_off);
                let whole = self.file.base().map(<[u8]>::to_vec).filter(|_| is_cut_off);
                if whole.is_none() {
                    self.file.held = None;
                }
                let since = *self.file.missing_since.get_or_insert(now.at);
                if self.file.base().is_some() && now.at < since + MISSING {
                    self.file.look(since + MISSING);
                    return Ok(None);
                }
                // The file is still missing. Its entries remain in the store, and the file is written again from the
                // store.
                self.file.missing_since = None;
                self.file.unwritten |= self.file.base().is_some();
                if let Some(whole) = whole {
                    if self.replace(store, now, None, &whole, 0)? != WriteOutcome::Refused {
                        self.file.held = None;
                        self.file.look(now.at);
                    }
                    return Ok(None);
                }
                self.file.set_base(None, now.now);
                Ok(None)
            }
            IndexFileReading::Blocked(trouble) => {
                self.file.missing_since = None;
                self.file.block(now, trouble);
                Ok(None)
            }
        }
    }

    /// Merges an edit that a program made in a copy of the file while hippod replaced the file. Returns false if the
    /// copy cannot be merged, for example because an editor has not finished writing it.
    pub(super) fn merge_late(
        &mut self,
        store: &mut Store,
        now: &FileEnvironment,
        base: &[u8],
        late: &[u8],
        slot: u32,
    ) -> Result<bool, StoreError> {
        if base == late {
            return Ok(true);
        }
        if !self.merge(store, now, base, late, MergeSource::Replaced(slot))? {
            return Ok(false);
        }
        tracing::info!(
            root = %now.root().display(),
            "another program wrote to the index file while hippod replaced the file; the next write merges \
             the edit"
        );
        self.file.unwritten = true;
        self.file.look(now.at);
        Ok(true)
    }
}
