//! Temporary folder of a running backup.
//!
//! The folder is recorded in the state folder before it is created, so that it can be removed even after a kill.
//! Without the record, the leftover would not be found: backups with a date in their name never use the same folder
//! again.

use std::ffi::OsStr;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use hippo_proto::{ErrorKind, RpcError};
use hippo_store::system::PRIVATE_FOLDER;

use super::refusal::io_refusal;
use crate::registry::write_atomically;

/// Name of the record in the state folder.
const NOTE: &str = "backing-up.json";
/// Suffix of temporary folders. Their names begin with a dot.
const PARTIAL: &str = ".partial";
/// Files created in a temporary folder: the backup itself, and copies of the databases.
const MADE: [&str; 3] = ["out", "index", "contexts"];
/// Suffixes of the files that SQLite creates beside a database.
const BESIDE: [&str; 4] = ["", "-wal", "-shm", "-journal"];

/// Temporary folder beside the destination, removed on drop.
pub struct Partial {
    /// Path of the folder.
    pub folder: PathBuf,
    state: PathBuf,
}

impl Partial {
    /// Creates the folder for a backup at `to`, and removes leftovers of killed processes.
    ///
    /// # Errors
    /// Returns `conflict` if a folder of that name exists that hippod did not create; otherwise the error of the
    /// operating system.
    #[expect(clippy::disallowed_methods, reason = "the user chose this path")]
    pub fn begin(state: &Path, to: &Path) -> Result<Self, RpcError> {
        clear_left(state);
        let mut name = std::ffi::OsString::from(".");
        name.push(to.file_name().unwrap_or_default());
        name.push(PARTIAL);
        let folder = to.with_file_name(name);
        let refused = |error| io_refusal("prepare the backup", &folder, &error);
        if is_ours(&folder) {
            fs::remove_dir_all(&folder).map_err(refused)?;
        } else if folder.symlink_metadata().is_ok() {
            let what = format!(
                "could not prepare the backup: this path already exists: {}",
                folder.display()
            );
            return Err(
                RpcError::new(ErrorKind::Conflict, what).hint("move it elsewhere, or choose another name")
            );
        }
        let mut all = noted(state);
        all.push(folder.clone());
        note(state, &all);
        let made = DirBuilder::new().mode(PRIVATE_FOLDER).create(&folder);
        let partial = Self {
            state: state.to_path_buf(),
            folder,
        };
        match made {
            Ok(()) => Ok(partial),
            Err(error) => Err(io_refusal("prepare the backup", &partial.folder, &error)),
        }
    }
}

impl Drop for Partial {
    #[expect(clippy::disallowed_methods, reason = "the user chose this path")]
    fn drop(&mut self) {
        match fs::remove_dir_all(&self.folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                tracing::warn!(%error, folder = %self.folder.display(), "could not remove the leftovers of a backup");
            }
            _ => {
                let mut all = noted(&self.state);
                all.retain(|folder| *folder != self.folder);
                note(&self.state, &all);
            }
        }
    }
}

/// Removes the leftovers of killed processes and returns those that could not be removed. No backup may be running.
pub fn clear_left(state: &Path) -> Vec<PathBuf> {
    let all = noted(state);
    let left: Vec<PathBuf> = all.iter().filter(|folder| !is_cleared(folder)).cloned().collect();
    if left != all {
        note(state, &left);
    }
    left
}

/// Removes a leftover folder, and returns whether its record can be deleted.
#[expect(clippy::disallowed_methods, reason = "the user chose this path")]
fn is_cleared(folder: &Path) -> bool {
    if is_ours(folder) {
        return fs::remove_dir_all(folder).is_ok();
    }
    // If the disk is unmounted, the folder may still exist. A folder with other files does not belong to hippod.
    folder.parent().is_some_and(Path::is_dir)
}

/// Returns whether a folder has the name of a temporary folder and contains only files that hippod creates.
#[expect(clippy::disallowed_methods, reason = "the user chose this path")]
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

#[expect(clippy::disallowed_methods, reason = "the user chose this path")]
fn noted(state: &Path) -> Vec<PathBuf> {
    let bytes = fs::read(state.join(NOTE)).unwrap_or_default();
    serde_json::from_slice(&bytes).unwrap_or_default()
}

/// Writes the record. A failure is only logged, because a backup must succeed even if the state folder's disk is full;
/// at worst, a later kill leaves a folder behind.
#[expect(clippy::disallowed_methods, reason = "the user chose this path")]
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
        tracing::warn!(%error, "could not record which backup is running");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leftovers_of_a_killed_process_are_removed_and_foreign_files_kept() {
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
        // SQLite's write-ahead log of an unfinished copy.
        fs::write(killed.join("index-wal"), "half").unwrap();
        note(&state, &[killed.clone(), taken.clone()]);
        fs::rename(&disk, folder.path().join("unmounted")).unwrap();
        assert_eq!(
            clear_left(&state).len(),
            2,
            "the entries of an unmounted disk are kept"
        );
        fs::rename(folder.path().join("unmounted"), &disk).unwrap();
        // A foreign folder contains files with other names.
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
