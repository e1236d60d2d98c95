//! Tests of the merge of two machines' files.

use std::collections::BTreeMap;

use super::*;
use hippo_types::entry::{EntryId, Pointer};
use hippo_types::time::Timestamp;

const SETTINGS: IndexFileOptions = IndexFileOptions {
    offset_seconds: 0,
    undated: Timestamp(0),
};
const DAY: i64 = 86_400_000;

fn entry(id: &str, summary: &str) -> Entry {
    Entry {
        id: EntryId(id.to_owned()),
        topic: format!("Topic {id}"),
        summary: summary.to_owned(),
        pointers: vec![Pointer {
            path: format!("memory/{id}.md"),
            ..Pointer::default()
        }],
        strength: 0.5,
        hits: 3,
        version: 1,
        ..Entry::default()
    }
}

fn file(entries: &[Entry]) -> Vec<u8> {
    let mut file = IndexFile::skeleton(Timestamp(0), SETTINGS);
    for entry in entries {
        assert!(file.insert(entry, &[]));
    }
    file.to_bytes()
}

fn entries(bytes: &[u8]) -> BTreeMap<String, Entry> {
    let file = IndexFile::parse(bytes, SETTINGS);
    let entries = file.to_entries().into_iter();
    entries.map(|entry| (entry.id.0.clone(), entry)).collect()
}

fn merged(base: &[Entry], ours: &[Entry], theirs: &[Entry]) -> BTreeMap<String, Entry> {
    let [base, ours, theirs] = [base, ours, theirs].map(file);
    let one = entries(&merge_versions(&base, &ours, &theirs, SETTINGS));
    let other = entries(&merge_versions(&base, &theirs, &ours, SETTINGS));
    for (id, entry) in &one {
        let mut same = other[id].clone();
        same.tags.sort();
        let mut expected = entry.clone();
        expected.tags.sort();
        assert_eq!(same, expected, "the order of the sides matters for {id}");
    }
    assert_eq!(one.len(), other.len());
    one
}

#[test]
fn both_machines_changes_of_one_entry_are_kept() {
    let base = entry("pump", "The pump runs at night");
    let ours = Entry {
        hits: 5,
        accessed: Timestamp(3 * DAY),
        tags: vec!["water".to_owned()],
        ..base.clone()
    };
    let theirs = Entry {
        hits: 4,
        accessed: Timestamp(2 * DAY),
        summary: "The pump runs at noon".to_owned(),
        tags: vec!["power".to_owned()],
        ..base.clone()
    };
    let found = &merged(&[base], &[ours], &[theirs])["pump"];
    assert_eq!(found.hits, 6);
    assert_eq!(found.accessed, Timestamp(3 * DAY));
    assert_eq!(found.summary, "The pump runs at noon");
    assert_eq!(found.tags, ["water", "power"]);
}

#[test]
fn the_later_access_decides_between_two_summaries() {
    let base = entry("pump", "old");
    let earlier = Entry {
        summary: "first".to_owned(),
        accessed: Timestamp(DAY),
        ..base.clone()
    };
    let later = Entry {
        summary: "second".to_owned(),
        accessed: Timestamp(2 * DAY),
        ..base.clone()
    };
    assert_eq!(merged(&[base], &[earlier], &[later])["pump"].summary, "second");
}

#[test]
fn a_removal_wins_over_an_unchanged_entry_and_a_change_over_a_removal() {
    let (kept, gone) = (entry("kept", "stays"), entry("gone", "goes"));
    let changed = Entry {
        hits: 9,
        ..kept.clone()
    };
    let base = [kept, gone.clone()];
    let found = merged(&base, &[], &[changed, gone]);
    assert_eq!(found.keys().collect::<Vec<_>>(), ["kept"]);
}

#[test]
fn without_a_common_version_all_entries_are_kept_and_no_count_is_added_twice() {
    let (one, two, both) = (entry("one", "a"), entry("two", "b"), entry("both", "c"));
    let [ours, theirs] = [[one, both.clone()], [two, both]].map(|side| file(&side));
    let found = entries(&merge_versions(b"", &ours, &theirs, SETTINGS));
    assert_eq!(found.keys().collect::<Vec<_>>(), ["both", "one", "two"]);
    assert_eq!(found["both"].hits, 3);
}

#[test]
fn equal_entries_keep_their_bytes() {
    let base = "# Index\n\n## By Topic\n\n- Pump → memory/pump.md\n";
    let [ours, theirs] = ["One.", "Two."].map(|line| format!("{base}\n{line}\n"));
    let settings = IndexFileOptions {
        undated: Timestamp(DAY),
        ..SETTINGS
    };
    let merged = merge_versions(base.as_bytes(), ours.as_bytes(), theirs.as_bytes(), settings);
    let text = String::from_utf8(merged).unwrap();
    assert!(text.starts_with(base) && !text.contains("hx:"), "{text}");
    assert!(text.contains("One.") && text.contains("Two."), "{text}");
}
