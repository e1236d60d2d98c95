//! Runs: progress, resumption after interruption, undo.

use std::collections::BTreeSet;

use hippo_map::bootstrap::TECHNICAL;
use hippo_map::consolidation::{
    self, CoAccess, ConsolidationPlan, ConsolidationSettings, ConsolidationSnapshot, DocumentState,
    EntryChange, EntryText, PlanStep, Rule, SectionState, SimilarPair,
};
use hippo_map::schedule::RunOutcome;
use hippo_text::chunk::ContentHash;
use hippo_types::entry::EntryPriority;

use super::super::{RunId, RunReport};
use super::*;
use crate::StoreError;
use hippo_types::cycle::Cycle;

/// Returns the snapshot of the store for a run.
fn snapshot(store: &Store) -> ConsolidationSnapshot {
    let read = store.entries().unwrap();
    assert!(read.damaged.is_empty(), "{:?}", read.damaged);
    let mut snapshot = ConsolidationSnapshot {
        records: read.records,
        quick_access: read.quick_access,
        settings: ConsolidationSettings::default(),
        ..ConsolidationSnapshot::default()
    };
    snapshot.begin(NOW);
    snapshot
}

/// Creates a store on which every rule of a light and an archival cycle has an effect.
fn filled(scratch: &EntryScratch) -> Store {
    let mut store = scratch.open();
    let mut records: Vec<EntryRecord> = (0_u8..12)
        .map(|n| record(&format!("e{n:02}"), f32::from(n) / 12.0))
        .collect();
    for record in &mut records {
        record.entry.tags = vec!["pumps".to_owned()];
        record.group = TECHNICAL.to_owned();
    }
    records[0].place = RecordPlace::Queue(NOW.plus(-40 * 24 * HOUR));
    records[3].place = RecordPlace::Queue(NOW.plus(-40 * 24 * HOUR));
    records[10].entry.priority = EntryPriority::Amygdala;
    put(&mut store, &records);
    store
}

/// Adds the input of a cycle that is not in the store. With it, every rule has an effect.
fn gather(snapshot: &mut ConsolidationSnapshot) {
    let section = |title: &str, text: &[u8]| SectionState {
        title: title.to_owned(),
        hash: ContentHash::of(text),
    };
    let document = DocumentState {
        hash: ContentHash::of(b"a"),
        sections: vec![section("One", b"one"), section("Two", b"two")],
    };
    snapshot.documents.insert("memory/a.md".to_owned(), document);
    snapshot.reviewed.insert("memory/a.md".to_owned());
    let text = EntryText {
        summary: "what there is to know by now".to_owned(),
        ..EntryText::from(&snapshot.records[&id("e08")].entry)
    };
    snapshot.texts.insert(id("e08"), text);
    snapshot.similar = vec![SimilarPair {
        a: id("e05"),
        b: id("e06"),
        cosine: 0.99,
    }];
    snapshot.co_access = vec![CoAccess {
        a: id("e08"),
        b: id("e09"),
        count: 9,
    }];
}

fn planned(store: &Store, cycle: Cycle) -> (ConsolidationSnapshot, ConsolidationPlan) {
    let mut before = snapshot(store);
    gather(&mut before);
    let plan = consolidation::plan(&before, cycle);
    assert!(plan.steps.len() > 4, "{plan:?}");
    (before, plan)
}

/// Returns the snapshot after all steps of a plan are applied.
fn applied(snapshot: &ConsolidationSnapshot, plan: &ConsolidationPlan) -> ConsolidationSnapshot {
    let mut after = snapshot.clone();
    plan.steps.iter().for_each(|step| step.change.apply(&mut after));
    after
}

#[test]
fn applying_a_run_gives_the_state_that_the_core_defines() {
    for cycle in [Cycle::Light, Cycle::Deep, Cycle::Archival] {
        let scratch = EntryScratch::new();
        let mut store = filled(&scratch);
        let (before, plan) = planned(&store, cycle);
        let run = store.start_run(&before.run, &plan).unwrap();
        let mut last = before.run;
        for step in &plan.steps {
            last = store.apply_step(run, step).unwrap();
        }
        store.finish_run(run, RunOutcome::Done, NOW.plus(5)).unwrap();
        let expected = applied(&before, &plan);
        let read = scratch.killed().open().entries().unwrap();
        assert_eq!(read.records, expected.records);
        assert_eq!(read.quick_access, expected.quick_access);
        assert_eq!(last, expected.run);
        assert_eq!(read.runs[0].run, expected.run);
        assert_eq!(read.runs[0].record.outcome, RunOutcome::Done);
        assert_eq!(read.runs[0].record.finished, Some(NOW.plus(5)));

        let detail = store.run(run).unwrap().unwrap();
        assert_eq!(detail.steps, plan.steps);
        assert_eq!(detail.report, RunReport::of(&plan));
    }
}

#[test]
fn the_runs_in_these_tests_cover_all_rules() {
    let scratch = EntryScratch::new();
    let store = filled(&scratch);
    let rules: BTreeSet<Rule> = [Cycle::Light, Cycle::Deep, Cycle::Archival]
        .into_iter()
        .flat_map(|cycle| planned(&store, cycle).1.steps)
        .map(|step| step.rule)
        .collect();
    let wanted = [
        Rule::Queue,
        Rule::Flush,
        Rule::Source,
        Rule::Prune,
        Rule::Merge,
        Rule::Associate,
        Rule::Summary,
        Rule::QuickAccess,
        Rule::Replay,
        Rule::Archive,
        Rule::Cluster,
        Rule::ByTime,
    ];
    let missing: Vec<Rule> = wanted.into_iter().filter(|rule| !rules.contains(rule)).collect();
    assert_eq!(missing, []);
}

#[test]
fn a_run_interrupted_after_any_step_resumes_and_ends_the_same() {
    for cycle in [Cycle::Light, Cycle::Deep, Cycle::Archival] {
        assert_interruption_after_any_step_is_recoverable(cycle);
    }
}

fn assert_interruption_after_any_step_is_recoverable(cycle: Cycle) {
    let whole = EntryScratch::new();
    let mut store = filled(&whole);
    let (before, plan) = planned(&store, cycle);
    let run = store.start_run(&before.run, &plan).unwrap();
    let expected = applied(&before, &plan);
    for done in 0..=plan.steps.len() {
        // Simulate a kill of the process at this point: another process opens the files.
        let rest = whole.killed();
        let mut other = rest.open();
        let found = other.interrupt_runs().unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].id, run);
        assert_eq!(found[0].done as usize, done);
        assert_eq!(found[0].record.outcome, RunOutcome::Interrupted);
        assert_eq!(other.interrupt_runs().unwrap(), []);
        let detail = other.run(run).unwrap().unwrap();
        assert_eq!(detail.steps, plan.steps);

        let mut state = snapshot(&other);
        state.run = found[0].run;
        gather(&mut state);
        let rest_of_plan = consolidation::plan(&state, cycle);
        other.resume_run(run, &rest_of_plan).unwrap();
        for step in &rest_of_plan.steps {
            other.apply_step(run, step).unwrap();
        }
        other.finish_run(run, RunOutcome::Done, NOW.plus(9)).unwrap();
        let read = other.entries().unwrap();
        assert_eq!(read.records, expected.records, "{cycle:?} after {done} steps");
        assert_eq!(
            read.quick_access, expected.quick_access,
            "{cycle:?} after {done} steps"
        );
        assert_eq!(read.runs[0].planned, read.runs[0].done);
        assert_eq!(read.runs[0].record.outcome, RunOutcome::Done);
        let taken_back = undo_list(&other, run).unwrap();
        other.undo_run(run, &taken_back, &[], NOW.plus(10)).unwrap();
        assert_eq!(taken_back.len(), read.runs[0].done as usize);
        assert_eq!(other.entries().unwrap().records, before.records);
        other.resume_run(run, &rest_of_plan).unwrap_err();

        if let Some(step) = plan.steps.get(done) {
            store.apply_step(run, step).unwrap();
        }
    }
}

#[test]
fn an_interrupted_step_is_neither_applied_nor_counted() {
    let scratch = EntryScratch::new();
    let mut store = filled(&scratch);
    let (before, plan) = planned(&store, Cycle::Light);
    let run = store.start_run(&before.run, &plan).unwrap();
    // Make the last write of the transaction fail.
    scratch.sql("CREATE TRIGGER refuse BEFORE UPDATE OF state ON runs BEGIN SELECT RAISE(ABORT, 'no'); END");
    store.apply_step(run, &plan.steps[0]).unwrap_err();
    scratch.sql("DROP TRIGGER refuse");
    let read = store.entries().unwrap();
    assert_eq!(read.records, before.records);
    assert_eq!(read.runs[0].done, 0);
    store.apply_step(run, &plan.steps[0]).unwrap();
    assert_eq!(store.entries().unwrap().runs[0].done, 1);
}

#[test]
fn undo_restores_the_previous_state_only_once() {
    let scratch = EntryScratch::new();
    let mut store = filled(&scratch);
    let (before, mut plan) = planned(&store, Cycle::Archival);
    let added = record("new", 0.9);
    plan.steps.push(PlanStep {
        rule: Rule::NewEntry,
        change: EntryChange::Add {
            record: Box::new(added),
        },
    });
    let run = store.start_run(&before.run, &plan).unwrap();
    for step in &plan.steps {
        store.apply_step(run, step).unwrap();
    }
    let refused = store.undo_run(run, &[], &[], NOW).unwrap_err();
    assert_eq!(
        refused.to_string(),
        format!("could not use run 1: {}: it is running", scratch.file.display())
    );
    store.finish_run(run, RunOutcome::Done, NOW).unwrap();
    let list = undo_list(&store, run).unwrap();
    let inverses = plan.steps.iter().rev().map(|step| step.change.inverse());
    assert_eq!(list, inverses.collect::<Vec<_>>());
    let apart = before.records.keys().next().unwrap();
    store
        .undo_run(run, &list, std::slice::from_ref(apart), NOW.plus(1))
        .unwrap();
    let read = store.entries().unwrap();
    let mut expected = before.records.clone();
    expected.get_mut(apart).unwrap().apart = true;
    assert_eq!(read.records, expected);
    assert_eq!(read.quick_access, before.quick_access);
    assert_eq!(read.runs[0].run.demoted, 0);
    assert_eq!(read.runs[0].undone, Some(NOW.plus(1)));
    assert_eq!(store.entries().unwrap(), read);
}

#[test]
fn an_unreadable_step_prevents_a_partial_undo() {
    let scratch = EntryScratch::new();
    let mut store = filled(&scratch);
    let (before, plan) = planned(&store, Cycle::Light);
    let run = store.start_run(&before.run, &plan).unwrap();
    for step in &plan.steps {
        store.apply_step(run, step).unwrap();
    }
    store.finish_run(run, RunOutcome::Done, NOW).unwrap();
    scratch.sql("UPDATE run_steps SET step = '{' WHERE ordinal = 1");
    let after = store.entries().unwrap();
    for error in [undo_list(&store, run).unwrap_err(), store.run(run).unwrap_err()] {
        assert!(matches!(error, StoreError::Row { .. }), "{error}");
        assert!(!error.needs_rebuild());
    }
    assert_eq!(store.entries().unwrap(), after);
}

#[test]
fn a_missing_or_finished_run_accepts_no_step() {
    let scratch = EntryScratch::new();
    let mut store = filled(&scratch);
    let (before, plan) = planned(&store, Cycle::Light);
    let unknown = RunId(9);
    store.apply_step(unknown, &plan.steps[0]).unwrap_err();
    store.resume_run(unknown, &plan).unwrap_err();
    store.finish_run(unknown, RunOutcome::Done, NOW).unwrap_err();
    assert_eq!(store.run(unknown).unwrap(), None);
    let run = store.start_run(&before.run, &plan).unwrap();
    store.finish_run(run, RunOutcome::Capped, NOW).unwrap();
    store.apply_step(run, &plan.steps[0]).unwrap_err();
    assert_eq!(store.entries().unwrap().records, before.records);
}

#[test]
fn obsolete_runs_are_deleted_and_the_last_of_each_cycle_is_kept() {
    let scratch = EntryScratch::new();
    let mut store = filled(&scratch);
    let (before, plan) = planned(&store, Cycle::Light);
    let empty = ConsolidationPlan {
        steps: Vec::new(),
        ..plan.clone()
    };
    let first = store.start_run(&before.run, &plan).unwrap();
    store.apply_step(first, &plan.steps[0]).unwrap();
    store.finish_run(first, RunOutcome::Done, NOW).unwrap();
    for _ in 0..20 {
        let run = store.start_run(&before.run, &empty).unwrap();
        store.finish_run(run, RunOutcome::Done, NOW).unwrap();
    }
    assert_eq!(store.trim_runs(NOW.plus(-1)).unwrap(), 10);
    let kept = store.entries().unwrap().runs;
    assert_eq!(kept.len(), 11);
    assert!(kept.iter().any(|run| run.id == first), "it has a step");
    assert_eq!(store.trim_runs(NOW.plus(1)).unwrap(), 1, "now it is old");
    assert_eq!(store.trim_runs(NOW.plus(1)).unwrap(), 0);
}
