//! What stands beside the place of a backup while it is written, and who removes it after a kill?
//!
//! It is noted in the state folder before it is made: dated backups never come back to the same name, and nobody looks for
//! the folder of a disk.

use std::ffi::OsStr;
use std::fs::{self, DirBuilder};
use std::io;
use std::path::{Path, PathBuf};

use hippo_proto::{ErrorKind, RpcError};
use hippo_store::system::{PRIVATE_FOLDER, WithMode as _};

use super::refusal::io_refusal;
use crate::registry::write_atomically;

/// The note, in the state folder.
const NOTE: &str = "backing-up.json";
/// What the names of such folders end in; they begin with a dot.
const PARTIAL: &str = ".partial";
/// What is made in one: the backup itself, and copies of the databases.
const MADE: [&str; 3] = ["out", "index", "contexts"];
/// What SQLite has beside a database while it is written.
const BESIDE: [&str; 4] = ["", "-wal", "-shm", "-journal"];

/// A folder beside the place; removed when it goes.
pub struct Partial {
    /// Where it is.
    pub folder: PathBuf,
    state: PathBuf,
}

impl Partial {
    /// Makes one for a backup at `to`. What killed processes left is removed.
    ///
    /// # Errors
    /// `conflict` where a folder of that name is there which hippod did not make; else as the system says.
    #[expect(clippy::disallowed_methods, reason = "a place that a person names")]
    pub fn begin(state: &Path, to: &Path) -> Result<Self, RpcError> {
        clear_left(state);
        let mut name = std::ffi::OsString::from(".");
        name.push(to.file_name().unwrap_or_default());
        name.push(PARTIAL);
        let folder = to.with_file_name(name);
        let refused = |error| io_refusal("make ready the backup", &folder, &error);
        if is_ours(&folder) {
            fs::remove_dir_all(&folder).map_err(refused)?;
        } else if folder.symlink_metadata().is_ok() {
            let what = format!(
                "could not make ready the backup: something else is there: {}",
                folder.display()
            );
            return Err(RpcError::new(ErrorKind::Conflict, what).hint("move it away, or choose another name"));
        }
        let mut all = noted(state);
        all.push(folder.clone());
        note(state, &all);
        let made = DirBuilder::new().with_mode(PRIVATE_FOLDER).create(&folder);
        let partial = Self {
            state: state.to_path_buf(),
            folder,
        };
        match made {
            Ok(()) => Ok(partial),
            Err(error) => Err(io_refusal("make ready the backup", &partial.folder, &error)),
        }
    }
}

impl Drop for Partial {
    #[expect(clippy::disallowed_methods, reason = "a place that a person names")]
    fn drop(&mut self) {
        match fs::remove_dir_all(&self.folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                tracing::warn!(%error, folder = %self.folder.display(), "could not remove what is left of a backup");
            }
            _ => {
                let mut all = noted(&self.state);
                all.retain(|folder| *folder != self.folder);
                note(&self.state, &all);
            }
        }
    }
}

/// Removes what killed processes left, and answers what could not be removed. Nobody may be at a backup.
pub fn clear_left(state: &Path) -> Vec<PathBuf> {
    let all = noted(state);
    let left: Vec<PathBuf> = all.iter().filter(|folder| !is_cleared(folder)).cloned().collect();
    if left != all {
        note(state, &left);
    }
    left
}

/// Whether nothing of it is to be removed any more.
#[expect(clippy::disallowed_methods, reason = "a place that a person names")]
fn is_cleared(folder: &Path) -> bool {
    if is_ours(folder) {
        return fs::remove_dir_all(folder).is_ok();
    }
    // Of another disk that is away nobody knows; what is somebody else's by now is none of ours.
    folder.parent().is_some_and(Path::is_dir)
}

/// Whether a folder has the name of one, and nothing in it that hippod does not make.
#[expect(clippy::disallowed_methods, reason = "a place that a person names")]
fn is_ours(folder: &Path) -> bool {
    let name = folder.file_name().and_then(OsStr::to_str);
    let fits = name.is_some_and(|name| name.starts_with('.') && name.ends_with(PARTIAL));
    fits && folder.symlink_metadata().is_ok_and(|found| found.is_dir())
        && fs::read_dir(folder)
            .is_ok_and(|entries| entries.flatten().all(|entry| is_made(&entry.file_name())))
}

fn is_made(name: &OsStr) -> bool {
    let Some(name) = name.to_str() else { return false };
    let rest = MADE.iter().filter_map(|made| name.strip_prefix(made));
    rest.into_iter().any(|rest| BESIDE.contains(&rest))
}

#[expect(clippy::disallowed_methods, reason = "a place that a person names")]
fn noted(state: &Path) -> Vec<PathBuf> {
    let bytes = fs::read(state.join(NOTE)).unwrap_or_default();
    serde_json::from_slice(&bytes).unwrap_or_default()
}

/// Where it cannot be noted, a kill leaves a folder: that is no reason to make no backup, least of all on a full disk.
#[expect(clippy::disallowed_methods, reason = "a place that a person names")]
fn note(state: &Path, folders: &[PathBuf]) {
    let path = state.join(NOTE);
    let noted = match folders {
        [] => fs::remove_file(&path),
        _ => serde_json::to_vec(folders)
            .map_err(io::Error::from)
            .and_then(|json| write_atomically(&path, &json)),
    };
    if let Err(error) = noted
        && error.kind() != io::ErrorKind::NotFound
    {
        tracing::warn!(%error, "could not note which backup is under way");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_killed_process_left_goes_and_what_is_somebody_elses_stays() {
        let folder = tempfile::tempdir().unwrap();
        let (state, disk) = (folder.path().join("state"), folder.path().join("disk"));
        fs::create_dir_all(&state).unwrap();
        fs::create_dir_all(&disk).unwrap();
        let make = |name: &str| {
            let folder = disk.join(name);
            fs::create_dir(&folder).unwrap();
            fs::write(folder.join("out"), "half").unwrap();
            folder
        };
        let (killed, taken) = (make(".1.tar.zst.partial"), make(".2.tar.zst.partial"));
        // SQLite's log of a copy that was being written.
        fs::write(killed.join("index-wal"), "half").unwrap();
        note(&state, &[killed.clone(), taken.clone()]);
        fs::rename(&disk, folder.path().join("unmounted")).unwrap();
        assert_eq!(clear_left(&state).len(), 2, "of a disk that is away nobody knows");
        fs::rename(folder.path().join("unmounted"), &disk).unwrap();
        // What is no work of ours has other names in it.
        fs::write(taken.join("diary.md"), "mine").unwrap();
        assert!(clear_left(&state).is_empty());
        assert!(!killed.exists() && taken.join("diary.md").exists());
        assert!(!state.join(NOTE).exists());
        let begin = |name: &str| Partial::begin(&state, &disk.join(name));
        let refusal = begin("2.tar.zst").err().unwrap();
        assert_eq!(refusal.data.kind, ErrorKind::Conflict);
        assert!(taken.join("diary.md").exists());
        note(&state, &[make(".3.tar.zst.partial")]);
        drop(begin("4.tar.zst").unwrap());
        assert!(!disk.join(".3.tar.zst.partial").exists() && !disk.join(".4.tar.zst.partial").exists());
        assert!(!state.join(NOTE).exists());
    }
}
