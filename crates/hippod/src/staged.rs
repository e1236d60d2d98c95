//! A workspace that a restore has staged beside its destination.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::registry::state_folder;

/// Suffix of the staging folders.
const STAGED: &str = ".restoring";

/// A workspace that is staged beside its destination. The paths of its staging folders are computed from the root, so
/// a manipulated journal cannot change them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StagedWorkspace {
    /// Destination root.
    pub root: PathBuf,
    /// Root at the time of the backup.
    pub was: String,
    /// Number of files of the workspace.
    pub files: u64,
    /// True if staging is complete, so that the workspace must be moved into place.
    pub is_sealed: bool,
}

impl StagedWorkspace {
    /// Returns the folder in which the workspace's files are staged.
    pub fn staged_files(&self) -> PathBuf {
        let mut name = OsString::from(".");
        name.push(self.root.file_name().unwrap_or_default());
        name.push(STAGED);
        self.root.with_file_name(name)
    }

    /// Returns the folder in which the workspace's state is staged.
    pub fn staged_state(&self, state: &Path) -> PathBuf {
        let mut home = state_folder(state, &self.root);
        home.as_mut_os_string().push(STAGED);
        home
    }
}
