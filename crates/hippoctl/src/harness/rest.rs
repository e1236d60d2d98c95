//! Memory files that remain after `init --undo`.

use std::collections::BTreeSet;

use hippo_fs::{FileKind, WorkspaceDir};
use serde::Serialize;

use super::layout::INDEX;

/// A file or folder that remains.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RemainingPath {
    /// The path relative to the workspace; a folder ends in `/`.
    pub path: String,
    /// The number of files.
    pub files: usize,
    /// The kind of the files.
    pub what: &'static str,
}

/// The folders of the compaction tree, and its root.
const TREE: [&str; 4] = [
    "memory/daily",
    "memory/weekly",
    "memory/monthly",
    "memory/ROOT.md",
];
/// Maximum depth of the folders whose files are counted.
const DEPTH: usize = 8;

/// Returns the memory files that remain, except those in `gone`. A folder counts with its content.
pub fn find_remaining(dir: &WorkspaceDir, gone: &BTreeSet<&str>) -> Vec<RemainingPath> {
    let folder = FolderRest { dir, gone };
    let [index, own] = INDEX;
    let mut all = vec![folder.logs()];
    all.extend(TREE.map(|path| folder.at(path, "compaction tree")));
    all.push(folder.at(index, "index file"));
    all.push(folder.at(own, "files that belong to the index file"));
    all.retain(|left| left.files > 0);
    all
}

struct FolderRest<'a> {
    dir: &'a WorkspaceDir,
    gone: &'a BTreeSet<&'a str>,
}

impl FolderRest<'_> {
    fn logs(&self) -> RemainingPath {
        let logs = self.names("memory").into_iter().filter(|name| is_log(name));
        let logs = logs.filter(|name| self.count(&format!("memory/{name}"), 0) > 0);
        RemainingPath {
            path: "memory/".to_owned(),
            files: logs.count(),
            what: "logs",
        }
    }

    fn at(&self, path: &str, what: &'static str) -> RemainingPath {
        let end = if self.dir.is_folder(path) { "/" } else { "" };
        RemainingPath {
            path: format!("{path}{end}"),
            files: self.count(path, 0),
            what,
        }
    }

    /// Counts the files at and below a path. Links are counted but not followed.
    fn count(&self, path: &str, depth: usize) -> usize {
        match self.dir.stat(path) {
            Err(_) | Ok(None) => 0,
            Ok(_) if self.gone.contains(path) => 0,
            Ok(Some(there)) if there.kind == FileKind::Folder && depth < DEPTH => {
                let names = self.names(path).into_iter();
                names
                    .map(|name| self.count(&format!("{path}/{name}"), depth + 1))
                    .sum()
            }
            Ok(_) => 1,
        }
    }

    fn names(&self, folder: &str) -> Vec<String> {
        let entries = self.dir.entries(folder).unwrap_or_default().into_iter();
        entries
            .map(|entry| entry.name.to_string_lossy().into_owned())
            .collect()
    }
}

/// Returns whether a file in `memory/` is a daily log.
fn is_log(name: &str) -> bool {
    name.ends_with(".md") && hippo_text::source::date_in_name(name).is_some()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn remaining_files_are_counted_by_kind() {
        let folder = tempfile::tempdir().unwrap();
        for path in [
            "memory/2026-03-02.md",
            "memory/2026-03-03-b.md",
            "memory/arena.rs",
            "memory/daily/2026-03-02.md",
            "memory/ROOT.md",
            "HIPPOCAMPUS.md",
            ".hippocampus/topics/a.md",
            ".hippocampus/topics/b.md",
            ".hippocampus/config.toml",
        ] {
            let file = folder.path().join(path);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, "").unwrap();
        }
        let dir = WorkspaceDir::open(folder.path()).unwrap();
        let told = |gone: &[&str]| -> Vec<(String, usize)> {
            let left = find_remaining(&dir, &gone.iter().copied().collect());
            left.into_iter().map(|left| (left.path, left.files)).collect()
        };
        let all = [
            ("memory/", 2),
            ("memory/daily/", 1),
            ("memory/ROOT.md", 1),
            ("HIPPOCAMPUS.md", 1),
            (".hippocampus/", 3),
        ];
        assert_eq!(told(&[]), all.map(|(path, files)| (path.to_owned(), files)));
        let gone = [
            "HIPPOCAMPUS.md",
            ".hippocampus/topics",
            "memory/daily/2026-03-02.md",
            "memory/2026-03-02.md",
        ];
        let rest = [("memory/", 1), ("memory/ROOT.md", 1), (".hippocampus/", 1)];
        assert_eq!(told(&gone), rest.map(|(path, files)| (path.to_owned(), files)));
    }
}
