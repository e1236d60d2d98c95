//! File operations on Unix.

use std::fs::{DirBuilder, File, Metadata, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use rustix::fs::Access;
use rustix::io::Errno;

use super::{FileId, WithMode};

impl WithMode for OpenOptions {
    fn with_mode(&mut self, mode: u32) -> &mut Self {
        OpenOptionsExt::mode(self, mode)
    }
}

impl WithMode for DirBuilder {
    fn with_mode(&mut self, mode: u32) -> &mut Self {
        DirBuilderExt::mode(self, mode)
    }
}

pub(super) fn file_id(_: &Path, metadata: &Metadata) -> io::Result<FileId> {
    Ok(FileId {
        device: metadata.dev(),
        inode: metadata.ino(),
    })
}

/// Returns the file type and the permissions.
pub fn mode(metadata: &Metadata) -> u32 {
    metadata.mode()
}

/// Returns whether the user of this process owns a file.
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

/// Returns the time of the last change of the content, in nanoseconds since the Unix epoch.
pub fn modified_ns(metadata: &Metadata) -> i64 {
    nanoseconds(metadata.mtime(), metadata.mtime_nsec())
}

/// Returns the time of the last change of content or metadata, in nanoseconds since the Unix epoch.
pub fn change_time_ns(metadata: &Metadata) -> i64 {
    nanoseconds(metadata.ctime(), metadata.ctime_nsec())
}

fn nanoseconds(seconds: i64, rest: i64) -> i64 {
    seconds.saturating_mul(1_000_000_000).saturating_add(rest)
}

/// Returns whether the error means that the process or the machine has too many open files.
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

/// Checks that this process may create files in the folder.
///
/// # Errors
/// Returns any error of the operating system, usually a missing permission.
#[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
pub fn check_writable(folder: &Path) -> io::Result<()> {
    Ok(rustix::fs::access(folder, Access::WRITE_OK | Access::EXEC_OK)?)
}

/// Fills `bytes` from the given offset of the file.
///
/// # Errors
/// Returns any error of the operating system, or [`io::ErrorKind::UnexpectedEof`].
pub fn read_exact_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<()> {
    FileExt::read_exact_at(file, bytes, at)
}

/// Returns whether the error means a loop of links.
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
