//! Scan of the memory files below a root.
//!
//! `.hippoignore` and `.ignore` files are respected. `.gitignore` files are not: harnesses list private memory in them
//! to keep it out of the repository, and that memory has to be indexed. Names that begin with a dot and `node_modules`
//! are always skipped.

mod ignores;
mod look;
mod own;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use hippo_fs::WorkspaceDir;
use hippo_store::system::{self, FileId};
use hippo_text::source::SourceRules;

use crate::config::Config;
use crate::files;
pub use look::Looker;
use look::ScannedPaths;
pub use own::is_own_place;

/// Result of a scan.
#[derive(Debug, Default)]
pub struct ScanResult {
    /// The memory files.
    pub files: Vec<ScannedFile>,
    /// The folders that contain memory files or may receive some, including the root; absolute paths.
    pub dirs: Vec<PathBuf>,
    /// Files that look like memory but are not read.
    pub skipped: Vec<SkippedFile>,
    /// Unreadable folders, relative to the root. Files below them may still exist.
    pub unreadable_dirs: Vec<PathBuf>,
    /// True if the root is a readable folder. If not, the other fields carry no information.
    pub root_present: bool,
    /// True if the scan was incomplete because the process has reached its limit on open files. In this case, a file
    /// missing from the result may still exist.
    pub cut_short: bool,
    /// True if the root is empty, as a mount point is while its disk is unmounted.
    pub root_empty: bool,
}

/// A memory file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScannedFile {
    /// Path relative to the root, separated by `/`.
    pub rel: String,
    /// Size in bytes.
    pub size: u64,
    /// Last modification in nanoseconds since the Unix epoch.
    pub mtime_ns: i64,
    /// File identity, equal for all names of the file.
    pub id: FileId,
}

/// A file that looks like memory but is not read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkippedFile {
    /// Path relative to the root, separated by `/`; invalid UTF-8 is replaced.
    pub rel: String,
    /// The reason.
    pub reason: String,
    /// True if this is another name of a file that is read under its first name.
    pub is_second_name: bool,
}

impl SkippedFile {
    /// Creates a record for a file that is not read under any name.
    pub fn new(rel: impl Into<String>, reason: impl Into<String>) -> Self {
        Self {
            rel: rel.into(),
            reason: reason.into(),
            is_second_name: false,
        }
    }
}

/// Classification of one path.
#[derive(Debug, PartialEq, Eq)]
pub enum PathClass {
    /// A memory file.
    File(ScannedFile),
    /// A path that looks like memory but is not read, with the reason.
    Skipped(String),
    /// Not memory: absent, ignored, or not covered by the rules.
    None,
    /// Unknown, because a parent folder cannot be read.
    Unknown,
}

/// Scans everything below a root. Calls `at_each` for every entry, so that the caller can stay responsive during a long
/// scan.
pub fn scan(root: &Path, rules: &SourceRules, config: &Config, at_each: &dyn Fn()) -> ScanResult {
    match WorkspaceDir::open(root).and_then(|dir| dir.folder("")?.is_empty()) {
        Ok(root_empty) => ScanResult {
            root_empty,
            ..once_each(root, Looker::new(root, rules, config).scan(at_each))
        },
        Err(error) => ScanResult {
            cut_short: system::is_shortage(&error),
            ..ScanResult::default()
        },
    }
}

/// Returns the name, without links, of a file that is reached through a link, if that name is memory as well.
fn first_name(root: &Path, rules: &SourceRules, rel: &str) -> Option<String> {
    let real = WorkspaceDir::open(root).ok()?.resolve(rel).ok()?;
    let first = files::slashed(Path::new(real.to_str()?));
    (first != rel && rules.is_source(&first)).then_some(first)
}

/// Keeps one name of each file and folder: a name without a link if there is one, otherwise the first name.
fn once_each(root: &Path, (paths, mut result): (ScannedPaths, ScanResult)) -> ScanResult {
    let ScannedPaths { mut files, mut dirs } = paths;
    let mut skipped = std::mem::take(&mut result.skipped);
    skipped.extend(own::links(root));
    files.sort_by(|a, b| (a.1, &a.0.rel).cmp(&(b.1, &b.0.rel)));
    let mut names: HashMap<FileId, String> = HashMap::new();
    for (file, _) in files {
        match names.get(&file.id) {
            Some(first) => {
                let reason = format!("the same file as {first}");
                skipped.push(SkippedFile {
                    rel: file.rel,
                    reason,
                    is_second_name: true,
                });
            }
            None => {
                names.insert(file.id, file.rel.clone());
                result.files.push(file);
            }
        }
    }
    dirs.sort_by(|a, b| (a.1, &a.0).cmp(&(b.1, &b.0)));
    let mut seen = std::collections::HashSet::new();
    for (dir, _) in dirs {
        // If the folder disappeared during the scan, its removal arrives as a separate event.
        let Ok(Some(id)) = FileId::at(&dir) else {
            continue;
        };
        if seen.insert(id) {
            result.dirs.push(dir);
        }
    }
    result.files.sort_by(|a, b| a.rel.cmp(&b.rel));
    skipped.sort_by(|a, b| a.rel.cmp(&b.rel));
    result.skipped = skipped;
    result
}

#[cfg(test)]
mod tests;
