//! An opened folder and the operations on its entries.

mod replace;

use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use cap_fs_ext::{DirExt, FollowSymlinks, OpenOptionsFollowExt, OpenOptionsSyncExt};
use cap_std::fs::{Dir, OpenOptions};

use crate::error::{link_error, not_regular_error};
use crate::path::check_name;

/// An opened folder inside a workspace. The handle stays valid when the folder, or a folder above it, is renamed.
///
/// Methods take single path components as names and refuse any other path.
#[derive(Debug)]
pub struct Folder {
    dir: Dir,
    /// Path of this folder relative to the root, for error messages.
    path: PathBuf,
}

/// The kind of a directory entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A link.
    Link,
    /// A pipe, a socket or a device.
    Other,
}

/// Kind, size and modification time of an entry. For a link, these are the properties of the link itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stat {
    /// The kind of the entry.
    pub kind: FileKind,
    /// Size in bytes.
    pub size: u64,
    /// Time of the last modification in nanoseconds since the Unix epoch.
    pub modified_ns: i64,
}

/// An entry of a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirEntry {
    /// The name.
    pub name: OsString,
    /// Kind of the entry.
    pub kind: FileKind,
}

impl Folder {
    pub(crate) fn open_root(root: &Path) -> io::Result<Self> {
        let dir = Dir::open_ambient_dir(root, cap_std::ambient_authority())?;
        let path = PathBuf::new();
        Ok(Self { dir, path })
    }

    #[cfg(test)]
    pub(crate) const fn dir_for_tests(&self) -> &Dir {
        &self.dir
    }

    pub(crate) fn try_clone(&self) -> io::Result<Self> {
        let (dir, path) = (self.dir.try_clone()?, self.path.clone());
        Ok(Self { dir, path })
    }

    /// Returns the path of an entry of this folder, relative to the root.
    pub fn path_of(&self, name: impl AsRef<OsStr>) -> PathBuf {
        self.path.join(name.as_ref())
    }

    /// Returns the metadata of this folder.
    ///
    /// # Errors
    /// Returns any error of the operating system.
    pub fn metadata(&self) -> io::Result<Metadata> {
        self.dir.try_clone()?.into_std_file().metadata()
    }

    /// Opens a folder inside this folder.
    ///
    /// # Errors
    /// Fails if the name is a link, or if the operating system reports an error.
    pub fn folder(&self, name: impl AsRef<OsStr>) -> io::Result<Self> {
        let name = check_name(name.as_ref())?;
        let dir = self
            .dir
            .open_dir_nofollow(name)
            .map_err(|error| self.explain_error(name, error))?;
        let path = self.path_of(name);
        Ok(Self { dir, path })
    }

    /// Opens a folder inside this folder, or creates it. On return, the name of the folder is durable.
    ///
    /// # Errors
    /// See [`folder`](Self::folder).
    pub fn make_folder(&self, name: impl AsRef<OsStr>) -> io::Result<Self> {
        let name = check_name(name.as_ref())?;
        match self.dir.create_dir(name) {
            Ok(()) => self.sync()?,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
        self.folder(name)
    }

    /// Opens a regular file for reading. Opening a pipe does not block.
    ///
    /// # Errors
    /// Fails if the name is a link or not a regular file, or if the operating system reports an error.
    pub fn open(&self, name: impl AsRef<OsStr>) -> io::Result<(File, Metadata)> {
        let mut options = OpenOptions::new();
        options.read(true);
        self.open_regular(name.as_ref(), options)
    }

    /// Reads the whole content of a regular file.
    ///
    /// # Errors
    /// Fails as [`open`](Self::open) does, or with [`io::ErrorKind::FileTooLarge`] for more than `limit` bytes.
    pub fn read(&self, name: impl AsRef<OsStr>, limit: u64) -> io::Result<Vec<u8>> {
        read_all(self.open(name)?, limit)
    }

    /// Creates a file.
    ///
    /// # Errors
    /// Returns [`io::ErrorKind::AlreadyExists`] if the name exists, even as a link; otherwise returns any error of the
    /// operating system.
    pub fn create_new(&self, name: impl AsRef<OsStr>) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).follow(FollowSymlinks::No);
        let file = self.dir.open_with(check_name(name.as_ref())?, &options)?;
        Ok(file.into_std())
    }

    /// Opens a regular file for appending, or creates it. Returns whether it was created.
    ///
    /// # Errors
    /// See [`open`](Self::open).
    pub fn append(&self, name: impl AsRef<OsStr>) -> io::Result<(File, bool)> {
        let name = name.as_ref();
        let is_new = self.stat(name)?.is_none();
        let mut options = OpenOptions::new();
        options.append(true).create(true);
        Ok((self.open_regular(name, options)?.0, is_new))
    }

    /// Opens a regular file for writing in place, without truncating it.
    ///
    /// # Errors
    /// See [`open`](Self::open).
    pub fn open_to_write(&self, name: impl AsRef<OsStr>) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.write(true);
        Ok(self.open_regular(name.as_ref(), options)?.0)
    }

    /// Writes a file in place, or creates it.
    ///
    /// # Errors
    /// See [`open`](Self::open). After an error, the file may be empty.
    pub fn overwrite(&self, name: impl AsRef<OsStr>, bytes: &[u8]) -> io::Result<()> {
        let mut options = OpenOptions::new();
        options.write(true).create(true);
        let (mut file, _) = self.open_regular(name.as_ref(), options)?;
        file.set_len(0)?;
        file.write_all(bytes)
    }

    /// Returns the metadata of an entry without following links, or `None` if it does not exist.
    ///
    /// # Errors
    /// Returns any error of the operating system.
    pub fn stat(&self, name: impl AsRef<OsStr>) -> io::Result<Option<Stat>> {
        match self.dir.symlink_metadata(check_name(name.as_ref())?) {
            Ok(metadata) => Ok(Some(Stat {
                kind: file_kind(metadata.file_type()),
                size: metadata.len(),
                modified_ns: metadata.modified().map_or(0, |at| to_unix_ns(at.into_std())),
            })),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Lists the entries of this folder in arbitrary order.
    ///
    /// # Errors
    /// Returns any error of the operating system.
    pub fn entries(&self) -> io::Result<Vec<DirEntry>> {
        let entries = self.dir.entries()?.map(|entry| {
            let entry = entry?;
            Ok(DirEntry {
                name: entry.file_name(),
                kind: file_kind(entry.file_type()?),
            })
        });
        // Skip entries that were removed during the listing.
        let is_there = |entry: &io::Result<DirEntry>| !entry.as_ref().is_err_and(crate::is_absence);
        entries.filter(is_there).collect()
    }

    /// Returns whether this folder has no entries.
    ///
    /// # Errors
    /// Returns any error of the operating system.
    pub fn is_empty(&self) -> io::Result<bool> {
        Ok(self.dir.entries()?.next().is_none())
    }

    /// Makes the entries of this folder durable.
    ///
    /// # Errors
    /// Returns any error of the operating system.
    pub fn sync(&self) -> io::Result<()> {
        // `dir` is an `O_PATH` handle, which cannot be synced, so the folder is opened again.
        self.dir.open(".")?.sync_all()
    }

    /// Checks that this process may create files in this folder.
    ///
    /// # Errors
    /// Returns any error of the operating system, usually a missing permission.
    pub fn check_writable(&self) -> io::Result<()> {
        use rustix::fs::{Access, AtFlags};
        let needed = Access::WRITE_OK | Access::EXEC_OK;
        Ok(rustix::fs::accessat(&self.dir, ".", needed, AtFlags::empty())?)
    }

    pub(crate) fn refuse_link(&self, name: &OsStr) -> io::Result<()> {
        match self.stat(name)? {
            Some(stat) if stat.kind == FileKind::Link => Err(link_error(&self.path_of(name))),
            _ => Ok(()),
        }
    }

    fn open_regular(&self, name: &OsStr, mut options: OpenOptions) -> io::Result<(File, Metadata)> {
        // `nonblock` has no effect on a regular file.
        options.follow(FollowSymlinks::No).nonblock(true);
        set_noctty(&mut options);
        let opened = self.dir.open_with(check_name(name)?, &options);
        let file = opened
            .map_err(|error| self.explain_error(name, error))?
            .into_std();
        let metadata = file.metadata()?;
        if metadata.is_file() {
            Ok((file, metadata))
        } else {
            Err(not_regular_error(&self.path_of(name)))
        }
    }

    /// Replaces the error for a link or a pipe with a [`PathRefusal`](crate::PathRefusal). For a link, the operating
    /// system reports a loop or "not a directory"; for a pipe without a reader, it reports a missing device.
    fn explain_error(&self, name: &OsStr, error: io::Error) -> io::Error {
        match self.stat(name).ok().flatten().map(|stat| stat.kind) {
            Some(FileKind::Link) => link_error(&self.path_of(name)),
            Some(FileKind::Other) if is_missing_device(&error) => not_regular_error(&self.path_of(name)),
            _ => error,
        }
    }
}

fn file_kind(kind: cap_std::fs::FileType) -> FileKind {
    if kind.is_symlink() {
        FileKind::Link
    } else if kind.is_dir() {
        FileKind::Folder
    } else if kind.is_file() {
        FileKind::File
    } else {
        FileKind::Other
    }
}

/// Reads the rest of an open file.
///
/// # Errors
/// Returns [`io::ErrorKind::FileTooLarge`] for more than `limit` bytes, or an error of the operating system.
pub fn read_all((file, metadata): (File, Metadata), limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len().min(limit)).unwrap_or(0));
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(io::Error::from(io::ErrorKind::FileTooLarge));
    }
    Ok(bytes)
}

fn to_unix_ns(at: std::time::SystemTime) -> i64 {
    match at.duration_since(UNIX_EPOCH) {
        Ok(since) => i64::try_from(since.as_nanos()).unwrap_or(i64::MAX),
        Err(before) => i64::try_from(before.duration().as_nanos()).map_or(i64::MIN, |before| -before),
    }
}

/// Sets `O_NOCTTY`. Without it, a terminal that is opened by mistake would become the controlling terminal of the
/// daemon.
fn set_noctty(options: &mut OpenOptions) {
    use cap_std::fs::OpenOptionsExt;
    let flags = rustix::fs::OFlags::NOCTTY.bits();
    options.custom_flags(i32::try_from(flags).unwrap_or_default());
}

fn is_missing_device(error: &io::Error) -> bool {
    error.raw_os_error() == Some(rustix::io::Errno::NXIO.raw_os_error())
}
