//! Tests of the size limit of the index file.

use super::*;
use hippo_types::entry::EntryPriority;

/// Creates a store with groups, logs, lists, links and summaries of various lengths.
fn many(count: usize) -> LayoutStore {
    let groups = ["Projects", "People", "Technical Knowledge", DAILY_LOGS];
    let bands = [TimeBand::ThisWeek, TimeBand::ThisMonth, TimeBand::Older];
    let records = (0..count).map(|number| {
        let days = i64::try_from(number % 400).unwrap();
        let hits = u32::try_from(number % 23).unwrap();
        let mut made = record(Entry {
            summary: "word ".repeat(5 + number % 17),
            created: NOW.plus(-days * DAY),
            hits,
            strength: 0.2 + (number * 7 % 80) as f32 / 100.0,
            tags: ["deploy", "notes"].map(str::to_owned).to_vec(),
            related: vec![
                id(&format!("e{:05}", number / 2)),
                id(&format!("e{:05}", number * 3 % count)),
            ],
            priority: if number % 97 == 0 {
                EntryPriority::Amygdala
            } else {
                EntryPriority::Normal
            },
            ..entry(&format!("e{number:05}"))
        });
        made.group = groups[number % 4].to_owned();
        made.band = Some(bands[(number / 5) % 3]);
        if number % 11 == 0 {
            made.place = RecordPlace::Queue(NOW);
        }
        made
    });
    let mut store = LayoutStore::of(records);
    store.quick_access = store.records.keys().take(20).cloned().collect();
    store
}

fn size(files: &LaidOutFiles) -> usize {
    hippo_types::tokens::of_bytes(files.master.len())
}

#[test]
fn the_size_limit_holds_for_any_number_of_entries() {
    for count in [10, 200, 1_000, 10_000] {
        let mut store = many(count);
        let files = store.lay_out(None);
        let all = store.limits.max_tokens;
        assert!(size(&files) <= all, "{count}: {}", size(&files));
        let least = if count == 10 { 10 } else { 90 };
        assert!(
            files.entries >= least && files.entries <= count,
            "{count}: {}",
            files.entries
        );
        let kept = IndexFile::parse(&files.master, IndexFileOptions::default());
        let kept: BTreeSet<&EntryId> = kept.entries().map(|there| &there.entry.id).collect();
        let never = store
            .records
            .values()
            .filter(|record| record.entry.priority == EntryPriority::Amygdala);
        let missing = never.filter(|record| !kept.contains(&record.entry.id)).count();
        assert!(missing == 0 || missing * 200 < count, "{count}: {missing}");
        let again = store.from(&files.master);
        assert_eq!(text(&again.master), text(&files.master));
        assert_eq!(again, files);
        if count == 200 {
            for max_tokens in [100, 150, 400, 1_000, 3_000] {
                store.limits.max_tokens = max_tokens;
                let files = store.from(&files.master);
                assert!(
                    size(&files) <= max_tokens || files.entries == 0,
                    "{max_tokens}: {}",
                    size(&files)
                );
                assert!(files.entries > 0 || max_tokens < 400, "{max_tokens}");
            }
        }
    }
}

#[test]
fn entries_return_when_the_limit_rises() {
    let mut store = many(200);
    let whole = store.limits;
    let full = store.lay_out(None);
    store.limits.max_tokens = 2_000;
    let small = store.from(&full.master);
    assert!(small.entries < 40 && !small.others.is_empty());
    store.limits = Limits {
        max_tokens: 40_000,
        ..whole
    };
    let back = store.from(&small.master);
    assert_eq!((back.entries, back.others.len()), (200, 0));
    // The entries must also return if other entries were archived in the meantime.
    store.limits = whole;
    let number = |record: &EntryRecord| record.entry.id.0[1..].parse::<usize>().unwrap();
    for record in store.records.values_mut().filter(|record| number(record) >= 40) {
        record.place = RecordPlace::Archive(NOW);
    }
    let back = store.from(&small.master);
    assert_eq!(back.entries, 40);
    assert_eq!(
        back.others.keys().collect::<Vec<_>>(),
        [".hippocampus/archive/2026-02.md"]
    );
}

#[test]
fn lists_leave_room_for_entries() {
    let mut store = many(1_000);
    store.quick_access = store.records.keys().take(500).cloned().collect();
    store.limits.max_tokens = 2_000;
    let files = store.lay_out(None);
    let mut generated = false;
    let lists = text(&files.master).lines().filter(|line| {
        generated = line.starts_with("<!-- hippod:") || generated && !line.starts_with("<!-- /hippod");
        generated
    });
    let lists: usize = lists.map(|line| line.len() + 1).sum();
    assert!(lists * 3 < files.master.len(), "{lists}");
    assert!(files.entries >= 10, "{}", files.entries);
}
