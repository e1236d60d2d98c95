//! Plans of changes to a session's context entries (v2 §9, §14.3).
//!
//! A plan is made after a turn, when the context is nearly full, at the end of a session, or for a defrag run.
//!
//! A plan lists changes of visibility, new associations, and the entries to write to long-term memory. It never deletes
//! an entry. A plan that is made again after it was applied is empty.

mod link;
mod persist;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::fade::strengths;
use super::render::format_block;
use hippo_types::context::{ContextEntry, ContextState};
use hippo_types::cycle::Cycle;
use hippo_types::tokens;

pub use persist::{PersistReason, PersistedEntry};

/// Event that triggers a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Trigger {
    /// A turn ended.
    TurnComplete,
    /// A turn ended, and the context is nearly full.
    ContextThreshold,
    /// The session ended.
    SessionEnd,
    /// A defrag run was requested.
    DefragCycle,
}

impl Trigger {
    /// Returns the trigger for the end of a turn: [`Trigger::ContextThreshold`] if `used` is at least `threshold` times
    /// `limit`, both in tokens. Otherwise, or if either number is missing or the limit is 0, returns
    /// [`Trigger::TurnComplete`].
    #[must_use]
    #[expect(
        clippy::cast_precision_loss,
        reason = "rounding by a few tokens makes no difference"
    )]
    pub fn of_turn(used: Option<u64>, limit: Option<u64>, threshold: f64) -> Self {
        match (used, limit) {
            (Some(used), Some(limit)) if limit > 0 && used as f64 >= threshold * limit as f64 => {
                Self::ContextThreshold
            }
            _ => Self::TurnComplete,
        }
    }

    /// Returns the cycle of this trigger (v2 §14.3).
    #[must_use]
    pub const fn cycle(self) -> Cycle {
        match self {
            Self::TurnComplete => Cycle::Light,
            Self::ContextThreshold | Self::SessionEnd => Cycle::Deep,
            Self::DefragCycle => Cycle::Archival,
        }
    }
}

/// Maximum number of turns in [`SessionEntry::uses`]; the latest turns are kept.
const MOST_USES: usize = 64;

/// Strength below which a deep cycle makes an entry dormant.
const STRONG: f32 = 0.5;
/// Maximum tokens that one session writes to long-term memory. The block of `MEMORY.md` has the same limit for all
/// sessions together.
pub const PERSIST_TOKENS: usize = 2_000;

/// Context entry of a session, with its visibility and its accesses.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SessionEntry {
    /// The entry, with its strength at the last access.
    pub entry: ContextEntry,
    /// Visibility after the last plan.
    pub shown: ContextState,
    /// Turns in which the entry was accessed, each listed once. The creation is not an access.
    pub uses: Vec<u64>,
    /// True if the entry was written to long-term memory.
    pub persisted: bool,
    /// The source file; absent if the source was not a readable file with the content when the entry was created.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<EntryFile>,
}

/// State of a source file when hippod last compared the file with an entry.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EntryFile {
    /// Size in bytes.
    pub size: u64,
    /// Time of the last change, in nanoseconds since the Unix epoch.
    pub modified_ns: i64,
    /// True if the content was the whole file, and hippod extracted the summary and the key data from it. Such an entry
    /// describes the current text of the file.
    pub followed: bool,
}

impl SessionEntry {
    /// Returns a new, active entry of a session.
    #[must_use]
    pub const fn new(entry: ContextEntry) -> Self {
        Self {
            entry,
            shown: ContextState::Active,
            uses: Vec::new(),
            persisted: false,
            file: None,
        }
    }

    /// Records an access: resets the strength and activates the entry, unless it has expired.
    pub fn touch(&mut self, turn: u64) {
        self.entry.touch(turn);
        let turn = self.entry.decay.last_access;
        if !self.uses.contains(&turn) {
            if self.uses.len() >= MOST_USES {
                self.uses.remove(0);
            }
            self.uses.push(turn);
        }
        self.shown = self.entry.state_at(turn, self.entry.strength);
    }

    /// Handles a repeated capture of the same content, which counts as an access. `made` is the entry created by the
    /// repeated capture, and `file` is its source file. The created entry replaces the old entry if the old entry has
    /// expired, or if the caller gave metadata (`asked`). The id is preserved. The turn of creation is preserved unless
    /// the old entry has expired.
    pub fn renew(&mut self, made: ContextEntry, file: Option<EntryFile>, turn: u64, asked: bool) {
        let over = self.entry.state_at(turn, 1.0) == ContextState::Expired;
        if over || asked {
            let known = std::mem::replace(&mut self.entry, made);
            self.entry.id = known.id;
            if self.entry.modifiers.associations.is_empty() {
                self.entry.modifiers.associations = known.modifiers.associations;
            }
            if !over {
                self.entry.source.turn = known.source.turn;
                self.entry.lifecycle.created = known.lifecycle.created;
            }
            self.file = file;
        }
        self.touch(turn);
    }
}

/// Change of an entry's visibility.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StateChange {
    /// Index of the entry in the entries of the session.
    pub at: usize,
    /// Visibility before.
    pub from: ContextState,
    /// Visibility after.
    pub to: ContextState,
}

/// Change of an entry's associations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AssociationChange {
    /// Index of the entry in the entries of the session.
    pub at: usize,
    /// All associations: the existing ones, then the new ones.
    pub associations: Vec<String>,
}

/// Planned changes, and the state after them.
#[derive(Debug, Clone, PartialEq)]
pub struct CyclePlan {
    /// Effective turn: the highest turn seen.
    pub turn: u64,
    /// True if the reported turn is before the effective turn.
    pub went_back: bool,
    /// Changes of visibility.
    pub moved: Vec<StateChange>,
    /// Changes of associations.
    pub linked: Vec<AssociationChange>,
    /// Entries to write to long-term memory; only at the end of a session.
    pub persist: Vec<PersistedEntry>,
    /// Number of entries that qualify for long-term memory, but exceed the limits of a session.
    pub not_persisted: usize,
    /// Strengths of all entries, in the order of the entries.
    pub strengths: Vec<f32>,
    /// Visibility of all entries, in the order of the entries.
    pub states: Vec<ContextState>,
    /// Estimated tokens of the active entries, as rendered in the prompt.
    pub tokens: u64,
}

impl CyclePlan {
    /// Returns the number of entries with this visibility.
    #[must_use]
    pub fn count(&self, state: ContextState) -> usize {
        self.states.iter().filter(|one| **one == state).count()
    }

    /// Returns true if the plan changes nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.moved.is_empty() && self.linked.is_empty() && self.persist.is_empty()
    }

    /// Applies the plan. The caller must write the texts of [`PersistedEntry`] first.
    pub fn apply(&self, entries: &mut [SessionEntry]) {
        for change in &self.moved {
            entries[change.at].shown = change.to;
        }
        for link in &self.linked {
            let associations = &mut entries[link.at].entry.modifiers.associations;
            associations.clone_from(&link.associations);
        }
        for persist in &self.persist {
            entries[persist.at].persisted = true;
        }
    }
}

/// Returns the estimated tokens of a rendered entry. Turns and accesses do not change the result, so a store can cache
/// it.
#[must_use]
pub fn size(entry: &ContextEntry) -> u64 {
    tokens::of(&format_block(entry)) as u64
}

/// Plans the changes for a trigger in a turn. `highest` is the highest turn of the session so far; if `turn` is lower,
/// `highest` is used instead. `size` returns the [`size`] of the entry at an index, and is called only for active
/// entries.
#[must_use]
pub fn plan(
    entries: &[SessionEntry],
    trigger: Trigger,
    turn: u64,
    highest: u64,
    size: impl Fn(usize) -> u64,
) -> CyclePlan {
    let (told, turn) = (turn, turn.max(highest));
    let linked = link::find_links(entries);
    let known = entries.iter().map(|kept| Cow::Borrowed(&kept.entry));
    let mut known: Vec<Cow<'_, ContextEntry>> = known.collect();
    for link in &linked {
        let entry = known[link.at].to_mut();
        entry.modifiers.associations.clone_from(&link.associations);
    }
    let strengths = strengths(&known, turn);
    let deep = trigger.cycle() == Cycle::Deep;
    let states = entries.iter().zip(&strengths);
    let states = states.map(|(kept, strength)| next_state(kept, turn, *strength, deep));
    let states: Vec<ContextState> = states.collect();
    let changes = |(at, (kept, to)): (usize, (&SessionEntry, &ContextState))| {
        let (from, to) = (kept.shown, *to);
        (from != to).then_some(StateChange { at, from, to })
    };
    let moved = entries.iter().zip(&states).enumerate();
    let moved = moved.filter_map(changes).collect();
    let (persist, not_persisted) = match trigger {
        Trigger::SessionEnd => persist::select_persisted(entries, &strengths, turn),
        _ => (Vec::new(), 0),
    };
    let is_active = |(_, state): &(usize, &ContextState)| **state == ContextState::Active;
    let active = states.iter().enumerate().filter(is_active);
    CyclePlan {
        turn,
        went_back: told < turn,
        moved,
        linked,
        persist,
        not_persisted,
        tokens: active.map(|(at, _)| size(at)).sum(),
        strengths,
        states,
    }
}

/// Returns the new visibility of an entry. A dormant entry becomes active only through [`SessionEntry::touch`].
fn next_state(kept: &SessionEntry, turn: u64, strength: f32, deep: bool) -> ContextState {
    match kept.entry.state_at(turn, strength) {
        ContextState::Active if kept.shown == ContextState::Dormant => ContextState::Dormant,
        ContextState::Active if deep && strength < STRONG => ContextState::Dormant,
        state => state,
    }
}
