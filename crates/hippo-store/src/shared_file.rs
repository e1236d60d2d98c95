//! Replacement of a file that other programs also write, without losing their bytes.
//!
//! The new bytes replace the file in one step. The previous file is kept in a *slot*, which is another name in the
//! same folder, until [`settle`](SharedFile::settle). The previous file contains everything that other programs wrote
//! between the caller's last read and the replacement, or later through a handle that was still open. After some
//! time, the caller reads the slot again and merges these changes. There are [`SLOTS`] slots, so that a caller that
//! writes often can keep each previous file for long enough. No operation follows a link.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use hippo_fs::{FileKind, Folder, PathRefusal, WorkspaceDir};

/// Number of slots per file: the maximum number of previous files that are kept.
pub const SLOTS: u32 = 128;
/// Suffix of the files that [`SharedFile::set_aside`] keeps for the user.
pub const UNMERGED: &str = ".unmerged";
/// Suffix of the new file on file systems that cannot exchange two names.
const NEW: &str = "new";

/// A file in a workspace that other programs also write. Its folder is open. The file itself may be missing.
#[derive(Debug)]
pub struct SharedFile {
    folder: Folder,
    name: String,
    /// The root of the workspace, for error messages.
    root: PathBuf,
}

impl SharedFile {
    /// Opens the folder of a file.
    ///
    /// # Errors
    /// Fails if a component of the path is a link, or the operating system reports an error.
    pub fn open(root: &WorkspaceDir, path: impl AsRef<Path>) -> io::Result<Self> {
        Self::of(root, root.parent(path.as_ref())?)
    }

    /// Opens the folder of a file, or creates it.
    ///
    /// # Errors
    /// See [`open`](Self::open).
    pub fn open_in_new_folder(root: &WorkspaceDir, path: impl AsRef<Path>) -> io::Result<Self> {
        Self::of(root, root.make_parent(path.as_ref())?)
    }

    fn of(root: &WorkspaceDir, (folder, name): (Folder, &OsStr)) -> io::Result<Self> {
        let name = name.to_str().ok_or(io::ErrorKind::InvalidFilename)?.to_owned();
        let root = root.root().to_path_buf();
        Ok(Self { folder, name, root })
    }

    /// Returns the path of the previous file in this slot.
    #[must_use]
    pub fn replaced_path(&self, slot: u32) -> PathBuf {
        self.full_path(&self.slot_name(slot))
    }

    /// Durably replaces the file with `bytes`. Returns the previous content, or `None` if the file did not exist.
    ///
    /// If the process ends before this function returns, the slot may contain all of `bytes`, although the file was
    /// not replaced. The caller must recognize these bytes as its own text.
    ///
    /// # Errors
    /// Fails if the file is a link, if the slot is in use ([`io::ErrorKind::AlreadyExists`]), or if the operating
    /// system reports an error. After an error, the file is unchanged.
    pub fn replace(&self, bytes: &[u8], slot: u32) -> io::Result<Option<Vec<u8>>> {
        self.check_free(slot)?;
        let (draft, old) = (self.hidden_name("draft"), self.slot_name(slot));
        // A slot must never contain an incomplete file, so write to another name first.
        let placed = self
            .write(&draft, bytes)
            .and_then(|()| {
                self.folder
                    .rename(&draft, &old)
                    .inspect_err(|_| self.discard(&draft))
            })
            .and_then(|()| self.exchange(&old).inspect_err(|_| self.discard(&old)))?;
        self.folder.sync()?;
        if placed { self.read_slot(slot) } else { Ok(None) }
    }

    /// Removes the file and returns its content, or `None` if the file did not exist. The removed file is kept in the
    /// slot, as by [`replace`](Self::replace).
    ///
    /// # Errors
    /// See [`replace`](Self::replace).
    pub fn take_away(&self, slot: u32) -> io::Result<Option<Vec<u8>>> {
        self.check_free(slot)?;
        match self.folder.rename(&self.name, self.slot_name(slot)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
            Ok(()) => {
                self.folder.sync()?;
                self.read_slot(slot)
            }
        }
    }

    /// Returns the current content of the previous file in this slot. Returns `None` if the slot is unused, or if it
    /// contains something other than a regular file, because reading that could block.
    ///
    /// # Errors
    /// Fails if the content cannot be read.
    pub fn read_slot(&self, slot: u32) -> io::Result<Option<Vec<u8>>> {
        let old = self.slot_name(slot);
        match self.folder.stat(&old)? {
            Some(stat) if stat.kind == FileKind::File => {}
            _ => return Ok(None),
        }
        match self.folder.read(old, u64::MAX) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Deletes the previous file in this slot.
    ///
    /// # Errors
    /// Returns any error of the operating system.
    pub fn settle(&self, slot: u32) -> io::Result<()> {
        match self.folder.remove_file(self.slot_name(slot)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Moves the previous file out of this slot and keeps it for the user. Returns its new path.
    ///
    /// # Errors
    /// Returns any error of the operating system. After an error, the file is still in its slot.
    pub fn set_aside(&self, slot: u32) -> io::Result<PathBuf> {
        let old = self.slot_name(slot);
        let mut number = 1_u32;
        loop {
            let end = if number == 1 {
                String::new()
            } else {
                format!("-{number}")
            };
            let kept = format!("{}{UNMERGED}{end}", self.name);
            // A rename could overwrite an existing file. A hard link cannot.
            match self.folder.hard_link(&old, &kept) {
                Ok(()) => {
                    self.folder.remove_file(&old)?;
                    return Ok(self.full_path(&kept));
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
                Err(_) if self.folder.stat(&kept)?.is_none() => {
                    return self.folder.rename(&old, &kept).map(|()| self.full_path(&kept));
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Removes the temporary files of an interrupted replacement, except slots. Returns true if the replacement
    /// certainly did not happen. In this case, the slot contains the new bytes rather than the previous content.
    pub fn tidy(&self) -> bool {
        self.discard(&self.hidden_name("draft"));
        let aside = self.hidden_name(NEW);
        let cut_off = self.folder.stat(&aside).is_ok_and(|stat| stat.is_some());
        self.discard(&aside);
        cut_off
    }

    fn check_free(&self, slot: u32) -> io::Result<()> {
        if self.folder.stat(self.slot_name(slot))?.is_some() {
            return Err(io::Error::from(io::ErrorKind::AlreadyExists));
        }
        match self.folder.stat(&self.name)? {
            Some(stat) if stat.kind == FileKind::Link => {
                Err(PathRefusal::Link(self.folder.path_of(&self.name)).into())
            }
            _ => Ok(()),
        }
    }

    fn discard(&self, name: &str) {
        // Ignore this error, because the caller reports the first error.
        let _ = self.folder.remove_file(name);
    }

    fn write(&self, to: &str, bytes: &[u8]) -> io::Result<()> {
        // An earlier process that was killed may have left a draft.
        self.discard(to);
        let written = self.folder.write_new(to, bytes, Some(OsStr::new(&self.name)));
        written.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => {
                io::Error::other(format!("{}: {error}", self.full_path(to).display()))
            }
            _ => error,
        })
    }

    /// Exchanges the names of the file and of `new`. If the file does not exist, renames `new`. Returns true if the
    /// file existed.
    fn exchange(&self, new: &str) -> io::Result<bool> {
        loop {
            // `rename_to_free` does not overwrite a file that another program created in the meantime.
            match self.folder.rename_to_free(new, &self.name) {
                Ok(()) => return Ok(false),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) if error.kind() == io::ErrorKind::Unsupported => {
                    return self.exchange_by_link(new);
                }
                Err(error) => return Err(error),
            }
            let there = self.folder.stat(&self.name)?;
            if there.is_some_and(|stat| stat.kind == FileKind::Folder) {
                return Err(io::Error::from(io::ErrorKind::IsADirectory));
            }
            match self.folder.exchange(new, &self.name) {
                Ok(()) => return Ok(true),
                // Another program removed the file between the two steps.
                Err(error) if error.kind() == io::ErrorKind::NotFound && self.folder.stat(new)?.is_some() => {
                }
                Err(error) if error.kind() == io::ErrorKind::Unsupported => {
                    return self.exchange_by_link(new);
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Replaces the file on a file system that cannot exchange two names. If another program moves a file to this
    /// name between the last two steps, that file is lost.
    fn exchange_by_link(&self, new: &str) -> io::Result<bool> {
        let aside = self.hidden_name(NEW);
        self.folder.rename(new, &aside)?;
        let was_there = match self.folder.hard_link(&self.name, new) {
            Ok(()) => true,
            Err(error) if error.kind() == io::ErrorKind::NotFound => false,
            Err(error) => return Err(error),
        };
        self.folder.rename(&aside, &self.name)?;
        Ok(was_there)
    }

    fn slot_name(&self, slot: u32) -> String {
        match slot {
            0 => self.hidden_name("replaced"),
            slot => self.hidden_name(&format!("replaced-{slot}")),
        }
    }

    fn hidden_name(&self, what: &str) -> String {
        format!(".{}.{what}", self.name)
    }

    fn full_path(&self, name: &str) -> PathBuf {
        self.root.join(self.folder.path_of(name))
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::io::Write;

    use super::*;

    fn open_shared(folder: &tempfile::TempDir) -> SharedFile {
        SharedFile::open(&WorkspaceDir::open(folder.path()).unwrap(), "INDEX.md").unwrap()
    }

    #[test]
    fn the_former_file_is_kept_until_its_slot_is_settled() {
        let folder = tempfile::tempdir().unwrap();
        let (path, file) = (folder.path().join("INDEX.md"), open_shared(&folder));
        assert_eq!(file.replace(b"one", 0).unwrap(), None);
        assert_eq!(file.read_slot(0).unwrap(), None);
        assert_eq!(file.replace(b"two", 0).unwrap().unwrap(), b"one");
        assert_eq!(
            file.replace(b"three", 0).unwrap_err().kind(),
            io::ErrorKind::AlreadyExists
        );
        assert_eq!(fs::read(&path).unwrap(), b"two");
        file.settle(0).unwrap();
        file.settle(0).unwrap();
        assert_eq!(file.replace(b"three", 0).unwrap().unwrap(), b"two");
        let names: Vec<_> = fs::read_dir(folder.path()).unwrap().collect();
        assert_eq!(names.len(), 2, "no temporary file is left: {names:?}");
    }

    #[test]
    fn each_slot_keeps_its_own_former_file() {
        let folder = tempfile::tempdir().unwrap();
        let (path, file) = (folder.path().join("INDEX.md"), open_shared(&folder));
        fs::write(&path, "0").unwrap();
        let mut handle = File::options().append(true).open(&path).unwrap();
        for slot in 0..SLOTS {
            let (new, old) = ((slot + 1).to_string(), slot.to_string());
            let replaced = file.replace(new.as_bytes(), slot).unwrap();
            assert_eq!(replaced.unwrap(), old.as_bytes());
        }
        handle.write_all(b" late").unwrap();
        assert_eq!(file.read_slot(0).unwrap().unwrap(), b"0 late");
        assert_eq!(file.read_slot(1).unwrap().unwrap(), b"1");
        (0..SLOTS).for_each(|slot| file.settle(slot).unwrap());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_draft_left_by_another_process_is_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let (path, file) = (folder.path().join("INDEX.md"), open_shared(&folder));
        fs::write(folder.path().join(".INDEX.md.draft"), "ha").unwrap();
        assert_eq!(file.replace(b"half", 0).unwrap(), None);
        assert_eq!(fs::read(&path).unwrap(), b"half");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_removed_file_is_kept_in_its_slot() {
        let folder = tempfile::tempdir().unwrap();
        let (path, file) = (folder.path().join("INDEX.md"), open_shared(&folder));
        assert_eq!(file.take_away(0).unwrap(), None);
        fs::write(&path, "old").unwrap();
        assert_eq!(file.take_away(0).unwrap().unwrap(), b"old");
        assert!(!path.exists());
        fs::write(&path, "new").unwrap();
        file.take_away(0).unwrap_err();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(file.read_slot(0).unwrap().unwrap(), b"old");
    }

    #[test]
    fn writes_through_an_open_handle_reach_the_former_file() {
        let folder = tempfile::tempdir().unwrap();
        let (path, file) = (folder.path().join("INDEX.md"), open_shared(&folder));
        fs::write(&path, "old").unwrap();
        let mut handle = File::options().append(true).open(&path).unwrap();
        assert_eq!(file.replace(b"new", 0).unwrap().unwrap(), b"old");
        handle.write_all(b" and late").unwrap();
        assert_eq!(file.read_slot(0).unwrap().unwrap(), b"old and late");
        assert_eq!(fs::read(&path).unwrap(), b"new");
    }

    #[test]
    fn a_pipe_at_the_path_does_not_block() {
        let folder = tempfile::tempdir().unwrap();
        let (path, file) = (folder.path().join("INDEX.md"), open_shared(&folder));
        let made = std::process::Command::new("mkfifo").arg(&path).status();
        assert!(made.unwrap().success());
        assert_eq!(file.replace(b"new", 0).unwrap(), None);
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(
            file.replace(b"newer", 0).unwrap_err().kind(),
            io::ErrorKind::AlreadyExists
        );
    }

    #[test]
    fn a_folder_at_the_path_is_left_unchanged() {
        let folder = tempfile::tempdir().unwrap();
        let (path, file) = (folder.path().join("INDEX.md"), open_shared(&folder));
        fs::create_dir(&path).unwrap();
        fs::write(path.join("inside"), "x").unwrap();
        assert!(file.replace(b"new", 0).is_err());
        assert!(path.join("inside").exists());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_replacement_keeps_the_permissions() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let (path, file) = (folder.path().join("INDEX.md"), open_shared(&folder));
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        file.replace(b"new", 0).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
    }

    #[test]
    fn a_link_at_the_path_is_refused_and_left_unchanged() {
        let folder = tempfile::tempdir().unwrap();
        let (path, file) = (folder.path().join("INDEX.md"), open_shared(&folder));
        fs::write(folder.path().join("other"), "other").unwrap();
        std::os::unix::fs::symlink("other", &path).unwrap();
        for error in [
            file.replace(b"new", 0).unwrap_err(),
            file.take_away(0).unwrap_err(),
        ] {
            assert!(
                matches!(hippo_fs::refusal(&error), Some(PathRefusal::Link(_))),
                "{error:?}"
            );
        }
        assert!(path.is_symlink());
        std::os::unix::fs::symlink("other", folder.path().join(".INDEX.md.replaced-1")).unwrap();
        assert_eq!(file.read_slot(1).unwrap(), None, "a link in a slot is not read");
        assert_eq!(fs::read(folder.path().join("other")).unwrap(), b"other");
    }
}
