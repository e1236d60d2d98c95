//! Record of verified files, which makes checksums at startup unnecessary.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};

use super::extract::replace_file;
use super::{AcquireError, ManifestFile};

const NAME: &str = "installed.json";
/// Checksum records that could not be saved, keyed by the folder of the files.
static UNSAVED: Mutex<BTreeMap<PathBuf, ChecksumRecord>> = Mutex::new(BTreeMap::new());

/// The record of one folder: for each file, its checksum, and its size and time when the checksum was computed.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct ChecksumRecord {
    files: BTreeMap<String, CheckedFile>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct CheckedFile {
    size: u64,
    /// Modification time in nanoseconds since the epoch.
    mtime_ns: u64,
    sha256: String,
}

/// The reason why an installed file cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileFault {
    /// The file does not exist.
    Missing,
    /// The content is wrong.
    Damaged,
    /// The file has changed, and its content has not been verified since.
    Unchecked,
}

impl ChecksumRecord {
    /// Loads the record; a missing or unreadable record is empty.
    pub(super) fn load(folder: &Path) -> Self {
        let unsaved = UNSAVED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(record) = unsaved.get(folder) {
            return record.clone();
        }
        let bytes = fs::read(folder.join(NAME)).unwrap_or_default();
        serde_json::from_slice(&bytes).unwrap_or_default()
    }

    pub(super) fn save(&self, folder: &Path) -> Result<(), AcquireError> {
        let path = folder.join(NAME);
        let text = serde_json::to_vec_pretty(self).map_err(|e| AcquireError::io("write", &path, e.into()))?;
        let saved = replace_file(&path, &mut text.as_slice(), None);
        let mut unsaved = UNSAVED.lock().unwrap_or_else(PoisonError::into_inner);
        match &saved {
            Ok(_) => unsaved.remove(folder),
            Err(_) => unsaved.insert(folder.into(), self.clone()),
        };
        saved.map(drop)
    }

    /// Returns the reason why a file cannot be used, without reading the file.
    pub(super) fn fault(&self, folder: &Path, file: &ManifestFile) -> Option<FileFault> {
        let Some(found) = CheckedFile::read(&folder.join(&file.name)) else {
            return Some(FileFault::Missing);
        };
        if found.size != file.size {
            return Some(FileFault::Damaged);
        }
        match self.files.get(&file.name) {
            Some(noted) if (noted.size, noted.mtime_ns) == (found.size, found.mtime_ns) => {
                (noted.sha256 != file.sha256).then_some(FileFault::Damaged)
            }
            _ => Some(FileFault::Unchecked),
        }
    }

    /// Records the checksum of a file, or that the file is unreadable.
    pub(super) fn note(&mut self, folder: &Path, file: &ManifestFile, found: Option<&str>) {
        match CheckedFile::read(&folder.join(&file.name)).zip(found) {
            Some((checked, sha256)) => {
                let sha256 = sha256.into();
                self.files
                    .insert(file.name.clone(), CheckedFile { sha256, ..checked });
            }
            None => drop(self.files.remove(&file.name)),
        }
    }
}

impl CheckedFile {
    /// Returns the size and modification time of a file, without a checksum.
    fn read(path: &Path) -> Option<Self> {
        let meta = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
        let since = meta.modified().ok()?.duration_since(UNIX_EPOCH);
        Some(Self {
            size: meta.len(),
            mtime_ns: since.map_or(0, |since| u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)),
            sha256: String::new(),
        })
    }
}
