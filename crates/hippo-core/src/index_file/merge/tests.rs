//! Does the merge keep what a person wrote, and nothing that was forgotten?

use std::slice;

use proptest::prelude::*;

use super::*;
use crate::entry::Priority;
use crate::index_file::properties::any_entry;
use crate::time::Timestamp;

const SETTINGS: Settings = Settings {
    offset_seconds: 0,
    undated: Timestamp(0),
    entry_level: None,
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
fn the_person_s_text_wins_and_ours_is_reported() {
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
        [(id.clone(), Field::Summary), (id.clone(), Field::Tags)]
    );
    let conflict = Conflict {
        id,
        rule: Rule::FileWins(Field::Summary),
        ours: Some(ours[0].clone()),
    };
    assert_eq!(it.conflicts, [conflict]);
}

#[test]
fn a_strength_that_was_set_holds_and_accesses_add_up() {
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
    // Thousandths are not in the file: nobody changed anything.
    ours[0].strength = 0.5004;
    assert_eq!(merged(&base, &base, &ours).entries, ours);
}

#[test]
fn what_was_removed_stays_forgotten() {
    let (base, changed) = ([entry("a", "old"), entry("b", "x")], entry("a", "new"));
    let it = merged(&base, &base[1..], &[changed.clone(), base[1].clone()]);
    let id = EntryId("a".to_owned());
    assert_eq!(
        (&it.entries[..], &it.tombstones[..]),
        (&base[1..], &[id.clone()][..])
    );
    assert_eq!(it.conflicts[0].rule, Rule::RemovalWins);

    let forgotten = BTreeSet::from([id.clone()]);
    let it = merge(
        &base[1..],
        &base[1..],
        slice::from_ref(&changed),
        &forgotten,
        &SETTINGS,
    );
    assert_eq!(it.entries, []);
    // Unless somebody writes it again.
    let it = merge(&[], slice::from_ref(&changed), &[], &forgotten, &SETTINGS);
    assert_eq!((it.entries, it.adopted), (vec![changed], vec![id]));
}

#[test]
fn pruning_takes_what_nobody_changed() {
    let base = [entry("a", "old"), entry("b", "old")];
    let theirs = [base[0].clone(), entry("b", "edited")];
    let it = merged(&base, &theirs, &[]);
    assert_eq!(it.entries, theirs[1..]);
    assert_eq!(it.conflicts[0].rule, Rule::ChangeBeatsPruning);
    assert_eq!(it.tombstones, []);
}

#[test]
fn a_priority_that_a_person_set_has_no_rule() {
    let ruled = Entry {
        priority: Priority::Amygdala,
        priority_rule: Some("safety".to_owned()),
        ..entry("a", "s")
    };
    let theirs = Entry {
        priority: Priority::Low,
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

/// Up to six entries with distinct ids of few letters, as the file writes them.
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
    fn an_unchanged_file_gives_ours(base in entries(), ours in entries()) {
        let it = merged(&base, &base, &ours);

        prop_assert_eq!(sorted(it.entries), ours);
        prop_assert!(it.conflicts.is_empty() && it.taken.is_empty() && it.tombstones.is_empty());
    }

    #[test]
    fn an_unchanged_store_gives_theirs(base in entries(), theirs in entries()) {
        let it = merged(&base, &theirs, &base);
        prop_assert_eq!(&it.entries, &theirs);
        prop_assert!(it.conflicts.is_empty());
        let removed = base.iter().filter(|entry| theirs.iter().all(|their| their.id != entry.id));
        prop_assert_eq!(it.tombstones, removed.map(|entry| entry.id.clone()).collect::<Vec<_>>());
    }

    #[test]
    fn a_merge_is_done_once(base in entries(), theirs in entries(), ours in entries()) {
        let once = merged(&base, &theirs, &ours);
        let forgotten = once.tombstones.iter().cloned().collect();
        let again = merge(&theirs, &theirs, &once.entries, &forgotten, &SETTINGS);
        prop_assert_eq!(sorted(again.entries), sorted(once.entries));
        prop_assert!(again.taken.is_empty() && again.conflicts.is_empty() && again.tombstones.is_empty());
        prop_assert!(once.tombstones.iter().all(|id| theirs.iter().all(|their| their.id != *id)));
    }
}
