//! Snapshot of the paths that init reads.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use hippo_fs::{FileKind, PathRefusal, WorkspaceDir, refusal};

use super::CONFIG;
use super::layout::INDEX;

/// The remedy for a link that init does not follow.
const INSTEAD: &str = "replace the link with a regular file or folder";
/// Maximum size in bytes of a file in the snapshot.
const LARGEST: u64 = 4 << 20;

/// The state of a path on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PathState {
    /// The path does not exist.
    Missing,
    /// A folder.
    Folder,
    /// A file with these bytes.
    File(Vec<u8>),
    /// The path cannot be used, with the reason.
    Odd(String),
}

/// The states of some paths in a workspace.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PathSnapshot {
    states: BTreeMap<String, PathState>,
    /// The target within the workspace, for each path that is a link or leads through a link.
    real: BTreeMap<String, String>,
}

impl PathSnapshot {
    /// Reads the states of paths in a workspace.
    pub fn read<'p>(dir: &WorkspaceDir, paths: impl IntoIterator<Item = &'p str>) -> Self {
        let mut snapshot = Self::default();
        for path in paths {
            if snapshot.states.contains_key(path) || snapshot.real.contains_key(path) {
                continue;
            }
            let found = find(dir, path);
            let (real, state) = found.unwrap_or_else(|why| (path.to_owned(), PathState::Odd(why)));
            if real != path {
                snapshot.real.insert(path.to_owned(), real.clone());
            }
            snapshot.states.insert(real, state);
        }
        snapshot
    }

    /// Returns the path with links resolved, relative to the workspace.
    pub fn real<'s>(&'s self, path: &'s str) -> &'s str {
        self.real.get(path).map_or(path, String::as_str)
    }

    /// Returns the state of a path. The state is `Missing` if the path was not read.
    pub fn state(&self, path: &str) -> &PathState {
        self.states.get(self.real(path)).unwrap_or(&PathState::Missing)
    }

    /// Returns the bytes of a file, or `None` if the path is not a file.
    pub fn file(&self, path: &str) -> Option<&[u8]> {
        match self.state(path) {
            PathState::File(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// Returns the snapshot with these folders added.
    #[cfg(test)]
    pub fn with_folders<'a>(mut self, folders: impl IntoIterator<Item = &'a str>) -> Self {
        let folders = folders
            .into_iter()
            .map(|path| (path.to_owned(), PathState::Folder));
        self.states.extend(folders);
        self
    }

    /// Creates a snapshot with only the given files.
    #[cfg(test)]
    pub fn of<'a, B: AsRef<[u8]>>(files: impl IntoIterator<Item = (&'a str, B)>) -> Self {
        let states = files
            .into_iter()
            .map(|(path, bytes)| (path.to_owned(), PathState::File(bytes.as_ref().to_vec())));
        Self {
            states: states.collect(),
            real: BTreeMap::new(),
        }
    }
}

/// Resolves the links in a path within the workspace. Returns the path without links, and its state.
///
/// # Errors
/// Returns the reason why the path cannot be used.
fn find(dir: &WorkspaceDir, path: &str) -> Result<(String, PathState), String> {
    let mut real = PathBuf::new();
    let mut names = Path::new(path).components();
    let mut kind = None;
    while let Some(name) = names.next() {
        real.push(name);
        kind = kind_at(dir, &real)?;
        if kind == Some(FileKind::Link) {
            if is_own(path) {
                let why = "it is a link, and hippod does not follow links here";
                return Err(format!("{why}; {INSTEAD}"));
            }
            real = follow(dir, &real)?;
            kind = kind_at(dir, &real)?;
        }
        match kind {
            None => {
                real.extend(names);
                break;
            }
            Some(FileKind::File | FileKind::Other) if names.clone().next().is_some() => {
                return Err("a file exists at the path of its folder".to_owned());
            }
            Some(_) => {}
        }
    }
    let state = match kind {
        None => PathState::Missing,
        Some(FileKind::Folder) => PathState::Folder,
        Some(FileKind::File | FileKind::Link | FileKind::Other) => match dir.read(&real, LARGEST) {
            Ok(bytes) => PathState::File(bytes),
            Err(error) => PathState::Odd(reason(&error)),
        },
    };
    let real = real.into_os_string().into_string();
    let real = real.map_err(|_| "it is a link whose target is not valid Unicode".to_owned())?;
    Ok((real, state))
}

/// Returns whether links in this path are refused. Links are refused in hippod's own folder and for the configuration
/// file.
fn is_own(path: &str) -> bool {
    let [_, folder] = INDEX;
    path == CONFIG || Path::new(path).starts_with(folder)
}

fn kind_at(dir: &WorkspaceDir, path: &Path) -> Result<Option<FileKind>, String> {
    let stat = dir.stat(path).map_err(|error| reason(&error))?;
    Ok(stat.map(|stat| stat.kind))
}

/// Returns the target of a link within the workspace.
///
/// # Errors
/// Returns the reason why the link is not followed.
fn follow(dir: &WorkspaceDir, link: &Path) -> Result<PathBuf, String> {
    let target = dir.resolve(link).map_err(|error| match refusal(&error) {
        Some(_) => format!("it is a link to a place outside the workspace; {INSTEAD}"),
        None => format!("it is a link without a target ({error}); {INSTEAD}"),
    })?;
    // Other programs act on the files in `.git`, so links into `.git` are not followed.
    if target.components().any(|part| part.as_os_str() == ".git") {
        return Err(format!("it is a link into .git; {INSTEAD}"));
    }
    if dir.is_folder(&target) {
        return Ok(target);
    }
    dir.file_to_write(link).map_err(|error| reason(&error))
}

/// Returns the reason why a file cannot be used.
fn reason(error: &io::Error) -> String {
    match refusal(error) {
        Some(PathRefusal::NotRegular(_)) => "it is not a regular file; move it to another place".to_owned(),
        Some(refusal) => format!("{refusal}; {INSTEAD}"),
        None if error.kind() == io::ErrorKind::FileTooLarge => {
            format!("it is larger than {} MiB", LARGEST >> 20)
        }
        None => format!("it cannot be read ({error})"),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn links_are_followed_within_the_workspace_and_refused_outside() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap().join("w");
        fs::create_dir_all(root.join("shared")).unwrap();
        fs::write(root.join("AGENTS.md"), "mine\n").unwrap();
        fs::write(root.join("plain"), "").unwrap();
        symlink("AGENTS.md", root.join("CLAUDE.md")).unwrap();
        symlink("shared", root.join(".claude")).unwrap();
        symlink("..", root.join("up")).unwrap();
        symlink("gone", root.join("dead")).unwrap();
        fs::create_dir(root.join(".git")).unwrap();
        fs::write(root.join(".git/config"), "[core]\n").unwrap();
        symlink(".git/config", root.join("HEARTBEAT.md")).unwrap();
        symlink("plain", root.join("USER.md")).unwrap();
        symlink("shared", root.join(".hippocampus")).unwrap();
        #[rustfmt::skip] // keep the list compact
        let paths = [
            "CLAUDE.md", ".claude/settings.json", "up/x", "dead", "plain/x", "no/x", "HEARTBEAT.md",
            "USER.md", ".hippocampus/x", "../x", "/etc",
        ];
        let dir = WorkspaceDir::open(&root).unwrap();
        let snapshot = PathSnapshot::read(&dir, paths);
        assert_eq!(snapshot.real("CLAUDE.md"), "AGENTS.md");
        assert_eq!(snapshot.file("CLAUDE.md"), Some(&b"mine\n"[..]));
        assert_eq!(snapshot.real(".claude/settings.json"), "shared/settings.json");
        assert_eq!(snapshot.state(".claude/settings.json"), &PathState::Missing);
        assert_eq!(snapshot.state("no/x"), &PathState::Missing);
        for odd in [
            "up/x",
            "dead",
            "plain/x",
            "HEARTBEAT.md",
            "USER.md",
            ".hippocampus/x",
            "../x",
            "/etc",
        ] {
            assert!(matches!(snapshot.state(odd), PathState::Odd(_)), "{odd}");
        }
    }
}
