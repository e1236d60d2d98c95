//! Storage of entries, and damaged rows.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use hippo_map::bootstrap::TimeBand;
use hippo_map::consolidation::{CoAccess, FiledUse, LearnedAnswer, PassageKey, RemovedEntry};
use hippo_types::entry::{EntryOrigin, EntryPriority};

use super::super::{CoAccessed, DamagedRow, Tombstone};
use super::*;

fn moment() -> impl Strategy<Value = Timestamp> {
    any::<i64>().prop_map(Timestamp)
}

fn strength() -> impl Strategy<Value = f32> {
    prop_oneof![0.0_f32..=1.0, Just(f32::MIN_POSITIVE), 0.0_f32..1e-30]
}

fn any_entry() -> impl Strategy<Value = Entry> {
    let pointer = (".{0,8}", option::of(".{0,8}")).prop_map(|(path, section)| Pointer { path, section });
    let id = || ".{1,8}".prop_map(EntryId);
    let texts = (
        id(),
        ".{0,20}",
        ".{0,20}",
        vec(pointer, 0..3),
        vec(".{0,5}", 0..3),
        vec(id(), 0..3),
    );
    let times = (moment(), moment(), any::<u32>(), strength(), option::of(moment()));
    let priority = prop_oneof![
        Just(EntryPriority::Low),
        Just(EntryPriority::Normal),
        Just(EntryPriority::High),
        Just(EntryPriority::Amygdala)
    ];
    let origin = prop_oneof![
        Just(EntryOrigin::Defrag),
        Just(EntryOrigin::Manual),
        Just(EntryOrigin::Retrieval),
        Just(EntryOrigin::Auto)
    ];
    let kinds = (priority, option::of(".{0,5}"), origin, any::<u32>());
    (texts, times, kinds).prop_map(|(texts, times, kinds)| Entry {
        id: texts.0,
        topic: texts.1,
        summary: texts.2,
        pointers: texts.3,
        created: times.0,
        accessed: times.1,
        replayed_to: times.4,
        hits: times.2,
        strength: times.3,
        tags: texts.4,
        related: texts.5,
        priority: kinds.0,
        priority_rule: kinds.1,
        origin: kinds.2,
        version: kinds.3,
    })
}

fn any_record() -> impl Strategy<Value = EntryRecord> {
    let place = prop_oneof![
        Just(RecordPlace::Index),
        moment().prop_map(RecordPlace::Queue),
        moment().prop_map(RecordPlace::Archive)
    ];
    let band = prop_oneof![
        Just(TimeBand::ThisWeek),
        Just(TimeBand::ThisMonth),
        Just(TimeBand::Older)
    ];
    let filed = (moment(), any::<u32>(), any::<u8>()).prop_map(|(accessed, hits, hundredths)| FiledUse {
        accessed,
        hits,
        hundredths,
    });
    let stands = (strength(), place, ".{0,8}", option::of(band));
    let rest = (
        vec(option::of(any::<[u8; 16]>()), 0..3),
        option::of(filed),
        option::of(moment()),
        any::<bool>(),
    );
    let learned = (vec(".{0,4}", 0..3), any::<[u8; 16]>(), moment()).prop_map(|(cue, hash, at)| {
        let path = "memory/a.md".to_owned();
        Box::new(LearnedAnswer {
            cue,
            passages: vec![PassageKey { path, hash }],
            scores: vec![0.5],
            tokens: 7,
            all: true,
            at,
            generation: 3,
        })
    });
    (any_entry(), stands, rest, option::of(learned)).prop_map(|(entry, stands, rest, learned)| EntryRecord {
        learned,
        by_hand: rest.3,
        apart: !rest.3,
        linked: entry.related.iter().cloned().collect(),
        entry,
        strength: stands.0,
        place: stands.1,
        group: stands.2,
        band: stands.3,
        hashes: rest.0,
        filed: rest.1,
        replayed: rest.2,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn entries_survive_a_round_trip(records in vec(any_record(), 1..6)) {
        let scratch = EntryScratch::new();
        put(&mut scratch.open(), &records);
        let expected: std::collections::BTreeMap<EntryId, EntryRecord> =
            records.into_iter().map(|record| (record.entry.id.clone(), record)).collect();
        let store = scratch.open();
        let read = store.entries().unwrap();
        prop_assert_eq!(&read.records, &expected);
        prop_assert!(read.damaged.is_empty());
    }
}

#[test]
fn a_strength_that_is_not_finite_is_written_as_zero() {
    let scratch = EntryScratch::new();
    let mut odd = record("odd", f32::NAN);
    odd.entry.strength = f32::INFINITY;
    put(&mut scratch.open(), &[odd]);
    let read = scratch.open().entries().unwrap();
    let odd = &read.records[&id("odd")];
    assert_eq!((odd.strength, odd.entry.strength), (0.0, 0.0));
}

#[test]
fn tombstones_pairs_and_quick_access_survive_reopening() {
    let scratch = EntryScratch::new();
    let tombstone = Tombstone {
        removed: RemovedEntry {
            pointers: vec![pointer("memory/a.md")],
            hashes: vec![Some([7; 16])],
        },
        at: NOW,
    };
    let mut store = scratch.open();
    let mut batch = store.begin_entries().unwrap();
    batch.put_tombstone(&id("gone"), &tombstone).unwrap();
    batch.put_tombstone(&id("back"), &tombstone).unwrap();
    batch.put_quick_access(&[id("z"), id("a")]).unwrap();
    batch
        .add_co_access(&[id("b"), id("a"), id("b"), id("c")], NOW)
        .unwrap();
    batch.add_co_access(&[id("a"), id("b")], NOW.plus(HOUR)).unwrap();
    batch.commit().unwrap();
    drop(store);

    let mut store = scratch.open();
    let mut batch = store.begin_entries().unwrap();
    batch.drop_tombstone(&id("back")).unwrap();
    let pair = |a: &str, b: &str, count, last| CoAccessed {
        pair: CoAccess {
            a: id(a),
            b: id(b),
            count,
        },
        last,
    };
    batch.put_co_access(&pair("c", "b", 0, NOW)).unwrap();
    batch.put_co_access(&pair("c", "a", 7, NOW)).unwrap();
    batch.commit().unwrap();
    drop(store);

    let store = scratch.open();
    let read = store.entries().unwrap();
    assert_eq!(read.tombstones, [(id("gone"), tombstone)].into());
    assert_eq!(read.quick_access, [id("z"), id("a")]);
    assert_eq!(
        store.co_accesses().unwrap(),
        [pair("a", "b", 2, NOW.plus(HOUR)), pair("a", "c", 7, NOW)]
    );
}

#[test]
fn a_dropped_batch_of_entries_changes_nothing() {
    let scratch = EntryScratch::new();
    let mut store = scratch.open();
    put(&mut store, &[record("a", 0.5)]);
    let before = store.entries().unwrap();
    {
        let mut batch = store.begin_entries().unwrap();
        batch.put_record(&record("b", 0.5)).unwrap();
        batch.put_record(&record("a", 0.9)).unwrap();
        batch.put_tombstone(&id("a"), &Tombstone::default()).unwrap();
        batch.put_base("HIPPOCAMPUS.md", b"#", NOW).unwrap();
    }
    assert_eq!(store.entries().unwrap(), before);
    assert_eq!(store.base("HIPPOCAMPUS.md").unwrap(), None);
}

#[test]
fn a_damaged_row_is_reported_and_the_others_are_read() {
    let scratch = EntryScratch::new();
    let names = ["cut", "place", "other", "type", "bytes", "fine"];
    put(&mut scratch.open(), &names.map(|name| record(name, 0.5)));
    scratch.sql(
        r#"UPDATE entries SET record = substr(record, 1, 40) WHERE id = 'cut';
         UPDATE entries SET record = replace(record, '"in":"index"', '"in":"queue"') WHERE id = 'place';
         UPDATE entries SET record = (SELECT record FROM entries WHERE id = 'fine') WHERE id = 'other';
         UPDATE entries SET record = replace(record, '"strength":0.5', '"strength":"strong"') WHERE id = 'type';
         UPDATE entries SET record = CAST(x'ff00fe' AS TEXT) WHERE id = 'bytes';
         INSERT INTO tombstones VALUES ('stone', 1, '{', '[]'), ('sound', 2, '[]', '[]');
         INSERT INTO runs (state, report) VALUES ('{"cycle":"yearly"}', '{}');"#,
    );
    let mut store = scratch.open();
    let read = store.entries().unwrap();
    assert_eq!(read.records.into_keys().collect::<Vec<_>>(), [id("fine")]);
    assert_eq!(read.tombstones.into_keys().collect::<Vec<_>>(), [id("sound")]);
    assert!(read.runs.is_empty());
    let of = |table: &str| {
        let mine = read.damaged.iter().filter(|damaged| damaged.table == table);
        mine.map(|damaged| damaged.id.as_str()).collect::<Vec<_>>()
    };
    assert_eq!(of("entries"), ["bytes", "cut", "other", "place", "type"]);
    assert_eq!(of("tombstones"), ["stone"]);
    assert_eq!(of("runs"), ["1"]);
    let reason = |id: &str| {
        let found: Option<&DamagedRow> = read.damaged.iter().find(|damaged| damaged.id == id);
        found.map(|damaged| damaged.reason.clone()).unwrap()
    };
    assert_eq!(reason("other"), "the row contains another entry: fine");

    put(&mut store, &[record("cut", 0.7)]);
    let read = store.entries().unwrap();
    assert_eq!(read.records[&id("cut")].strength, 0.7);
    assert!(read.damaged.iter().all(|damaged| damaged.id != "cut"));
}

#[test]
fn the_base_of_a_merge_is_the_last_written_content_or_none() {
    let scratch = EntryScratch::new();
    let mut store = scratch.open();
    for (bytes, at) in [(b"# one\xff".as_slice(), NOW), (b"# two", NOW.plus(1))] {
        let mut batch = store.begin_entries().unwrap();
        batch.put_base("HIPPOCAMPUS.md", bytes, at).unwrap();
        batch.commit().unwrap();
        let base = scratch.killed().open().base("HIPPOCAMPUS.md").unwrap().unwrap();
        assert_eq!((base.bytes.as_slice(), base.at), (bytes, at));
    }
    assert_eq!(store.base("other.md").unwrap(), None);
    scratch.sql("UPDATE bases SET bytes = x'23'");
    assert_eq!(store.base("HIPPOCAMPUS.md").unwrap(), None);
}
