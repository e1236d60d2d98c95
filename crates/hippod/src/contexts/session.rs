//! In-memory cache of session entries.
//!
//! A turn of a cached session does not read the disk.

use std::collections::{BTreeSet, HashMap};

use hippo_context::lifecycle::{self, CyclePlan, SessionEntry, Trigger, size};
use hippo_proto::RpcError;
use hippo_store::contexts::{ContentId, ContextError, ContextStore, KeptEntry};

use super::refusal;

/// Maximum number of cached sessions per workspace.
const MOST: usize = 16;

/// An entry with its content id.
#[derive(Debug, Clone)]
pub struct TrackedEntry {
    /// The entry and its usage.
    pub kept: SessionEntry,
    /// Id of the entry's content, if the entry has content.
    pub content: Option<ContentId>,
    /// Size of the entry's content in tokens.
    pub tokens: u64,
}

/// Entries of the most recently used sessions.
#[derive(Default)]
pub struct Sessions {
    all: HashMap<String, EntryList>,
    clock: u64,
}

/// Entries of a session in insertion order.
#[derive(Default)]
pub struct EntryList {
    /// Entries in the form that hippo-context uses.
    pub kept: Vec<SessionEntry>,
    /// Content id and content tokens of each entry.
    pub contents: Vec<(Option<ContentId>, u64)>,
    /// Rendered tokens of each entry.
    sizes: Vec<u64>,
    used: u64,
}

impl EntryList {
    /// Returns the position of an entry.
    pub fn position(&self, id: &str) -> Option<usize> {
        self.kept.iter().rposition(|kept| kept.entry.id == id)
    }

    /// Returns the changes that a trigger causes. The current turn is the higher of `turn` and `highest`.
    pub fn plan(&self, trigger: Trigger, turn: u64, highest: u64) -> CyclePlan {
        lifecycle::plan(&self.kept, trigger, turn, highest, |at| self.size(at))
    }

    /// Returns the rendered tokens of an entry.
    pub fn size(&self, at: usize) -> u64 {
        self.sizes.get(at).copied().unwrap_or(0)
    }

    /// Replaces an entry and its rendered tokens.
    pub fn replace(&mut self, at: usize, kept: SessionEntry) {
        if let (Some(place), Some(sized)) = (self.kept.get_mut(at), self.sizes.get_mut(at)) {
            *sized = size(&kept.entry);
            *place = kept;
        }
    }

    /// Appends an entry.
    pub fn push(&mut self, known: TrackedEntry) {
        self.sizes.push(size(&known.kept.entry));
        self.kept.push(known.kept);
        self.contents.push((known.content, known.tokens));
    }
}

impl Sessions {
    /// Returns the entries of a session, and reads them from the store if they are not cached.
    ///
    /// # Errors
    /// Fails if the store could not be read.
    pub fn entries(&mut self, store: &ContextStore, session: &str) -> Result<&mut EntryList, RpcError> {
        self.clock += 1;
        if !self.all.contains_key(session) {
            if self.all.len() >= MOST {
                let oldest = self.all.iter().min_by_key(|(_, entries)| entries.used);
                if let Some(oldest) = oldest.map(|(id, _)| id.clone()) {
                    self.all.remove(&oldest);
                }
            }
            let read = store.read().entries(session).map_err(refusal)?;
            for damaged in &read.damaged {
                tracing::warn!(
                    entry = damaged.id,
                    reason = damaged.reason,
                    "a context entry cannot be read"
                );
            }
            let mut entries = EntryList::default();
            read.entries
                .iter()
                .for_each(|entry| entries.push(TrackedEntry::from(entry)));
            self.all.insert(session.to_owned(), entries);
        }
        let entries = self.all.entry(session.to_owned()).or_default();
        entries.used = self.clock;
        Ok(entries)
    }

    /// Removes a session from the cache.
    pub fn forget(&mut self, session: &str) {
        self.all.remove(session);
    }

    /// Stores changed entries. If the store rejects them, removes the session from the cache.
    ///
    /// # Errors
    /// Returns the error of the store.
    pub fn update(
        &mut self,
        store: &mut ContextStore,
        session: &str,
        changed: &[SessionEntry],
        now: i64,
    ) -> Result<(), ContextError> {
        let updated = store.update_entries(changed, now);
        if updated.is_err() {
            self.forget(session);
        }
        updated
    }
}

/// Applies a plan. Returns the changed entries, which the caller must write to the store.
pub fn changed(entries: &mut EntryList, plan: &CyclePlan) -> Vec<SessionEntry> {
    plan.apply(&mut entries.kept);
    let moved = plan.moved.iter().map(|step| step.at);
    let changed: BTreeSet<usize> = moved.chain(plan.linked.iter().map(|link| link.at)).collect();
    let changed = changed.into_iter();
    changed.filter_map(|at| entries.kept.get(at).cloned()).collect()
}

impl From<&KeptEntry> for TrackedEntry {
    fn from(entry: &KeptEntry) -> Self {
        Self {
            kept: entry.kept.clone(),
            content: entry.content,
            tokens: entry.tokens,
        }
    }
}
