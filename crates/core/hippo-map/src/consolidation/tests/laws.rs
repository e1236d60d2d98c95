//! Property tests of plans for arbitrary snapshots.

use super::*;

const NAMES: [&str; 16] = [
    "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p",
];

fn a_name() -> impl Strategy<Value = EntryId> {
    prop::sample::select(NAMES.to_vec()).prop_map(id)
}

fn a_place() -> impl Strategy<Value = RecordPlace> {
    prop_oneof![
        5 => Just(RecordPlace::Index),
        2 => (0_i64..50).prop_map(|days| RecordPlace::Queue(NOW.plus(-days * DAY))),
        1 => (0_i64..50).prop_map(|days| RecordPlace::Archive(NOW.plus(-days * DAY))),
    ]
}

fn a_pointer() -> impl Strategy<Value = (Pointer, Option<[u8; 16]>)> {
    let path = prop::sample::select(vec!["memory/a.md", "memory/b.md", "projects/c.md", "gone.md"]);
    let section = prop::option::of(prop::sample::select(vec!["One", "Two", "Old"]));
    let known = prop::option::of(prop::sample::select(vec![b"one", b"two", b"six"]));
    (path, section, known).prop_map(|(path, section, known)| {
        (pointer(path, section), known.map(|text| ContentHash::of(text).0))
    })
}

fn a_record() -> impl Strategy<Value = EntryRecord> {
    let text = prop::sample::select(vec![
        "what there is to know",
        "what there is to know 30 s",
        "what there is",
        "else",
    ]);
    let priority = prop::sample::select(vec![
        EntryPriority::Low,
        EntryPriority::Normal,
        EntryPriority::High,
        EntryPriority::Amygdala,
    ]);
    let origin = prop::sample::select(vec![EntryOrigin::Auto, EntryOrigin::Manual]);
    let parts = (
        text,
        priority,
        origin,
        0_u32..5,
        prop::collection::vec(a_name(), 0..3),
    );
    let strength = prop_oneof![0.0_f32..0.12, 0.0_f32..=1.0];
    let tags = prop::collection::vec(prop::sample::select(vec!["x", "y"]), 0..2);
    let pointers = prop::collection::vec(a_pointer(), 1..4);
    // One in five records was created by a question. Some records have values in the file.
    let beside = (
        prop::option::weighted(0.2, Just(Box::default())),
        any::<[bool; 4]>(),
        0_u8..=100,
    );
    let stands = (a_place(), beside);
    (parts, strength, stands, tags, pointers, a_name()).prop_map(
        |((text, priority, origin, hits, related), strength, (place, beside), tags, pointers, name)| {
            let mut record = record(&name.0, strength, place);
            record.entry.summary = text.to_owned();
            record.entry.priority = priority;
            record.entry.origin = origin;
            record.entry.hits = hits;
            record.entry.related = related;
            record.entry.tags = tags.into_iter().map(str::to_owned).collect();
            (record.entry.pointers, record.hashes) = pointers.into_iter().unzip();
            let (learned, [is_filed, by_hand, apart, linked], hundredths) = beside;
            record.learned = learned;
            record.filed = FiledUse::with_strength(&record, record.strength)
                .filter(|_| is_filed)
                .map(|filed| FiledUse { hundredths, ..filed });
            (record.by_hand, record.apart) = (by_hand, apart);
            if linked {
                record.linked = record.entry.related.iter().cloned().collect();
            }
            record
        },
    )
}

fn a_snapshot() -> impl Strategy<Value = ConsolidationSnapshot> {
    let pair = (a_name(), a_name(), prop_oneof![Just(f32::NAN), 0.7_f32..1.0]);
    let similar = prop::collection::vec(pair, 0..8);
    let together = prop::collection::vec((a_name(), a_name(), 0_u32..5), 0..8);
    let candidates = prop::collection::vec(a_record(), 0..4);
    let summaries = prop::collection::vec((a_name(), "[a-z ]{0,9}"), 0..4);
    let reviewed = prop::collection::btree_set(prop::sample::select(vec!["memory/a.md", "gone.md"]), 0..2);
    let records = prop::collection::vec(a_record(), 0..20);
    (
        records,
        similar,
        together,
        candidates,
        summaries,
        reviewed,
        (prop::option::of(a_name()), any::<bool>()),
    )
        .prop_map(
            |(records, similar, together, candidates, summaries, reviewed, (removed, unread))| {
                let mut state = snapshot(records);
                state.settings.cluster_from = 3;
                state
                    .documents
                    .insert("memory/b.md".to_owned(), document(&[("Two", b"six")]));
                state.similar = similar
                    .into_iter()
                    .map(|(a, b, cosine)| SimilarPair { a, b, cosine })
                    .collect();
                state.co_access = together
                    .into_iter()
                    .map(|(a, b, count)| CoAccess { a, b, count })
                    .collect();
                let new = |record: EntryRecord| BootstrapEntry {
                    entry: record.entry,
                    group: record.group,
                };
                state.candidates = candidates.into_iter().map(new).collect();
                let text = |summary: String| EntryText {
                    topic: "Topic".to_owned(),
                    summary,
                    tags: Vec::new(),
                };
                state.texts = summaries
                    .into_iter()
                    .map(|(id, summary)| (id, text(summary)))
                    .collect();
                state.reviewed = reviewed.into_iter().map(str::to_owned).collect();
                // Tombstones of entries that the snapshot may not contain.
                let said = |id: EntryId| {
                    let said = state.records.get(&id).map(RemovedEntry::from);
                    (
                        id,
                        said.unwrap_or_else(|| super::removed("memory/b.md", Some("Two"))),
                    )
                };
                state.tombstones = removed.into_iter().map(said).collect();
                state.unread.extend(unread.then(|| "gone.md".to_owned()));
                state.documents.insert(
                    "projects/c.md".to_owned(),
                    document(&[("One", b"six"), ("New", b"two")]),
                );
                state
            },
        )
}

/// Formats snapshots as text, so that a NaN equals itself.
fn shown(snapshot: &ConsolidationSnapshot) -> String {
    format!("{snapshot:#?}")
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 192, ..ProptestConfig::default() })]

    #[test]
    fn planning_after_applying_a_plan_yields_an_empty_plan(state in a_snapshot()) {
        for cycle in CYCLES {
            let after = apply(&state, &plan(&state, cycle));
            let again = plan(&after, cycle);
            prop_assert!(again.steps.is_empty(), "{:?} {:#?}", cycle, again.steps);
        }
    }

    #[test]
    fn a_light_cycle_without_changed_documents_needs_only_the_unsettled_entries(state in a_snapshot()) {
        let state = ConsolidationSnapshot {
            run: state.run,
            records: state.records,
            quick_access: vec![id("a")],
            ..ConsolidationSnapshot::default()
        };
        let mut unsettled = state.clone();
        unsettled.records.retain(|_, record| !is_settled(record, record.strength));
        prop_assert_eq!(plan(&unsettled, Cycle::Light), plan(&state, Cycle::Light));
    }

    #[test]
    fn a_run_interrupted_after_any_step_ends_in_the_same_state(state in a_snapshot()) {
        for cycle in CYCLES {
            let whole = plan(&state, cycle);
            let end = apply(&state, &whole);
            for done in 0..whole.steps.len() {
                let mut cut = state.clone();
                for step in &whole.steps[..done] {
                    step.change.apply(&mut cut);
                }
                // A crash can happen after the current step was applied and before it was recorded.
                whole.steps[done].change.apply(&mut cut);
                whole.steps[done].change.apply(&mut cut);
                let finished = apply(&cut, &plan(&cut, cycle));
                prop_assert_eq!(shown(&finished), shown(&end), "{:?} after {}", cycle, done);
            }
        }
    }

    #[test]
    fn undoing_a_plan_restores_the_snapshot(state in a_snapshot()) {
        for cycle in CYCLES {
            let plan = plan(&state, cycle);
            let mut back = apply(&state, &plan);
            for change in undo(&plan) {
                change.apply(&mut back);
            }
            prop_assert_eq!(shown(&back), shown(&state));
        }
    }

    #[test]
    fn no_entry_is_lost_and_demotions_stay_within_the_limit(state in a_snapshot()) {
        for cycle in CYCLES {
            let plan = plan(&state, cycle);
            let after = apply(&state, &plan);
            for (id, before) in &state.records {
                let record = after.records.get(id);
                prop_assert!(record.is_some_and(|record| !record.entry.pointers.is_empty()));
                let gone = record.is_some_and(|record| matches!(record.place, RecordPlace::Archive(_)));
                if gone && before.place == RecordPlace::Index {
                    let merged = plan.steps.iter().any(|step| {
                        step.change.merged().is_some_and(|(_, absorbed)| absorbed == id)
                    });
                    prop_assert!(merged, "{} left the index unmerged", id);
                }
            }
            let most = (f64::from(state.run.live) * LOSS_CAP).floor().max(1.0);
            prop_assert!(f64::from(after.run.demoted) <= most);
        }
    }
}
