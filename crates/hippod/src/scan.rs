//! Scan of a workspace for memory files.
//!
//! The scan obeys `.hippoignore` and `.ignore` files. `.gitignore` files do not apply to the agent layout, because
//! harnesses list private memory there to keep it out of the repository, and this memory must be indexed. Names that
//! begin with a dot, and `node_modules`, are always skipped.

mod ignores;
mod left_out;
mod look;
mod own;
mod templates;

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use hippo_fs::WorkspaceDir;
use hippo_store::system::{self, FileId};
use hippo_text::source::SourceRules;

use crate::config::Config;
use crate::files;
pub use left_out::{LeftOutFiles, describe_left_out};
pub use look::Looker;
use look::ScannedPaths;
pub use own::is_own_place;

/// Result of a scan of a workspace.
#[derive(Debug, Default)]
pub struct ScanResult {
    /// The memory files.
    pub files: Vec<ScannedFile>,
    /// Absolute paths of the folders that contain memory files or may contain some later. The root is included.
    pub dirs: Vec<PathBuf>,
    /// Files that have names of memory files but are not read.
    pub skipped: Vec<SkippedFile>,
    /// Markdown files that are not memory files, by reason. `skipped` contains other files.
    pub left_out: BTreeMap<String, LeftOutFiles>,
    /// Paths of unreadable folders, relative to the root. Files below these folders may still exist.
    pub unreadable_dirs: Vec<PathBuf>,
    /// True if the root is a readable folder. If false, only `cut_short` is meaningful.
    pub root_present: bool,
    /// True if the scan is incomplete because the process has reached its limit on open files. A file that is not in
    /// the result may then still exist.
    pub cut_short: bool,
    /// True if the root is an empty folder. A mount point is empty while its disk is not mounted.
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

/// A file that has the name of a memory file but is not read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkippedFile {
    /// Path relative to the root, separated by `/`. Invalid UTF-8 is replaced.
    pub rel: String,
    /// Reason why the file is not read.
    pub reason: String,
    /// True if this is another name of a file that is read under its first name, for example a hard link.
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
    /// A path that has the name of a memory file but is not read, with the reason.
    Skipped(String),
    /// Not a memory file: the path does not exist, is ignored, or is not selected by the rules.
    None,
    /// Unknown whether this is a memory file, because a parent folder cannot be read.
    Unknown,
}

/// Scans the folder `root` and everything below it. Calls `at_each` for every entry of a folder, so that the caller can
/// signal progress during a long scan.
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

/// Returns the path of the target of a link, if that path is a memory file as well.
fn first_name(root: &Path, rules: &SourceRules, rel: &str) -> Option<String> {
    let real = WorkspaceDir::open(root).ok()?.resolve(rel).ok()?;
    let first = files::slashed(Path::new(real.to_str()?));
    (first != rel && rules.is_source(&first)).then_some(first)
}

/// Keeps only one name of each file and folder: a name without a link if there is one, and otherwise the first name in
/// sort order.
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
        // If the folder disappeared during the scan, the watcher reports its removal.
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
