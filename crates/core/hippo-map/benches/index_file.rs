//! Benchmarks of reading, writing and editing an index file of a thousand entries.

use std::sync::LazyLock;

use divan::Bencher;
use hippo_map::index_file::merge::merge;
use hippo_map::index_file::{IndexFile, IndexFileOptions};
use hippo_types::entry::{Entry, EntryId, Pointer};
use hippo_types::time::Timestamp;

static FILE: LazyLock<Vec<u8>> = LazyLock::new(|| made_up().to_bytes());

fn main() {
    divan::main();
}

#[divan::bench]
fn parse_and_serialise() -> usize {
    IndexFile::parse(divan::black_box(&FILE), IndexFileOptions::default())
        .to_bytes()
        .len()
}

#[divan::bench]
fn parse() -> usize {
    IndexFile::parse(divan::black_box(&FILE), IndexFileOptions::default())
        .entries()
        .count()
}

#[divan::bench]
fn update_every_entry(bencher: Bencher<'_, '_>) {
    let file = IndexFile::parse(&FILE, IndexFileOptions::default());
    let entries: Vec<Entry> = file.to_entries().into_iter().map(accessed).collect();
    bencher
        .with_inputs(|| file.clone())
        .bench_refs(|file| entries.iter().filter(|entry| file.update(entry)).count());
}

#[divan::bench]
fn merge_with_the_store(bencher: Bencher<'_, '_>) {
    let file = IndexFile::parse(&FILE, IndexFileOptions::default()).to_entries();
    let ours: Vec<Entry> = file.iter().cloned().map(accessed).collect();
    bencher.bench(|| {
        merge(
            divan::black_box(&file),
            &file,
            &ours,
            &std::collections::BTreeSet::new(),
            &IndexFileOptions::default(),
        )
        .entries
        .len()
    });
}

fn accessed(entry: Entry) -> Entry {
    Entry {
        hits: entry.hits + 1,
        strength: 0.75,
        ..entry
    }
}

fn made_up() -> IndexFile {
    let mut file = IndexFile::skeleton(Timestamp(1_769_826_600_000), IndexFileOptions::default());
    for number in 0..1_000_u32 {
        let entry = Entry {
            id: EntryId(format!("service-{number}-deployment")),
            topic: format!("Service {number} deployment"),
            summary: "Deploy command, domains, and what to do when the certificate has run out.".to_owned(),
            pointers: vec![
                Pointer {
                    path: format!("projects/service-{number}/PROJECT.md"),
                    section: Some("Deployment".to_owned()),
                },
                Pointer {
                    path: "TOOLS.md".to_owned(),
                    section: None,
                },
            ],
            created: Timestamp(1_768_000_000_000),
            accessed: Timestamp(1_769_000_000_000),
            hits: number,
            strength: 0.5,
            tags: ["deploy", "service", "certificates"].map(str::to_owned).to_vec(),
            related: vec![EntryId(format!("service-{}-deployment", number / 2))],
            version: 1,
            ..Entry::default()
        };
        if !file.insert(&entry, &["By Topic", "Projects"]) {
            break;
        }
    }
    file
}
