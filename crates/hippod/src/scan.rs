//! Which memory files lie below a root right now, and which are left out for what reason?
//!
//! `.hippoignore` and `.ignore` files count. `.gitignore` does not: harnesses put private memory into it to keep it
//! out of the repository, and that memory is just what is to be found. Names that begin with a dot and
//! `node_modules` are never looked at.

mod gate;
mod ignores;
mod look;
mod own;
mod walk;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use hippo_core::source::SourceRules;
use hippo_fs::WorkspaceDir;
use hippo_store::system::{self, FileId};

use crate::config::WorkspaceConfig;
use crate::files;
pub use look::Looker;
pub use own::is_own_place;
use walk::{Walked, walk};

/// What lies below a root.
#[derive(Debug, Default)]
pub struct ScanResult {
    /// The memory files, by relative path.
    pub files: Vec<ScannedFile>,
    /// The folders that have or may get memory files, the root among them; absolute.
    pub dirs: Vec<PathBuf>,
    /// What looks like memory and is not read.
    pub skipped: Vec<Skipped>,
    /// Folders, relative to the root, of which nothing is known: what was below them may still be there.
    pub unreadable_dirs: Vec<PathBuf>,
    /// Whether the root is a folder that can be read. Where not, nothing above says anything.
    pub root_present: bool,
    /// Not all could be looked at, because the process may open no more files: nothing follows from what was not found.
    pub cut_short: bool,
    /// The root has no entry at all, as a mount point has while its disk is away.
    pub root_empty: bool,
}

/// A memory file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScannedFile {
    /// Relative to the root, with `/`.
    pub rel: String,
    /// Where it is.
    pub abs: PathBuf,
    /// Bytes.
    pub size: u64,
    /// Last modification, nanoseconds since the Unix epoch.
    pub mtime_ns: i64,
    /// Which file it is under all of its names.
    pub id: FileId,
}

/// Something that looks like memory and is not read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// Relative to the root, with `/`; invalid UTF-8 replaced.
    pub rel: String,
    /// Why.
    pub reason: String,
    /// Whether it is another name of a file that is read.
    pub is_second_name: bool,
}

impl Skipped {
    /// Something that is not read under any name.
    pub fn new(rel: impl Into<String>, reason: impl Into<String>) -> Self {
        Self {
            rel: rel.into(),
            reason: reason.into(),
            is_second_name: false,
        }
    }
}

/// What one path is.
#[derive(Debug, PartialEq, Eq)]
pub enum Look {
    /// A memory file.
    File(ScannedFile),
    /// It looks like one and is not read: why.
    Skipped(String),
    /// None: absent, ignored, or not covered by the rules.
    None,
    /// A folder above it cannot be read.
    Unknown,
}

/// Looks at everything below a root. `at_each` is called for each entry: there may be very many.
pub fn scan(root: &Path, rules: &SourceRules, config: &WorkspaceConfig, at_each: &dyn Fn()) -> ScanResult {
    match WorkspaceDir::open(root).and_then(|dir| dir.folder("")?.is_empty()) {
        Ok(root_empty) => ScanResult {
            root_empty,
            ..once_each(walk(root, rules, config, None, at_each).with_links(root))
        },
        Err(error) => ScanResult {
            cut_short: system::is_shortage(&error),
            ..ScanResult::default()
        },
    }
}

/// Whether memory files may lie in a folder that is there, with the same eyes: what an ignore file leaves out is not looked at.
pub fn reaches(root: &Path, rules: &SourceRules, config: &WorkspaceConfig, rel: &str) -> bool {
    let folder = root.join(rel);
    let found = walk(root, rules, config, Some(rel), &|| ()).dirs;
    found.iter().any(|(dir, _)| *dir == folder)
}

/// The name without links of a file that is reached through one, where that is memory too.
fn first_name(root: &Path, rules: &SourceRules, rel: &str) -> Option<String> {
    let real = WorkspaceDir::open(root).ok()?.resolve(rel).ok()?;
    let first = files::slashed(Path::new(real.to_str()?));
    (first != rel && rules.is_source(&first)).then_some(first)
}

/// Keeps one name of each file and folder: one that leads through no link, else the first.
fn once_each(walked: Walked) -> ScanResult {
    let Walked {
        mut files,
        mut dirs,
        mut skipped,
        unreadable_dirs,
        root_present,
        cut_short,
    } = walked;
    let mut result = ScanResult {
        unreadable_dirs,
        root_present,
        cut_short,
        ..ScanResult::default()
    };
    files.sort_by(|a, b| (a.1, &a.0.rel).cmp(&(b.1, &b.0.rel)));
    let mut names: HashMap<FileId, String> = HashMap::new();
    for (file, _) in files {
        match names.get(&file.id) {
            Some(first) => {
                let reason = format!("the same file as {first}");
                skipped.push(Skipped {
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
        // A folder that went just now is left to the event that says so.
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
