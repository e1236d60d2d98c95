//! How strong is an index entry now, and when will it have a given strength?
//!
//! Strength follows the power law of v1 §7.1, `s(t) = s0 · (1 + rate · h)^(−exponent · m)`, with `h` the hours since the
//! last access, less what replays took from its age. `s0` belongs to that moment: computing the strength changes nothing, so two passes over the same
//! time equal one. The formula is binding; the table printed beside it in v1 (1 day 0.72, 1 week 0.52, 1 year 0.16) does
//! not follow from it (0.69, 0.42, 0.13). [`Profile::TUNED`] has the same law with other numbers.

#[cfg(test)]
mod tests;

use std::fmt;

use crate::entry::{Entry, Origin, Priority};
use crate::time::Timestamp;

/// Milliseconds in an hour.
const HOUR: f64 = 3_600_000.0;

/// The numbers of the curve and of what lifts an entry.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Profile {
    /// How much an hour counts; v1's `decay_rate`.
    pub decay_rate: f64,
    /// The exponent; v1's `forgetting_rate`.
    pub forgetting_rate: f64,
    /// Multiplies the exponent of entries made by a person or an agent.
    pub manual: f64,
    /// Multiplies the exponent of entries with many links.
    pub associated: f64,
    /// From how many links on [`Profile::associated`] holds.
    pub associated_from: usize,
    /// Multiplies the exponent at low priority. v1 gives no number; this one is v2's.
    pub low: f64,
    /// Multiplies the exponent at priority `amygdala`; 0 is no decay.
    pub amygdala: f64,
    /// What the first access of a day adds; the n-th adds the n-th part (v1 §7.2: spaced beats massed).
    pub access_gain: f64,
    /// What being reviewed and kept by a consolidation run adds (v1 §8.3).
    pub replay_gain: f64,
    /// The part of what was lost since the last access that an access gives back before it adds, 0 to 1. From 1 on an access
    /// never leaves an entry weaker than it would have been without it; v1 gives back nothing.
    pub restored: f64,
    /// How much accesses slow the decay: the exponent is divided by `1 + practice · ln(1 + hits)`; v1 has 0.
    pub practice: f64,
}

impl Profile {
    /// The protocol's own numbers (v1 §7, §13).
    pub const PROTOCOL: Self = Self {
        decay_rate: 0.1,
        forgetting_rate: 0.3,
        manual: 0.5,
        associated: 0.7,
        associated_from: 3,
        low: 2.0,
        amygdala: 0.0,
        access_gain: 0.1,
        replay_gain: 0.05,
        restored: 0.0,
        practice: 0.0,
    };

    /// Numbers that tell better what will be asked for, by simulation (docs/simulation.md). By the letter of v1 an access starts
    /// the curve anew, a little above where it was: an old entry is weaker a week after an access than without it, so that
    /// what is used now and then is archived and what is never used stays. Here an access gives back all that was lost, and
    /// each one slows the decay. The curve is `(1 + 0.1 · days)^−0.8`: strong for three days, moderate for two weeks, weak for five,
    /// silent after half a year without any access.
    pub const TUNED: Self = Self {
        decay_rate: 0.1 / 24.0,
        forgetting_rate: 0.8,
        restored: 1.0,
        practice: 0.5,
        ..Self::PROTOCOL
    };

    /// The exponent for an entry of this kind; 0 where nothing fades.
    #[must_use]
    pub fn exponent(&self, modifiers: Modifiers) -> f64 {
        let mut exponent = self.forgetting_rate;
        match modifiers.priority {
            Priority::Low => exponent *= self.low,
            Priority::Normal | Priority::High => {}
            Priority::Amygdala => exponent *= self.amygdala,
        }
        if modifiers.manual {
            exponent *= self.manual;
        }
        if modifiers.links >= self.associated_from {
            exponent *= self.associated;
        }
        exponent /= 1.0 + self.practice.max(0.0) * f64::from(modifiers.hits).ln_1p();
        exponent.max(0.0)
    }
}

impl Default for Profile {
    fn default() -> Self {
        Self::PROTOCOL
    }
}

/// What about an entry changes its curve (v1 §7.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Modifiers {
    /// Its priority.
    pub priority: Priority,
    /// Whether a person or an agent made it.
    pub manual: bool,
    /// How many entries it is related to.
    pub links: usize,
    /// How often it was accessed; counts with [`Profile::practice`].
    pub hits: u32,
}

impl Modifiers {
    /// Those of an entry.
    #[must_use]
    pub fn of(entry: &Entry) -> Self {
        Self {
            priority: entry.priority,
            manual: entry.origin == Origin::Manual,
            links: entry.related.len(),
            hits: entry.hits,
        }
    }
}

/// What an entry of some strength is good for (v1 §6.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Band {
    /// Below 0.1: no answer from the index; search still finds the text.
    Silent,
    /// From 0.1: belongs into the Decay Queue.
    Decaying,
    /// From 0.3: answers, and search verifies.
    Weak,
    /// From 0.5: answers.
    Moderate,
    /// From 0.8: answers, with confidence.
    Strong,
}

impl Band {
    /// The band of a strength.
    #[must_use]
    pub fn of(strength: f32) -> Self {
        let bands = [Self::Strong, Self::Moderate, Self::Weak, Self::Decaying];
        let found = bands.into_iter().find(|band| strength >= band.threshold());
        found.unwrap_or(Self::Silent)
    }

    /// The least strength that belongs to it.
    #[must_use]
    pub const fn threshold(self) -> f32 {
        match self {
            Self::Strong => 0.8,
            Self::Moderate => 0.5,
            Self::Weak => 0.3,
            Self::Decaying => 0.1,
            Self::Silent => 0.0,
        }
    }
}

impl fmt::Display for Band {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Strong => "strong",
            Self::Moderate => "moderate",
            Self::Weak => "weak",
            Self::Decaying => "decaying",
            Self::Silent => "silent",
        })
    }
}

/// The strength, in [0, 1], of what had `initial` some milliseconds ago.
///
/// Negative time (a clock set back) counts as none, an `initial` beyond [0, 1] as the nearest end, one that is no number as 0.
#[must_use]
pub fn strength(profile: &Profile, initial: f32, elapsed: i64, modifiers: Modifiers) -> f32 {
    let initial = within(f64::from(initial));
    narrow(initial * retained(profile, elapsed.max(0), modifiers)).min(narrow(initial))
}

/// The strength of an entry at a moment, in [0, 1].
#[must_use]
pub fn strength_at(profile: &Profile, entry: &Entry, now: Timestamp) -> f32 {
    strength(profile, entry.strength, elapsed(entry, now), Modifiers::of(entry))
}

/// Milliseconds after its last access at which what had `initial` then has fallen to `target`.
///
/// Zero when it is there already; `None` when it never gets there: at priority `amygdala`, for a target of 0, and beyond what 63 bits of
/// milliseconds hold.
#[must_use]
pub fn time_until(profile: &Profile, initial: f32, target: f32, modifiers: Modifiers) -> Option<i64> {
    let (initial, target) = (within(f64::from(initial)), f64::from(target));
    if target >= initial {
        return Some(0);
    }
    let exponent = profile.exponent(modifiers);
    // `>` is false for what is no number.
    let falls = exponent > 0.0 && profile.decay_rate > 0.0 && target > 0.0;
    if !falls {
        return None;
    }
    let hours = ((initial / target).powf(exponent.recip()) - 1.0) / profile.decay_rate;
    let milliseconds = (hours * HOUR).ceil();
    #[allow(
        clippy::cast_possible_truncation,
        reason = "the comparison keeps it within 63 bits"
    )]
    (milliseconds < 9.2e18).then_some(milliseconds as i64)
}

/// Records an access, the `nth` of its calendar day (from 1): the gain on top of the strength of this moment, which
/// the curve starts from anew.
pub fn access(profile: &Profile, entry: &mut Entry, now: Timestamp, nth: u32) {
    let gain = profile.access_gain / f64::from(nth.max(1));
    let left = strength_at(profile, entry, now);
    let lost = f64::from(entry.strength - left).max(0.0) * within(profile.restored);
    entry.strength = lifted(left, lost + gain);
    // Also when the clock was set back: a moment in the future would keep the entry from fading until then.
    entry.accessed = now;
    entry.replayed_to = None;
    entry.hits = entry.hits.saturating_add(1);
}

/// Records that a consolidation run reviewed the entry's source and kept it; call it once a run.
///
/// It is no access: `hits` and `accessed` stay. The entry gets as much younger as the gain needs, instead of starting the curve from anew a little
/// higher: its start is so steep that a day later the entry would be weaker than without the replay.
pub fn replay(profile: &Profile, entry: &mut Entry, now: Timestamp) {
    let lifted = lifted(strength_at(profile, entry, now), profile.replay_gain);
    let age = if lifted > entry.strength {
        entry.strength = lifted;
        0
    } else {
        let age = time_until(profile, entry.strength, lifted, Modifiers::of(entry));
        age.unwrap_or(0).min(elapsed(entry, now).max(0))
    };
    entry.replayed_to = Some(Timestamp(now.0.saturating_sub(age)));
}

fn elapsed(entry: &Entry, now: Timestamp) -> i64 {
    now.0.saturating_sub(entry.curve_start().0)
}

/// The part of the initial strength that is left.
fn retained(profile: &Profile, elapsed: i64, modifiers: Modifiers) -> f64 {
    #[allow(
        clippy::cast_precision_loss,
        reason = "53 bits of milliseconds are 285,000 years"
    )]
    let hours = elapsed as f64 / HOUR;
    within((1.0 + profile.decay_rate * hours).powf(-profile.exponent(modifiers)))
}

fn lifted(strength: f32, gain: f64) -> f32 {
    narrow(within(f64::from(strength) + gain))
}

/// Within [0, 1]; 0 for what is no number.
const fn within(value: f64) -> f64 {
    if value.is_nan() {
        0.0
    } else {
        value.clamp(0.0, 1.0)
    }
}

#[allow(
    clippy::cast_possible_truncation,
    reason = "strengths have seven digits, two are shown"
)]
const fn narrow(value: f64) -> f32 {
    value as f32
}
