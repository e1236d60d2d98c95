//! Benchmarks of planning when nothing has changed.

use std::collections::BTreeMap;

use divan::Bencher;

use hippo_map::consolidation::{self, ConsolidationSnapshot, EntryRecord, FiledUse};
use hippo_map::decay::DecayCurve;
use hippo_types::cycle::Cycle;
use hippo_types::entry::{Entry, EntryId, Pointer};
use hippo_types::time::Timestamp;

const NOW: Timestamp = Timestamp(1_775_000_000_000);

fn main() {
    divan::main();
}

/// Returns entries in the state in which a light cycle leaves them.
fn settled(entries: usize) -> ConsolidationSnapshot {
    let mut records = BTreeMap::new();
    for number in 0..entries {
        let id = EntryId(format!("entry-number-{number}"));
        let entry = Entry {
            id: id.clone(),
            topic: format!("The matter of number {number}"),
            summary: "What there is to know of it in one line of some length, as summaries are.".to_owned(),
            pointers: vec![Pointer {
                path: format!("memory/{number}.md"),
                section: Some("Section".to_owned()),
            }],
            created: NOW.plus(-86_400_000),
            accessed: NOW.plus(-3_600_000),
            hits: 2,
            strength: 0.7,
            tags: ["pump", "valve", "lantern"].map(str::to_owned).to_vec(),
            version: 1,
            ..Entry::default()
        };
        let record = EntryRecord {
            strength: 0.68,
            hashes: vec![Some([7; 16])],
            filed: Some(FiledUse {
                accessed: entry.accessed,
                hits: entry.hits,
                hundredths: 68,
            }),
            ..EntryRecord::new(entry, "Projects")
        };
        records.insert(id, record);
    }
    let mut snapshot = ConsolidationSnapshot {
        quick_access: vec![EntryId("entry-number-0".to_owned())],
        records,
        ..ConsolidationSnapshot::default()
    };
    snapshot.settings.profile = DecayCurve::PROTOCOL;
    snapshot.begin(NOW);
    snapshot
}

/// Measures a light cycle that changes nothing.
#[divan::bench(args = [1_000, 10_000])]
fn light_unchanged(bencher: Bencher<'_, '_>, entries: usize) {
    let snapshot = settled(entries);
    assert!(consolidation::plan(&snapshot, Cycle::Light).steps.is_empty());
    bencher.bench(|| consolidation::plan(&snapshot, Cycle::Light));
}

/// Measures copying the entries, as the engine does for the planning thread.
#[divan::bench(args = [1_000, 10_000])]
fn copy_of_the_entries(bencher: Bencher<'_, '_>, entries: usize) {
    let snapshot = settled(entries);
    bencher.bench(|| snapshot.records.clone());
}
