//! How does what others wrote into the index file come into the store?

use std::path::Path;
use std::time::Duration;

use hippo_core::layout::INDEX_FILE;
use hippo_store::StoreError;
use hippo_store::db::{Base, Store};
use hippo_store::shared_file::{self, SLOTS};

use super::super::Entries;
use super::super::merge::Source;
use super::write::Outcome;
use super::{AGAIN, Look, Now, Replaced, meant, read};

/// A file that changes while it is read is looked at again after this long.
const UNSETTLED: Duration = Duration::from_millis(200);
/// A file that is missing is written anew after this long: an editor may be about to put it back.
const MISSING: Duration = Duration::from_secs(3);
/// What was replaced is looked at again after this long, for whoever had it open.
pub(super) const SETTLE: Duration = Duration::from_secs(1);
/// Where the store keeps what is about to be written.
pub(super) const NEXT: &str = "HIPPOCAMPUS.md.next";

/// Where the store keeps what was replaced, until that is settled.
pub fn old_key(slot: u32) -> String {
    format!("HIPPOCAMPUS.md.old-{slot}")
}

impl Entries {
    /// Does what is due about the index file: takes over what others wrote, lets go of what was replaced.
    ///
    /// # Errors
    /// See [`StoreError`]; it is tried again.
    pub fn tend_file(&mut self, store: &mut Store, now: Now<'_>) -> Result<(), StoreError> {
        if !self.enabled {
            return Ok(());
        }
        while let Some(at) = self.file.replaced.iter().position(|old| old.due <= now.at) {
            self.settle(store, now, at)?;
        }
        if self.file.look_at.is_some_and(|at| at <= now.at) {
            let accepted = self.file.accept_removals;
            let held = !self.file.held.is_empty();
            self.take_over(store, now)?;
            self.file.unwritten |= held && self.file.held.is_empty();
            if accepted && !self.file.unsettled {
                self.file.accept_removals = false;
            }
            if self.file.unwritten && self.is_begun() && self.may_write() {
                self.write(store, now)?;
            }
        }
        Ok(())
    }

    /// Whether the file may be written now.
    pub fn may_write(&self) -> bool {
        let file = &self.file;
        let readable = file.trouble.as_ref().is_none_or(|trouble| trouble.writing);
        self.enabled && readable && file.held.is_empty() && file.missing_since.is_none() && !file.unsettled
    }

    /// Reads the file and merges what others wrote into the store. Answers its bytes where it may be written.
    pub(super) fn take_over(
        &mut self,
        store: &mut Store,
        now: Now<'_>,
    ) -> Result<Option<Vec<u8>>, StoreError> {
        self.file.look_at = None;
        self.file.unsettled = false;
        let path = match meant(now.root) {
            Ok(path) => path,
            Err(trouble) => {
                self.file.block(now, trouble);
                return Ok(None);
            }
        };
        self.recover(store, now, &path)?;
        self.file.real = Some(path.clone());
        match read(&path) {
            Look::Whole(bytes) => {
                self.file.missing_since = None;
                if self.file.trouble.as_ref().is_some_and(|trouble| !trouble.writing) {
                    tracing::info!(root = %now.root.display(), "the index file can be read again");
                    self.file.trouble = None;
                    self.file.unwritten = true;
                }
                let base = self.file.base.clone();
                if base.as_deref() == Some(&bytes[..]) {
                    self.file.let_go_of_held();
                } else {
                    self.merge(store, now, &base.unwrap_or_default(), &bytes, Source::File)?;
                }
                Ok(self.file.held.is_empty().then_some(bytes))
            }
            Look::Unsettled => {
                self.file.unsettled = true;
                self.file.look(now.at + UNSETTLED);
                Ok(None)
            }
            Look::Missing => {
                self.file.trouble = self.file.trouble.take().filter(|trouble| trouble.writing);
                self.file.let_go_of_held();
                let since = *self.file.missing_since.get_or_insert(now.at);
                if self.file.base.is_some() && now.at < since + MISSING {
                    self.file.look(since + MISSING);
                    return Ok(None);
                }
                // Nobody put it back. Nothing is forgotten with it: the store writes it anew.
                self.file.missing_since = None;
                self.file.unwritten |= self.file.base.is_some();
                self.file.set_base(None, now.now);
                Ok(None)
            }
            Look::Blocked(trouble) => {
                self.file.missing_since = None;
                self.file.block(now, trouble);
                Ok(None)
            }
        }
    }

    /// Finds out how far the last process came that was stopped while it replaced the file.
    fn recover(&mut self, store: &mut Store, now: Now<'_>, path: &Path) -> Result<(), StoreError> {
        if self.file.recovered {
            return Ok(());
        }
        let next = store.base(NEXT)?.map(|base| base.bytes);
        let never_placed = shared_file::tidy(path);
        let mut placed = next
            .as_ref()
            .is_some_and(|next| std::fs::read(path).is_ok_and(|bytes| bytes == *next));
        let mut late = Vec::new();
        for slot in 0..SLOTS {
            let Some(bytes) = shared_file::replaced(path, slot).ok().flatten() else {
                continue;
            };
            match (store.base(&old_key(slot))?, &next) {
                (Some(Base { bytes: old, .. }), _) => late.push((slot, old, bytes)),
                // The bytes themselves: written, and never put into the file's place.
                (None, Some(next)) if never_placed || bytes == *next => {}
                (None, Some(_)) => {
                    placed = true;
                    late.push((slot, self.file.base.clone().unwrap_or_default(), bytes));
                }
                // Of a store that is not there any more: what was written then is in the file.
                (None, None) => {}
            }
        }
        if let Some(next) = next.filter(|_| placed) {
            self.file.set_base(Some(next), now.now);
            self.note_base(store, now)?;
        }
        for (slot, old, late) in late {
            self.merge_late(store, now, &old, &late, slot)?;
        }
        for slot in 0..SLOTS {
            let_go(path, slot);
        }
        let mut batch = store.begin_entries()?;
        batch.drop_base(NEXT)?;
        for slot in 0..SLOTS {
            batch.drop_base(&old_key(slot))?;
        }
        batch.commit()?;
        self.file.recovered = true;
        Ok(())
    }

    /// Looks for the last time at something that was replaced, and lets go of it.
    pub(super) fn settle(&mut self, store: &mut Store, now: Now<'_>, at: usize) -> Result<(), StoreError> {
        let Replaced { slot, taken, .. } = self.file.replaced.remove(at);
        let settled = self.settle_slot(store, now, slot, &taken);
        if settled.is_err() {
            // It is still there, and looked at once more when the store can take it.
            self.file.replaced.push(Replaced {
                slot,
                taken,
                due: now.at + AGAIN,
            });
        }
        settled
    }

    fn settle_slot(
        &mut self,
        store: &mut Store,
        now: Now<'_>,
        slot: u32,
        taken: &[u8],
    ) -> Result<(), StoreError> {
        let Ok(path) = meant(now.root) else {
            return Ok(());
        };
        if let Ok(Some(late)) = shared_file::replaced(&path, slot)
            && !self.merge_late(store, now, taken, &late, slot)?
            && !taken.starts_with(&late)
        {
            self.bring_back(store, now, taken, late)?;
        }
        let_go(&path, slot);
        let mut batch = store.begin_entries()?;
        batch.drop_base(&old_key(slot))?;
        batch.commit()
    }

    /// Puts what somebody wrote while it was being replaced into the file's place, where it is held and reported.
    fn bring_back(
        &mut self,
        store: &mut Store,
        now: Now<'_>,
        base: &[u8],
        late: Vec<u8>,
    ) -> Result<(), StoreError> {
        let current = self.take_over(store, now)?;
        if current.is_some() && self.replace(store, now, current, late)? == Outcome::Done {
            self.file.set_base(Some(base.to_vec()), now.now);
            self.note_base(store, now)?;
            self.file.look(now.at);
        }
        Ok(())
    }

    /// Takes over what somebody wrote into a file that was being replaced. Answers whether it was understood: one that is
    /// being written just now is not.
    pub(super) fn merge_late(
        &mut self,
        store: &mut Store,
        now: Now<'_>,
        base: &[u8],
        late: &[u8],
        slot: u32,
    ) -> Result<bool, StoreError> {
        if base == late {
            return Ok(true);
        }
        if !self.merge(store, now, base, late, Source::Replaced(slot))? {
            return Ok(false);
        }
        tracing::info!(root = %now.root.display(), "the index file was written to while it was replaced; both are kept");
        self.file.unwritten = true;
        self.file.look(now.at);
        Ok(true)
    }

    /// Notes in the store what the file said last.
    pub fn note_base(&mut self, store: &mut Store, now: Now<'_>) -> Result<(), StoreError> {
        let mut batch = store.begin_entries()?;
        match &self.file.base {
            Some(bytes) => batch.put_base(INDEX_FILE, bytes, now.now)?,
            None => batch.drop_base(INDEX_FILE)?,
        }
        batch.commit()
    }
}

fn let_go(path: &Path, slot: u32) {
    if let Err(error) = shared_file::settle(path, slot) {
        tracing::warn!(%error, "could not remove the replaced index file; it is in the way of a later writing");
    }
}
