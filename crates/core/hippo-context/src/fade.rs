//! Strength of context entries over turns.
//!
//! `s(t) = min(1, max(floor, s0 · (1 + r·t)^(−0.5)))`, where `t` is the number of turns since the last access and `r =
//! rate × priority × encoding × association` (v2 §8). `s0` is the strength at the last access. The formula in v2 §14.2
//! decays an already decayed strength again on each pass. With the formula used here, repeated passes over the same
//! turns give the same result.

use std::borrow::Borrow;
use std::collections::BTreeSet;

use hippo_types::context::ContextEntry;

/// Minimum strength of an entry that slows the decay of associated entries.
const STRONG: f32 = 0.5;

/// Returns the strengths of all entries of a session in a turn, in the order of the entries. The running time is linear
/// in the number of entries and associations.
///
/// The effect of an association depends on the related entry's own strength, which is computed without associations.
/// Otherwise, entries that are associated in a circle could keep one another strong.
#[must_use]
pub fn strengths<E: Borrow<ContextEntry>>(entries: &[E], turn: u64) -> Vec<f32> {
    let entries = || entries.iter().map(Borrow::<ContextEntry>::borrow);
    let own: Vec<f32> = entries().map(|entry| entry.strength_at(turn, false)).collect();
    // Only entries named in an association need a lookup.
    let related: BTreeSet<&String> = entries()
        .flat_map(|entry| &entry.modifiers.associations)
        .collect();
    let strong = entries().zip(&own).filter(|(_, own)| **own >= STRONG);
    let strong = strong
        .map(|(entry, _)| &entry.id)
        .filter(|id| related.contains(id));
    let strong: BTreeSet<&String> = strong.collect();
    let with_them = |(entry, own): (&ContextEntry, f32)| {
        let mut others = entry.modifiers.associations.iter().filter(|id| **id != entry.id);
        match others.any(|id| strong.contains(id)) {
            true => entry.strength_at(turn, true),
            false => own,
        }
    };
    entries().zip(own).map(with_them).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use hippo_types::context::{
        ContextDecay, ContextEncoding, ContextKind, ContextLifecycle, ContextModifiers, ContextPriority,
        ContextSource, ContextState,
    };

    fn entry(id: &str, rate: f32) -> ContextEntry {
        ContextEntry {
            id: id.to_owned(),
            kind: ContextKind::ToolResult,
            source: ContextSource {
                kind: "exec".to_owned(),
                reference: "make".to_owned(),
                turn: 0,
                retrievable: true,
                stale: false,
            },
            summary: "It was built.".to_owned(),
            key_data: None,
            strength: 1.0,
            decay: ContextDecay {
                rate,
                floor: 0.0,
                last_access: 0,
            },
            modifiers: ContextModifiers::default(),
            lifecycle: ContextLifecycle::default(),
        }
    }

    #[test]
    fn the_formula_reproduces_the_table_of_the_specification() {
        let entry = entry("a", ContextKind::ToolResult.rate());
        // The values of v2 §8.1, which rounds 0.577 up and 0.302 down.
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
            (ContextPriority::Critical, ContextEncoding::Auto, false, 0.0),
            (ContextPriority::High, ContextEncoding::Auto, false, 0.03),
            (ContextPriority::Normal, ContextEncoding::Auto, false, 0.1),
            (ContextPriority::Low, ContextEncoding::Auto, false, 0.2),
            (ContextPriority::Normal, ContextEncoding::Manual, false, 0.05),
            (ContextPriority::Normal, ContextEncoding::Auto, true, 0.07),
            (ContextPriority::Low, ContextEncoding::Manual, true, 0.07),
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
        let at = |entry: &ContextEntry, turn| entry.state_at(turn, entry.strength_at(turn, false));
        assert_eq!(at(&entry, 980), ContextState::Active);
        assert_eq!(at(&entry, 1_000), ContextState::Dormant);
        entry.touch(1_000);
        assert_eq!(at(&entry, 1_000), ContextState::Active);
        entry.lifecycle.expires = Some(1_001);
        assert_eq!(
            (at(&entry, 1_000), at(&entry, 1_001)),
            (ContextState::Active, ContextState::Expired)
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
            entry.modifiers.priority = ContextPriority::ALL[priority];
            let least = if floor.is_nan() { 0.0 } else { floor.clamp(0.0, 1.0) };
            let now = entry.strength_at(from.saturating_add(turns), associated);
            let later = entry.strength_at(from.saturating_add(turns).saturating_add(7), associated);
            prop_assert!((least..=1.0).contains(&now) && later <= now, "{now} {later}");
            prop_assert_eq!(now, entry.strength_at(from.saturating_add(turns), associated));
            entry.touch(from.saturating_add(turns));
            prop_assert_eq!(entry.strength_at(from.saturating_add(turns), associated), 1.0);
        }
    }
}
