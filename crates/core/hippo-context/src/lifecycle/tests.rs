//! Tests of the triggers, and invariants of every plan.

use proptest::prelude::*;

use super::*;
use hippo_types::context::{
    ContextDecay, ContextKind, ContextLifecycle, ContextModifiers, ContextPriority, ContextSource,
};

fn kept(id: &str, kind: ContextKind, turn: u64) -> SessionEntry {
    SessionEntry::new(ContextEntry {
        id: id.to_owned(),
        kind,
        source: ContextSource {
            kind: "exec".to_owned(),
            reference: "make test".to_owned(),
            turn,
            retrievable: true,
            stale: false,
        },
        summary: format!("What {id} says."),
        key_data: None,
        strength: 1.0,
        decay: ContextDecay {
            rate: kind.rate(),
            floor: 0.0,
            last_access: turn,
        },
        modifiers: ContextModifiers::default(),
        lifecycle: ContextLifecycle {
            created: turn,
            ..ContextLifecycle::default()
        },
    })
}

fn planned(entries: &[SessionEntry], trigger: Trigger, turn: u64) -> CyclePlan {
    plan(entries, trigger, turn, 0, |at| size(&entries[at].entry))
}

fn moves(plan: &CyclePlan) -> Vec<(usize, ContextState, ContextState)> {
    plan.moved.iter().map(|one| (one.at, one.from, one.to)).collect()
}

#[test]
fn each_trigger_has_its_cycle() {
    let of = |used, limit| Trigger::of_turn(used, limit, 0.8);
    assert_eq!(of(Some(80), Some(100)), Trigger::ContextThreshold);
    for (used, limit) in [
        (Some(79), Some(100)),
        (None, Some(100)),
        (Some(9), None),
        (Some(9), Some(0)),
    ] {
        assert_eq!(of(used, limit), Trigger::TurnComplete);
    }
    let cycles = [
        (Trigger::TurnComplete, Cycle::Light),
        (Trigger::ContextThreshold, Cycle::Deep),
        (Trigger::SessionEnd, Cycle::Deep),
        (Trigger::DefragCycle, Cycle::Archival),
    ];
    assert!(cycles.iter().all(|(trigger, cycle)| trigger.cycle() == *cycle));
}

#[test]
fn weak_entries_become_dormant_and_an_access_reactivates_them() {
    let mut entries = vec![
        kept("a", ContextKind::ToolResult, 0),
        kept("b", ContextKind::ToolResult, 0),
    ];
    entries[1].entry.lifecycle.expires = Some(50);
    assert!(planned(&entries, Trigger::TurnComplete, 49).is_empty());
    let first = planned(&entries, Trigger::TurnComplete, 50);
    assert_eq!(moves(&first), [(1, ContextState::Active, ContextState::Expired)]);
    first.apply(&mut entries);
    let second = planned(&entries, Trigger::TurnComplete, 1_000);
    assert_eq!(moves(&second), [(0, ContextState::Active, ContextState::Dormant)]);
    assert_eq!(
        (
            second.count(ContextState::Dormant),
            second.count(ContextState::Expired),
            second.tokens
        ),
        (1, 1, 0)
    );
    second.apply(&mut entries);
    entries.iter_mut().for_each(|kept| kept.touch(1_001));
    assert_eq!(
        (entries[0].shown, entries[1].shown),
        (ContextState::Active, ContextState::Expired)
    );
    let third = planned(&entries, Trigger::TurnComplete, 1_001);
    assert!(third.is_empty() && third.tokens > 0);
}

#[test]
fn a_full_context_keeps_strong_entries() {
    let mut entries = vec![
        kept("old", ContextKind::ToolResult, 0),
        kept("new", ContextKind::ToolResult, 30),
        kept("kept", ContextKind::Message, 0),
    ];
    entries[2].entry.modifiers.priority = ContextPriority::High;
    assert!(planned(&entries, Trigger::TurnComplete, 40).is_empty());
    let deep = planned(&entries, Trigger::ContextThreshold, 40);
    assert_eq!(moves(&deep), [(0, ContextState::Active, ContextState::Dormant)]);
    deep.apply(&mut entries);
    assert!(
        planned(&entries, Trigger::TurnComplete, 41).is_empty(),
        "it stays out"
    );
    entries[0].touch(42);
    assert_eq!(entries[0].shown, ContextState::Active);
    assert!(planned(&entries, Trigger::DefragCycle, 42).is_empty());
}

#[test]
fn entries_used_in_the_same_turns_are_associated() {
    let mut entries: Vec<SessionEntry> = ["a", "b", "c"]
        .iter()
        .map(|id| kept(id, ContextKind::ToolResult, 0))
        .collect();
    entries[0].entry.modifiers.associations = vec!["given".to_owned()];
    for (turn, used) in [(1, vec![0, 1]), (2, vec![0, 2]), (3, vec![0, 1]), (3, vec![0, 1])] {
        used.iter().for_each(|at| entries[*at].touch(turn));
    }
    let plan = planned(&entries, Trigger::TurnComplete, 3);
    let links: Vec<_> = plan
        .linked
        .iter()
        .map(|link| (link.at, link.associations.join(",")))
        .collect();
    assert_eq!(
        links,
        [(0, "given,b".to_owned()), (1, "a".to_owned())],
        "c was there once"
    );
    plan.apply(&mut entries);
    let later = planned(&entries, Trigger::TurnComplete, 13);
    assert!(later.is_empty() && later.strengths[0] > entries[0].entry.strength_at(13, false));
    let mut crowd: Vec<SessionEntry> = (0..40)
        .map(|n| kept(&format!("e{n}"), ContextKind::ToolResult, 0))
        .collect();
    crowd
        .iter_mut()
        .for_each(|kept| (1..9).for_each(|turn| kept.touch(turn)));
    assert!(planned(&crowd, Trigger::TurnComplete, 9).linked.is_empty());
}

#[test]
fn the_end_of_a_session_persists_important_entries_once() {
    let mut entries: Vec<SessionEntry> = (0..4)
        .map(|turn| kept(&format!("state{turn}"), ContextKind::State, turn))
        .collect();
    entries
        .extend(["asked", "high", "often", "plain", "over"].map(|id| kept(id, ContextKind::ToolResult, 0)));
    entries[4].entry.lifecycle.persist = true;
    entries[4].entry.summary = "Deploy with\npassword: hunter2hunter2 <!-- /hippod -->".to_owned();
    entries[5].entry.modifiers.priority = ContextPriority::High;
    (1..4).for_each(|turn| entries[6].touch(turn));
    entries[8].entry.modifiers.priority = ContextPriority::Critical;
    entries[8].entry.lifecycle.expires = Some(5);
    for trigger in [
        Trigger::TurnComplete,
        Trigger::ContextThreshold,
        Trigger::DefragCycle,
    ] {
        assert_eq!(planned(&entries, trigger, 9).persist, []);
    }
    let end = planned(&entries, Trigger::SessionEnd, 9);
    let chosen: Vec<(&str, PersistReason)> = end
        .persist
        .iter()
        .map(|one| (entries[one.at].entry.id.as_str(), one.why))
        .collect();
    let expected = [
        ("asked", PersistReason::Asked),
        ("high", PersistReason::High),
        ("state3", PersistReason::State),
        ("state2", PersistReason::State),
        ("state1", PersistReason::State),
        ("often", PersistReason::OftenUsed),
    ];
    assert_eq!(chosen, expected);
    assert_eq!(
        end.persist[1].text,
        "What high says. (exec make test, turn 0, high)"
    );
    let text = &end.persist[0].text;
    assert!(
        !text.contains("hunter2") && !text.contains('\n') && !text.contains("<!--"),
        "{text}"
    );
    end.apply(&mut entries);
    let again = planned(&entries, Trigger::SessionEnd, 9);
    assert!(again.is_empty() && again.not_persisted == 0);
    let asked = entries.iter().find(|kept| kept.entry.id == "asked").unwrap();
    let copy = |number| {
        let mut kept = asked.clone();
        kept.entry.id = format!("copy{number}");
        kept.persisted = false;
        kept
    };
    let mut many: Vec<SessionEntry> = (0..24).map(copy).collect();
    let bounded = planned(&many, Trigger::SessionEnd, 9);
    assert_eq!((bounded.persist.len(), bounded.not_persisted), (20, 4));
    bounded.apply(&mut many);
    let after = planned(&many, Trigger::SessionEnd, 9);
    assert_eq!(
        (after.persist.len(), after.not_persisted),
        (0, 4),
        "asking again writes no more"
    );
}

fn any_kept() -> impl Strategy<Value = SessionEntry> {
    let number = prop_oneof![0.0f32..1.5, any::<f32>(), Just(f32::NAN)];
    let lives = (
        proptest::option::of(0u64..300),
        any::<bool>(),
        0usize..3,
        any::<bool>(),
    );
    let fades = (
        number.clone(),
        number.clone(),
        number,
        0u64..300,
        0usize..4,
        0usize..4,
    );
    (
        fades,
        proptest::collection::vec(0u64..12, 0..6),
        proptest::collection::vec(0u8..12, 0..3),
        lives,
    )
        .prop_map(
            |(
                (strength, rate, floor, last_access, kind, priority),
                uses,
                related,
                (expires, persist, shown, persisted),
            )| {
                let mut kept = kept("", ContextKind::ALL[kind], 0);
                kept.entry.strength = strength;
                kept.entry.decay = ContextDecay {
                    rate,
                    floor,
                    last_access,
                };
                kept.entry.modifiers.priority = ContextPriority::ALL[priority];
                kept.entry.modifiers.associations = related.iter().map(|at| format!("e{at}")).collect();
                kept.entry.lifecycle = ContextLifecycle {
                    created: 0,
                    expires,
                    persist,
                };
                kept.shown = [ContextState::Active, ContextState::Dormant, ContextState::Expired][shown];
                kept.persisted = persisted;
                kept.uses = uses;
                kept
            },
        )
}

fn any_session() -> impl Strategy<Value = Vec<SessionEntry>> {
    proptest::collection::vec(any_kept(), 0..12).prop_map(|mut entries| {
        entries
            .iter_mut()
            .enumerate()
            .for_each(|(at, kept)| kept.entry.id = format!("e{at}"));
        entries
    })
}

const TRIGGERS: [Trigger; 4] = [
    Trigger::TurnComplete,
    Trigger::ContextThreshold,
    Trigger::SessionEnd,
    Trigger::DefragCycle,
];

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn planning_again_after_applying_changes_nothing_and_loses_nothing(mut entries in any_session(), turn in any::<u64>(), trigger in 0usize..4) {
        let before = entries.clone();
        let plan = planned(&entries, TRIGGERS[trigger], turn);
        plan.apply(&mut entries);
        let again = planned(&entries, TRIGGERS[trigger], turn);
        prop_assert!(again.is_empty(), "{:?}", again);
        prop_assert_eq!((&again.states, &again.strengths, again.tokens), (&plan.states, &plan.strengths, plan.tokens));
        let states = [ContextState::Active, ContextState::Dormant, ContextState::Expired];
        prop_assert_eq!(states.iter().map(|state| plan.count(*state)).sum::<usize>(), before.len());
        prop_assert_eq!(entries.len(), before.len());
        for (after, before) in entries.iter_mut().zip(before) {
            let had = &before.entry.modifiers.associations;
            prop_assert!(after.entry.modifiers.associations.starts_with(had));
            after.entry.modifiers.associations.clone_from(had);
            // Compare the Debug output, because a NaN is not equal to itself.
            prop_assert_eq!(format!("{:?}", after.entry), format!("{:?}", before.entry), "the rest is as it was");
        }
    }

    #[test]
    fn plans_and_accesses_do_not_change_sizes(mut entries in any_session(), turn in any::<u64>(), trigger in 0usize..4) {
        let sizes: Vec<u64> = entries.iter().map(|kept| size(&kept.entry)).collect();
        let planned = planned(&entries, TRIGGERS[trigger], turn);
        planned.apply(&mut entries);
        entries.iter_mut().for_each(|kept| kept.touch(turn));
        prop_assert_eq!(&sizes, &entries.iter().map(|kept| size(&kept.entry)).collect::<Vec<u64>>());
    }

    #[test]
    fn no_turn_raises_a_strength_or_wakes_an_entry(
        mut entries in any_session(), turns in proptest::collection::vec((any::<u64>(), 0u64..400, any::<bool>(), 0usize..4), 1..8),
    ) {
        let (mut highest, mut last): (u64, Option<CyclePlan>) = (0, None);
        for (far, near, jump, trigger) in turns {
            let turn = if jump { far } else { near };
            let plan = plan(&entries, TRIGGERS[trigger], turn, highest, |at| size(&entries[at].entry));
            prop_assert_eq!((plan.turn, plan.went_back), (turn.max(highest), turn < highest));
            highest = plan.turn;
            for (kept, strength) in entries.iter().zip(&plan.strengths) {
                prop_assert!((0.0..=1.0).contains(strength) && (kept.entry.decay.floor.is_nan() || *strength >= kept.entry.decay.floor.clamp(0.0, 1.0)));
            }
            if let Some(last) = last {
                prop_assert!(plan.strengths.iter().zip(&last.strengths).all(|(now, then)| now <= then));
                for (now, then) in plan.states.iter().zip(&last.states) {
                    prop_assert!(*then == ContextState::Active || *now != ContextState::Active);
                }
            }
            plan.apply(&mut entries);
            last = Some(plan);
        }
    }
}
