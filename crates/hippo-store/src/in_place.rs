//! Is the file that a connection has open still the one at its path, and how is it written there again when it is not?
//!
//! Whoever removes or moves a database under a running daemon takes only its name: the connection goes on with what it has
//! open, and all of it would be gone with the process. So the writers look, and what is open is written out again.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use rusqlite::Connection;

use crate::StoreError;
use crate::copies::copy;

/// Which file it is, whatever its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FileId {
    device: u64,
    inode: u64,
}

impl FileId {
    /// The file that is at `path` now. Nothing where none is.
    ///
    /// # Errors
    /// As the system says; then it is not known.
    pub(crate) fn at(path: &Path) -> std::io::Result<Option<Self>> {
        match fs::metadata(path) {
            Ok(found) => Ok(Some(Self {
                device: found.dev(),
                inode: found.ino(),
            })),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Whether `path` names this file. Where that cannot be told, it is taken for it.
    pub(crate) fn is_at(self, path: &Path) -> bool {
        Self::at(path).map_or(true, |found| found == Some(self))
    }
}

/// Writes what `connection` has open to `path`, whole or not at all. What stands there meanwhile is kept beside it with
/// `.replaced` at its name. The connection is still the one to what was open before.
///
/// # Errors
/// See [`StoreError`]; nothing has changed at `path` then.
pub(crate) fn write_again(
    connection: &Connection,
    path: &Path,
    goes_on: &dyn Fn() -> bool,
) -> Result<(), StoreError> {
    let failed = |what, path: &Path| {
        let path = path.to_path_buf();
        move |source| StoreError::Io { what, path, source }
    };
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(failed("create the state folder", folder))?;
    let written = with_suffix(path, ".written-again");
    // Of an attempt that was ended.
    unless_missing(fs::remove_file(&written)).map_err(failed("remove an unfinished copy", &written))?;
    if let Err(error) = copy(connection, &written, goes_on) {
        // Nobody needs half of it.
        let _ = fs::remove_file(&written);
        return Err(error);
    }
    // SQLite would put a log that it finds there into the file that comes to stand beside it.
    for suffix in ["-wal", "-shm"] {
        let log = with_suffix(path, suffix);
        unless_missing(fs::remove_file(&log)).map_err(failed("remove the former log", &log))?;
    }
    let replaced = with_suffix(path, ".replaced");
    unless_missing(fs::rename(path, &replaced)).map_err(failed("put another file aside", path))?;
    fs::rename(&written, path).map_err(failed("put the database in its place", path))?;
    fs::File::open(folder)
        .and_then(|folder| folder.sync_all())
        .map_err(failed("make the new name durable", folder))
}

fn unless_missing(done: std::io::Result<()>) -> std::io::Result<()> {
    match done {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}
