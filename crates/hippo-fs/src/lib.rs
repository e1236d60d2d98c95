//! Access to files inside a workspace, without following links.
//!
//! The content of a workspace is untrusted, including its links. [`WorkspaceDir`] is the only way to open a file in a
//! workspace. It keeps the root open, opens a relative path one component at a time, and refuses each component that
//! is a link. A concurrent rename therefore cannot bypass the check. Memory files may be links within the workspace:
//! [`WorkspaceDir::resolve`] returns the real path, which is then opened under the same rules.

mod error;
mod folder;
pub mod harness;

pub mod nesting;
mod path;
mod wide;
mod workspace;

pub use error::{PathRefusal, is_absence, refusal};
pub use folder::{DirEntry, FileKind, Folder, Stat, read_all};
pub use wide::{FileContent, foreign_encoding, to_utf8};
pub use workspace::{WorkspaceDir, is_hidden};

use std::io;
use std::path::{Path, PathBuf};

/// Reads the whole content of a regular file in a workspace; no component of its path may be a link.
///
/// # Errors
/// See [`WorkspaceDir::open`] and [`WorkspaceDir::read`].
pub fn read(root: &Path, path: impl AsRef<Path>, limit: u64) -> io::Result<Vec<u8>> {
    WorkspaceDir::open(root)?.read(path, limit)
}

/// Returns whether a root is a folder that can be opened.
pub fn is_present(root: &Path) -> bool {
    WorkspaceDir::open(root).is_ok()
}

/// Returns whether a path below a root exists; follows links that stay within the workspace.
pub fn exists(root: &Path, path: impl AsRef<Path>) -> bool {
    WorkspaceDir::open(root).is_ok_and(|dir| dir.exists(path))
}

/// Returns the real path, relative to a root, of an existing file or folder below the root.
///
/// # Errors
/// See [`WorkspaceDir::resolve`].
pub fn resolve(root: &Path, path: impl AsRef<Path>) -> io::Result<PathBuf> {
    WorkspaceDir::open(root)?.resolve(path)
}

/// Returns whether a path below a root is a regular file; follows links that stay within the workspace.
pub fn is_file(root: &Path, path: impl AsRef<Path>) -> bool {
    WorkspaceDir::open(root).is_ok_and(|dir| dir.resolve(path).is_ok_and(|real| dir.is_file(real)))
}

/// Returns whether a path below a root is a folder; follows links that stay within the workspace.
pub fn is_folder(root: &Path, path: impl AsRef<Path>) -> bool {
    WorkspaceDir::open(root).is_ok_and(|dir| dir.resolve(path).is_ok_and(|real| dir.is_folder(real)))
}

/// Reads the whole content of a regular file in a workspace, and converts UTF-16 to UTF-8; follows links that stay
/// within the workspace.
///
/// # Errors
/// See [`WorkspaceDir::open`] and [`WorkspaceDir::read_source`].
pub fn read_source(root: &Path, path: impl AsRef<Path>, limit: u64) -> io::Result<Vec<u8>> {
    WorkspaceDir::open(root)?.read_source(path, limit)
}
