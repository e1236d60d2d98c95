//! Tests that the files match the store and keep text written by people.

mod laws;
mod people;
mod size;

use super::*;
use crate::bootstrap::{DAILY_LOGS, TimeBand};
use crate::consolidation::FiledUse;
use crate::index_file::{IndexFile, as_written};
use hippo_types::entry::{Entry, Pointer};

const NOW: Timestamp = Timestamp(1_769_904_000_000);
const DAY: i64 = 86_400_000;

fn id(name: &str) -> EntryId {
    EntryId(name.to_owned())
}

fn entry(name: &str) -> Entry {
    Entry {
        id: id(name),
        topic: format!("Topic {name}"),
        summary: format!("What is known of {name}, in a line of the usual length with some words more."),
        pointers: vec![Pointer {
            path: format!("notes/{name}.md"),
            section: Some("Now".to_owned()),
        }],
        created: NOW.plus(-3 * DAY),
        accessed: NOW,
        strength: 0.6,
        version: 1,
        ..Entry::default()
    }
}

/// Creates a record that is already in the index file, in the group Projects.
fn record(entry: Entry) -> EntryRecord {
    EntryRecord {
        filed: Some(FiledUse {
            accessed: entry.accessed,
            hits: entry.hits,
            hundredths: (entry.strength * 100.0).round() as u8,
        }),
        ..EntryRecord::new(entry, "Projects")
    }
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

/// Input of the layout. Tests change it between two writes of the files.
#[derive(Default)]
struct LayoutStore {
    records: BTreeMap<EntryId, EntryRecord>,
    forgotten: BTreeSet<EntryId>,
    quick_access: Vec<EntryId>,
    limits: Limits,
    settings: IndexFileOptions,
    now: i64,
}

impl LayoutStore {
    fn of(records: impl IntoIterator<Item = EntryRecord>) -> Self {
        let records = records.into_iter();
        Self {
            records: records.map(|record| (record.entry.id.clone(), record)).collect(),
            ..Self::default()
        }
    }

    /// Creates a store from the entries of a file.
    fn adopting(bytes: &[u8]) -> Self {
        let mut records = Vec::new();
        for placed in IndexFile::parse(bytes, IndexFileOptions::default()).placed_entries() {
            let group = match placed.section.as_slice() {
                ["By Topic", group, ..] => (*group).to_owned(),
                _ => String::new(),
            };
            records.push(EntryRecord {
                group,
                ..record(placed.indexed.entry.clone())
            });
        }
        Self::of(records)
    }

    fn record(&mut self, name: &str) -> &mut EntryRecord {
        self.records.get_mut(&id(name)).unwrap()
    }

    /// Lays out the files. At each call, the time is one second later.
    fn lay_out(&mut self, current: Option<&[u8]>) -> LaidOutFiles {
        self.now += 1_000;
        lay_out(
            current,
            &LayoutInput {
                records: &self.records,
                forgotten: &self.forgotten,
                quick_access: &self.quick_access,
                limits: self.limits,
                settings: self.settings,
                now: NOW.plus(self.now - 1_000),
            },
        )
    }

    fn from(&mut self, bytes: &[u8]) -> LaidOutFiles {
        self.lay_out(Some(bytes))
    }
}

#[test]
fn a_new_file_has_entries_in_their_groups_and_all_lists() {
    let mut store = LayoutStore::of(["crane", "dock", "fog", "gone", "old"].map(|name| record(entry(name))));
    store.record("crane").entry.related = vec![id("dock")];
    store.record("crane").band = Some(TimeBand::ThisWeek);
    store.record("dock").entry.created = NOW.plus(-60 * DAY);
    store.record("dock").band = Some(TimeBand::Older);
    store.record("dock").group = "Harbour".to_owned();
    store.record("fog").place = RecordPlace::Queue(NOW);
    store.record("old").place = RecordPlace::Archive(NOW.plus(-20 * DAY));
    store.forgotten.insert(id("gone"));
    store.quick_access = vec![id("dock"), id("gone")];
    let files = store.lay_out(None);
    let entry = |name: &str, created: &str, more: &str| {
        format!(
            "- Topic {name} → notes/{name}.md §Now \
            <!-- hx: id={name} | created={created} | accessed=2026-02-01 | str=0.60{more} -->\n  \
            What is known of {name}, in a line of the usual length with some words more.\n"
        )
    };
    let (crane, dock, fog) = (
        entry("crane", "2026-01-29", " | rel=dock"),
        entry("dock", "2025-12-03", ""),
        entry("fog", "2026-01-29", ""),
    );
    let expected = format!(
        "# HIPPOCAMPUS.md — Memory Index\n\
        <!-- hippocampus.md v1.0 | entries: 3 | reindexed: 2026-02-01T00:00:00Z -->\n\n\
        ## Quick Access\n<!-- entries by number of accesses; look here first -->\n\n\
        <!-- hippod: quick-access -->\n- Topic dock → notes/dock.md §Now\n<!-- /hippod -->\n\n\
        ## By Topic\n\n### Projects\n\n{crane}\n### Harbour\n\n{dock}\n\
        ## By Time\n\n### This Week\n\n\
        <!-- hippod: this-week -->\n- 2026-01-29: Topic crane → notes/crane.md §Now\n<!-- /hippod -->\n\n\
        ### This Month\n\n### Older\n\n<!-- hippod: older -->\n- 2025-12: 1, such as Topic dock → notes/dock.md §Now\n<!-- /hippod -->\n\n\
        ## Associations\n<!-- which entries belong together -->\n\n\
        <!-- hippod: associations -->\n- Topic crane: Topic dock\n<!-- /hippod -->\n\n\
        ## Decay Queue\n<!-- fading entries; an access brings one back -->\n\n{fog}\n\
        ## Meta\n<!-- state of the index and its maintenance -->\n\n\
        <!-- hippod: meta -->\n- entries in this file: 3\n- fading: 1\n- archived below .hippocampus/archive: 1\n- mean strength: 0.6\n\
        <!-- /hippod -->\n"
    );
    assert_eq!(text(&files.master), expected);
    assert_eq!(files.entries, 3);
    let paths: Vec<&String> = files.others.keys().collect();
    assert_eq!(paths, [".hippocampus/archive/2026-01.md"]);
    let archive = text(&files.others[paths[0]]);
    assert_eq!(
        archive,
        format!(
            "# archive/2026-01\n\n<!-- Written by hippod; edits here are not read. Entries that were archived: \
            `hippoctl index restore ID` restores one. -->\n\n{}",
            entry("old", "2026-01-29", "")
        )
    );
}

#[test]
fn a_daily_log_is_listed_by_time_without_a_second_date() {
    let mut store = LayoutStore::of([record(entry("log"))]);
    store.record("log").band = Some(TimeBand::ThisWeek);
    store.record("log").entry.topic = "2026-01-29: harbour".to_owned();
    let master = store.lay_out(None).master;
    let line = "\n- 2026-01-29: harbour → notes/log.md §Now\n";
    assert!(text(&master).contains(line), "{}", text(&master));
}

#[test]
fn the_time_of_writing_changes_only_with_the_content() {
    let mut store = LayoutStore::of(["a", "b"].map(|name| record(entry(name))));
    let first = store.lay_out(None);
    let again = store.from(&first.master);
    assert_eq!(again.master, first.master);
    store.record("a").filed.as_mut().unwrap().hits = 1;
    let changed = store.from(&first.master);
    let expected = text(&first.master)
        .replacen("| str=", "| hits=1 | str=", 1)
        .replace("T00:00:00Z", "T00:00:02Z");
    assert_eq!(text(&changed.master), expected);
    // The other files must not change with time either.
    store.limits.max_tokens = 190;
    let small = store.from(&first.master);
    let same = store.from(&small.master);
    assert_eq!(same, small);
}

#[test]
fn an_access_changes_only_the_lines_of_its_entry() {
    let mut store = LayoutStore::of((0..200).map(|number| record(entry(&format!("e{number}")))));
    let before = store.lay_out(None).master;
    let accessed = store.record("e77");
    accessed.entry.hits = 12;
    accessed.filed = Some(FiledUse {
        accessed: NOW.plus(DAY),
        hits: 12,
        hundredths: 70,
    });
    let after = store.from(&before).master;
    let pairs = text(&before).lines().zip(text(&after).lines());
    let changed: Vec<&str> = pairs
        .filter(|(one, other)| one != other)
        .map(|(_, other)| other)
        .collect();
    assert_eq!(changed.len(), 2, "{changed:?}");
    assert!(changed[0].starts_with("<!-- hippocampus.md"));
    assert!(
        changed[1].contains("id=e77 | ") && changed[1].contains("accessed=2026-02-02 | hits=12 | str=0.70")
    );
    assert_eq!(text(&before).lines().count(), text(&after).lines().count());
}

#[test]
fn only_generated_paths_are_recognized_as_generated() {
    for path in [
        ".hippocampus/topics/projects.md",
        ".hippocampus/temporal/2026-01.md",
        ".hippocampus/archive/2026-01.md",
    ] {
        assert!(is_generated_path(path), "{path}");
    }
    for path in [
        INDEX_FILE,
        ".hippocampus/canary",
        ".hippocampus/config.toml",
        ".hippocampus/notes.md",
        ".hippocampus/topics/notes.txt",
        "topics/projects.md",
    ] {
        assert!(!is_generated_path(path), "{path}");
    }
}
