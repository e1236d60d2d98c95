//! Tests of the merge: edits in the file win, and forgotten entries stay forgotten.

use std::slice;

use proptest::prelude::*;

use super::*;
use crate::index_file::properties::any_entry;
use hippo_types::entry::EntryPriority;
use hippo_types::time::Timestamp;

const SETTINGS: IndexFileOptions = IndexFileOptions {
    offset_seconds: 0,
    undated: Timestamp(0),
};

fn entry(id: &str, summary: &str) -> Entry {
    Entry {
        id: EntryId(id.to_owned()),
        topic: id.to_owned(),
        summary: summary.to_owned(),
        strength: 0.5,
        hits: 3,
        version: 1,
        ..Entry::default()
    }
}

fn merged(base: &[Entry], theirs: &[Entry], ours: &[Entry]) -> Merge {
    merge(base, theirs, ours, &BTreeSet::new(), &SETTINGS)
}

fn sorted(mut entries: Vec<Entry>) -> Vec<Entry> {
    entries.sort_by(|one, other| one.id.cmp(&other.id));
    entries
}

#[test]
fn a_field_changed_on_both_sides_keeps_the_file_s_value_and_reports_ours() {
    let base = [entry("a", "old")];
    let theirs = [Entry {
        tags: vec!["new".to_owned()],
        ..entry("a", "by a person")
    }];
    let ours = [Entry {
        hits: 5,
        strength: 0.9,
        ..entry("a", "by a run")
    }];
    let it = merged(&base, &theirs, &ours);
    let expected = Entry {
        hits: 5,
        strength: 0.9,
        ..theirs[0].clone()
    };
    assert_eq!(it.entries, [expected]);
    let id = EntryId("a".to_owned());
    assert_eq!(
        it.taken,
        [(id.clone(), EntryField::Summary), (id.clone(), EntryField::Tags)]
    );
    let conflict = MergeConflict {
        id,
        rule: ConflictRule::FileWins(EntryField::Summary),
        ours: Some(ours[0].clone()),
    };
    assert_eq!(it.conflicts, [conflict]);
}

#[test]
fn a_strength_set_in_the_file_wins_and_access_counts_add_up() {
    let base = [entry("a", "s")];
    let mut theirs = base.clone();
    theirs[0].strength = 0.75;
    theirs[0].hits = 4;
    theirs[0].accessed = Timestamp(86_400_000);
    let mut ours = base.clone();
    ours[0].hits = 10;
    ours[0].accessed = Timestamp(5);
    let it = merged(&base, &theirs, &ours).entries.remove(0);
    assert_eq!(
        (it.strength, it.hits, it.accessed),
        (0.75, 11, Timestamp(86_400_000))
    );
    ours[0].accessed = Timestamp(3 * 86_400_000 + 7);
    assert_eq!(
        merged(&base, &theirs, &ours).entries[0].accessed,
        ours[0].accessed
    );
    // The file shows the strength only in hundredths, so this difference is not a change.
    ours[0].strength = 0.5004;
    assert_eq!(merged(&base, &base, &ours).entries, ours);
}

#[test]
fn an_entry_removed_from_the_file_stays_forgotten() {
    let (base, changed) = ([entry("a", "old"), entry("b", "x")], entry("a", "new"));
    let it = merged(&base, &base[1..], &[changed.clone(), base[1].clone()]);
    let id = EntryId("a".to_owned());
    assert_eq!(
        (&it.entries[..], &it.tombstones[..]),
        (&base[1..], &[id.clone()][..])
    );
    assert_eq!(it.conflicts[0].rule, ConflictRule::RemovalWins);

    let forgotten = BTreeSet::from([id.clone()]);
    let it = merge(
        &base[1..],
        &base[1..],
        slice::from_ref(&changed),
        &forgotten,
        &SETTINGS,
    );
    assert_eq!(it.entries, []);
    // A removed entry is adopted again if a person writes it into the file again.
    let it = merge(&[], slice::from_ref(&changed), &[], &forgotten, &SETTINGS);
    assert_eq!((it.entries, it.adopted), (vec![changed], vec![id]));
}

#[test]
fn pruning_removes_only_entries_unchanged_in_the_file() {
    let base = [entry("a", "old"), entry("b", "old")];
    let theirs = [base[0].clone(), entry("b", "edited")];
    let it = merged(&base, &theirs, &[]);
    assert_eq!(it.entries, theirs[1..]);
    assert_eq!(it.conflicts[0].rule, ConflictRule::ChangeBeatsPruning);
    assert_eq!(it.tombstones, []);
}

#[test]
fn a_priority_set_in_the_file_drops_its_rule() {
    let ruled = Entry {
        priority: EntryPriority::Amygdala,
        priority_rule: Some("safety".to_owned()),
        ..entry("a", "s")
    };
    let theirs = Entry {
        priority: EntryPriority::Low,
        priority_rule: None,
        ..ruled.clone()
    };
    let it = merged(
        slice::from_ref(&ruled),
        slice::from_ref(&theirs),
        slice::from_ref(&ruled),
    );
    assert_eq!(it.entries, [theirs]);
}

/// Generates up to six entries as they are written to the file, with different ids of one letter.
fn entries() -> impl Strategy<Value = Vec<Entry>> {
    prop::collection::btree_map("[a-f]", any_entry(), 0..6).prop_map(|entries| {
        let named = entries.into_iter().map(|(id, entry)| Entry {
            id: EntryId(id),
            ..entry
        });
        named.map(|entry| as_written(&entry, &SETTINGS)).collect()
    })
}

proptest! {
    #[test]
    fn an_unchanged_file_yields_the_store_s_entries(base in entries(), ours in entries()) {
        let it = merged(&base, &base, &ours);

        prop_assert_eq!(sorted(it.entries), ours);
        prop_assert!(it.conflicts.is_empty() && it.taken.is_empty() && it.tombstones.is_empty());
    }

    #[test]
    fn an_unchanged_store_yields_the_file_s_entries(base in entries(), theirs in entries()) {
        let it = merged(&base, &theirs, &base);
        prop_assert_eq!(&it.entries, &theirs);
        prop_assert!(it.conflicts.is_empty());
        let removed = base.iter().filter(|entry| theirs.iter().all(|their| their.id != entry.id));
        prop_assert_eq!(it.tombstones, removed.map(|entry| entry.id.clone()).collect::<Vec<_>>());
    }

    #[test]
    fn merging_again_changes_nothing(base in entries(), theirs in entries(), ours in entries()) {
        let once = merged(&base, &theirs, &ours);
        let forgotten = once.tombstones.iter().cloned().collect();
        let again = merge(&theirs, &theirs, &once.entries, &forgotten, &SETTINGS);
        prop_assert_eq!(sorted(again.entries), sorted(once.entries));
        prop_assert!(again.taken.is_empty() && again.conflicts.is_empty() && again.tombstones.is_empty());
        prop_assert!(once.tombstones.iter().all(|id| theirs.iter().all(|their| their.id != *id)));
    }
}
