//! File operations on Windows.
//!
//! The folder of a file determines who may read the file: other users have no access to files in a user profile.

use std::fs::{DirBuilder, File, Metadata, OpenOptions};
use std::io;
use std::os::windows::fs::FileExt;
use std::path::Path;
use std::time::UNIX_EPOCH;

use winapi_util::{Handle, file};

use super::{FileId, PRIVATE_FILE, PRIVATE_FOLDER, WithMode};

impl WithMode for OpenOptions {
    fn with_mode(&mut self, _: u32) -> &mut Self {
        self
    }
}

impl WithMode for DirBuilder {
    fn with_mode(&mut self, _: u32) -> &mut Self {
        self
    }
}

/// Returns whether the error means that the process has too many open files.
pub fn is_shortage(error: &io::Error) -> bool {
    const ERROR_TOO_MANY_OPEN_FILES: i32 = 4;
    error.raw_os_error() == Some(ERROR_TOO_MANY_OPEN_FILES)
}

pub(super) fn file_id(path: &Path, _: &Metadata) -> io::Result<FileId> {
    let found = file::information(Handle::from_path_any(path)?)?;
    Ok(FileId {
        device: found.volume_serial_number(),
        inode: found.file_index(),
    })
}

/// Returns the Unix permissions that correspond to the file.
pub fn mode(metadata: &Metadata) -> u32 {
    match metadata.is_dir() {
        true => PRIVATE_FOLDER,
        false if metadata.permissions().readonly() => PRIVATE_FILE & 0o444,
        false => PRIVATE_FILE,
    }
}

/// Always returns true: because other users have no access to a user profile, the owner is not checked.
pub fn is_mine(_: &Metadata) -> bool {
    true
}

/// Makes a file writable or read-only; Windows has no other permissions of this kind.
///
/// # Errors
/// Returns any error of the operating system.
pub fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
    let metadata = path.metadata()?;
    if metadata.is_dir() {
        return Ok(());
    }
    let mut permissions = metadata.permissions();
    permissions.set_readonly(mode & 0o200 == 0);
    std::fs::set_permissions(path, permissions)
}

/// Makes an open file writable or read-only; Windows has no other permissions of this kind.
///
/// # Errors
/// Returns any error of the operating system.
pub fn set_file_mode(file: &File, mode: u32) -> io::Result<()> {
    let mut permissions = file.metadata()?.permissions();
    permissions.set_readonly(mode & 0o200 == 0);
    file.set_permissions(permissions)
}

/// Returns the time of the last change of the content, in nanoseconds since the Unix epoch.
pub fn modified_ns(metadata: &Metadata) -> i64 {
    let Ok(at) = metadata.modified() else { return 0 };
    match at.duration_since(UNIX_EPOCH) {
        Ok(since) => i64::try_from(since.as_nanos()).unwrap_or(i64::MAX),
        Err(before) => i64::try_from(before.duration().as_nanos()).map_or(i64::MIN, |before| -before),
    }
}

/// Returns [`modified_ns`], because Windows does not report changes of metadata.
pub fn change_time_ns(metadata: &Metadata) -> i64 {
    modified_ns(metadata)
}

/// Checks that this process may read the file, by opening it.
///
/// # Errors
/// Returns any error of the operating system, usually a missing permission.
pub fn check_readable(path: &Path) -> io::Result<()> {
    File::open(path).map(drop)
}

/// Does nothing, because Windows reports the permission only when a file is created.
///
/// # Errors
/// Never fails.
pub fn check_writable(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Fills `bytes` from the given offset of the file. Changes the position of the file.
///
/// # Errors
/// Returns any error of the operating system, or [`io::ErrorKind::UnexpectedEof`].
pub fn read_exact_at(file: &File, mut bytes: &mut [u8], mut at: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        match file.seek_read(bytes, at) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(read) => {
                bytes = bytes.get_mut(read..).unwrap_or_default();
                at += read as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Returns whether the error means a loop of links.
pub fn is_loop(error: &io::Error) -> bool {
    const ERROR_CANT_RESOLVE_FILENAME: i32 = 1921;
    error.raw_os_error() == Some(ERROR_CANT_RESOLVE_FILENAME)
}

/// Makes the content of a file durable.
///
/// # Errors
/// Returns any error of the operating system.
pub fn sync_file(path: &Path) -> io::Result<()> {
    // On Windows, syncing a file requires write access.
    File::options().write(true).open(path)?.sync_all()
}

/// Does nothing, because Windows makes names durable by itself.
///
/// # Errors
/// Never fails.
pub fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}
