//! Tests of writing in slices.

use hippo_map::bootstrap::TimeBand;
use hippo_map::consolidation::{EntryRecord, FiledUse, RecordPlace};
use hippo_types::entry::{Entry, EntryId, Pointer};
use hippo_types::time::Timestamp;

use super::*;
use crate::config::Config;

const GROUPS: usize = 40;

struct Scratch {
    folder: tempfile::TempDir,
    config: Config,
    store: Store,
    at: Instant,
}

impl Scratch {
    /// Creates entries in many groups; only two of the groups fit into the index file.
    fn new() -> (Self, WorkspaceEntries) {
        let folder = tempfile::tempdir().unwrap();
        let mut config = Config::default();
        (config.index.max_entries, config.index.max_tokens) = (2, 900);
        let mut store = Store::open(&folder.path().join("index.db"), "/w").unwrap();
        let at = Instant::now();
        let mut entries = WorkspaceEntries::load(&mut store, &config, Timestamp(1), at).unwrap();
        let records = (0..GROUPS)
            .map(record)
            .map(|record| (record.entry.id.clone(), record));
        entries.known.records = records.collect();
        std::fs::create_dir(folder.path().join("root")).unwrap();
        let scratch = Self {
            folder,
            config,
            store,
            at,
        };
        (scratch, entries)
    }

    /// Runs one slice that is long enough for one file.
    fn slice(
        &mut self,
        entries: &mut WorkspaceEntries,
        begun: &mut Option<ResumableWrite>,
    ) -> (Vec<RunFile>, bool) {
        let root = self.root();
        let now = FileEnvironment {
            root: &root,
            config: &self.config.index,
            now: Timestamp(2_000_000),
            at: self.at,
            offset_seconds: 0,
            files: 1_000,
        };
        entries.write_until(&mut self.store, now, self.at, begun).unwrap()
    }

    fn root(&self) -> std::path::PathBuf {
        self.folder.path().join("root").canonicalize().unwrap()
    }

    /// Returns the content of the files below the index file.
    fn below(&self) -> String {
        let root = hippo_fs::WorkspaceDir::open(&self.root()).unwrap();
        let made = others::made_here(&root).unwrap().into_iter();
        made.map(|path| std::fs::read_to_string(self.root().join(path)).unwrap())
            .collect()
    }
}

fn record(number: usize) -> EntryRecord {
    let strength = 0.9;
    let mut record = EntryRecord {
        strength,
        place: RecordPlace::Index,
        group: format!("Group {number:02}"),
        band: Some(TimeBand::ThisWeek),
        hashes: vec![None],
        filed: None,
        replayed: None,
        learned: None,
        by_hand: false,
        apart: false,
        linked: std::collections::BTreeSet::new(),
        entry: Entry {
            id: EntryId(format!("entry-{number:02}")),
            topic: format!("Topic {number:02}"),
            summary: "It is blue.".to_owned(),
            pointers: vec![Pointer {
                path: format!("knowledge/{number:02}.md"),
                section: None,
            }],
            created: Timestamp(1_000_000),
            accessed: Timestamp(1_000_000),
            strength,
            version: 1,
            ..Entry::default()
        },
    };
    record.filed = FiledUse::from_record(&record);
    record
}

fn paint(entries: &mut WorkspaceEntries, colour: &str) {
    for record in entries.known.records.values_mut() {
        record.entry.summary = format!("It is {colour}.");
        record.filed = FiledUse::from_record(record);
    }
}

#[test]
fn slices_of_a_write_share_one_layout_and_continue_in_order() {
    let (mut scratch, mut entries) = Scratch::new();
    let mut begun = None;
    let (files, more) = scratch.slice(&mut entries, &mut begun);
    assert!(
        more && files.len() == 1 && files[0].path == INDEX_FILE,
        "{files:?}"
    );
    // The revision stays the same, so a new layout would be noticed.
    paint(&mut entries, "green");
    let mut written = Vec::new();
    loop {
        let (files, more) = scratch.slice(&mut entries, &mut begun);
        assert!(files.len() <= 1, "{files:?}");
        written.extend(files.into_iter().map(|file| file.path));
        if !more {
            break;
        }
        assert!(written.len() <= 2 * GROUPS, "it goes on: {written:?}");
    }
    let mut each = written.clone();
    each.sort();
    each.dedup();
    assert_eq!(each, written, "each once, in order");
    assert!(written.len() > GROUPS / 2, "{written:?}");
    assert!(begun.is_none() && !entries.file.unwritten);
    let below = scratch.below();
    assert!(
        below.contains("It is blue.") && !below.contains("It is green."),
        "{below}"
    );
}

#[test]
fn changes_between_two_slices_cause_a_new_layout() {
    for by_hand in [false, true] {
        let (mut scratch, mut entries) = Scratch::new();
        let mut begun = None;
        for _ in 0..3 {
            assert!(scratch.slice(&mut entries, &mut begun).1);
        }
        paint(&mut entries, "green");
        if by_hand {
            // Text outside of entries changes none of them.
            let path = scratch.root().join(INDEX_FILE);
            let mut text = std::fs::read_to_string(&path).unwrap();
            text.push_str("\nWords of a person.\n");
            std::fs::write(&path, text).unwrap();
        } else {
            entries.changed(scratch.at);
        }
        while scratch.slice(&mut entries, &mut begun).1 {}
        let below = scratch.below();
        assert!(
            below.contains("It is green.") && !below.contains("It is blue."),
            "{by_hand}: {below}"
        );
        let file = std::fs::read_to_string(scratch.root().join(INDEX_FILE)).unwrap();
        assert_eq!(file.contains("Words of a person."), by_hand);
    }
}
