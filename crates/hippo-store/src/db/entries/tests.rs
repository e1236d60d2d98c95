//! Tests of entries, accesses and runs.

mod journal;
mod other_schema;
mod records;
mod runs;

use std::path::PathBuf;

use rusqlite::Connection;

use hippo_map::consolidation::{EntryChange, EntryRecord, RecordPlace};
use hippo_types::entry::{Entry, EntryId, Pointer};
use hippo_types::time::Timestamp;

use super::super::{RunId, Store};
use crate::StoreError;

const HOUR: i64 = 3_600_000;
const NOW: Timestamp = Timestamp(1_775_000_000_000);

struct EntryScratch {
    folder: tempfile::TempDir,
    file: PathBuf,
}

impl EntryScratch {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("index.db");
        Self { folder, file }
    }

    fn open(&self) -> Store {
        Store::open(&self.file, "/w").unwrap()
    }

    /// Returns a copy of the files as they would remain if the process were killed now. No process has the copy open.
    fn killed(&self) -> Self {
        let copy = Self::new();
        for entry in std::fs::read_dir(self.folder.path()).unwrap() {
            let from = entry.unwrap().path();
            // Skip the shared-memory file of the WAL, because the next process creates it again.
            if from.to_string_lossy().ends_with("-shm") {
                continue;
            }
            std::fs::copy(&from, copy.folder.path().join(from.file_name().unwrap())).unwrap();
        }
        copy
    }

    fn sql(&self, text: &str) {
        Connection::open(&self.file).unwrap().execute_batch(text).unwrap();
    }
}

fn id(name: &str) -> EntryId {
    EntryId(name.to_owned())
}

fn pointer(path: &str) -> Pointer {
    Pointer {
        path: path.to_owned(),
        section: Some("One".to_owned()),
    }
}

fn record(name: &str, strength: f32) -> EntryRecord {
    let entry = Entry {
        id: id(name),
        topic: "The matter".to_owned(),
        summary: "what there is to know".to_owned(),
        pointers: vec![pointer("memory/a.md")],
        created: NOW.plus(-400 * HOUR),
        accessed: NOW.plus(-200 * HOUR),
        hits: 1,
        strength: 0.5,
        version: 1,
        ..Entry::default()
    };
    EntryRecord {
        strength,
        ..EntryRecord::new(entry, "Technical")
    }
}

fn put(store: &mut Store, records: &[EntryRecord]) {
    let mut batch = store.begin_entries().unwrap();
    for record in records {
        batch.put_record(record).unwrap();
    }
    batch.commit().unwrap();
}

/// Returns the changes that undo the completed steps of a run, last first.
fn undo_list(store: &Store, run: RunId) -> Result<Vec<EntryChange>, StoreError> {
    let run = store.run(run)?.unwrap();
    let done = run.steps.iter().take(run.row.done as usize);
    Ok(done.rev().map(|step| step.change.inverse()).collect())
}
