//! What do a turn, a full context, the end of a session and a defrag run do to a session's entries (v2 §9, §14.3)?
//!
//! A plan from the entries and a turn: which ones leave the context, which ones belong together, what goes into long-term
//! memory. Planning again after applying gives an empty plan; no plan takes an entry away.

mod link;
mod persist;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use serde::Serialize;

use super::fade::strengths;
use super::render::block;
use super::{ContextEntry, Shown};
use crate::tokens;

pub use persist::{Persist, Why, promoted};

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Trigger {
    /// A turn is over.
    TurnComplete,
    /// A turn is over, and the context is nearly full.
    ContextThreshold,
    /// The session is over.
    SessionEnd,
    /// Somebody tidies up.
    DefragCycle,
}

/// How thorough a plan is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Cycle {
    /// What faded leaves the context; what is used together is linked.
    Light,
    /// Besides, only strong entries stay.
    Deep,
    /// As light; contents that nobody asked for go, which the store decides.
    Archival,
}

impl Trigger {
    /// What the end of a turn is: [`Trigger::ContextThreshold`] when `used` is at least this share of `limit` tokens.
    /// Without both numbers, or with a limit of 0, nothing is known to be full.
    #[must_use]
    #[expect(
        clippy::cast_precision_loss,
        reason = "a few tokens in millions make no difference"
    )]
    pub fn of_turn(used: Option<u64>, limit: Option<u64>, threshold: f64) -> Self {
        match (used, limit) {
            (Some(used), Some(limit)) if limit > 0 && used as f64 >= threshold * limit as f64 => {
                Self::ContextThreshold
            }
            _ => Self::TurnComplete,
        }
    }

    /// The cycle that it asks for (v2 §14.3).
    #[must_use]
    pub const fn cycle(self) -> Cycle {
        match self {
            Self::TurnComplete => Cycle::Light,
            Self::ContextThreshold | Self::SessionEnd => Cycle::Deep,
            Self::DefragCycle => Cycle::Archival,
        }
    }
}

/// Turns of its use that an entry remembers: the last ones.
const MOST_USES: usize = 64;

/// What cycles are set to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// After a deep cycle entries below this strength are dormant; in [0, 1].
    pub strong: f32,
    /// Entries that one session writes into long-term memory, at most.
    pub most_persisted: usize,
    /// Tokens that one session writes into long-term memory, at most; the block of `MEMORY.md` has no more of all sessions.
    pub persist_tokens: usize,
    /// Turns in which an entry is used until it is often used.
    pub often: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            strong: 0.5,
            most_persisted: 20,
            persist_tokens: 2_000,
            often: 3,
        }
    }
}

/// An entry of a session as it is kept.
#[derive(Debug, Clone, PartialEq)]
pub struct Kept {
    /// The entry, with its strength at the last access.
    pub entry: ContextEntry,
    /// What the last plan made of it.
    pub shown: Shown,
    /// The turns in which it was asked for, each once; not the one in which it was made.
    pub uses: Vec<u64>,
    /// Whether it was written into long-term memory.
    pub persisted: bool,
}

impl Kept {
    /// A new entry, which is shown.
    #[must_use]
    pub const fn new(entry: ContextEntry) -> Self {
        Self {
            entry,
            shown: Shown::Active,
            uses: Vec::new(),
            persisted: false,
        }
    }

    /// An access: its curve starts again, and it is shown unless its turns are over.
    pub fn touch(&mut self, turn: u64) {
        self.entry.touch(turn);
        let turn = self.entry.decay.last_access;
        if !self.uses.contains(&turn) {
            if self.uses.len() >= MOST_USES {
                self.uses.remove(0);
            }
            self.uses.push(turn);
        }
        self.shown = self.entry.shown_at(turn, self.entry.strength);
    }

    /// The same content was put again, and `made` of it in this turn: an access. Where the entry's turns are over, or `asked`
    /// says that the caller gave something of it, it says what was made now; its id stays, and its turn unless it was over.
    pub fn renew(&mut self, made: ContextEntry, turn: u64, asked: bool) {
        let over = self.entry.shown_at(turn, 1.0) == Shown::Expired;
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
        }
        self.touch(turn);
    }
}

/// An entry that comes or goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Move {
    /// Position of the entry.
    pub at: usize,
    /// What it was.
    pub from: Shown,
    /// What it becomes.
    pub to: Shown,
}

/// Entries that belong to an entry from now on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// Position of the entry.
    pub at: usize,
    /// All its associations: those that it had, and new ones after them.
    pub associations: Vec<String>,
}

/// What is to be done, and how things are when it is done.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// Why.
    pub trigger: Trigger,
    /// The turn that counts: the highest that was told.
    pub turn: u64,
    /// Whether the turn that was told lies before it.
    pub went_back: bool,
    /// Which ones come or go.
    pub moved: Vec<Move>,
    /// Which ones belong together.
    pub linked: Vec<Link>,
    /// Which ones go into long-term memory; at the end of a session alone.
    pub persist: Vec<Persist>,
    /// How many more would, if there were room.
    pub not_persisted: usize,
    /// Strengths of all entries, in their order.
    pub strengths: Vec<f32>,
    /// States of all entries, in their order.
    pub states: Vec<Shown>,
    /// Tokens of the active entries as they are rendered, estimated.
    pub tokens: u64,
}

impl Plan {
    /// How many entries are in a state.
    #[must_use]
    pub fn count(&self, state: Shown) -> usize {
        self.states.iter().filter(|one| **one == state).count()
    }

    /// Whether there is nothing to do.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.moved.is_empty() && self.linked.is_empty() && self.persist.is_empty()
    }

    /// Does what is to be done. The text of [`Persist`] is the caller's to write, before this.
    pub fn apply(&self, entries: &mut [Kept]) {
        for Move { at, to, .. } in &self.moved {
            if let Some(kept) = entries.get_mut(*at) {
                kept.shown = *to;
            }
        }
        for link in &self.linked {
            if let Some(kept) = entries.get_mut(link.at) {
                kept.entry.modifiers.associations.clone_from(&link.associations);
            }
        }
        for persist in &self.persist {
            if let Some(kept) = entries.get_mut(persist.at) {
                kept.persisted = true;
            }
        }
    }
}

/// Tokens of an entry as it is rendered, estimated. Neither a turn nor an access changes them: who keeps entries can keep these.
#[must_use]
pub fn size(entry: &ContextEntry) -> u64 {
    tokens::of(&block(entry)) as u64
}

/// What a trigger does in a turn. `highest` is the highest turn of the session so far: a turn that goes back counts as that.
#[must_use]
pub fn plan(entries: &[Kept], trigger: Trigger, turn: u64, highest: u64, settings: &Settings) -> Plan {
    let sizes = |at: usize| entries.get(at).map_or(0, |kept| size(&kept.entry));
    plan_sized(entries, trigger, turn, highest, settings, sizes)
}

/// The same for entries whose [`size`]s are known, by position; only those of active ones are asked for.
#[must_use]
pub fn plan_sized(
    entries: &[Kept],
    trigger: Trigger,
    turn: u64,
    highest: u64,
    settings: &Settings,
    size: impl Fn(usize) -> u64,
) -> Plan {
    let (told, turn) = (turn, turn.max(highest));
    let linked = link::links(entries);
    let mut known: Vec<Cow<'_, ContextEntry>> =
        entries.iter().map(|kept| Cow::Borrowed(&kept.entry)).collect();
    for link in &linked {
        if let Some(entry) = known.get_mut(link.at) {
            entry
                .to_mut()
                .modifiers
                .associations
                .clone_from(&link.associations);
        }
    }
    let strengths = strengths(&known, turn);
    let deep = trigger.cycle() == Cycle::Deep;
    let states: Vec<Shown> = entries
        .iter()
        .zip(&strengths)
        .map(|(kept, strength)| state(kept, turn, *strength, deep.then_some(settings.strong)))
        .collect();
    let changes = |(at, (kept, to)): (usize, (&Kept, &Shown))| {
        let (from, to) = (kept.shown, *to);
        (from != to).then_some(Move { at, from, to })
    };
    let moved = entries
        .iter()
        .zip(&states)
        .enumerate()
        .filter_map(changes)
        .collect();
    let (persist, not_persisted) = if trigger == Trigger::SessionEnd {
        persist::persist(entries, &strengths, turn, settings)
    } else {
        (Vec::new(), 0)
    };
    let active = states
        .iter()
        .enumerate()
        .filter(|(_, state)| **state == Shown::Active);
    Plan {
        trigger,
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

/// What becomes of an entry. What is dormant comes back by an access alone, which [`Kept::touch`] is.
fn state(kept: &Kept, turn: u64, strength: f32, strong: Option<f32>) -> Shown {
    match kept.entry.shown_at(turn, strength) {
        Shown::Active if kept.shown == Shown::Dormant => Shown::Dormant,
        Shown::Active if strong.is_some_and(|strong| strength < strong) => Shown::Dormant,
        state => state,
    }
}
