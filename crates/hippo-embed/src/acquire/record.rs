//! What was checked in an installed folder, so that a start needs no checksums.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};

use super::extract::replace_file;
use super::{AcquireError, ManifestFile};

const NAME: &str = "installed.json";

/// The record of one folder: by file name, what the file looked like when its checksum was right.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Record {
    files: BTreeMap<String, Checked>,
}

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Checked {
    size: u64,
    /// Modification time in nanoseconds since the epoch.
    mtime_ns: u64,
    sha256: String,
}

impl Record {
    /// A missing or unreadable record vouches for nothing.
    pub(super) fn load(folder: &Path) -> Self {
        let bytes = fs::read(folder.join(NAME)).unwrap_or_default();
        serde_json::from_slice(&bytes).unwrap_or_default()
    }

    pub(super) fn save(&self, folder: &Path) -> Result<(), AcquireError> {
        let path = folder.join(NAME);
        let text = serde_json::to_vec_pretty(self).map_err(|e| AcquireError::io("write", &path, e.into()))?;
        replace_file(&path, &mut text.as_slice(), None)
    }

    /// Why a file cannot be used, without reading it; `None` for one that can be.
    pub(super) fn fault(&self, folder: &Path, file: &ManifestFile) -> Option<Fault> {
        let path = folder.join(&file.name);
        let Some(mark) = Mark::of(&path) else {
            return Some(Fault::Missing);
        };
        if self.files.get(&file.name) == Some(&mark.with(&file.sha256)) {
            return None;
        }
        if mark.size != file.size {
            return Some(Fault::Damaged);
        }
        // Its time differs from the recorded one, as it does in every copy.
        match hashed(&path, mark) {
            Some(sha256) if sha256 == file.sha256 => None,
            Some(_) => Some(Fault::Damaged),
            None => Some(Fault::Unchecked),
        }
    }

    /// Notes the checksum that was just computed of a file as it is on disk; a wrong one is remembered as well, so that
    /// it is not computed again.
    pub(super) fn note(&mut self, folder: &Path, file: &ManifestFile, found: &str) {
        let path = folder.join(&file.name);
        let Some(mark) = Mark::of(&path) else { return };
        remember_hash(&path, mark, found);
        if found == file.sha256 {
            self.files.insert(file.name.clone(), mark.with(found));
        } else {
            self.files.remove(&file.name);
        }
    }

    /// Withdraws what was noted about a file. Says whether there was anything.
    pub(super) fn forget(&mut self, name: &str) -> bool {
        self.files.remove(name).is_some()
    }
}

/// Why an installed file cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// There is no such file.
    Missing,
    /// Its content is not the pinned one.
    Damaged,
    /// Its size is right and its time is not the recorded one: its content has to be read once.
    Unchecked,
}

/// Size and time of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Mark {
    size: u64,
    mtime_ns: u64,
}

impl Mark {
    fn of(path: &Path) -> Option<Self> {
        let meta = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
        let since = meta.modified().ok()?.duration_since(UNIX_EPOCH);
        let mtime_ns = since.map_or(0, |since| u64::try_from(since.as_nanos()).unwrap_or(u64::MAX));
        Some(Self {
            size: meta.len(),
            mtime_ns,
        })
    }

    fn with(self, sha256: &str) -> Checked {
        Checked {
            size: self.size,
            mtime_ns: self.mtime_ns,
            sha256: sha256.into(),
        }
    }
}

/// Checksums that this process computed: a folder that cannot be written keeps no record.
static HASHED: Mutex<BTreeMap<PathBuf, (Mark, String)>> = Mutex::new(BTreeMap::new());

fn hashed(path: &Path, mark: Mark) -> Option<String> {
    let hashed = HASHED.lock().unwrap_or_else(PoisonError::into_inner);
    let (at, sha256) = hashed.get(path)?;
    (*at == mark).then(|| sha256.clone())
}

fn remember_hash(path: &Path, mark: Mark, sha256: &str) {
    let mut hashed = HASHED.lock().unwrap_or_else(PoisonError::into_inner);
    hashed.insert(path.into(), (mark, sha256.into()));
}
