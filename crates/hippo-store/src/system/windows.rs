//! What do files have on Windows?
//!
//! Who may read them is decided by the folder that they are in: those of a user's profile are closed to other users.

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

/// Whether the process has as many files open as it may.
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

/// The rights that such a file has where there are rights of this kind.
pub fn mode(metadata: &Metadata) -> u32 {
    match metadata.is_dir() {
        true => PRIVATE_FOLDER,
        false if metadata.permissions().readonly() => PRIVATE_FILE & 0o444,
        false => PRIVATE_FILE,
    }
}

/// Who owns a file is not looked at here: what is in a user's profile is closed to other users.
pub fn is_mine(_: &Metadata) -> bool {
    true
}

/// Has a file be written to or not; there are no other rights here.
///
/// # Errors
/// As the system says.
pub fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
    let metadata = path.metadata()?;
    if metadata.is_dir() {
        return Ok(());
    }
    let mut permissions = metadata.permissions();
    permissions.set_readonly(mode & 0o200 == 0);
    std::fs::set_permissions(path, permissions)
}

/// Has an open file be written to or not; there are no other rights here.
///
/// # Errors
/// As the system says.
pub fn set_file_mode(file: &File, mode: u32) -> io::Result<()> {
    let mut permissions = file.metadata()?.permissions();
    permissions.set_readonly(mode & 0o200 == 0);
    file.set_permissions(permissions)
}

/// When the content changed last, in nanoseconds since the Unix epoch.
pub fn modified_ns(metadata: &Metadata) -> i64 {
    let Ok(at) = metadata.modified() else { return 0 };
    match at.duration_since(UNIX_EPOCH) {
        Ok(since) => i64::try_from(since.as_nanos()).unwrap_or(i64::MAX),
        Err(before) => i64::try_from(before.duration().as_nanos()).map_or(i64::MIN, |before| -before),
    }
}

/// The same: when its name or its rights changed is not told here.
pub fn change_time_ns(metadata: &Metadata) -> i64 {
    modified_ns(metadata)
}

/// Whether this process may read the file, which is tried.
///
/// # Errors
/// Why not.
pub fn check_readable(path: &Path) -> io::Result<()> {
    File::open(path).map(drop)
}

/// Whether this process may make files in the folder: known once one is made.
///
/// # Errors
/// None.
pub fn check_writable(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Fills `bytes` from that place of the file, whose position moves.
///
/// # Errors
/// As the system says, or [`io::ErrorKind::UnexpectedEof`].
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

/// Whether links lead to each other there.
pub fn is_loop(error: &io::Error) -> bool {
    const ERROR_CANT_RESOLVE_FILENAME: i32 = 1921;
    error.raw_os_error() == Some(ERROR_CANT_RESOLVE_FILENAME)
}

/// Makes the content of a file durable.
///
/// # Errors
/// As the system says.
pub fn sync_file(path: &Path) -> io::Result<()> {
    // Who may only read it may not ask for this.
    File::options().write(true).open(path)?.sync_all()
}

/// Makes the names in a folder durable, which the system does by itself here.
///
/// # Errors
/// None.
pub fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}
