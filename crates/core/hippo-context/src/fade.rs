//! Strength of context entries over turns.
//!
//! `s(t) = min(1, max(floor, s0 · (1 + r·t)^(−0.5)))`, where `t` is the number of turns since the last access and `r
//! = rate × priority × encoding × association` (v2 §8). `s0` is the strength at the last access. The formula printed
//! in v2 §14.2 multiplies the decayed strength again on each pass; here, repeated passes over the same turns give the
//! same result.

use std::borrow::Borrow;
use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{ContextEntry, DORMANT_BELOW, Encoding, Priority};

/// Exponent of the power law.
const EXPONENT: f32 = -0.5;
/// Upper limit of the rate. At this rate, nothing is left after one turn.
const MOST_RATE: f32 = 1e6;
/// Factor of the rate when an associated entry is strong.
const ASSOCIATED: f32 = 0.7;
/// Strength from which an associated entry counts as strong.
const STRONG: f32 = 0.5;

impl Priority {
    /// Returns the factor of the decay rate.
    #[must_use]
    pub const fn factor(self) -> f32 {
        match self {
            Self::Critical => 0.0,
            Self::High => 0.3,
            Self::Normal => 1.0,
            Self::Low => 2.0,
        }
    }
}

impl Encoding {
    /// Returns the factor of the decay rate.
    #[must_use]
    pub const fn factor(self) -> f32 {
        match self {
            Self::Manual => 0.5,
            Self::Auto => 1.0,
        }
    }
}

/// Visibility of an entry in the context.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shown {
    /// Part of the context.
    Active,
    /// Too weak; an access reactivates it.
    Dormant,
    /// Past its expiry turn.
    Expired,
}

impl ContextEntry {
    /// Returns the strength in a turn, in [floor, 1] and never NaN. `associated` is true if a related entry is strong.
    /// A turn before the last access counts as the turn of that access.
    #[must_use]
    #[expect(
        clippy::cast_precision_loss,
        reason = "a few turns in millions make no difference"
    )]
    pub fn strength_at(&self, turn: u64, associated: bool) -> f32 {
        let turns = turn.saturating_sub(self.decay.last_access) as f32;
        let association = if associated { ASSOCIATED } else { 1.0 };
        let rate = clamp_or_zero(self.decay.rate, MOST_RATE)
            * self.modifiers.priority.factor()
            * self.modifiers.encoding.factor()
            * association;
        let floor = clamp_or_zero(self.decay.floor, 1.0);
        let faded = clamp_or_zero(self.strength, 1.0) * (1.0 + rate * turns).powf(EXPONENT);
        faded.clamp(floor, 1.0)
    }

    /// Resets the strength to 1, for an access in `turn` (v2 §8.2).
    pub fn touch(&mut self, turn: u64) {
        self.strength = 1.0;
        self.decay.last_access = self.decay.last_access.max(turn);
    }

    /// Returns the visibility in a turn, given the strength in that turn.
    #[must_use]
    pub fn shown_at(&self, turn: u64, strength: f32) -> Shown {
        if self.lifecycle.expires.is_some_and(|expires| turn >= expires) {
            Shown::Expired
        } else if strength < DORMANT_BELOW {
            Shown::Dormant
        } else {
            Shown::Active
        }
    }
}

/// Returns the strengths of all entries of a session in a turn, in the order of the entries. Runs in time linear in
/// entries and associations.
///
/// An association counts by the related entry's own strength, without the effect of associations, so that a cycle of
/// entries cannot sustain itself.
#[must_use]
pub fn strengths<E: Borrow<ContextEntry>>(entries: &[E], turn: u64) -> Vec<f32> {
    let entries: Vec<&ContextEntry> = entries.iter().map(Borrow::borrow).collect();
    let own: Vec<f32> = entries
        .iter()
        .map(|entry| entry.strength_at(turn, false))
        .collect();
    // Only entries named in an association need a lookup.
    let related: BTreeSet<&str> = entries
        .iter()
        .flat_map(|entry| &entry.modifiers.associations)
        .map(String::as_str)
        .collect();
    if related.is_empty() {
        return own;
    }
    let strong: BTreeSet<&str> = entries
        .iter()
        .zip(&own)
        .filter(|(entry, own)| **own >= STRONG && related.contains(entry.id.as_str()))
        .map(|(entry, _)| entry.id.as_str())
        .collect();
    let is_strong = |id: &String| strong.contains(id.as_str());
    let with_them = |(entry, own): (&&ContextEntry, f32)| {
        let mut others = entry.modifiers.associations.iter().filter(|id| **id != entry.id);
        if others.any(is_strong) {
            entry.strength_at(turn, true)
        } else {
            own
        }
    };
    entries.iter().zip(own).map(with_them).collect()
}

/// Clamps a number to [0, most]; NaN becomes 0.
fn clamp_or_zero(number: f32, most: f32) -> f32 {
    if number.is_nan() {
        0.0
    } else {
        number.clamp(0.0, most)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{Decay, EntryKind, EntrySource, Lifecycle, Modifiers};

    fn entry(id: &str, rate: f32) -> ContextEntry {
        ContextEntry {
            id: id.to_owned(),
            kind: EntryKind::ToolResult,
            source: EntrySource {
                kind: "exec".to_owned(),
                reference: "make".to_owned(),
                turn: 0,
                retrievable: true,
            },
            summary: "It was built.".to_owned(),
            key_data: None,
            strength: 1.0,
            decay: Decay {
                rate,
                floor: 0.0,
                last_access: 0,
            },
            modifiers: Modifiers::default(),
            lifecycle: Lifecycle::default(),
        }
    }

    #[test]
    fn the_formula_reproduces_the_table_of_the_specification() {
        let entry = entry("a", EntryKind::ToolResult.rate());
        // v2 §8.1, which rounds 0.577 up and 0.302 down.
        for (turn, printed) in [
            (0, 1.0),
            (5, 0.82),
            (10, 0.71),
            (20, 0.58),
            (50, 0.41),
            (100, 0.30),
        ] {
            let strength = entry.strength_at(turn, false);
            assert!((strength - printed).abs() < 0.005, "{turn}: {strength}");
        }
    }

    #[test]
    fn modifiers_change_the_rate() {
        let of = |priority, encoding, associated| {
            let mut entry = entry("a", 0.1);
            entry.modifiers.priority = priority;
            entry.modifiers.encoding = encoding;
            entry.strength_at(30, associated)
        };
        let expected = |rate: f32| (1.0 + rate * 30.0).powf(-0.5);
        let table = [
            (Priority::Critical, Encoding::Auto, false, 0.0),
            (Priority::High, Encoding::Auto, false, 0.03),
            (Priority::Normal, Encoding::Auto, false, 0.1),
            (Priority::Low, Encoding::Auto, false, 0.2),
            (Priority::Normal, Encoding::Manual, false, 0.05),
            (Priority::Normal, Encoding::Auto, true, 0.07),
            (Priority::Low, Encoding::Manual, true, 0.07),
        ];
        for (priority, encoding, associated, rate) in table {
            let strength = of(priority, encoding, associated);
            assert!(
                (strength - expected(rate)).abs() < 1e-6,
                "{priority:?} {encoding:?} {associated}"
            );
        }
    }

    #[test]
    fn a_strong_association_slows_decay_and_a_cycle_does_not_sustain_itself() {
        let mut ring = [entry("a", 0.1), entry("b", 0.1), entry("c", 0.1)];
        ring[0].modifiers.associations = vec!["b".into(), "gone".into()];
        ring[1].modifiers.associations = vec!["a".into(), "b".into()];
        let early = strengths(&ring, 10);
        assert!(early[0] > early[2] && early[1] > early[2], "{early:?}");
        let late = strengths(&ring, 1_000);
        assert!(late[0] == late[2] && late[1] == late[2], "{late:?}");
        ring[1].touch(1_000);
        let helped = strengths(&ring, 1_000);
        assert!(helped[0] > helped[2], "{helped:?}");
    }

    #[test]
    fn an_entry_becomes_dormant_by_strength_and_expires_by_turn() {
        let mut entry = entry("a", 0.1);
        let at = |entry: &ContextEntry, turn| entry.shown_at(turn, entry.strength_at(turn, false));
        assert_eq!(at(&entry, 980), Shown::Active);
        assert_eq!(at(&entry, 1_000), Shown::Dormant);
        entry.touch(1_000);
        assert_eq!(at(&entry, 1_000), Shown::Active);
        entry.lifecycle.expires = Some(1_001);
        assert_eq!(
            (at(&entry, 1_000), at(&entry, 1_001)),
            (Shown::Active, Shown::Expired)
        );
    }

    fn any_float() -> impl Strategy<Value = f32> {
        prop_oneof![0.0f32..1.5, any::<f32>(), Just(f32::NAN), Just(f32::INFINITY)]
    }

    proptest! {
        #[test]
        fn strength_stays_in_bounds_and_never_rises_without_access(
            s0 in any_float(), rate in any_float(), floor in any_float(), from in any::<u64>(), turns in 0u64..1 << 40,
            associated: bool, priority in 0usize..4,
        ) {
            let mut entry = entry("a", rate);
            entry.strength = s0;
            entry.decay.floor = floor;
            entry.decay.last_access = from;
            entry.modifiers.priority = Priority::ALL[priority];
            let least = clamp_or_zero(floor, 1.0);
            let now = entry.strength_at(from.saturating_add(turns), associated);
            let later = entry.strength_at(from.saturating_add(turns).saturating_add(7), associated);
            prop_assert!((least..=1.0).contains(&now) && later <= now, "{now} {later}");
            prop_assert_eq!(now, entry.strength_at(from.saturating_add(turns), associated));
            entry.touch(from.saturating_add(turns));
            prop_assert_eq!(entry.strength_at(from.saturating_add(turns), associated), 1.0);
        }
    }
}
