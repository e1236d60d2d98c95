//! Detection of changes by polling.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use hippo_store::system::{self, FileId};

/// State of the entries of the watched folders at the last poll.
#[derive(Debug, Default)]
pub(super) struct Poller {
    seen: BTreeMap<PathBuf, Mark>,
}

/// Fingerprint of an entry of a folder. It contains the identity, the kind and the permissions. For files, it also
/// contains the size, the mtime and the ctime in nanoseconds. The times of subfolders are left out, because they change
/// whenever an entry of the subfolder changes. A watched subfolder is polled itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Mark {
    file: FileId,
    mode: u32,
    size: u64,
    mtime_ns: i64,
    ctime_ns: i64,
}

impl Poller {
    /// Records the current entries of a folder, so that the next poll does not report them as new.
    pub fn learn(&mut self, dir: &Path) {
        self.seen.extend(marks(dir).unwrap_or_default());
    }

    /// Returns the entries of the given folders that were created, removed or changed since the last poll.
    pub fn look<'a>(&mut self, dirs: impl IntoIterator<Item = &'a PathBuf>) -> Vec<PathBuf> {
        let mut now = BTreeMap::new();
        for dir in dirs {
            match marks(dir) {
                Ok(marks) => now.extend(marks),
                // The folder was removed, so its entries count as removed.
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                // The folder cannot be read, so its entries count as unchanged.
                Err(_) => {
                    let before = self.seen.iter().filter(|(path, _)| path.parent() == Some(dir));
                    now.extend(before.map(|(path, mark)| (path.clone(), *mark)));
                }
            }
        }
        let gone = self.seen.keys().filter(|path| !now.contains_key(*path));
        let new = now
            .iter()
            .filter(|(path, mark)| self.seen.get(*path) != Some(mark))
            .map(|(path, _)| path);
        let changed = gone.chain(new).cloned().collect();
        self.seen = now;
        changed
    }
}

/// Returns the entries of a folder that changed at or after the time `since`, in seconds since the Unix epoch.
#[expect(clippy::disallowed_methods, reason = "reads only names and times of files")]
pub(super) fn changed_since(dir: &Path, since: i64) -> Vec<PathBuf> {
    let Ok(entries) = dir.read_dir() else {
        return Vec::new();
    };
    let paths = entries.flatten().map(|entry| entry.path());
    paths
        .filter(|path| {
            path.metadata()
                .is_ok_and(|metadata| system::change_time_ns(&metadata).div_euclid(1_000_000_000) >= since)
        })
        .collect()
}

#[expect(clippy::disallowed_methods, reason = "reads only names and times of files")]
fn marks(dir: &Path) -> std::io::Result<Vec<(PathBuf, Mark)>> {
    let mut marks = Vec::new();
    for entry in dir.read_dir()? {
        let path = entry?.path();
        // Links are followed. A link without a target counts as absent.
        let Ok(metadata) = path.metadata() else { continue };
        let mut mark = Mark {
            file: FileId::of(&metadata),
            mode: system::mode(&metadata),
            size: 0,
            mtime_ns: 0,
            ctime_ns: 0,
        };
        if !metadata.is_dir() {
            mark.size = metadata.len();
            mark.mtime_ns = system::modified_ns(&metadata);
            mark.ctime_ns = system::change_time_ns(&metadata);
        }
        marks.push((path, mark));
    }
    Ok(marks)
}
