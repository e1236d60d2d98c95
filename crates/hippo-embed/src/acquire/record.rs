//! Record of checked files, so that no checksums have to be computed at startup.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};

use super::extract::replace_file;
use super::{AcquireError, ManifestFile};

const NAME: &str = "installed.json";

/// The record of one folder: for each file name, the size and time of the file when its checksum was found to match.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct ChecksumRecord {
    files: BTreeMap<String, CheckedFile>,
}

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct CheckedFile {
    size: u64,
    /// Modification time in nanoseconds since the epoch.
    mtime_ns: u64,
    sha256: String,
}

impl ChecksumRecord {
    /// Loads the record; a missing or unreadable record is empty.
    pub(super) fn load(folder: &Path) -> Self {
        let bytes = fs::read(folder.join(NAME)).unwrap_or_default();
        serde_json::from_slice(&bytes).unwrap_or_default()
    }

    pub(super) fn save(&self, folder: &Path) -> Result<(), AcquireError> {
        let path = folder.join(NAME);
        let text = serde_json::to_vec_pretty(self).map_err(|e| AcquireError::io("write", &path, e.into()))?;
        replace_file(&path, &mut text.as_slice(), None)
    }

    /// Returns the reason why a file cannot be used, without reading the file.
    pub(super) fn fault(&self, folder: &Path, file: &ManifestFile) -> Option<FileFault> {
        let path = folder.join(&file.name);
        let Some(stamp) = FileStamp::read(&path) else {
            return Some(FileFault::Missing);
        };
        if self.files.get(&file.name) == Some(&stamp.to_checked(&file.sha256)) {
            return None;
        }
        if stamp.size != file.size {
            return Some(FileFault::Damaged);
        }
        // The modification time differs from the record, as it does for every copy of a file.
        match known_hash(&path, stamp) {
            Some(sha256) if sha256 == file.sha256 => None,
            Some(_) => Some(FileFault::Damaged),
            None => Some(FileFault::Unchecked),
        }
    }

    /// Records the checksum of a file. If the checksum does not match, it is only kept in memory, so that it is not
    /// computed again.
    pub(super) fn note(&mut self, folder: &Path, file: &ManifestFile, found: &str) {
        let path = folder.join(&file.name);
        let Some(stamp) = FileStamp::read(&path) else {
            return;
        };
        remember_hash(&path, stamp, found);
        if found == file.sha256 {
            self.files.insert(file.name.clone(), stamp.to_checked(found));
        } else {
            self.files.remove(&file.name);
        }
    }

    /// Removes the record of a file. Returns whether it existed.
    pub(super) fn forget(&mut self, name: &str) -> bool {
        self.files.remove(name).is_some()
    }
}

/// The reason why an installed file cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileFault {
    /// The file does not exist.
    Missing,
    /// The content differs from the pinned content.
    Damaged,
    /// The size matches, but the modification time differs from the recorded time, so the content must be read once.
    Unchecked,
}

/// Size and time of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct FileStamp {
    size: u64,
    mtime_ns: u64,
}

impl FileStamp {
    fn read(path: &Path) -> Option<Self> {
        let meta = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
        let since = meta.modified().ok()?.duration_since(UNIX_EPOCH);
        let mtime_ns = since.map_or(0, |since| u64::try_from(since.as_nanos()).unwrap_or(u64::MAX));
        Some(Self {
            size: meta.len(),
            mtime_ns,
        })
    }

    fn to_checked(self, sha256: &str) -> CheckedFile {
        CheckedFile {
            size: self.size,
            mtime_ns: self.mtime_ns,
            sha256: sha256.into(),
        }
    }
}

/// Checksums computed by this process, for folders that are not writable and therefore have no record.
static HASHED: Mutex<BTreeMap<PathBuf, (FileStamp, String)>> = Mutex::new(BTreeMap::new());

fn known_hash(path: &Path, stamp: FileStamp) -> Option<String> {
    let hashed = HASHED.lock().unwrap_or_else(PoisonError::into_inner);
    let (at, sha256) = hashed.get(path)?;
    (*at == stamp).then(|| sha256.clone())
}

fn remember_hash(path: &Path, stamp: FileStamp, sha256: &str) {
    let mut hashed = HASHED.lock().unwrap_or_else(PoisonError::into_inner);
    hashed.insert(path.into(), (stamp, sha256.into()));
}
