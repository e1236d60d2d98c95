//! Writing of the index file and of the files below it.

use std::io;
use std::time::Instant;

use hippo_map::hierarchy::{FOLDER, Limits};
use hippo_map::index_file::IndexFile as Parsed;
use hippo_map::layout::{self, INDEX_FILE, LayoutInput};
use hippo_store::StoreError;
use hippo_store::db::{RunFile, Store};
use hippo_store::shared_file::SharedFile;

use super::super::WorkspaceEntries;
use super::replaced::{NEXT, ReplacedCopy, SETTLE, is_text, old_key};
use super::{FileEnvironment, IndexFileIssue, OpenedIndexFile, open_folder, others, same_header};

/// Maximum number of attempts if the file changes during the write.
const TRIES: usize = 5;

/// A resumable write. The files are laid out only once, however many calls it takes to write them.
#[derive(Debug)]
pub struct ResumableWrite {
    /// Revision of the entries at the time of the layout; `master` is the index file in that layout.
    revision: u64,
    master: Vec<u8>,
    others: others::OutputFiles,
}

impl ResumableWrite {
    /// Returns whether the layout still matches the entries and the current file.
    fn is_current(&self, revision: u64, current: Option<&[u8]>) -> bool {
        self.revision == revision && current == Some(&self.master[..])
    }
}

/// Result of a replacement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WriteOutcome {
    Done,
    /// The file changed in the meantime.
    Again,
    /// The write was rejected, and the reason is recorded as trouble.
    Refused,
}

impl WorkspaceEntries {
    /// Updates the index file and the files below it to match the store. Returns the changed files.
    ///
    /// # Errors
    /// See [`StoreError`]. Errors of the file system are not returned: they are recorded, and the write is tried again.
    pub fn write(&mut self, store: &mut Store, now: FileEnvironment<'_>) -> Result<Vec<RunFile>, StoreError> {
        Ok(self.write_some(store, now, None, &mut None)?.0)
    }

    /// Works like [`WorkspaceEntries::write`], but only until a deadline: it writes at least one file, and starts no further
    /// file after `until`. The second value is true if files are left for the next call with the same `begun`.
    ///
    /// Each `begun` belongs to one write. Between the calls of that write, only merges may change entries.
    ///
    /// # Errors
    /// See [`WorkspaceEntries::write`].
    pub fn write_until(
        &mut self,
        store: &mut Store,
        now: FileEnvironment<'_>,
        until: Instant,
        begun: &mut Option<ResumableWrite>,
    ) -> Result<(Vec<RunFile>, bool), StoreError> {
        self.write_some(store, now, Some(until), begun)
    }

    fn write_some(
        &mut self,
        store: &mut Store,
        now: FileEnvironment<'_>,
        until: Option<Instant>,
        begun: &mut Option<ResumableWrite>,
    ) -> Result<(Vec<RunFile>, bool), StoreError> {
        let mut changed: Vec<RunFile> = Vec::new();
        if !self.enabled {
            return Ok((changed, false));
        }
        self.file.unwritten = true;
        for _ in 0..TRIES {
            if self.file.free_slot().is_none() {
                // The first replaced copy is the oldest.
                self.settle(store, now, 0)?;
            }
            let current = self.take_over(store, now)?;
            if !self.may_write() || (current.is_none() && self.file.base.is_some()) {
                return Ok((changed, false));
            }
            let mut below = match begun.take() {
                Some(begun)
                    if begun.is_current(self.revision, current.as_deref()) && self.file.words.is_empty() =>
                {
                    begun
                }
                _ => {
                    // From now on, the time in the header identifies this version in every editor that opens it.
                    let stamp = now.now.max(self.file.stamped.plus(1));
                    let revision = self.revision;
                    let words = &mut self.file.words;
                    let merged = words.merge(current.as_deref(), now.settings(), stamp);
                    let merged = merged.or_else(|| current.clone());
                    let mut files = self.laid_out(merged.as_deref(), FileEnvironment { now: stamp, ..now });
                    if let Some(current) = &current
                        && *current != files.master
                        && same_header(current, &files.master)
                    {
                        // The merge only added text, so the header needs a new time. Otherwise, an editor with the old
                        // version open would seem to have removed that text.
                        let mut file = Parsed::parse(&files.master, now.settings());
                        file.set_header(files.entries, stamp);
                        files.master = file.to_bytes();
                    }
                    if current.as_deref() != Some(&files.master[..]) {
                        self.file.stamped = stamp;
                        let before = current.clone();
                        let from = merged.as_deref().unwrap_or_default();
                        self.file.keep_blocks(from, &files.master, now.settings());
                        match self.replace(store, now, current, files.master.clone())? {
                            WriteOutcome::Done => {
                                let there = Parsed::parse(&files.master, now.settings());
                                self.file.blocks.let_go(|id| there.get(id).is_some());
                                others::note(&mut changed, INDEX_FILE, before, files.master.clone());
                            }
                            WriteOutcome::Again => continue,
                            WriteOutcome::Refused => {
                                self.file.words.are_not_written();
                                return Ok((changed, false));
                            }
                        }
                    } else if merged.is_some() {
                        self.file.words.are_written();
                        self.keep_words(store, now)?;
                    }
                    ResumableWrite {
                        revision,
                        master: files.master,
                        others: others::OutputFiles::new(files.others),
                    }
                }
            };
            let written = others::write(now.root, &mut below.others, &mut changed, until);
            if let Err(error) = &written {
                let trouble = unwritable_issue(
                    format!("could not write the files below {FOLDER}: {error}"),
                    format!("make the folder {} writable", now.root.join(FOLDER).display()),
                );
                self.file.block(now, trouble);
                return Ok((changed, false));
            }
            if matches!(written, Ok(false)) {
                *begun = Some(below);
                return Ok((changed, true));
            }
            if self.file.trouble.take().is_some() {
                tracing::info!(root = %now.root.display(), "the index file can be written again");
            }
            (self.file.unwritten, self.file.outdated) = (false, false);
            break;
        }
        Ok((changed, false))
    }

    /// Records in the store which edits the file contains.
    fn keep_words(&mut self, store: &mut Store, now: FileEnvironment<'_>) -> Result<(), StoreError> {
        let mut batch = store.begin_entries()?;
        self.file.words.put(&mut batch, now.now)?;
        batch.commit()?;
        self.file.words.are_kept();
        Ok(())
    }

    fn laid_out(&self, current: Option<&[u8]>, now: FileEnvironment<'_>) -> layout::LaidOutFiles {
        let limits = Limits {
            max_tokens: now.config.tokens(now.files),
            max_entries: now.config.max_entries,
            ..Limits::default()
        };
        let forgotten = self.forgotten();
        let wanted = LayoutInput {
            records: &self.known.records,
            forgotten: &forgotten,
            quick_access: &self.known.quick_access,
            limits,
            settings: now.settings(),
            now: now.now,
        };
        let returning = layout::insert_returning(current, self.file.blocks.iter(), &wanted);
        layout::lay_out(returning.as_deref().or(current), &wanted)
    }

    /// Replaces the file if its content is still that from which the new bytes were laid out.
    pub(super) fn replace(
        &mut self,
        store: &mut Store,
        now: FileEnvironment<'_>,
        current: Option<Vec<u8>>,
        bytes: Vec<u8>,
    ) -> Result<WriteOutcome, StoreError> {
        let mut batch = store.begin_entries()?;
        batch.put_base(NEXT, &bytes, now.now)?;
        self.file.blocks.put(&mut batch, now.now)?;
        self.file.words.put(&mut batch, now.now)?;
        batch.commit()?;
        self.file.blocks.are_kept();
        self.file.words.are_kept();
        let write = |file: &SharedFile, slot| file.replace(&bytes, slot);
        let Some((slot, old)) = self.put(now, write) else {
            return Ok(WriteOutcome::Refused);
        };
        self.file.set_base(Some(bytes), now.now);
        let replaced = self.replaced(store, now, current, slot, old);
        // The next recovery finds the copy beside the file by means of the records in the store.
        self.file.recovered &= replaced.is_ok();
        replaced
    }

    /// Removes the file if it still has the expected content.
    fn take_away(
        &mut self,
        store: &mut Store,
        now: FileEnvironment<'_>,
        current: Option<Vec<u8>>,
    ) -> Result<WriteOutcome, StoreError> {
        let Some((slot, old)) = self.put(now, SharedFile::take_away) else {
            return Ok(WriteOutcome::Refused);
        };
        self.file.set_base(None, now.now);
        let replaced = self.replaced(store, now, current, slot, old);
        self.file.recovered &= replaced.is_ok();
        replaced
    }

    /// Changes the file with `change`. Returns the slot of the previous content and that content. If the operating
    /// system rejects the change, records the trouble and returns `None`.
    fn put(
        &mut self,
        now: FileEnvironment<'_>,
        change: impl FnOnce(&SharedFile, u32) -> io::Result<Option<Vec<u8>>>,
    ) -> Option<(u32, Option<Vec<u8>>)> {
        let slot = self.file.free_slot()?;
        let trouble = match open_folder(now.root) {
            Err(trouble) => trouble,
            Ok(OpenedIndexFile { file, .. }) => match change(&file, slot) {
                Ok(old) => return Some((slot, old)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    let beside = file.replaced_path(slot);
                    unwritable_issue(
                        format!("could not write {INDEX_FILE}: {} exists", beside.display()),
                        "move the existing file elsewhere".to_owned(),
                    )
                }
                Err(error) => unwritable_issue(
                    format!("could not write {INDEX_FILE}: {error}"),
                    format!(
                        "make the folder {} writable, or set `index.enabled = false`",
                        now.root.display()
                    ),
                ),
            },
        };
        self.file.block(now, trouble);
        None
    }

    /// Records the current content of the file, and merges text that an editor wrote in the meantime.
    fn replaced(
        &mut self,
        store: &mut Store,
        now: FileEnvironment<'_>,
        expected: Option<Vec<u8>>,
        slot: u32,
        old: Option<Vec<u8>>,
    ) -> Result<WriteOutcome, StoreError> {
        let mut taken = expected.unwrap_or_default();
        let mut batch = store.begin_entries()?;
        match &self.file.base {
            Some(base) => batch.put_base(INDEX_FILE, base, now.now)?,
            None => batch.drop_base(INDEX_FILE)?,
        }
        batch.drop_base(NEXT)?;
        if old.is_some() {
            batch.put_base(&old_key(slot), &taken, now.now)?;
        }
        self.file.versions.put(&mut batch)?;
        self.file.words.are_written();
        self.file.words.put(&mut batch, now.now)?;
        batch.commit()?;
        self.file.versions.are_kept();
        self.file.words.are_kept();
        let Some(old) = old else {
            return Ok(WriteOutcome::Done);
        };
        let between = old != taken;
        // The old content is only the beginning of the expected one, so an editor is rewriting the file right now.
        let is_half = between && taken.starts_with(&old);
        let understood = !is_half && is_text(&old) && self.merge_late(store, now, &taken, &old, slot)?;
        if understood {
            taken = old;
        }
        self.file.replaced.push(ReplacedCopy {
            slot,
            due: now.at + SETTLE,
            taken,
        });
        Ok(if between && understood {
            WriteOutcome::Again
        } else {
            WriteOutcome::Done
        })
    }

    /// Restores a file to its state before a run, if the file is unchanged since the run. Returns whether it was
    /// restored.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub fn put_back(
        &mut self,
        store: &mut Store,
        now: FileEnvironment<'_>,
        file: &RunFile,
    ) -> Result<bool, StoreError> {
        if file.path != INDEX_FILE {
            return Ok(others::put_back(now.root, file));
        }
        let current = self.take_over(store, now)?;
        if current.as_deref() != Some(&file.after[..]) {
            return Ok(false);
        }
        self.file.words.are_not_written();
        let outcome = match &file.before {
            Some(before) => self.replace(store, now, current, before.clone())?,
            None => self.take_away(store, now, current)?,
        };
        Ok(outcome == WriteOutcome::Done)
    }
}

/// Creates an [`IndexFileIssue`] for a file that can be read but not written.
pub(super) fn unwritable_issue(what: String, fix: String) -> IndexFileIssue {
    IndexFileIssue {
        what,
        fix,
        writing: true,
    }
}

#[cfg(test)]
mod tests;
