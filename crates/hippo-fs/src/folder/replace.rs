//! Atomic writes, renames and removals in a folder.

use std::ffi::OsStr;
use std::io::{self, Write};

use cap_fs_ext::DirExt;

use super::Folder;
use crate::path::check_name;

impl Folder {
    /// Writes a new file. If the file `like` exists, the new file gets its permissions. On return, the content is
    /// durable, but the name is not.
    ///
    /// # Errors
    /// See [`create_new`](Self::create_new). After an error, the file is removed.
    pub fn write_new(&self, name: impl AsRef<OsStr>, bytes: &[u8], like: Option<&OsStr>) -> io::Result<()> {
        let name = check_name(name.as_ref())?;
        let mut file = self.create_new(name)?;
        let written = (|| {
            let like = like.and_then(|like| self.dir.symlink_metadata(like).ok());
            if let Some(like) = like.filter(cap_std::fs::Metadata::is_file) {
                file.set_permissions(like.permissions().into_std(&file)?)?;
            }
            file.write_all(bytes)?;
            file.sync_all()
        })();
        // An error of this removal is ignored, because the first error is the one to report.
        written.inspect_err(|_| drop(self.dir.remove_file(name)))
    }

    /// Writes a file atomically: writes `draft` and renames it. On return, the content is durable; the name becomes
    /// durable with [`sync`](Self::sync). An existing file keeps its permissions.
    ///
    /// # Errors
    /// Fails if the name is a link, or if the operating system reports an error. After an error, the file is
    /// unchanged.
    pub fn write_whole(
        &self,
        name: impl AsRef<OsStr>,
        draft: impl AsRef<OsStr>,
        bytes: &[u8],
    ) -> io::Result<()> {
        let (name, draft) = (check_name(name.as_ref())?, check_name(draft.as_ref())?);
        self.refuse_link(name)?;
        // A process that was killed may have left a draft behind.
        let _ = self.dir.remove_file(draft);
        self.write_new(draft, bytes, Some(name))?;
        self.dir
            .rename(draft, &self.dir, name)
            .inspect_err(|_| drop(self.dir.remove_file(draft)))
    }

    /// Writes a new file atomically: writes `draft` and renames it. On return, the content is durable; the name
    /// becomes durable with [`sync`](Self::sync).
    ///
    /// # Errors
    /// Returns [`io::ErrorKind::AlreadyExists`] if the name exists, even as a link; otherwise returns any error of the
    /// operating system.
    pub fn write_whole_new(
        &self,
        name: impl AsRef<OsStr>,
        draft: impl AsRef<OsStr>,
        bytes: &[u8],
    ) -> io::Result<()> {
        let (name, draft) = (check_name(name.as_ref())?, check_name(draft.as_ref())?);
        // A process that was killed may have left a draft behind.
        let _ = self.dir.remove_file(draft);
        self.write_new(draft, bytes, None)?;
        let placed = match self.rename_to_free(draft, name) {
            Err(error) if error.kind() == io::ErrorKind::Unsupported => {
                let linked = self.hard_link(draft, name);
                linked.and_then(|()| self.dir.remove_file(draft))
            }
            placed => placed,
        };
        placed.inspect_err(|_| drop(self.dir.remove_file(draft)))
    }

    /// Renames a file or folder inside this folder; replaces an existing file.
    ///
    /// # Errors
    /// Fails if the new name is a link, or if the operating system reports an error.
    pub fn rename(&self, from: impl AsRef<OsStr>, to: impl AsRef<OsStr>) -> io::Result<()> {
        self.rename_to(from, self, to)
    }

    /// Moves a file or folder to another folder.
    ///
    /// # Errors
    /// See [`rename`](Self::rename).
    pub fn rename_to(&self, from: impl AsRef<OsStr>, other: &Self, to: impl AsRef<OsStr>) -> io::Result<()> {
        let (from, to) = (check_name(from.as_ref())?, check_name(to.as_ref())?);
        other.refuse_link(to)?;
        self.dir.rename(from, &other.dir, to)
    }

    /// Creates a hard link; the new name must not exist.
    ///
    /// # Errors
    /// Returns any error of the operating system.
    pub fn hard_link(&self, from: impl AsRef<OsStr>, to: impl AsRef<OsStr>) -> io::Result<()> {
        let (from, to) = (check_name(from.as_ref())?, check_name(to.as_ref())?);
        self.refuse_link(from)?;
        self.dir.hard_link(from, &self.dir, to)
    }

    /// Exchanges two entries of this folder in one step.
    ///
    /// # Errors
    /// Returns [`io::ErrorKind::Unsupported`] where the operating system or the file system does not support it.
    pub fn exchange(&self, one: impl AsRef<OsStr>, two: impl AsRef<OsStr>) -> io::Result<()> {
        self.rename_with(one.as_ref(), two.as_ref(), rustix::fs::RenameFlags::EXCHANGE)
    }

    /// Renames an entry in one step; the new name must not exist.
    ///
    /// # Errors
    /// Returns [`io::ErrorKind::AlreadyExists`] if the new name exists, and [`io::ErrorKind::Unsupported`] where the
    /// operating system or the file system does not support the operation.
    pub fn rename_to_free(&self, from: impl AsRef<OsStr>, to: impl AsRef<OsStr>) -> io::Result<()> {
        self.rename_with(from.as_ref(), to.as_ref(), rustix::fs::RenameFlags::NOREPLACE)
    }

    fn rename_with(&self, from: &OsStr, to: &OsStr, flags: rustix::fs::RenameFlags) -> io::Result<()> {
        use rustix::io::Errno;
        match rustix::fs::renameat_with(&self.dir, check_name(from)?, &self.dir, check_name(to)?, flags) {
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
                Err(io::Error::from(io::ErrorKind::Unsupported))
            }
            done => Ok(done?),
        }
    }

    /// Removes a file or a link. The target of a link is not removed.
    ///
    /// # Errors
    /// Returns any error of the operating system.
    pub fn remove_file(&self, name: impl AsRef<OsStr>) -> io::Result<()> {
        self.dir.remove_file_or_symlink(check_name(name.as_ref())?)
    }

    /// Removes an empty folder.
    ///
    /// # Errors
    /// Returns any error of the operating system, also for a link.
    pub fn remove_folder(&self, name: impl AsRef<OsStr>) -> io::Result<()> {
        self.dir.remove_dir(check_name(name.as_ref())?)
    }
}
