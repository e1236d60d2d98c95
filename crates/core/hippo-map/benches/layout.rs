//! Benchmarks of the layout of the index file and the files below it.

use std::collections::{BTreeMap, BTreeSet};

use divan::Bencher;
use hippo_map::consolidation::{EntryRecord, FiledUse};
use hippo_map::hierarchy::Limits;
use hippo_map::index_file::IndexFileOptions;
use hippo_map::layout::{LaidOutFiles, LayoutInput, lay_out};
use hippo_types::entry::{Entry, EntryId, Pointer};
use hippo_types::time::Timestamp;

const NOW: Timestamp = Timestamp(1_769_904_000_000);

fn main() {
    divan::main();
}

type Records = BTreeMap<EntryId, EntryRecord>;

#[divan::bench(args = [1_000, 10_000])]
fn new(bencher: Bencher<'_, '_>, count: u32) {
    let records = records(count);
    bencher.bench(|| laid_out(None, &records, Limits::default()).entries);
}

#[divan::bench(args = [1_000, 10_000])]
fn unchanged(bencher: Bencher<'_, '_>, count: u32) {
    let records = records(count);
    let files = laid_out(None, &records, Limits::default());
    bencher.bench(|| laid_out(Some(&files.master), &records, Limits::default()).entries);
}

#[divan::bench(args = [1_000, 10_000])]
fn one_changed(bencher: Bencher<'_, '_>, count: u32) {
    let mut records = records(count);
    let files = laid_out(None, &records, Limits::default());
    let accessed = records
        .values_mut()
        .next()
        .and_then(|record| record.filed.as_mut());
    if let Some(filed) = accessed {
        filed.hits += 1;
    }
    bencher.bench(|| laid_out(Some(&files.master), &records, Limits::default()).entries);
}

/// Measures a layout in which most entries must leave the index file, because its limit was lowered.
#[divan::bench(args = [1_000, 10_000])]
fn less_room(bencher: Bencher<'_, '_>, count: u32) {
    let records = records(count);
    let all = Limits {
        max_tokens: usize::MAX / 8,
        ..Limits::default()
    };
    let files = laid_out(None, &records, all);
    bencher.bench(|| laid_out(Some(&files.master), &records, Limits::default()).entries);
}

fn laid_out(current: Option<&[u8]>, records: &Records, limits: Limits) -> LaidOutFiles {
    lay_out(
        divan::black_box(current),
        &LayoutInput {
            records,
            forgotten: &BTreeSet::new(),
            quick_access: &[],
            limits,
            settings: IndexFileOptions::default(),
            now: NOW,
        },
    )
}

fn records(count: u32) -> Records {
    let groups = ["Projects", "People", "Technical Knowledge", "Daily Logs"];
    let mut records = Records::new();
    for (number, group) in (0..count).zip(groups.into_iter().cycle()) {
        let entry = Entry {
            id: EntryId(format!("service-{number}-deployment")),
            topic: format!("Service {number} deployment"),
            summary: "Deploy command, domains, and what to do when the certificate has run out.".to_owned(),
            pointers: vec![Pointer {
                path: format!("projects/service-{number}/PROJECT.md"),
                section: Some("Deployment".to_owned()),
            }],
            created: NOW.plus(-i64::from(number % 500) * 86_400_000),
            accessed: NOW,
            hits: number % 20,
            strength: 0.5,
            tags: ["deploy", "service", "certificates"].map(str::to_owned).to_vec(),
            related: vec![EntryId(format!("service-{}-deployment", number / 2))],
            version: 1,
            ..Entry::default()
        };
        let record = EntryRecord {
            filed: Some(FiledUse {
                accessed: entry.accessed,
                hits: entry.hits,
                hundredths: u8::try_from(20 + number * 7 % 80).unwrap_or(50),
            }),
            ..EntryRecord::new(entry, group)
        };
        records.insert(record.entry.id.clone(), record);
    }
    records
}
