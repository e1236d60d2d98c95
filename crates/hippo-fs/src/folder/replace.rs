//! Whole files and new names: written beside, renamed, exchanged, removed.

use std::ffi::OsStr;
use std::io::{self, Write};

use cap_fs_ext::DirExt;

use super::Folder;
use crate::path::one_name;

impl Folder {
    /// Writes a new file with the permissions of another one, if that exists. Its bytes are durable, its name is not.
    ///
    /// # Errors
    /// As [`create_new`](Self::create_new); the file is gone again then.
    pub fn write_new(&self, name: impl AsRef<OsStr>, bytes: &[u8], like: Option<&OsStr>) -> io::Result<()> {
        let name = one_name(name.as_ref())?;
        let mut file = self.create_new(name)?;
        let written = (|| {
            let like = like.and_then(|like| self.dir.symlink_metadata(like).ok());
            if let Some(like) = like.filter(cap_std::fs::Metadata::is_file) {
                file.set_permissions(like.permissions().into_std(&file)?)?;
            }
            file.write_all(bytes)?;
            file.sync_all()
        })();
        // The first error is the one to report.
        written.inspect_err(|_| drop(self.dir.remove_file(name)))
    }

    /// Writes a file whole or not at all: as `draft`, which then takes the name. Its bytes are durable, its name is once
    /// [`sync`](Self::sync) returns. An existing file keeps its permissions.
    ///
    /// # Errors
    /// The name is a link, or the system refuses; the file is unchanged.
    pub fn write_whole(
        &self,
        name: impl AsRef<OsStr>,
        draft: impl AsRef<OsStr>,
        bytes: &[u8],
    ) -> io::Result<()> {
        let (name, draft) = (one_name(name.as_ref())?, one_name(draft.as_ref())?);
        self.refuse_link(name)?;
        // A process that was stopped may have left one.
        let _ = self.dir.remove_file(draft);
        self.write_new(draft, bytes, Some(name))?;
        self.dir
            .rename(draft, &self.dir, name)
            .inspect_err(|_| drop(self.dir.remove_file(draft)))
    }

    /// Writes a new file whole or not at all: as `draft`, which then takes the name. Its bytes are durable, its name is once
    /// [`sync`](Self::sync) returns.
    ///
    /// # Errors
    /// [`io::ErrorKind::AlreadyExists`] for any name that is taken, a link included; or the system refuses.
    pub fn write_whole_new(
        &self,
        name: impl AsRef<OsStr>,
        draft: impl AsRef<OsStr>,
        bytes: &[u8],
    ) -> io::Result<()> {
        let (name, draft) = (one_name(name.as_ref())?, one_name(draft.as_ref())?);
        // A process that was stopped may have left one.
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

    /// Renames a file or folder in this folder; an existing file under the new name is replaced.
    ///
    /// # Errors
    /// The new name is a link, or the system refuses.
    pub fn rename(&self, from: impl AsRef<OsStr>, to: impl AsRef<OsStr>) -> io::Result<()> {
        self.rename_to(from, self, to)
    }

    /// Moves a file or folder to a name in another folder.
    ///
    /// # Errors
    /// As [`rename`](Self::rename).
    pub fn rename_to(&self, from: impl AsRef<OsStr>, other: &Self, to: impl AsRef<OsStr>) -> io::Result<()> {
        let (from, to) = (one_name(from.as_ref())?, one_name(to.as_ref())?);
        other.refuse_link(to)?;
        self.dir.rename(from, &other.dir, to)
    }

    /// Gives a file a second name, which must be free.
    ///
    /// # Errors
    /// As the system says.
    pub fn hard_link(&self, from: impl AsRef<OsStr>, to: impl AsRef<OsStr>) -> io::Result<()> {
        let (from, to) = (one_name(from.as_ref())?, one_name(to.as_ref())?);
        self.refuse_link(from)?;
        self.dir.hard_link(from, &self.dir, to)
    }

    /// Exchanges what two names stand for, in one step.
    ///
    /// # Errors
    /// [`io::ErrorKind::Unsupported`] where the system or the file system cannot.
    #[cfg(unix)]
    pub fn exchange(&self, one: impl AsRef<OsStr>, two: impl AsRef<OsStr>) -> io::Result<()> {
        self.rename_with(one.as_ref(), two.as_ref(), rustix::fs::RenameFlags::EXCHANGE)
    }

    /// Renames to a name that must be free, in one step.
    ///
    /// # Errors
    /// [`io::ErrorKind::AlreadyExists`]; [`io::ErrorKind::Unsupported`] where the system or the file system cannot.
    #[cfg(unix)]
    pub fn rename_to_free(&self, from: impl AsRef<OsStr>, to: impl AsRef<OsStr>) -> io::Result<()> {
        self.rename_with(from.as_ref(), to.as_ref(), rustix::fs::RenameFlags::NOREPLACE)
    }

    #[cfg(unix)]
    fn rename_with(&self, from: &OsStr, to: &OsStr, flags: rustix::fs::RenameFlags) -> io::Result<()> {
        use rustix::io::Errno;
        match rustix::fs::renameat_with(&self.dir, one_name(from)?, &self.dir, one_name(to)?, flags) {
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
                Err(io::Error::from(io::ErrorKind::Unsupported))
            }
            done => Ok(done?),
        }
    }

    /// The system has no such call.
    ///
    /// # Errors
    /// [`io::ErrorKind::Unsupported`].
    #[cfg(not(unix))]
    pub fn exchange(&self, _: impl AsRef<OsStr>, _: impl AsRef<OsStr>) -> io::Result<()> {
        Err(io::Error::from(io::ErrorKind::Unsupported))
    }

    /// The system has no such call.
    ///
    /// # Errors
    /// [`io::ErrorKind::Unsupported`].
    #[cfg(not(unix))]
    pub fn rename_to_free(&self, _: impl AsRef<OsStr>, _: impl AsRef<OsStr>) -> io::Result<()> {
        Err(io::Error::from(io::ErrorKind::Unsupported))
    }

    /// Removes a file; of a link, the link.
    ///
    /// # Errors
    /// As the system says.
    pub fn remove_file(&self, name: impl AsRef<OsStr>) -> io::Result<()> {
        self.dir.remove_file_or_symlink(one_name(name.as_ref())?)
    }

    /// Removes an empty folder.
    ///
    /// # Errors
    /// As the system says, also for a link.
    pub fn remove_folder(&self, name: impl AsRef<OsStr>) -> io::Result<()> {
        self.dir.remove_dir(one_name(name.as_ref())?)
    }
}
