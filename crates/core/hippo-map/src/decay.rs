//! Strength of index entries over time.
//!
//! Strength follows the power law of v1 §7.1, `s(t) = s0 · (1 + rate · h)^(−exponent · m)`. `s0` is the strength at the
//! last access, and `h` is the number of hours since then. A replay moves the start of the curve, which reduces `h`.
//! `m` is the product of the factors for the entry's modifiers. Computing a strength has no side effect.
//!
//! The formula is binding. The table in v1 (1 day 0.72, 1 week 0.52, 1 year 0.16) does not follow from the formula
//! (0.69, 0.42, 0.13). [`DecayCurve::TUNED`] uses the same law with other parameters.

#[cfg(test)]
mod tests;

use hippo_types::entry::{Entry, EntryOrigin, EntryPriority};
use hippo_types::time::Timestamp;

/// Milliseconds per hour.
const HOUR: f64 = 3_600_000.0;

/// Maximum number of accesses per calendar day that add strength to an entry. This bounds the effect of one session.
const MOST_A_DAY: u32 = 8;
/// Maximum number of accesses that slow the decay. With [`DecayCurve::TUNED`], they make the decay at most 2.75 times
/// slower.
const MOST_PRACTICE: u32 = 32;

/// Parameters of the decay curve and of gains.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DecayCurve {
    /// Decay rate per hour; `decay_rate` in v1.
    pub decay_rate: f64,
    /// Base exponent; `forgetting_rate` in v1.
    pub forgetting_rate: f64,
    /// Exponent factor for entries made by a person or an agent.
    pub manual: f64,
    /// Exponent factor for entries with many links.
    pub associated: f64,
    /// Minimum number of links for which [`DecayCurve::associated`] applies.
    pub associated_from: usize,
    /// Exponent factor at low priority. v1 gives no value, so hippod uses the value of v2.
    pub low: f64,
    /// Exponent factor at priority `amygdala`; 0 disables decay.
    pub amygdala: f64,
    /// Strength that the first access of a day adds. The n-th access of a day adds 1/n of this value, because spaced
    /// accesses count more than massed ones (v1 §7.2). Accesses after the eighth add nothing.
    pub access_gain: f64,
    /// Strength that an entry gains when a consolidation run reviews the entry and keeps it (v1 §8.3).
    pub replay_gain: f64,
    /// Share of the lost strength, 0 to 1, that an access restores before it adds its gain. At 1, an entry is never
    /// weaker after an access than it would be without that access. v1 restores nothing.
    pub restored: f64,
    /// Weight of past accesses. The exponent is divided by `1 + practice · ln(1 + hits)`, so accesses slow the decay. 0
    /// in v1.
    pub practice: f64,
}

impl DecayCurve {
    /// Parameters of the protocol (v1 §7, §13).
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

    /// Parameters that predict future requests better in simulation (docs/simulation.md).
    ///
    /// In v1, an access restarts the curve slightly above the current strength. A week later, an old entry is weaker
    /// than it would be without the access. Occasionally used entries are therefore archived before unused ones. Here,
    /// an access restores all lost strength, and each access slows the decay.
    ///
    /// The curve is `(1 + 0.1 · days)^−0.8`. Without access, an entry is strong until three days, moderate until two
    /// weeks and weak until five weeks after the last access. After half a year, it is silent.
    pub const TUNED: Self = Self {
        decay_rate: 0.1 / 24.0,
        forgetting_rate: 0.8,
        restored: 1.0,
        practice: 0.5,
        ..Self::PROTOCOL
    };

    /// Returns the exponent for an entry with these modifiers; 0 means no decay.
    #[must_use]
    pub fn exponent(&self, modifiers: DecayModifiers) -> f64 {
        let mut exponent = self.forgetting_rate;
        match modifiers.priority {
            EntryPriority::Low => exponent *= self.low,
            EntryPriority::Normal | EntryPriority::High => {}
            EntryPriority::Amygdala => exponent *= self.amygdala,
        }
        if modifiers.manual {
            exponent *= self.manual;
        }
        if modifiers.links >= self.associated_from {
            exponent *= self.associated;
        }
        exponent /= 1.0 + self.practice.max(0.0) * f64::from(modifiers.hits.min(MOST_PRACTICE)).ln_1p();
        exponent.max(0.0)
    }
}

impl Default for DecayCurve {
    fn default() -> Self {
        Self::PROTOCOL
    }
}

/// Properties of an entry that change its decay curve (v1 §7.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DecayModifiers {
    /// Priority of the entry.
    pub priority: EntryPriority,
    /// `true` if a person or an agent made the entry.
    pub manual: bool,
    /// Number of related entries.
    pub links: usize,
    /// Number of accesses; used with [`DecayCurve::practice`].
    pub hits: u32,
}

impl DecayModifiers {
    /// Returns the modifiers of an entry.
    #[must_use]
    pub fn from_entry(entry: &Entry) -> Self {
        Self {
            priority: entry.priority,
            manual: entry.origin == EntryOrigin::Manual,
            links: entry.related.len(),
            hits: entry.hits,
        }
    }
}

/// Returns the strength, from 0 to 1, to which `initial` decays in `elapsed` milliseconds.
///
/// A negative time, after the clock was set back, counts as zero. `initial` is clamped to [0, 1]; NaN counts as 0.
#[must_use]
pub fn strength(profile: &DecayCurve, initial: f32, elapsed: i64, modifiers: DecayModifiers) -> f32 {
    let initial = clamp_unit(f64::from(initial));
    to_f32(initial * retained_share(profile, elapsed.max(0), modifiers)).min(to_f32(initial))
}

/// Returns the strength of an entry at a time, in [0, 1].
#[must_use]
pub fn strength_at(profile: &DecayCurve, entry: &Entry, now: Timestamp) -> f32 {
    strength(
        profile,
        entry.strength,
        elapsed(entry, now),
        DecayModifiers::from_entry(entry),
    )
}

/// Returns how many milliseconds after the last access `initial` has decayed to `target`.
///
/// Returns zero if `initial` is already at or below `target`. Returns `None` if the strength never falls to `target`:
/// at priority `amygdala`, for a target of 0, and if the time exceeds 63 bits.
#[must_use]
pub fn time_until(profile: &DecayCurve, initial: f32, target: f32, modifiers: DecayModifiers) -> Option<i64> {
    let (initial, target) = (clamp_unit(f64::from(initial)), f64::from(target));
    if target >= initial {
        return Some(0);
    }
    let exponent = profile.exponent(modifiers);
    // `>` is false for NaN.
    let falls = exponent > 0.0 && profile.decay_rate > 0.0 && target > 0.0;
    if !falls {
        return None;
    }
    let hours = ((initial / target).powf(exponent.recip()) - 1.0) / profile.decay_rate;
    let milliseconds = (hours * HOUR).ceil();
    (milliseconds < 9.2e18).then_some(milliseconds as i64)
}

/// Records the `nth` access of a calendar day, counted from 1. The curve restarts at the current strength, plus the
/// restored strength and the gain of this access.
pub fn record_access(profile: &DecayCurve, entry: &mut Entry, now: Timestamp, nth: u32) {
    let gain = if nth > MOST_A_DAY {
        0.0
    } else {
        profile.access_gain / f64::from(nth.max(1))
    };
    let left = strength_at(profile, entry, now);
    let lost = f64::from(entry.strength - left).max(0.0) * clamp_unit(profile.restored);
    entry.strength = add_gain(left, lost + gain);
    // Also set this after the clock was set back, because a future timestamp would stop the decay until that time.
    entry.accessed = now;
    entry.replayed_to = None;
    entry.hits = entry.hits.saturating_add(1);
}

/// Records that a consolidation run reviewed the source of an entry and kept the entry. Call it once per run.
///
/// `hits` and `accessed` do not change. The start of the curve moves so that the strength rises by the gain. Restarting
/// the curve at a slightly higher strength would be worse: the curve is so steep at its start that, a day later, the
/// entry would be weaker than without the replay.
pub fn record_replay(profile: &DecayCurve, entry: &mut Entry, now: Timestamp) {
    let lifted = add_gain(strength_at(profile, entry, now), profile.replay_gain);
    let age = if lifted > entry.strength {
        entry.strength = lifted;
        0
    } else {
        let age = time_until(profile, entry.strength, lifted, DecayModifiers::from_entry(entry));
        age.unwrap_or(0).min(elapsed(entry, now).max(0))
    };
    entry.replayed_to = Some(Timestamp(now.0.saturating_sub(age)));
}

fn elapsed(entry: &Entry, now: Timestamp) -> i64 {
    now.0.saturating_sub(entry.curve_start().0)
}

/// Returns the share of the initial strength that remains.
fn retained_share(profile: &DecayCurve, elapsed: i64, modifiers: DecayModifiers) -> f64 {
    // `f64` represents integers exactly up to 2^53; as milliseconds, these are 285,000 years.
    let hours = elapsed as f64 / HOUR;
    clamp_unit((1.0 + profile.decay_rate * hours).powf(-profile.exponent(modifiers)))
}

fn add_gain(strength: f32, gain: f64) -> f32 {
    to_f32(clamp_unit(f64::from(strength) + gain))
}

/// Clamps to [0, 1]; NaN becomes 0.
const fn clamp_unit(value: f64) -> f64 {
    if value.is_nan() {
        0.0
    } else {
        value.clamp(0.0, 1.0)
    }
}

const fn to_f32(value: f64) -> f32 {
    value as f32
}
