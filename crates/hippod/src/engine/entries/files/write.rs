//! Writing of the index file and of the generated files.

use std::collections::BTreeSet;
use std::io;

use hippo_fs::WorkspaceDir;
use hippo_map::hierarchy::{FOLDER, Limits};
use hippo_map::index_file::IndexFile as Parsed;
use hippo_map::layout::{self, INDEX_FILE, LayoutInput, foreign};
use hippo_store::StoreError;
use hippo_store::db::Store;

use super::super::WorkspaceEntries;
use super::replaced::{NEXT, ReplacedCopy, SETTLE, is_text, old_key};
use super::{FileEnvironment, IndexFileIssue, open_folder, others, same_header, versions, words};

/// Maximum number of attempts to write the file if other programs change it at the same time.
const TRIES: usize = 5;

/// Result of an attempt to replace the index file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WriteOutcome {
    Done,
    /// Another program changed the file in the meantime, so it must be written again.
    Again,
    /// The file could not be replaced. The reason is recorded in `trouble`.
    Refused,
}

impl WorkspaceEntries {
    /// Updates the index file and the generated files below `.hippocampus/` to match the store. Returns the paths of
    /// the changed files.
    ///
    /// # Errors
    /// See [`StoreError`]. Errors of the file system are not returned: they are recorded, and the write is tried again.
    pub fn write(
        &mut self,
        store: &mut Store,
        now: &FileEnvironment,
    ) -> Result<BTreeSet<String>, StoreError> {
        let mut changed = BTreeSet::new();
        if !self.enabled {
            return Ok(changed);
        }
        self.file.unwritten = true;
        for _ in 0..TRIES {
            if self.file.free_slot().is_none() {
                // Release the slot of the oldest replaced copy, which is the first one.
                self.settle(store, now, 0)?;
            }
            let current = self.take_over(store, now)?;
            if !self.may_write() || (current.is_none() && self.file.base().is_some()) {
                return Ok(changed);
            }
            // The time in the header must be unique, because it identifies the version that an editor has opened.
            let stamp = now.now.max(self.file.stamped.plus(1));
            let (merged, upto) =
                match words::merge(&self.file.kept, current.as_deref(), now.settings(), stamp) {
                    Some((merged, upto)) => (Some(merged), upto),
                    None => (current.clone(), 0),
                };
            let stamped = FileEnvironment {
                now: stamp,
                ..now.clone()
            };
            let mut files = self.laid_out(merged.as_deref(), &stamped);
            let foreign_differs = self.file.foreign() != self.file.foreign_in_file;
            if !self.file.foreign().is_empty() && !files.master.ends_with(b"\n") {
                // The section that follows is not part of the content, but would end the last line.
                files.master.push(b'\n');
            }
            let there = current.as_deref();
            if there != Some(&files.master[..]) {
                let mut file = Parsed::parse(&files.master, now.settings());
                if upto > 0 || there.is_some_and(|there| same_header(there, &files.master)) {
                    // The merge added text but did not set a new header. Set a new time, because an editor that saves
                    // the old version with the same header would seem to have removed that text.
                    file.set_header(files.entries, stamp);
                }
                if let Some(received) = versions::received(&self.file.kept) {
                    file.set_received(received);
                }
                files.master = file.to_bytes();
            }
            if foreign_differs || current.as_deref() != Some(&files.master[..]) {
                self.file.stamped = stamp;
                self.file
                    .keep_entries(merged.as_deref().unwrap_or_default(), &files.master, now);
                match self.replace(store, now, current, &files.master, upto)? {
                    WriteOutcome::Done => {
                        let there = Parsed::parse(&files.master, now.settings());
                        self.file.kept.drop_entries(|id| there.get(id).is_some());
                        changed.insert(INDEX_FILE.to_owned());
                    }
                    WriteOutcome::Again => continue,
                    WriteOutcome::Refused => return Ok(changed),
                }
            } else if upto > 0 {
                words::are_written(&mut self.file.kept, upto);
                self.file.kept.save(store)?;
            }
            let written = WorkspaceDir::open(now.root())
                .and_then(|dir| others::write(&dir, &files.others, &mut changed));
            if let Err(error) = written {
                let trouble = unwritable_issue(
                    format!("could not write the files below {FOLDER}: {error}"),
                    format!("make the folder {} writable", now.root().join(FOLDER).display()),
                );
                self.file.block(now, trouble);
                return Ok(changed);
            }
            if self.file.trouble.take().is_some() {
                tracing::info!(root = %now.root().display(), "the index file can be written again");
            }
            (self.file.unwritten, self.file.outdated) = (false, false);
            break;
        }
        Ok(changed)
    }

    /// Writes the version `before` a run again, if the file still has the content of the version `after` the run.
    /// Returns whether the version was written.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub fn put_back(
        &mut self,
        store: &mut Store,
        now: &FileEnvironment,
        [before, after]: [u64; 2],
    ) -> Result<bool, StoreError> {
        let current = self.take_over(store, now)?;
        let kept = &self.file.kept;
        let before = versions::bytes(kept, before).map(<[u8]>::to_vec);
        match before.filter(|_| current.as_deref() == versions::bytes(kept, after)) {
            Some(before) => Ok(self.replace(store, now, current, &before, 0)? == WriteOutcome::Done),
            None => Ok(false),
        }
    }

    fn laid_out(&self, current: Option<&[u8]>, now: &FileEnvironment) -> layout::LaidOutFiles {
        let config = &now.view.config.index;
        let foreign = hippo_types::tokens::of_bytes(self.file.foreign().len());
        let limits = Limits {
            max_tokens: config
                .tokens(now.files)
                .min(config.max_tokens.saturating_sub(foreign)),
            max_entries: config.max_entries,
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
        let kept = self.file.kept.entries();
        let kept = kept.iter().map(|(id, bytes)| (id, bytes));
        let returning = layout::insert_returning(current, kept, &wanted);
        layout::lay_out(returning.as_deref().or(current), &wanted)
    }

    /// Replaces the file with `bytes`, and merges edits that were made after its content `current` was read. The new
    /// content contains the stored edits with a number below `upto`.
    pub(super) fn replace(
        &mut self,
        store: &mut Store,
        now: &FileEnvironment,
        current: Option<Vec<u8>>,
        bytes: &[u8],
        upto: u64,
    ) -> Result<WriteOutcome, StoreError> {
        self.file.kept.put(NEXT.to_owned(), bytes, now.now);
        self.file.kept.save(store)?;
        let Some((slot, old)) = self.put(now, bytes) else {
            return Ok(WriteOutcome::Refused);
        };
        self.file.set_base(Some(bytes), now.now);
        words::are_written(&mut self.file.kept, upto);
        let replaced = self.replaced(store, now, current.unwrap_or_default(), slot, old);
        // After an error, the next check of the file finds the replaced copy by means of the records in the store.
        self.file.recovered &= replaced.is_ok();
        replaced
    }

    /// Writes the file. Returns the slot with the previous content, and the previous content itself. If the write
    /// fails, records the reason in `trouble` and returns `None`.
    fn put(&mut self, now: &FileEnvironment, bytes: &[u8]) -> Option<(u32, Option<Vec<u8>>)> {
        let slot = self.file.free_slot()?;
        let file = match open_folder(now.root()) {
            Ok(opened) => opened.file,
            Err(trouble) => {
                self.file.block(now, trouble);
                return None;
            }
        };
        let whole = foreign::append(bytes, self.file.foreign());
        let error = match file.replace(&whole, slot) {
            Ok(old) => {
                self.file.foreign_in_file = self.file.foreign().to_owned();
                return Some((slot, old.map(|old| foreign::split(&old).0)));
            }
            Err(error) => error,
        };
        let trouble = if error.kind() == io::ErrorKind::AlreadyExists {
            let beside = file.replaced_path(slot);
            unwritable_issue(
                format!("could not write {INDEX_FILE}: {} exists", beside.display()),
                "move the existing file elsewhere".to_owned(),
            )
        } else {
            let folder = now.root().display();
            unwritable_issue(
                format!("could not write {INDEX_FILE}: {error}"),
                format!("make the folder {folder} writable, or set `index.enabled = false`"),
            )
        };
        self.file.block(now, trouble);
        None
    }

    /// Completes a replacement: records the expected content of the replaced copy, and merges text that an editor wrote
    /// in the meantime.
    fn replaced(
        &mut self,
        store: &mut Store,
        now: &FileEnvironment,
        expected: Vec<u8>,
        slot: u32,
        old: Option<Vec<u8>>,
    ) -> Result<WriteOutcome, StoreError> {
        self.file.kept.remove(NEXT);
        if old.is_some() {
            self.file.kept.put(old_key(slot), &expected, now.now);
        }
        self.file.kept.save(store)?;
        let Some(old) = old else {
            return Ok(WriteOutcome::Done);
        };
        let between = old != expected;
        // If the old content is only the beginning of the expected content, an editor is writing the file right now.
        let is_half = between && expected.starts_with(&old);
        let understood = !is_half && is_text(&old) && self.merge_late(store, now, &expected, &old, slot)?;
        let due = now.at + SETTLE;
        self.file.replaced.push(ReplacedCopy { slot, due });
        Ok(if between && understood {
            WriteOutcome::Again
        } else {
            WriteOutcome::Done
        })
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
