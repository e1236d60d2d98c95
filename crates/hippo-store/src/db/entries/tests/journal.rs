//! Recorded accesses are counted exactly once, wherever the process stops.

use std::collections::BTreeMap;

use proptest::prelude::*;

use hippo_map::decay::{self, DecayCurve};

use super::super::access::{self, Access};
use super::*;

fn record_all(store: &mut Store, accesses: &[Access]) {
    let mut batch = store.begin_entries().unwrap();
    batch.record_accesses(accesses).unwrap();
    batch.commit().unwrap();
}

const PROFILE: DecayCurve = DecayCurve::PROTOCOL;

fn access(name: &str, hours: i64) -> Access {
    let at = NOW.plus(hours * HOUR);
    Access {
        entry: id(name),
        at,
        day: at.date(0),
    }
}

/// Returns the entry with these accesses counted one by one.
fn expected(mut entry: Entry, accesses: &[Access]) -> Entry {
    let mut days = BTreeMap::new();
    let name = entry.id.clone();
    for access in accesses.iter().filter(|access| access.entry == name) {
        let nth = days.entry(access.day).or_insert(0);
        *nth += 1;
        decay::record_access(&PROFILE, &mut entry, access.at, *nth);
    }
    entry
}

/// An event in the life of the daemon.
#[derive(Debug, Clone)]
enum JournalEvent {
    Record(Vec<(bool, i64)>),
    RecordCutOff(bool),
    Fold,
    FoldCutOff,
    Kill,
}

fn event() -> impl Strategy<Value = JournalEvent> {
    prop_oneof![
        3 => proptest::collection::vec((any::<bool>(), 0_i64..60), 1..4).prop_map(JournalEvent::Record),
        1 => any::<bool>().prop_map(JournalEvent::RecordCutOff),
        2 => Just(JournalEvent::Fold),
        1 => Just(JournalEvent::FoldCutOff),
        1 => Just(JournalEvent::Kill),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn every_access_counts_once_wherever_the_process_stops(
        events in proptest::collection::vec(event(), 1..12),
    ) {
        let mut scratch = EntryScratch::new();
        let mut store = scratch.open();
        let (a, b) = (record("a", 0.3), record("b", 0.3));
        put(&mut store, &[a.clone(), b.clone()]);
        let mut all = Vec::new();
        for event in events {
            match event {
                JournalEvent::Record(accesses) => {
                    let accesses: Vec<Access> = accesses
                        .into_iter()
                        .map(|(first, hours)| access(if first { "a" } else { "b" }, hours))
                        .collect();
                    record_all(&mut store, &accesses);
                    all.extend(accesses);
                }
                JournalEvent::RecordCutOff(first) => {
                    let mut batch = store.begin_entries().unwrap();
                    batch.record_accesses(&[access(if first { "a" } else { "b" }, 1)]).unwrap();
                }
                JournalEvent::Fold => {
                    store.fold_accesses(&PROFILE, NOW).unwrap();
                }
                JournalEvent::FoldCutOff => {
                    let batch = store.connection.transaction().unwrap();
                    access::fold(&batch, &PROFILE, NOW).unwrap();
                }
                JournalEvent::Kill => {
                    let copy = scratch.killed();
                    drop(store);
                    scratch = copy;
                    store = scratch.open();
                }
            }
        }
        store.fold_accesses(&PROFILE, NOW).unwrap();
        let again = store.fold_accesses(&PROFILE, NOW).unwrap();
        prop_assert_eq!(again, access::FoldResult::default());
        let read = store.entries().unwrap();
        prop_assert_eq!(read.journal, 0);
        prop_assert_eq!(&read.records[&id("a")].entry, &expected(a.entry, &all));
        prop_assert_eq!(&read.records[&id("b")].entry, &expected(b.entry, &all));
    }
}

#[test]
fn further_accesses_on_the_same_day_add_less_even_after_folding() {
    let scratch = EntryScratch::new();
    let before = record("a", 0.1);
    put(&mut scratch.open(), std::slice::from_ref(&before));
    let accesses = [access("a", 0), access("a", 0), access("a", 0), access("a", 48)];
    for (at, one) in accesses.iter().enumerate() {
        let mut store = scratch.open();
        record_all(&mut store, std::slice::from_ref(one));
        assert_eq!(store.entries().unwrap().journal, 1);
        let folded = store.fold_accesses(&PROFILE, one.at).unwrap();
        let entry = expected(before.entry.clone(), &accesses[..=at]);
        assert_eq!(folded.records[0].strength, entry.strength);
        assert_eq!(folded.records[0].entry, entry);
        assert_eq!((folded.counted, folded.unknown, folded.kept), (1, 0, 0));
    }
}

#[test]
fn access_counts_of_past_days_can_be_deleted() {
    let scratch = EntryScratch::new();
    let mut store = scratch.open();
    put(&mut store, &[record("a", 0.1)]);
    record_all(&mut store, &[access("a", 0), access("a", 48)]);
    store.fold_accesses(&PROFILE, NOW).unwrap();
    let mut batch = store.begin_entries().unwrap();
    batch.drop_days_before(NOW.plus(48 * HOUR).date(0)).unwrap();
    batch.commit().unwrap();
    let left: Vec<String> = store
        .connection
        .prepare("SELECT day FROM access_days")
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    assert_eq!(left, [NOW.plus(48 * HOUR).date(0).to_string()]);
}

#[test]
fn accesses_of_unknown_entries_are_dropped_and_those_of_damaged_ones_are_kept() {
    let scratch = EntryScratch::new();
    let mut store = scratch.open();
    put(&mut store, &[record("a", 0.1), record("damaged", 0.1)]);
    scratch.sql("UPDATE entries SET record = '{' WHERE id = 'damaged'");
    let accesses = [access("unknown", 0), access("damaged", 0), access("a", 0)];
    record_all(&mut store, &accesses);
    let folded = store.fold_accesses(&PROFILE, NOW).unwrap();
    assert_eq!((folded.counted, folded.unknown, folded.kept), (1, 1, 1));
    assert_eq!(store.entries().unwrap().journal, 1);
    put(&mut store, &[record("damaged", 0.1)]);
    let folded = store.fold_accesses(&PROFILE, NOW).unwrap();
    assert_eq!((folded.counted, folded.unknown, folded.kept), (1, 0, 0));
    assert_eq!(folded.records[0].entry.hits, 2);
}
