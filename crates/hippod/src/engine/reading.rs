//! Reading a file to index it.

use std::fs::{File, Metadata};
use std::io::Read;
use std::path::Path;

use hippo_fs::WorkspaceDir;
use hippo_store::system;

use crate::verify::FileMark;

/// What reading a file gave.
pub(super) enum Reading {
    /// All bytes, and the mark that the file had before and after.
    Whole(Vec<u8>, FileMark),
    /// It changed while it was read.
    Unsettled,
    /// The process may open no more files.
    Shortage,
    /// No file there.
    Missing,
    /// Not to be indexed; `forget` when an indexed version of it must go.
    Refused { reason: String, forget: bool },
}

/// Opens a file to index it.
pub(super) fn open_source(root: &Path, path: &str) -> std::io::Result<(File, Metadata)> {
    WorkspaceDir::open(root)?.open_source(path)
}

/// Reads a file whole, if it is one and stays the same meanwhile.
pub(super) fn read_file(root: &Path, path: &str, limit: u64) -> Reading {
    let refuse = |reason: String, forget: bool| Reading::Refused { reason, forget };
    let (mut file, metadata) = match open_source(root, path) {
        Ok(opened) => opened,
        Err(error) if system::is_shortage(&error) => return Reading::Shortage,
        Err(error) => {
            return match error.kind() {
                std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory => Reading::Missing,
                std::io::ErrorKind::InvalidInput => refuse(error.to_string(), true),
                _ => refuse(format!("could not be opened: {error}"), false),
            };
        }
    };
    let before = FileMark::of(&metadata);
    if before.size > limit {
        return refuse(format!("larger than {limit} bytes"), true);
    }
    let mut bytes = Vec::with_capacity(usize::try_from(before.size).unwrap_or(0));
    if let Err(error) = (&mut file).take(limit + 1).read_to_end(&mut bytes) {
        return refuse(format!("could not be read: {error}"), false);
    }
    match file.metadata().map(|metadata| FileMark::of(&metadata)) {
        Ok(after) if after == before && bytes.len() as u64 == before.size => Reading::Whole(bytes, before),
        _ => Reading::Unsettled,
    }
}
