//! File operations of Unix: identity, times, permissions, durability.

use std::fs::{File, Metadata, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use rustix::fs::Access;
use rustix::io::Errno;

/// Permissions of a file that only its owner may read or write.
pub const PRIVATE_FILE: u32 = 0o600;
/// Permissions of a folder that only its owner may access.
pub const PRIVATE_FOLDER: u32 = 0o700;

/// Identity of a file, which is independent of the file's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FileId {
    /// The device or volume.
    pub device: u64,
    /// The file number on that device.
    pub inode: u64,
}

impl FileId {
    /// Returns the identity of the file at `path`, or `None` if it does not exist. Follows links.
    ///
    /// # Errors
    /// Returns any other error of the operating system. In this case, the identity is unknown.
    #[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
    pub fn at(path: &Path) -> io::Result<Option<Self>> {
        match path.metadata() {
            Ok(metadata) => Ok(Some(Self::of(&metadata))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Returns the identity of the file with this metadata.
    pub fn of(metadata: &Metadata) -> Self {
        Self {
            device: metadata.dev(),
            inode: metadata.ino(),
        }
    }
}

/// Returns true if a file cannot be opened at this moment because too many files are open.
#[expect(clippy::disallowed_methods, reason = "this is not a workspace file")]
pub fn is_out_of_handles() -> bool {
    File::open("/dev/null").is_err_and(|error| is_shortage(&error))
}

/// Returns the file type and the permissions.
pub fn mode(metadata: &Metadata) -> u32 {
    metadata.mode()
}

/// Returns true if the user of this process owns the file.
pub fn is_mine(metadata: &Metadata) -> bool {
    metadata.uid() == rustix::process::geteuid().as_raw()
}

/// Sets the permissions of a path.
///
/// # Errors
/// Returns any error of the operating system.
#[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
pub fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
    std::fs::set_permissions(path, Permissions::from_mode(mode))
}

/// Sets the permissions of an open file.
///
/// # Errors
/// Returns any error of the operating system.
pub fn set_file_mode(file: &File, mode: u32) -> io::Result<()> {
    file.set_permissions(Permissions::from_mode(mode))
}

/// Returns the time at which the content last changed, in nanoseconds since the Unix epoch.
pub fn modified_ns(metadata: &Metadata) -> i64 {
    nanoseconds(metadata.mtime(), metadata.mtime_nsec())
}

/// Returns the time at which the content or metadata last changed, in nanoseconds since the Unix epoch.
pub fn change_time_ns(metadata: &Metadata) -> i64 {
    nanoseconds(metadata.ctime(), metadata.ctime_nsec())
}

fn nanoseconds(seconds: i64, rest: i64) -> i64 {
    seconds.saturating_mul(1_000_000_000).saturating_add(rest)
}

/// Returns true if the cause of the error is that the process or the machine has too many open files.
pub fn is_shortage(error: &io::Error) -> bool {
    matches!(Errno::from_io_error(error), Some(Errno::MFILE | Errno::NFILE))
}

/// Checks that this process may read the file.
///
/// # Errors
/// Returns any error of the operating system, usually a missing permission.
#[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
pub fn check_readable(path: &Path) -> io::Result<()> {
    Ok(rustix::fs::access(path, Access::READ_OK)?)
}

/// Returns true if the cause of the error is a loop of links.
pub fn is_loop(error: &io::Error) -> bool {
    error.raw_os_error() == Some(Errno::LOOP.raw_os_error())
}

/// Makes the content of a file durable.
///
/// # Errors
/// Returns any error of the operating system.
#[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
pub fn sync_file(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

/// Makes the entries of a folder durable.
///
/// # Errors
/// Returns any error of the operating system.
#[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_id_does_not_depend_on_the_name() {
        let folder = tempfile::tempdir().unwrap();
        let (one, two) = (folder.path().join("one"), folder.path().join("two"));
        std::fs::write(&one, "0123456789").unwrap();
        let before = FileId::at(&one).unwrap().unwrap();
        std::fs::hard_link(&one, &two).unwrap();
        assert_eq!(FileId::at(&two).unwrap(), Some(before));
        assert_eq!(FileId::of(&two.metadata().unwrap()), before);
        std::fs::remove_file(&two).unwrap();
        assert_eq!(FileId::at(&two).unwrap(), None);
        std::fs::write(&two, "").unwrap();
        assert_ne!(FileId::at(&two).unwrap(), Some(before));
        assert!(FileId::at(folder.path()).unwrap().is_some());

        let metadata = one.metadata().unwrap();
        let modified = metadata.modified().unwrap();
        let since = modified.duration_since(std::time::UNIX_EPOCH).unwrap();
        assert_eq!(i128::from(modified_ns(&metadata)), since.as_nanos() as i128);
        assert!(change_time_ns(&metadata) >= modified_ns(&metadata));
    }
}
