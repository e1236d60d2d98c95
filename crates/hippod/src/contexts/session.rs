//! What of a session is kept in memory, so that a turn reads nothing from the disk?

use std::collections::{BTreeSet, HashMap};

use hippo_core::context::lifecycle::{CyclePlan, LifecycleSettings, SessionEntry, Trigger, plan_sized, size};
use hippo_proto::RpcError;
use hippo_store::contexts::{ContentId, ContextStore, KeptEntry};

use super::refusal;

/// Sessions of a workspace that are kept in memory.
const MOST: usize = 16;

/// An entry with what its content is.
#[derive(Debug, Clone)]
pub struct Known {
    /// The entry and its use.
    pub kept: SessionEntry,
    /// Its content.
    pub content: Option<ContentId>,
    /// Tokens of that.
    pub tokens: u64,
}

/// The entries of the sessions used last.
#[derive(Default)]
pub struct Sessions {
    all: HashMap<String, Entries>,
    clock: u64,
}

/// The entries of a session in the order in which they were put.
#[derive(Default)]
pub struct Entries {
    /// The entries as the core takes them.
    pub kept: Vec<SessionEntry>,
    /// Content and its tokens of each.
    pub contents: Vec<(Option<ContentId>, u64)>,
    /// Tokens of each as it is rendered.
    sizes: Vec<u64>,
    used: u64,
}

impl Entries {
    /// The position of an entry.
    pub fn position(&self, id: &str) -> Option<usize> {
        self.kept.iter().rposition(|kept| kept.entry.id == id)
    }

    /// What a trigger does; the turn that counts is the highest.
    pub fn plan(&self, trigger: Trigger, turn: u64, highest: u64) -> CyclePlan {
        let settings = LifecycleSettings::default();
        plan_sized(&self.kept, trigger, turn, highest, &settings, |at| self.size(at))
    }

    /// Tokens of an entry as it is rendered.
    pub fn size(&self, at: usize) -> u64 {
        self.sizes.get(at).copied().unwrap_or(0)
    }

    /// What an entry is now, which may say something else than before.
    pub fn replace(&mut self, at: usize, kept: SessionEntry) {
        if let (Some(place), Some(sized)) = (self.kept.get_mut(at), self.sizes.get_mut(at)) {
            *sized = size(&kept.entry);
            *place = kept;
        }
    }

    /// Another entry of the session.
    pub fn push(&mut self, known: Known) {
        self.sizes.push(size(&known.kept.entry));
        self.kept.push(known.kept);
        self.contents.push((known.content, known.tokens));
    }
}

impl Sessions {
    /// The entries of a session, read where they are not known.
    ///
    /// # Errors
    /// As the store says.
    pub fn entries(&mut self, store: &ContextStore, session: &str) -> Result<&mut Entries, RpcError> {
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
            let mut entries = Entries::default();
            read.entries
                .iter()
                .for_each(|entry| entries.push(Known::from(entry)));
            self.all.insert(session.to_owned(), entries);
        }
        let entries = self.all.entry(session.to_owned()).or_default();
        entries.used = self.clock;
        Ok(entries)
    }

    /// What is in memory of a session is not to be relied on: the store refused what was made of it.
    pub fn forget(&mut self, session: &str) {
        self.all.remove(session);
    }
}

/// Does what a plan says; answers the entries that are others now, as they are to be written.
pub fn changed(entries: &mut Entries, plan: &CyclePlan) -> Vec<SessionEntry> {
    plan.apply(&mut entries.kept);
    let moved = plan.moved.iter().map(|step| step.at);
    let changed: BTreeSet<usize> = moved.chain(plan.linked.iter().map(|link| link.at)).collect();
    let changed = changed.into_iter();
    changed.filter_map(|at| entries.kept.get(at).cloned()).collect()
}

impl From<&KeptEntry> for Known {
    fn from(entry: &KeptEntry) -> Self {
        Self {
            kept: entry.to_kept(),
            content: entry.content,
            tokens: entry.tokens,
        }
    }
}
