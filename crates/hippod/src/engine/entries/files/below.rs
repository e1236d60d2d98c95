//! Import of entries that an earlier database left below `.hippocampus/`.
//!
//! After a workspace is added again, or after its database is lost, the entries that are not in the index file exist
//! only in these files. They are read once, before hippod overwrites them.

use std::collections::BTreeMap;
use std::path::Path;

use hippo_fs::WorkspaceDir;
use hippo_map::bootstrap::{DAILY_LOGS, INFRASTRUCTURE, PEOPLE, PROJECTS, TECHNICAL};
use hippo_map::consolidation::{EntryRecord, RecordPlace};
use hippo_map::hierarchy::FOLDER;
use hippo_map::index_file::IndexFile as Parsed;
use hippo_store::StoreError;
use hippo_store::db::Store;
use hippo_types::entry::EntryId;
use hippo_types::time::Timestamp;

use super::super::WorkspaceEntries;
use super::super::access::ASKED;
use super::super::merge::adopted;
use super::{FileEnvironment, others};

/// Half a day in milliseconds.
const NOON: i64 = 12 * 3_600_000;

impl WorkspaceEntries {
    /// Imports the entries from the files below `.hippocampus/` if the store has no entries, no runs and no index file.
    ///
    /// # Errors
    /// See [`StoreError`]. After an error, the import is tried again.
    pub(super) fn look_below(&mut self, store: &mut Store, now: &FileEnvironment) -> Result<(), StoreError> {
        if self.file.looked_below {
            return Ok(());
        }
        let knows_nothing =
            self.known.records.is_empty() && self.known.runs.is_empty() && self.file.base().is_none();
        if knows_nothing {
            let found = left_in(now);
            let mut batch = store.begin_entries()?;
            for record in found.values() {
                batch.put_record(record)?;
            }
            batch.commit()?;
            if !found.is_empty() {
                tracing::info!(root = %now.root().display(), entries = found.len(), "importing the entries of an \
                    earlier database");
                self.known.records.extend(found);
                self.changed(now.at);
            }
        }
        self.file.looked_below = true;
        Ok(())
    }
}

fn left_in(now: &FileEnvironment) -> BTreeMap<EntryId, EntryRecord> {
    let mut found = BTreeMap::new();
    let made = WorkspaceDir::open(now.root()).and_then(|dir| Ok((others::made_here(&dir)?, dir)));
    let (paths, dir) = match made {
        Ok(made) => made,
        Err(error) => {
            tracing::warn!(root = %now.root().display(), %error, "could not read the files of an earlier database");
            return found;
        }
    };
    for path in paths {
        let Some((kind, name)) = split_list_path(&path) else {
            continue;
        };
        let bytes = match dir.read(&path, others::LARGEST) {
            Ok(bytes) if others::is_ours(&bytes) => bytes,
            Ok(_) => continue,
            Err(error) => {
                tracing::warn!(path, %error, "could not read a file of an earlier database");
                continue;
            }
        };
        let since = (kind == "archive").then(|| month(name, now.offset_seconds).unwrap_or(now.now));
        for entry in Parsed::parse(&bytes, now.settings()).to_entries() {
            let mut record = adopted(&entry, None, now);
            match since {
                Some(since) => {
                    record.place = RecordPlace::Archive(since);
                    record.filed = None;
                }
                None if kind == "temporal" => DAILY_LOGS.clone_into(&mut record.group),
                None => record.group = group(name),
            }
            found.entry(entry.id.clone()).or_insert(record);
        }
    }
    found
}

/// Returns the folder and the name without extension of a file in a folder below `.hippocampus/`.
fn split_list_path(path: &str) -> Option<(&str, &str)> {
    let (kind, name) = path.strip_prefix(FOLDER)?.strip_prefix('/')?.split_once('/')?;
    Some((kind, Path::new(name).file_stem()?.to_str()?))
}

/// Converts the name of a generated file to the name of the group whose entries the file contains.
fn group(name: &str) -> String {
    let words = name.replace('-', " ");
    let known = [PROJECTS, PEOPLE, INFRASTRUCTURE, TECHNICAL, ASKED];
    let known = known.into_iter().find(|group| group.to_lowercase() == words);
    known.map_or(words, str::to_owned)
}

/// Returns noon of the first day of a month in the form `YYYY-MM`.
fn month(name: &str, offset_seconds: i32) -> Option<Timestamp> {
    let day = format!("{name}-01").parse().ok()?;
    Some(Timestamp::start_of(day, offset_seconds).plus(NOON))
}
