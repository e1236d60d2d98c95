//! How does what the store says come into the index file and the files below it?

use std::io;
use std::time::Instant;

use hippo_core::hierarchy::{FOLDER, HierarchyMeta, Limits};
use hippo_core::index_file::IndexFile as Parsed;
use hippo_core::layout::{self, INDEX_FILE, LayoutInput, META_FILE};
use hippo_store::StoreError;
use hippo_store::db::{RunFile, Store};
use hippo_store::shared_file::SharedFile;

use super::super::Entries;
use super::replaced::{NEXT, Replaced, SETTLE, is_text, old_key};
use super::{Meant, Now, Trouble, meant, others, same_header};
use crate::files;

/// How often a write begins anew because somebody wrote at the same time.
const TRIES: usize = 5;

/// A writing that goes on where it stopped: the files are laid out once, however many calls it takes to write them.
#[derive(Debug)]
pub struct Begun {
    /// The revision of the entries, and the index file with them.
    revision: u64,
    master: Vec<u8>,
    others: others::Wanted,
}

impl Begun {
    /// Whether it is as good as one that was laid out now.
    fn stands(&self, revision: u64, current: Option<&[u8]>) -> bool {
        self.revision == revision && current == Some(&self.master[..])
    }
}

/// How a replacement ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    Done,
    /// Something came in between.
    Again,
    /// Noted as trouble.
    Refused,
}

impl Entries {
    /// Brings the index file and the files below it to what the store says. Answers what was changed.
    ///
    /// # Errors
    /// See [`StoreError`]. What the file system refuses is no error: it is noted, and tried again.
    pub fn write(&mut self, store: &mut Store, now: Now<'_>) -> Result<Vec<RunFile>, StoreError> {
        Ok(self.write_some(store, now, None, &mut None)?.0)
    }

    /// The same, at least one file, and no other one after `until`. Answers also whether something is left to be written: by the
    /// next call with the same `begun`, which is for one writing, between whose calls entries change by merges alone.
    ///
    /// # Errors
    /// See [`Entries::write`].
    pub fn write_until(
        &mut self,
        store: &mut Store,
        now: Now<'_>,
        until: Instant,
        begun: &mut Option<Begun>,
    ) -> Result<(Vec<RunFile>, bool), StoreError> {
        self.write_some(store, now, Some(until), begun)
    }

    fn write_some(
        &mut self,
        store: &mut Store,
        now: Now<'_>,
        until: Option<Instant>,
        begun: &mut Option<Begun>,
    ) -> Result<(Vec<RunFile>, bool), StoreError> {
        let mut changed: Vec<RunFile> = Vec::new();
        if !self.enabled {
            return Ok((changed, false));
        }
        self.file.unwritten = true;
        for _ in 0..TRIES {
            if self.file.free_slot().is_none() {
                // The oldest has waited longest by far.
                self.settle(store, now, 0)?;
            }
            let current = self.take_over(store, now)?;
            if !self.may_write() || (current.is_none() && self.file.base.is_some()) {
                return Ok((changed, false));
            }
            let mut below = match begun.take() {
                Some(begun)
                    if begun.stands(self.revision, current.as_deref()) && self.file.words.is_empty() =>
                {
                    begun
                }
                _ => {
                    // Whoever opens the file has the time in its header from now on, which tells the version.
                    let stamp = now.now.max(self.file.stamped.plus(1));
                    let revision = self.revision;
                    let words = &mut self.file.words;
                    let merged = words.merge(current.as_deref(), now.settings(), stamp);
                    let merged = merged.or_else(|| current.clone());
                    let mut files = self.laid_out(merged.as_deref(), Now { now: stamp, ..now });
                    if let Some(current) = &current
                        && *current != files.master
                        && same_header(current, &files.master)
                    {
                        // Merged words alone: whoever has the file open must not seem to have removed them.
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
                            Outcome::Done => {
                                let there = Parsed::parse(&files.master, now.settings());
                                self.file.blocks.let_go(|id| there.get(id).is_some());
                                others::note(&mut changed, INDEX_FILE, before, files.master.clone());
                            }
                            Outcome::Again => continue,
                            Outcome::Refused => {
                                self.file.words.are_not_written();
                                return Ok((changed, false));
                            }
                        }
                    } else if merged.is_some() {
                        self.file.words.are_written();
                        self.keep_words(store, now)?;
                    }
                    Begun {
                        revision,
                        master: files.master,
                        others: others::Wanted::new(files.others),
                    }
                }
            };
            let written = others::write(now.root, &mut below.others, &mut changed, until);
            if let Err(error) = &written {
                let trouble = refused(
                    format!("the files below {FOLDER} cannot be written: {error}"),
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

    /// Has the store know which edits the file has.
    fn keep_words(&mut self, store: &mut Store, now: Now<'_>) -> Result<(), StoreError> {
        let mut batch = store.begin_entries()?;
        self.file.words.put(&mut batch, now.now)?;
        batch.commit()?;
        self.file.words.are_kept();
        Ok(())
    }

    fn laid_out(&self, current: Option<&[u8]>, now: Now<'_>) -> layout::LaidOutFiles {
        let meta: Option<HierarchyMeta> = files::read(&now.root.join(META_FILE), others::LARGEST)
            .ok()
            .and_then(|bytes| serde_json::from_slice(&bytes).ok());
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
            meta: meta.as_ref(),
            limits,
            settings: now.settings(),
            now: now.now,
        };
        let returning = layout::insert_returning(current, self.file.blocks.iter(), &wanted);
        layout::lay_out(returning.as_deref().or(current), &wanted)
    }

    /// Puts bytes into the file's place, where it still is what it was laid out from.
    pub(super) fn replace(
        &mut self,
        store: &mut Store,
        now: Now<'_>,
        current: Option<Vec<u8>>,
        bytes: Vec<u8>,
    ) -> Result<Outcome, StoreError> {
        let mut batch = store.begin_entries()?;
        batch.put_base(NEXT, &bytes, now.now)?;
        self.file.blocks.put(&mut batch, now.now)?;
        self.file.words.put(&mut batch, now.now)?;
        batch.commit()?;
        self.file.blocks.are_kept();
        self.file.words.are_kept();
        let write = |file: &SharedFile, slot| file.replace(&bytes, slot);
        let Some((slot, old)) = self.put(now, write) else {
            return Ok(Outcome::Refused);
        };
        self.file.set_base(Some(bytes), now.now);
        let replaced = self.replaced(store, now, current, slot, old);
        // What stands beside is found again by what the store noted before.
        self.file.recovered &= replaced.is_ok();
        replaced
    }

    /// Takes the file away, where it still is what it is known as.
    fn take_away(
        &mut self,
        store: &mut Store,
        now: Now<'_>,
        current: Option<Vec<u8>>,
    ) -> Result<Outcome, StoreError> {
        let Some((slot, old)) = self.put(now, SharedFile::take_away) else {
            return Ok(Outcome::Refused);
        };
        self.file.set_base(None, now.now);
        let replaced = self.replaced(store, now, current, slot, old);
        self.file.recovered &= replaced.is_ok();
        replaced
    }

    /// Changes what stands in the file's place; answers the slot of what stood there, and that. Nothing where the system
    /// refuses, which is noted.
    fn put(
        &mut self,
        now: Now<'_>,
        change: impl FnOnce(&SharedFile, u32) -> io::Result<Option<Vec<u8>>>,
    ) -> Option<(u32, Option<Vec<u8>>)> {
        let slot = self.file.free_slot()?;
        let trouble = match meant(now.root) {
            Err(trouble) => trouble,
            Ok(Meant { file, .. }) => match change(&file, slot) {
                Ok(old) => return Some((slot, old)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    let beside = file.replaced_path(slot);
                    refused(
                        format!(
                            "{INDEX_FILE} cannot be written: {} is in the way",
                            beside.display()
                        ),
                        "move it away".to_owned(),
                    )
                }
                Err(error) => refused(
                    format!("{INDEX_FILE} cannot be written: {error}"),
                    format!(
                        "make the folder {} writable, or set index.enabled = false",
                        now.root.display()
                    ),
                ),
            },
        };
        self.file.block(now, trouble);
        None
    }

    /// Notes what stands in the file's place by now, and takes over what somebody wrote there in between.
    fn replaced(
        &mut self,
        store: &mut Store,
        now: Now<'_>,
        expected: Option<Vec<u8>>,
        slot: u32,
        old: Option<Vec<u8>>,
    ) -> Result<Outcome, StoreError> {
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
            return Ok(Outcome::Done);
        };
        let between = old != taken;
        // The beginning of what was there: somebody is in the middle of writing it again.
        let is_half = between && taken.starts_with(&old);
        let understood = !is_half && is_text(&old) && self.merge_late(store, now, &taken, &old, slot)?;
        if understood {
            taken = old;
        }
        self.file.replaced.push(Replaced {
            slot,
            due: now.at + SETTLE,
            taken,
        });
        Ok(if between && understood {
            Outcome::Again
        } else {
            Outcome::Done
        })
    }

    /// Puts a file back as it was before a run, where it is still as the run left it. Answers whether it was.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub fn put_back(&mut self, store: &mut Store, now: Now<'_>, file: &RunFile) -> Result<bool, StoreError> {
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
        Ok(outcome == Outcome::Done)
    }
}

/// The file can be read, and not be written.
pub(super) fn refused(what: String, fix: String) -> Trouble {
    Trouble {
        what,
        fix,
        writing: true,
    }
}

#[cfg(test)]
mod tests;
