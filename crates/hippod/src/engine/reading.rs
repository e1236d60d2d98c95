//! Reading of files for indexing.

use std::fs::{File, Metadata};
use std::io::Read;
use std::path::Path;

use hippo_fs::WorkspaceDir;
use hippo_store::system;

use crate::verify::FileMark;

/// Result of reading a file.
pub(super) enum FileReading {
    /// The complete content as UTF-8, with the size and the time of the file, which did not change during the read.
    Whole(Vec<u8>, FileMark),
    /// The file changed during the read.
    Unsettled,
    /// The process has reached its limit on open files.
    Shortage,
    /// The file does not exist.
    Missing,
    /// The rules or an ignore file exclude the file. A version that is already indexed must be removed.
    LeftOut,
    /// The file cannot be indexed. If `forget` is true, a version that is already indexed must be removed.
    Refused { reason: String, forget: bool },
}

/// Opens a file for indexing.
pub(super) fn open_source(root: &Path, path: &str) -> std::io::Result<(File, Metadata)> {
    WorkspaceDir::open(root)?.open_source(path)
}

/// Returns the path of the file to which a path leads, if a part of the path is a link.
pub(super) fn link_target(root: &Path, path: &str) -> std::io::Result<Option<String>> {
    let target = hippo_fs::resolve(root, path)?;
    Ok((target != Path::new(path)).then(|| target.to_string_lossy().into_owned()))
}

/// Reads a whole file of at most `limit` bytes, and checks that the file does not change during the read.
pub(super) fn read_file(root: &Path, path: &str, limit: u64) -> FileReading {
    let refuse = |reason: String, forget: bool| FileReading::Refused { reason, forget };
    let (mut file, metadata) = match open_source(root, path) {
        Ok(opened) => opened,
        Err(error) if system::is_shortage(&error) => return FileReading::Shortage,
        Err(error) => {
            return match error.kind() {
                std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory => FileReading::Missing,
                std::io::ErrorKind::InvalidInput => refuse(error.to_string(), true),
                _ => refuse(format!("could not be opened: {error}"), false),
            };
        }
    };
    let before = FileMark::of(&metadata);
    if before.size > limit {
        return refuse(format!("the file is larger than {limit} bytes"), true);
    }
    let mut bytes = Vec::with_capacity(usize::try_from(before.size).unwrap_or(0));
    if let Err(error) = (&mut file).take(limit + 1).read_to_end(&mut bytes) {
        return refuse(format!("could not be read: {error}"), false);
    }
    match file.metadata().map(|metadata| FileMark::of(&metadata)) {
        Ok(after) if after == before && bytes.len() as u64 == before.size => {
            FileReading::Whole(hippo_fs::to_utf8(bytes), before)
        }
        _ => FileReading::Unsettled,
    }
}
