//! Temporary folder of a running backup.
//!
//! The folder is recorded in the state folder before it is created, so that it can be removed even after a kill.

use std::ffi::OsString;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use hippo_proto::{ErrorKind, RpcError};
use hippo_store::system::PRIVATE_FOLDER;

use super::refusal::io_refusal;
use crate::registry::write_atomically;

/// Name of the record in the state folder; it contains the path of the folder.
const NOTE: &str = "backing-up.json";

/// Temporary folder beside the destination, removed on drop.
pub struct Partial {
    /// Path of the folder.
    pub folder: PathBuf,
    state: PathBuf,
}

impl Partial {
    /// Creates the folder for a backup at `to`, and removes the leftover of a killed process.
    ///
    /// # Errors
    /// Returns `conflict` if the path exists, otherwise the error of the operating system.
    #[expect(clippy::disallowed_methods, reason = "the user chose this path")]
    pub fn begin(state: &Path, to: &Path) -> Result<Self, RpcError> {
        clear_left(state);
        let mut name = OsString::from(".");
        name.push(to.file_name().unwrap_or_default());
        name.push(".partial");
        let folder = to.with_file_name(name);
        if folder.symlink_metadata().is_ok() {
            let what = format!(
                "could not prepare the backup: this path already exists: {}",
                folder.display()
            );
            return Err(
                RpcError::new(ErrorKind::Conflict, what).hint("move it elsewhere, or choose another name")
            );
        }
        let refused = |error| io_refusal("prepare the backup", &folder, &error);
        let json = serde_json::to_vec(&folder).map_err(|error| refused(error.into()))?;
        write_atomically(&state.join(NOTE), &json).map_err(refused)?;
        let made = DirBuilder::new().mode(PRIVATE_FOLDER).create(&folder);
        made.map_err(refused)?;
        Ok(Self {
            folder,
            state: state.to_path_buf(),
        })
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        clear_left(&self.state);
    }
}

/// Removes the recorded folder. No backup may be running.
#[expect(clippy::disallowed_methods, reason = "the user chose this path")]
pub fn clear_left(state: &Path) {
    let note = state.join(NOTE);
    let Ok(json) = fs::read(&note) else { return };
    let folder: PathBuf = serde_json::from_slice(&json).unwrap_or_default();
    // If the disk is unmounted, the folder may still exist.
    if !folder.parent().is_some_and(Path::is_dir) {
        return;
    }
    let removed = match fs::remove_dir_all(&folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => fs::remove_file(&note),
    };
    if let Err(error) = removed {
        tracing::warn!(%error, folder = %folder.display(), "could not remove the leftovers of a backup");
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
        let begin = |name: &str| Partial::begin(&state, &disk.join(name));
        let killed = begin("1.tar.zst").unwrap();
        fs::write(killed.folder.join("out"), "half").unwrap();
        let left = killed.folder.clone();
        std::mem::forget(killed);
        fs::rename(&disk, folder.path().join("unmounted")).unwrap();
        clear_left(&state);
        assert!(
            state.join(NOTE).exists(),
            "the record of an unmounted disk is kept"
        );
        fs::rename(folder.path().join("unmounted"), &disk).unwrap();
        drop(begin("2.tar.zst").unwrap());
        assert!(!left.exists() && !disk.join(".2.tar.zst.partial").exists());
        assert!(!state.join(NOTE).exists());
        let foreign = disk.join(".3.tar.zst.partial");
        fs::create_dir(&foreign).unwrap();
        fs::write(foreign.join("diary.md"), "mine").unwrap();
        let refusal = begin("3.tar.zst").err().unwrap();
        assert_eq!(refusal.data.kind, ErrorKind::Conflict);
        clear_left(&state);
        assert!(foreign.join("diary.md").exists());
    }
}
