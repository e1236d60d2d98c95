//! Change detection by polling, without operating system events.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use hippo_store::system::{self, FileId};

/// State of the files at the last poll.
#[derive(Debug, Default)]
pub(super) struct Poller {
    seen: BTreeMap<PathBuf, Mark>,
}

/// Fingerprint of an entry: identity, kind and permissions; for files, also size, mtime and ctime in nanoseconds. A
/// folder's times are omitted, because they change with its entries, which are polled themselves where relevant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Mark {
    file: FileId,
    mode: u32,
    size: u64,
    mtime_ns: i64,
    ctime_ns: i64,
}

impl Poller {
    /// Records the entries of a folder without reporting them.
    pub fn learn(&mut self, dir: &Path) {
        self.seen.extend(marks(dir).unwrap_or_default());
    }

    /// Polls the entries of the given folders, and returns those that were created, removed or changed.
    pub fn look<'a>(&mut self, dirs: impl IntoIterator<Item = &'a PathBuf>) -> Vec<PathBuf> {
        let mut now = BTreeMap::new();
        for dir in dirs {
            match marks(dir) {
                Ok(marks) => now.extend(marks),
                // The folder was removed together with its entries.
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                // The folder is unreadable, so its entries count as unchanged.
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

/// Returns the entries of a folder that changed at or after a moment, in seconds since the Unix epoch.
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
        // Links are followed; a dangling link counts as absent.
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
