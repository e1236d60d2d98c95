//! Conflict copies of the index file.
//!
//! If two machines change the index file at the same time, a program that synchronizes folders, such as Syncthing, keeps
//! one version under another name in the same folder. hippod merges such a copy into the index file by entries. Once
//! the index file is written, hippod moves the copy to a folder below `.hippocampus/`.

use std::io;
use std::path::Path;

use hippo_fs::{FileKind, Folder, WorkspaceDir};
use hippo_map::hierarchy;
use hippo_map::index_file::merge_versions;
use hippo_map::layout::{INDEX_FILE, foreign};
use hippo_store::StoreError;
use hippo_store::db::Store;
use hippo_text::chunk::ContentHash;
use hippo_text::source::original_of_copy;
use hippo_types::time::Timestamp;

use super::super::WorkspaceEntries;
use super::super::merge::{MergeSource, cut_off};
use super::replaced::{DOUBTFUL, is_text};
use super::{FileEnvironment, LARGEST, versions, words};

/// Name of the folder of merged copies, in hippod's folder.
const MERGED: &str = "conflicts";
/// Key prefix for the names of merged copies. The hash of the copy follows the prefix.
const KEY: &str = "HIPPOCAMPUS.md.copy-";
/// Time in milliseconds since the last change of a copy, after which the copy is complete.
const QUIET: i64 = 1_000;
/// Maximum number of merged copies that hippod remembers, so that a copy that returns is not merged again.
const MOST: usize = 200;

const TOO_LARGE: &str = "the merged index file would have more than 4 MiB";

/// Returns whether a file in the root of a workspace is a conflict copy of the index file.
pub(super) fn is_copy(root: &Path, path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    path.parent() == Some(root) && name.is_some_and(is_copy_name)
}

fn is_copy_name(name: &str) -> bool {
    original_of_copy(name).as_deref() == Some(INDEX_FILE)
}

fn key_of(copy: &[u8]) -> String {
    let hash: String = ContentHash::of(copy)
        .0
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    format!("{KEY}{hash}")
}

/// Returns whether a program may still be writing one of the conflict copies in a folder.
pub(super) fn are_unsettled(dir: &WorkspaceDir, now: Timestamp) -> bool {
    let written = |folder: &Folder, name: &str| {
        folder
            .stat(name)
            .ok()
            .flatten()
            .map(|stat| stat.modified_ns / 1_000_000)
    };
    dir.folder("").is_ok_and(|folder| {
        let mut written = copies_in(&folder)
            .into_iter()
            .filter_map(|(name, _)| written(&folder, &name));
        written.any(|written| (0..QUIET).contains(&(now.0 - written)))
    })
}

/// Returns the names of the conflict copies in a folder, sorted.
fn copies_in(folder: &Folder) -> Vec<(String, FileKind)> {
    let entries = folder.entries().unwrap_or_default().into_iter();
    let named = entries.filter_map(|entry| Some((entry.name.into_string().ok()?, entry.kind)));
    let mut copies: Vec<_> = named.filter(|(name, _)| is_copy_name(name)).collect();
    copies.sort_by(|one, other| one.0.cmp(&other.0));
    copies
}

/// Reads a copy. If it cannot be merged, returns the reason.
fn read(folder: &Folder, name: &str, kind: FileKind) -> Result<Vec<u8>, String> {
    if kind != FileKind::File {
        return Err("it is not a regular file".to_owned());
    }
    match folder.read(name, LARGEST) {
        Ok(bytes) if is_text(&bytes) && std::str::from_utf8(&bytes).is_ok() => Ok(bytes),
        Ok(_) => Err("it is not text in UTF-8".to_owned()),
        Err(error) if error.kind() == io::ErrorKind::FileTooLarge => {
            Err(format!("it has more than {LARGEST} bytes"))
        }
        Err(error) => Err(format!("it cannot be read: {error}")),
    }
}

impl WorkspaceEntries {
    /// Merges one conflict copy into the store. The next write adds its text to the index file. `current` is the content
    /// of the index file. Returns whether a copy was merged.
    ///
    /// # Errors
    /// See [`StoreError`]. After an error, nothing is merged.
    pub(super) fn merge_copy(
        &mut self,
        store: &mut Store,
        now: &FileEnvironment,
        dir: &WorkspaceDir,
        current: &[u8],
    ) -> Result<bool, StoreError> {
        self.file.copies.clear();
        let Ok(folder) = dir.folder("") else {
            return Ok(false);
        };
        for (name, kind) in copies_in(&folder) {
            let copy = match read(&folder, &name, kind) {
                Ok(copy) => copy,
                Err(why) => {
                    self.file.copies.insert(name, why);
                    continue;
                }
            };
            let key = key_of(&copy);
            // The text of an earlier copy must be in the file before the next one is merged.
            if self.file.kept.bytes(&key).is_some() || !words::are_none(&self.file.kept) {
                continue;
            }
            let copy = foreign::split(&copy).0;
            let common = versions::common(&self.file.kept, current, &copy);
            if cut_off(common, &copy).is_some() {
                self.file.copies.insert(name, DOUBTFUL.to_owned());
                continue;
            }
            let merged = merge_versions(common, current, &copy, now.settings());
            if merged.len() as u64 > LARGEST {
                self.file.copies.insert(name, TOO_LARGE.to_owned());
                continue;
            }
            let base = self.file.base().unwrap_or_default().to_vec();
            // The same transaction records that the copy is merged, so that a crash does not repeat the merge.
            self.file.kept.put(key.clone(), name.as_bytes(), now.now);
            let result = self.merge(store, now, &base, &merged, MergeSource::Copy(current));
            if !matches!(result, Ok(true)) {
                self.file.kept.remove(&key);
            }
            if result? {
                tracing::info!(root = %now.root().display(), name, "merged a conflict copy of the index file");
                return Ok(true);
            }
            self.file.copies.insert(name, DOUBTFUL.to_owned());
        }
        Ok(false)
    }

    /// Moves the merged copies to hippod's folder, and schedules the merge of the next copy.
    pub(super) fn put_copies_away(&mut self, now: &FileEnvironment) {
        if self.file.unwritten || !words::are_none(&self.file.kept) || !self.may_write() {
            return;
        }
        let Ok(folder) = WorkspaceDir::open(now.root()).and_then(|dir| dir.folder("")) else {
            return;
        };
        for (name, kind) in copies_in(&folder) {
            let Ok(copy) = read(&folder, &name, kind) else {
                continue;
            };
            if self.file.kept.bytes(&key_of(&copy)).is_none() {
                if self.file.base().is_some() && !self.file.copies.contains_key(&name) {
                    self.file.look(now.at);
                }
                continue;
            }
            if let Err(error) = put_away(&folder, &name) {
                let why = format!(
                    "it is merged, but could not be moved to {}/{MERGED}: {error}",
                    hierarchy::FOLDER
                );
                self.file.copies.insert(name, why);
            }
        }
        let mut known: Vec<_> = self
            .file
            .kept
            .of(KEY)
            .map(|(hash, kept)| (kept.at, format!("{KEY}{hash}")))
            .collect();
        known.sort();
        for (_, key) in known.iter().rev().skip(MOST) {
            self.file.kept.remove(key);
        }
    }
}

/// Moves a copy to hippod's folder, under a name that no other copy has there.
fn put_away(folder: &Folder, name: &str) -> io::Result<()> {
    let merged = folder.make_folder(hierarchy::FOLDER)?.make_folder(MERGED)?;
    let mut to = name.to_owned();
    let mut number = 2_u32;
    while merged.stat(&to)?.is_some() {
        to = format!("{number}-{name}");
        number += 1;
    }
    folder.rename_to(name, &merged, &to)?;
    merged.sync()?;
    folder.sync()
}
