//! Files inside a workspace, opened below its root and never through a link.
//!
//! Everything below a workspace may come from a stranger, links included. [`WorkspaceDir`] is the one way to a file there: it
//! holds the opened root, walks a relative path one component at a time, and refuses a component that is a link, so that no
//! check can be outrun by a rename. What is read as memory may be a link within the workspace: [`WorkspaceDir::resolve`] finds
//! the real path, which is then opened as strictly as any other.

mod error;
mod folder;
mod path;
mod workspace;

pub use error::{Refusal, is_absence, refusal};
pub use folder::{Entry, Folder, Kind, Stat};
pub use workspace::{WorkspaceDir, is_hidden};

use std::io;
use std::path::Path;

/// Reads one regular file of a workspace whole; no component of its path may be a link.
///
/// # Errors
/// As [`WorkspaceDir::open`] and [`WorkspaceDir::read`].
pub fn read(root: &Path, path: impl AsRef<Path>, limit: u64) -> io::Result<Vec<u8>> {
    WorkspaceDir::open(root)?.read(path, limit)
}

/// Returns whether a root is a folder that can be opened.
pub fn is_present(root: &Path) -> bool {
    WorkspaceDir::open(root).is_ok()
}

/// Returns whether something exists at a path below a root; links that stay within the workspace are followed.
pub fn exists(root: &Path, path: impl AsRef<Path>) -> bool {
    WorkspaceDir::open(root).is_ok_and(|dir| dir.exists(path))
}

/// Returns whether a path below a root is a regular file; links that stay within the workspace are followed.
pub fn is_file(root: &Path, path: impl AsRef<Path>) -> bool {
    WorkspaceDir::open(root).is_ok_and(|dir| dir.resolve(path).is_ok_and(|real| dir.is_file(real)))
}

/// Returns whether a path below a root is a folder; links that stay within the workspace are followed.
pub fn is_folder(root: &Path, path: impl AsRef<Path>) -> bool {
    WorkspaceDir::open(root).is_ok_and(|dir| dir.resolve(path).is_ok_and(|real| dir.is_folder(real)))
}

/// Reads one regular file of a workspace whole; a link that stays within the workspace is followed.
///
/// # Errors
/// As [`WorkspaceDir::open`] and [`WorkspaceDir::read_source`].
pub fn read_source(root: &Path, path: impl AsRef<Path>, limit: u64) -> io::Result<Vec<u8>> {
    WorkspaceDir::open(root)?.read_source(path, limit)
}
