//! Classification of the paths of a workspace.

use std::fs::FileType;
use std::io;
use std::path::{Path, PathBuf};

use hippo_store::system::{self, FileId};
use hippo_text::source::SourceRules;

use super::ignores::Ignores;
use super::left_out::LeftOutCount;
use super::templates::{REASON as TEMPLATE, is_template};
use super::{PathClass, ScanResult, ScannedFile, SkippedFile};
use crate::config::Config;
use crate::files;

/// Classifier of the paths of one workspace. It reads each ignore file only once and keeps the content, so the caller
/// creates a new looker for each scan or group of paths.
pub struct Looker<'a> {
    root: &'a Path,
    real_root: PathBuf,
    rules: &'a SourceRules,
    max_bytes: u64,
    ignores: Ignores,
    /// Paths that have the name of a memory file but are not read.
    skipped: Vec<SkippedFile>,
    /// True if the process reached its limit on open files.
    cut_short: bool,
    /// Number of examined files and folders. Each component of a path is counted.
    pub looked_at: u64,
    /// Markdown files that are not memory files, if they are counted.
    left_out: Option<LeftOutCount>,
}

/// Classification of one entry of a folder.
enum FoundEntry {
    /// A folder that may contain memory files.
    Folder,
    File(ScannedFile),
    /// A folder, or a link to one, that cannot be read.
    Unreadable,
    /// An entry that is not read. If it has the name of a memory file, `skipped` contains the reason.
    None,
}

/// Files and folders that a scan found. The flag of a path is true if a component of the path is a link.
#[derive(Default)]
pub(super) struct ScannedPaths {
    pub files: Vec<(ScannedFile, bool)>,
    pub dirs: Vec<(PathBuf, bool)>,
}

impl<'a> Looker<'a> {
    /// Creates a looker with an empty cache.
    #[expect(clippy::disallowed_methods, reason = "reads only names and times of files")]
    pub fn new(root: &'a Path, rules: &'a SourceRules, config: &Config) -> Self {
        Self {
            root,
            real_root: root.canonicalize().unwrap_or_else(|_| root.to_path_buf()),
            rules,
            max_bytes: config.sources.max_file_bytes,
            ignores: Ignores::new(root),
            skipped: Vec::new(),
            cut_short: false,
            looked_at: 0,
            left_out: None,
        }
    }

    /// Scans the root and everything below it. Calls `at_each` for every entry of a folder.
    pub(super) fn scan(mut self, at_each: &dyn Fn()) -> (ScannedPaths, ScanResult) {
        let mut paths = ScannedPaths::default();
        let mut result = ScanResult {
            root_present: true,
            ..ScanResult::default()
        };
        self.left_out = Some(LeftOutCount::default());
        let mut folders = vec![(self.root.to_path_buf(), false)];
        at_each();
        while let Some((folder, linked)) = folders.pop() {
            let found = entries(&folder);
            paths.dirs.push((folder.clone(), linked));
            let entries = match found {
                Ok(entries) => entries,
                Err(error) if folder == self.root => {
                    self.cut_short |= system::is_shortage(&error);
                    result.root_present = false;
                    break;
                }
                Err(error) => {
                    if matches!(self.refuse(&folder, &error), FoundEntry::Unreadable) {
                        result.unreadable_dirs.push(relative(self.root, &folder).into());
                    }
                    continue;
                }
            };
            for (path, kind) in entries {
                at_each();
                let linked = linked || kind.is_symlink();
                match self.examine(&path, kind) {
                    FoundEntry::Folder => folders.push((path, linked)),
                    FoundEntry::File(file) => paths.files.push((file, linked)),
                    FoundEntry::Unreadable => result.unreadable_dirs.push(relative(self.root, &path).into()),
                    FoundEntry::None => {}
                }
            }
        }
        result.cut_short = self.cut_short;
        result.skipped = self.ignores.problems;
        result.skipped.append(&mut self.skipped);
        result.left_out = self.left_out.map(|count| count.by_reason).unwrap_or_default();
        (paths, result)
    }

    /// Classifies a path relative to the root. A hard link to another memory file is not recognized as a second name.
    #[expect(clippy::disallowed_methods, reason = "reads only names and times of files")]
    pub fn look(&mut self, rel: &str) -> PathClass {
        if !self.root.is_dir() {
            return PathClass::Unknown;
        }
        self.skipped.clear();
        match self.descend(rel) {
            FoundEntry::File(file) => match super::first_name(self.root, self.rules, rel) {
                Some(first) => PathClass::Skipped(format!("the same file as {first}")),
                None => PathClass::File(file),
            },
            FoundEntry::Unreadable => PathClass::Unknown,
            FoundEntry::Folder | FoundEntry::None => {
                let said = self.skipped.drain(..).find(|skipped| skipped.rel == rel);
                said.map_or(PathClass::None, |skipped| PathClass::Skipped(skipped.reason))
            }
        }
    }

    /// Examines each component of a relative path, and classifies the last one.
    #[expect(clippy::disallowed_methods, reason = "reads only names and times of files")]
    fn descend(&mut self, rel: &str) -> FoundEntry {
        let mut path = self.root.to_path_buf();
        let mut found = FoundEntry::Folder;
        for part in rel.split('/') {
            match found {
                FoundEntry::Folder => path.push(part),
                FoundEntry::Unreadable => return FoundEntry::Unreadable,
                FoundEntry::File(_) | FoundEntry::None => return FoundEntry::None,
            }
            found = match path.symlink_metadata() {
                Ok(metadata) => self.examine(&path, metadata.file_type()),
                Err(error) if files::is_absence(&error) => FoundEntry::None,
                Err(_) => FoundEntry::Unreadable,
            };
        }
        found
    }

    #[expect(clippy::disallowed_methods, reason = "reads only names and times of files")]
    fn examine(&mut self, path: &Path, kind: FileType) -> FoundEntry {
        self.looked_at += 1;
        let is_link = kind.is_symlink();
        let is_dir = match is_link.then(|| path.metadata()) {
            None => kind.is_dir(),
            Some(Ok(target)) => target.is_dir(),
            Some(Err(error)) => return self.refuse(path, &error),
        };
        if is_link
            && is_dir
            && let Some(back) = self.leads_back(path)
        {
            self.skip(path, format!("a link to its own parent folder {back}"));
            return FoundEntry::None;
        }
        let rel = relative(self.root, path);
        let is_selected = match is_dir {
            true => self.rules.may_contain_selected(&rel),
            false => self.rules.is_selected(&rel),
        };
        let ignored = self.ignores.ignored_by(path, is_dir, is_selected);
        let is_template = !is_dir && !is_selected && ignored.is_none() && is_template(self.root, &rel);
        if ignored.is_some() || is_template || !self.admits(path, &rel, is_dir, is_link) {
            let reason = ignored.map(|name| format!("ignored by {name}"));
            let reason = reason.or_else(|| is_template.then(|| TEMPLATE.to_owned()));
            let reason = reason.or_else(|| self.rules.why_not(&rel)).filter(|_| !is_link);
            if let (Some(count), Some(reason)) = (&mut self.left_out, reason) {
                count.add(path, &rel, is_dir, reason);
            }
            return FoundEntry::None;
        }
        if is_dir {
            FoundEntry::Folder
        } else {
            self.examine_file(path)
        }
    }

    /// Returns whether the name and the link target of an entry allow it to be scanned. If not, records the reason for
    /// an entry with the name of a memory file.
    fn admits(&mut self, path: &Path, rel: &str, is_dir: bool, is_link: bool) -> bool {
        let Some(name) = path.file_name() else {
            return false;
        };
        let is_hidden = name.as_encoded_bytes().starts_with(b".");
        if is_hidden && !self.rules.is_for_sessions(rel) || name == "node_modules" {
            return false;
        }
        let is_source = self.rules.is_source(rel);
        let wanted = match is_dir {
            true => self.rules.may_contain(rel),
            false => is_source,
        };
        if name.to_str().is_none() {
            if is_source || wanted {
                self.skip(path, "its name is not UTF-8");
            }
            return false;
        }
        if is_dir && is_source {
            self.skip(path, "a folder that has the name of a memory file");
        }
        wanted && (!is_link || self.admits_link(path))
    }

    #[expect(clippy::disallowed_methods, reason = "reads only names and times of files")]
    fn admits_link(&mut self, path: &Path) -> bool {
        let refused = match path.canonicalize() {
            Ok(target) => match target.strip_prefix(&self.real_root) {
                Ok(target) if hippo_fs::is_hidden(target) => "the link points to a hidden file".to_owned(),
                Ok(_) => return true,
                Err(_) => "the link points outside the workspace".to_owned(),
            },
            Err(error) => format!("could not follow the link: {error}"),
        };
        self.skip(path, refused);
        false
    }

    #[expect(clippy::disallowed_methods, reason = "reads only names and times of files")]
    fn examine_file(&mut self, path: &Path) -> FoundEntry {
        let metadata = match path.metadata() {
            Ok(metadata) => metadata,
            // The file disappeared in the meantime.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return FoundEntry::None,
            Err(error) => {
                self.skip(path, format!("could not be inspected: {error}"));
                return FoundEntry::None;
            }
        };
        let (size, most) = (metadata.len(), self.max_bytes);
        let reason = if !metadata.is_file() {
            "not a regular file".to_owned()
        } else if size > most {
            format!("{size} bytes, more than sources.max_file_bytes = {most}")
        } else if let Err(error) = system::check_readable(path) {
            format!("could not be read: {error}")
        } else {
            return FoundEntry::File(ScannedFile {
                rel: relative(self.root, path),
                size,
                mtime_ns: system::modified_ns(&metadata),
                id: FileId::of(&metadata),
            });
        };
        self.skip(path, reason);
        FoundEntry::None
    }

    /// Classifies an entry for which the operating system returned an error: a folder that cannot be read, or a link
    /// that cannot be followed.
    #[expect(clippy::disallowed_methods, reason = "reads only names and times of files")]
    fn refuse(&mut self, path: &Path, error: &io::Error) -> FoundEntry {
        let rel = relative(self.root, path);
        self.cut_short |= system::is_shortage(error);
        let kind = path.symlink_metadata().ok().map(|metadata| metadata.file_type());
        if error.kind() == io::ErrorKind::NotFound {
            // Report a link without a target, but not a file that disappeared in the meantime.
            if kind.is_some_and(|kind| kind.is_symlink()) && self.rules.is_source(&rel) {
                self.skip(path, "a link without a target");
            }
            return FoundEntry::None;
        }
        if !self.rules.is_source(&rel) && !self.rules.may_contain(&rel) {
            return FoundEntry::None;
        }
        self.skip(path, format!("could not be read: {error}"));
        // A link whose target cannot be accessed may point to a folder.
        let hidden = error.kind() == io::ErrorKind::PermissionDenied;
        if kind.is_none_or(|kind| kind.is_dir() || (kind.is_symlink() && hidden)) {
            FoundEntry::Unreadable
        } else {
            FoundEntry::None
        }
    }

    /// If a link points to one of its own parent folders, returns the path of that folder.
    fn leads_back(&self, link: &Path) -> Option<String> {
        let target = FileId::at(link).ok().flatten()?;
        let above = link.ancestors().skip(1);
        let mut above = above.take_while(|folder| folder.starts_with(self.root));
        let back = above.find(|folder| FileId::at(folder).ok().flatten() == Some(target))?;
        Some(match relative(self.root, back) {
            rel if rel.is_empty() => "the workspace".to_owned(),
            rel => rel,
        })
    }

    fn skip(&mut self, path: &Path, reason: impl Into<String>) {
        let rel = relative(self.root, path);
        self.skipped.push(SkippedFile::new(rel, reason));
    }
}

/// Returns the entries of a folder.
#[expect(clippy::disallowed_methods, reason = "reads only names and times of files")]
fn entries(folder: &Path) -> io::Result<Vec<(PathBuf, FileType)>> {
    let mut found = Vec::new();
    for entry in folder.read_dir()? {
        let entry = entry?;
        match entry.file_type() {
            Ok(kind) => found.push((entry.path(), kind)),
            Err(error) if files::is_absence(&error) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(found)
}

/// Returns a path relative to the root, separated by `/`.
pub(super) fn relative(root: &Path, path: &Path) -> String {
    files::slashed(path.strip_prefix(root).unwrap_or(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unreadable_folder_is_not_treated_as_empty() {
        let rules = SourceRules::new(&[], &[]).unwrap();
        let config = Config::default();
        let root = Path::new("/nowhere/w");
        let mut looker = Looker::new(root, &rules, &config);
        let mut refused = |path: &str, kind: io::ErrorKind| {
            matches!(
                looker.refuse(&root.join(path), &kind.into()),
                FoundEntry::Unreadable
            )
        };
        assert!(refused("memory", io::ErrorKind::PermissionDenied));
        assert!(!refused("memory/gone.md", io::ErrorKind::NotFound));
        assert!(!refused("vendor", io::ErrorKind::PermissionDenied));
        assert!(looker.skipped[0].reason.contains("could not be read"));
        assert_eq!(looker.skipped.len(), 1);
    }

    #[test]
    fn looking_at_a_thousand_files_takes_linear_time() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::fs::create_dir(root.join("memory")).unwrap();
        let names: Vec<String> = (0..1000).map(|number| format!("memory/{number}.md")).collect();
        for name in &names {
            std::fs::write(root.join(name), name).unwrap();
        }
        let rules = SourceRules::new(&[], &[]).unwrap();
        let config = Config::default();
        let mut looker = Looker::new(&root, &rules, &config);
        for name in &names {
            assert!(matches!(looker.look(name), PathClass::File(_)), "{name}");
        }
        assert_eq!(looker.looked_at, 2 * 1000);
        assert_eq!(looker.look("memory/absent.md"), PathClass::None);
    }
}
