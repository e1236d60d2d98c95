//! Tests of planning, resuming and undoing.

use proptest::prelude::*;

use super::*;
use crate::bootstrap::{TECHNICAL, TimeBand};
use crate::decay::strength_at;
use hippo_types::cycle::Cycle;
use hippo_types::entry::{Entry, EntryOrigin, EntryPriority};

const DAY: i64 = 86_400_000;
const NOW: Timestamp = Timestamp(1_775_000_000_000);
const CYCLES: [Cycle; 3] = [Cycle::Light, Cycle::Deep, Cycle::Archival];

/// Returns the snapshot after all steps of a plan are applied.
fn apply(snapshot: &ConsolidationSnapshot, plan: &ConsolidationPlan) -> ConsolidationSnapshot {
    let mut after = snapshot.clone();
    plan.steps.iter().for_each(|step| step.change.apply(&mut after));
    after
}

/// Returns the changes that undo a plan, in the order in which to apply them.
fn undo(plan: &ConsolidationPlan) -> Vec<EntryChange> {
    plan.steps
        .iter()
        .rev()
        .map(|step| step.change.inverse())
        .collect()
}

fn id(name: &str) -> EntryId {
    EntryId(name.to_owned())
}

fn pointer(path: &str, section: Option<&str>) -> Pointer {
    Pointer {
        path: path.to_owned(),
        section: section.map(str::to_owned),
    }
}

fn entry(name: &str, summary: &str) -> Entry {
    Entry {
        id: id(name),
        topic: "The matter".to_owned(),
        summary: summary.to_owned(),
        pointers: vec![pointer("memory/a.md", Some("One"))],
        created: NOW.plus(-40 * DAY),
        accessed: NOW.plus(-20 * DAY),
        replayed_to: None,
        hits: 1,
        strength: 1.0,
        tags: Vec::new(),
        related: Vec::new(),
        priority: EntryPriority::Normal,
        priority_rule: None,
        origin: EntryOrigin::Auto,
        version: 1,
    }
}

fn record(name: &str, strength: f32, place: RecordPlace) -> EntryRecord {
    EntryRecord {
        strength,
        place,
        ..EntryRecord::new(entry(name, "what there is to know"), TECHNICAL)
    }
}

fn removed(path: &str, section: Option<&str>) -> RemovedEntry {
    RemovedEntry {
        pointers: vec![pointer(path, section)],
        hashes: vec![None],
    }
}

fn snapshot(records: Vec<EntryRecord>) -> ConsolidationSnapshot {
    let mut snapshot = ConsolidationSnapshot {
        documents: BTreeMap::from([(
            "memory/a.md".to_owned(),
            document(&[("One", b"one"), ("Two", b"two")]),
        )]),
        ..ConsolidationSnapshot::default()
    };
    snapshot.records = records
        .into_iter()
        .map(|record| (record.entry.id.clone(), record))
        .collect();
    snapshot.begin(NOW);
    snapshot
}

fn document(sections: &[(&str, &[u8])]) -> DocumentState {
    DocumentState {
        hash: ContentHash::of(
            sections
                .iter()
                .flat_map(|(_, text)| text.to_vec())
                .collect::<Vec<u8>>()
                .as_slice(),
        ),
        sections: sections
            .iter()
            .map(|(title, text)| SectionState {
                title: (*title).to_owned(),
                hash: ContentHash::of(text),
            })
            .collect(),
    }
}

fn rules_of(plan: &ConsolidationPlan) -> Vec<(Rule, String)> {
    let steps = plan.steps.iter().filter(|step| step.rule != Rule::Flush);
    steps
        .map(|step| {
            (
                step.rule,
                step.change
                    .ids()
                    .iter()
                    .map(|id| id.0.as_str())
                    .collect::<Vec<_>>()
                    .join(" "),
            )
        })
        .collect()
}

#[test]
fn weak_entries_are_queued_up_to_the_demotion_limit() {
    let names = ["a", "b", "c", "d", "e", "f", "g", "h"];
    let weak = |(at, name): (usize, &&str)| record(name, 0.01 * (at as f32 + 1.0), RecordPlace::Index);
    let mut state = snapshot(names.iter().enumerate().map(weak).collect());
    state.documents.clear();
    let plan_of_first = plan(&state, Cycle::Light);
    let listed = rules_of(&plan_of_first).pop();
    // An empty Quick Access is filled immediately. After that, only deep cycles change it.
    assert_eq!(listed, Some((Rule::QuickAccess, "h g f e d c".to_owned())));
    state.quick_access = vec![id("h")];
    let plan = plan(&state, Cycle::Light);
    assert_eq!(
        rules_of(&plan),
        [(Rule::Queue, "a".to_owned()), (Rule::Queue, "b".to_owned())]
    );
    assert_eq!(
        plan.refused
            .iter()
            .filter(|refusal| refusal.rule == Rule::LossCap)
            .count(),
        6
    );
    let mut after = apply(&state, &plan);
    assert_eq!(after.run.demoted, 2);
    after.begin(NOW.plus(3_600_000));
    assert_eq!(rules_of(&super::plan(&after, Cycle::Light)).len(), 1);
}

#[test]
fn amygdala_entries_are_never_queued_and_strong_entries_leave_the_queue() {
    let mut never = record("never", 0.02, RecordPlace::Index);
    never.entry.priority = EntryPriority::Amygdala;
    let back = record("back", 0.4, RecordPlace::Queue(NOW.plus(-DAY)));
    let mut state = snapshot(vec![never, back]);
    state.quick_access = vec![id("never")];
    state.documents.clear();
    assert_eq!(
        rules_of(&plan(&state, Cycle::Light)),
        [(Rule::Revive, "back".to_owned())]
    );
}

#[test]
fn spent_entries_are_pruned_next_and_others_archived_after_thirty_days() {
    let records = vec![
        record("fresh", 0.01, RecordPlace::Queue(NOW)),
        record("spent", 0.01, RecordPlace::Queue(NOW.plus(-DAY))),
        record("waits", 0.07, RecordPlace::Queue(NOW.plus(-29 * DAY))),
        record("over", 0.07, RecordPlace::Queue(NOW.plus(-30 * DAY))),
        record("alive", 0.7, RecordPlace::Index),
    ];
    let mut state = snapshot(records);
    state.run.live = 100;
    assert_eq!(
        rules_of(&plan(&state, Cycle::Deep))[..1],
        [(Rule::Source, "alive".to_owned())]
    );
    let pruned: Vec<_> = rules_of(&plan(&state, Cycle::Deep))
        .into_iter()
        .filter(|step| step.0 == Rule::Prune)
        .collect();
    assert_eq!(pruned, [(Rule::Prune, "spent".to_owned())]);
    let archived: Vec<_> = rules_of(&plan(&state, Cycle::Archival))
        .into_iter()
        .filter(|step| step.0 == Rule::Archive)
        .collect();
    assert_eq!(archived, [(Rule::Archive, "over".to_owned())]);
}

#[test]
fn pointers_follow_moved_text() {
    let mut renamed = record("renamed", 0.7, RecordPlace::Index);
    renamed.entry.pointers = vec![pointer("memory/a.md", Some("Old name"))];
    renamed.hashes = vec![Some(ContentHash::of(b"two").0)];
    let mut moved = record("moved", 0.7, RecordPlace::Index);
    moved.entry.pointers = vec![pointer("gone.md", None), pointer("memory/a.md", Some("One"))];
    moved.hashes = vec![Some(ContentHash::of(b"onetwo").0), None];
    let mut lost = record("lost", 0.7, RecordPlace::Index);
    lost.entry.pointers = vec![pointer("gone.md", Some("One"))];
    let state = snapshot(vec![renamed, moved, lost]);
    let plan = plan(&state, Cycle::Deep);
    let after = apply(&state, &plan);
    assert_eq!(
        after.records[&id("renamed")].entry.pointers,
        [pointer("memory/a.md", Some("Two"))]
    );
    let expected = [pointer("memory/a.md", None), pointer("memory/a.md", Some("One"))];
    assert_eq!(after.records[&id("moved")].entry.pointers, expected);
    assert_eq!(
        after.records[&id("lost")].entry.pointers,
        [pointer("gone.md", Some("One"))]
    );
    let found: Vec<&str> = plan
        .findings
        .iter()
        .map(|finding| finding.what.as_str())
        .collect();
    assert_eq!(found, ["the file no longer exists: gone.md §One"]);
}

#[test]
fn a_pointer_to_an_unreadable_file_is_kept() {
    let mut one = record("one", 0.7, RecordPlace::Index);
    one.entry.pointers = vec![
        pointer("memory/a.md", Some("One")),
        pointer("memory/locked.md", Some("Old")),
        pointer("memory/gone.md", None),
    ];
    one.hashes = vec![None, Some(ContentHash::of(b"two").0), None];
    let mut state = snapshot(vec![one.clone()]);
    state.unread.insert("memory/locked.md".to_owned());
    let after = apply(&state, &plan(&state, Cycle::Deep));
    assert_eq!(after.records[&id("one")].entry.pointers, one.entry.pointers[..2]);
    assert_eq!(after.records[&id("one")].hashes[1], one.hashes[1]);
}

#[test]
fn a_replay_counts_once_per_run_and_keeps_a_person_s_summary() {
    let fresh = |name: &str, strength| {
        let mut fresh = record(name, strength, RecordPlace::Index);
        (fresh.entry.strength, fresh.entry.accessed) = (strength, NOW);
        fresh
    };
    let mut hand = fresh("hand", 0.98);
    hand.by_hand = true;
    let mut state = snapshot(vec![hand, fresh("auto", 0.5), fresh("weak", 0.05)]);
    state.reviewed = BTreeSet::from(["memory/a.md".to_owned()]);
    let mut news = EntryText::from(&state.records[&id("auto")].entry);
    news.summary = "news".to_owned();
    state.texts = ["hand", "auto"].map(|name| (id(name), news.clone())).into();
    let first = plan(&state, Cycle::Deep);
    let after = apply(&state, &first);
    let strength = |name: &str| after.records[&id(name)].strength;
    assert_eq!(["hand", "auto", "weak"].map(strength), [1.0, 0.55, 0.05]);
    assert_eq!(after.records[&id("auto")].entry.summary, "news");
    assert_eq!(after.records[&id("hand")].entry.summary, "what there is to know");
    assert!(plan(&after, Cycle::Deep).steps.is_empty());
}

#[test]
fn a_replayed_entry_is_never_weaker_later() {
    let mut old = record("old", 0.0, RecordPlace::Index);
    let profile = ConsolidationSettings::default().profile;
    old.strength = strength_at(&profile, &old.entry, NOW);
    let mut state = snapshot(vec![old.clone()]);
    state.reviewed = BTreeSet::from(["memory/a.md".to_owned()]);
    let after = apply(&state, &plan(&state, Cycle::Deep));
    let replayed = &after.records[&id("old")];
    assert!((replayed.strength - old.strength - 0.05).abs() < 1e-4);
    let used = |record: &EntryRecord| (record.entry.accessed, record.entry.hits);
    assert_eq!(used(replayed), used(&old), "a replay does not count as an access");
    let mut back = after.clone();
    let steps = plan(&state, Cycle::Deep).steps.into_iter().rev();
    steps.for_each(|step| step.change.inverse().apply(&mut back));
    assert_eq!(back.records[&id("old")].entry, old.entry, "undone");
    for days in [0, 1, 7, 30, 365] {
        let then = NOW.plus(days * DAY);
        let strength = |record: &EntryRecord| strength_at(&profile, &record.entry, then);
        assert!(strength(replayed) > strength(&old), "{days} days later");
    }
}

#[test]
fn common_tags_form_sections() {
    let strong = record("strong", 0.9, RecordPlace::Index);
    let mut records = vec![strong];
    for at in 0..9 {
        let mut lora = record(&format!("l{at}"), 0.5, RecordPlace::Index);
        lora.entry.tags = vec!["lora-radio".into()];
        records.push(lora);
    }
    let state = snapshot(records);
    let plan = plan(&state, Cycle::Archival);
    let after = apply(&state, &plan);
    assert_eq!(after.records[&id("l3")].group, "Lora radio");
    assert_eq!(after.records[&id("l3")].band, Some(TimeBand::Older));
    let health = plan.health.unwrap();
    assert_eq!(
        (health.live, health.bands, health.unlinked),
        (10, [0, 0, 0, 9, 1], 10)
    );
}

#[test]
fn the_file_is_updated_only_for_relevant_changes() {
    let filed = |hundredths, hits| FiledUse {
        accessed: NOW.plus(-20 * DAY),
        hits,
        hundredths,
    };
    let table = [
        (None, 0.50, true),
        (Some(filed(54, 1)), 0.50, false),
        (Some(filed(55, 1)), 0.50, true),
        (Some(filed(51, 1)), 0.49, true),
        (Some(filed(50, 0)), 0.50, true),
        (Some(filed(50, 1)), 0.50, false),
    ];
    for (said, strength, changes) in table {
        let mut one = record("one", strength, RecordPlace::Index);
        one.filed = said;
        let mut state = snapshot(vec![one]);
        state.quick_access = vec![id("one")];
        state.documents.clear();
        let plan = plan(&state, Cycle::Light);
        assert_eq!(!plan.steps.is_empty(), changes, "{said:?} {strength}");
    }
}

#[test]
fn removed_entries_are_not_created_again() {
    let mut state = snapshot(Vec::new());
    let new = |name: &str, section| BootstrapEntry {
        entry: Entry {
            pointers: vec![pointer("memory/a.md", Some(section))],
            ..entry(name, "new")
        },
        group: TECHNICAL.to_owned(),
    };
    state.candidates = vec![
        new("wanted", "One"),
        new("unwanted", "Two"),
        new("renamed", "Three"),
    ];
    state.tombstones = BTreeMap::from([
        (id("unwanted"), RemovedEntry::default()),
        (id("old"), removed("memory/a.md", Some("Three"))),
    ]);
    let plan = plan(&state, Cycle::Light);
    assert_eq!(rules_of(&plan)[..1], [(Rule::NewEntry, "wanted".to_owned())]);
    assert_eq!(plan.refused.len(), 2);
    assert_eq!(apply(&state, &plan).records.len(), 1);
}

mod laws;
mod merging;
mod relating;
mod renaming;
