//! What was checked in an installed folder, so that a start needs no checksums.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
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

    /// Whether the file was checked against this checksum and has not been touched since.
    pub(super) fn vouches_for(&self, folder: &Path, file: &ManifestFile) -> bool {
        let Some(now) = look(&folder.join(&file.name), &file.sha256) else {
            return false;
        };
        self.files.get(&file.name) == Some(&now)
    }

    /// Notes that the file as it is on disk has the wanted checksum.
    pub(super) fn note(&mut self, folder: &Path, file: &ManifestFile) {
        if let Some(now) = look(&folder.join(&file.name), &file.sha256) {
            self.files.insert(file.name.clone(), now);
        }
    }

    /// Withdraws what was noted about a file. Says whether there was anything.
    pub(super) fn forget(&mut self, name: &str) -> bool {
        self.files.remove(name).is_some()
    }
}

fn look(path: &Path, sha256: &str) -> Option<Checked> {
    let meta = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    let mtime = meta.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    let mtime_ns = u64::try_from(mtime.as_nanos()).ok()?;
    Some(Checked {
        size: meta.len(),
        mtime_ns,
        sha256: sha256.into(),
    })
}
