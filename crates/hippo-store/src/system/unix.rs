//! What do files have on Unix?

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

/// Kind and rights.
pub fn mode(metadata: &Metadata) -> u32 {
    metadata.mode()
}

/// Returns whether the user of this process owns a file.
pub fn is_mine(metadata: &Metadata) -> bool {
    metadata.uid() == rustix::process::geteuid().as_raw()
}

/// Gives what is at `path` these rights.
///
/// # Errors
/// As the system says.
#[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
pub fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
    std::fs::set_permissions(path, Permissions::from_mode(mode))
}

/// Gives an open file these rights.
///
/// # Errors
/// As the system says.
pub fn set_file_mode(file: &File, mode: u32) -> io::Result<()> {
    file.set_permissions(Permissions::from_mode(mode))
}

/// When the content changed last, in nanoseconds since the Unix epoch.
pub fn modified_ns(metadata: &Metadata) -> i64 {
    nanoseconds(metadata.mtime(), metadata.mtime_nsec())
}

/// When anything of it changed last, in nanoseconds since the Unix epoch.
pub fn change_time_ns(metadata: &Metadata) -> i64 {
    nanoseconds(metadata.ctime(), metadata.ctime_nsec())
}

fn nanoseconds(seconds: i64, rest: i64) -> i64 {
    seconds.saturating_mul(1_000_000_000).saturating_add(rest)
}

/// Whether the process, or the machine, has as many files open as it may.
pub fn is_shortage(error: &io::Error) -> bool {
    matches!(Errno::from_io_error(error), Some(Errno::MFILE | Errno::NFILE))
}

/// Whether this process may read the file.
///
/// # Errors
/// Why not.
#[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
pub fn check_readable(path: &Path) -> io::Result<()> {
    Ok(rustix::fs::access(path, Access::READ_OK)?)
}

/// Whether this process may make files in the folder.
///
/// # Errors
/// Why not.
#[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
pub fn check_writable(folder: &Path) -> io::Result<()> {
    Ok(rustix::fs::access(folder, Access::WRITE_OK | Access::EXEC_OK)?)
}

/// Fills `bytes` from that place of the file.
///
/// # Errors
/// As the system says, or [`io::ErrorKind::UnexpectedEof`].
pub fn read_exact_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<()> {
    FileExt::read_exact_at(file, bytes, at)
}

/// Whether links lead to each other there.
pub fn is_loop(error: &io::Error) -> bool {
    error.raw_os_error() == Some(Errno::LOOP.raw_os_error())
}

/// Makes the content of a file durable.
///
/// # Errors
/// As the system says.
#[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
pub fn sync_file(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

/// Makes the names in a folder durable.
///
/// # Errors
/// As the system says.
#[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}
