//! State of the paths that init looks at.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use hippo_fs::{Kind, Refusal, WorkspaceDir, refusal};

use super::CONFIG;
use super::layout::INDEX;

/// What to do about a link.
const INSTEAD: &str = "put the file or folder itself there";
/// A larger file is nothing that a harness reads.
const LARGEST: u64 = 4 << 20;

/// What stands at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// Nothing.
    Missing,
    /// A folder.
    Folder,
    /// A file with these bytes.
    File(Vec<u8>),
    /// What cannot be used, and why.
    Odd(String),
}

/// What stands at some paths of a workspace.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Snapshot {
    states: BTreeMap<String, State>,
    /// Where a path leads within the workspace, where it is a link or goes through one.
    real: BTreeMap<String, String>,
}

impl Snapshot {
    /// Looks at paths of a workspace.
    pub fn read<'p>(dir: &WorkspaceDir, paths: impl IntoIterator<Item = &'p str>) -> Self {
        let mut snapshot = Self::default();
        for path in paths {
            snapshot.look(dir, path);
        }
        snapshot
    }

    fn look(&mut self, dir: &WorkspaceDir, path: &str) {
        if self.states.contains_key(path) || self.real.contains_key(path) {
            return;
        }
        match find(dir, path) {
            Ok((real, state)) => {
                self.states.insert(real.clone(), state);
                if real != path {
                    self.real.insert(path.to_owned(), real);
                }
            }
            Err(why) => {
                self.states.insert(path.to_owned(), State::Odd(why));
            }
        }
    }

    /// Where the file of this path really is, relative to the workspace.
    pub fn real<'s>(&'s self, path: &'s str) -> &'s str {
        self.real.get(path).map_or(path, String::as_str)
    }

    /// What stands at a path; nothing where nobody looked.
    pub fn state(&self, path: &str) -> &State {
        self.states.get(self.real(path)).unwrap_or(&State::Missing)
    }

    /// The bytes of a file.
    pub fn file(&self, path: &str) -> Option<&[u8]> {
        match self.state(path) {
            State::File(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// The same with these folders.
    #[cfg(test)]
    pub fn with_folders<'a>(mut self, folders: impl IntoIterator<Item = &'a str>) -> Self {
        let folders = folders.into_iter().map(|path| (path.to_owned(), State::Folder));
        self.states.extend(folders);
        self
    }

    /// A workspace with these files alone.
    #[cfg(test)]
    pub fn of<'a, B: AsRef<[u8]>>(files: impl IntoIterator<Item = (&'a str, B)>) -> Self {
        let states = files
            .into_iter()
            .map(|(path, bytes)| (path.to_owned(), State::File(bytes.as_ref().to_vec())));
        Self {
            states: states.collect(),
            real: BTreeMap::new(),
        }
    }
}

/// Returns where a path leads, with links within the workspace followed, and what is there. What is returned has no link on the
/// way to it.
///
/// # Errors
/// Why it cannot be used.
fn find(dir: &WorkspaceDir, path: &str) -> Result<(String, State), String> {
    let mut real = PathBuf::new();
    let mut names = Path::new(path).components();
    let mut kind = None;
    while let Some(name) = names.next() {
        real.push(name);
        kind = kind_at(dir, &real)?;
        if kind == Some(Kind::Link) {
            if is_own(path) {
                return Err(format!(
                    "it is a link, which hippod never follows here; {INSTEAD}"
                ));
            }
            real = follow(dir, &real)?;
            kind = kind_at(dir, &real)?;
        }
        match kind {
            None => {
                real.extend(names);
                break;
            }
            Some(Kind::File | Kind::Other) if names.clone().next().is_some() => {
                return Err("a file stands where its folder would be".to_owned());
            }
            Some(_) => {}
        }
    }
    let state = match kind {
        None => State::Missing,
        Some(Kind::Folder) => State::Folder,
        Some(Kind::File | Kind::Link | Kind::Other) => match dir.read(&real, LARGEST) {
            Ok(bytes) => State::File(bytes),
            Err(error) => State::Odd(reason(&error)),
        },
    };
    let real = real.into_os_string().into_string();
    let real = real.map_err(|_| "it is a link to a name that is not unicode".to_owned())?;
    Ok((real, state))
}

/// Whether no link is followed at a path: hippod's own folder, and the configuration.
fn is_own(path: &str) -> bool {
    let [_, folder] = INDEX;
    path == CONFIG || Path::new(path).starts_with(folder)
}

fn kind_at(dir: &WorkspaceDir, path: &Path) -> Result<Option<Kind>, String> {
    let stat = dir.stat(path).map_err(|error| reason(&error))?;
    Ok(stat.map(|stat| stat.kind))
}

/// Returns where a link within the workspace leads.
///
/// # Errors
/// Why it is not followed.
fn follow(dir: &WorkspaceDir, link: &Path) -> Result<PathBuf, String> {
    let target = dir.resolve(link).map_err(|error| match refusal(&error) {
        Some(_) => format!("it is a link that leads out of the workspace; {INSTEAD}"),
        None => format!("it is a link that leads nowhere ({error}); {INSTEAD}"),
    })?;
    // Programs heed what lies there.
    if target.components().any(|part| part.as_os_str() == ".git") {
        return Err(format!("it is a link that leads into .git; {INSTEAD}"));
    }
    if dir.is_folder(&target) {
        return Ok(target);
    }
    dir.file_to_write(link).map_err(|error| reason(&error))
}

/// Why a file cannot be used.
fn reason(error: &io::Error) -> String {
    match refusal(error) {
        Some(Refusal::NotRegular(_)) => "it is no ordinary file; move it away".to_owned(),
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
    fn links_are_followed_within_the_workspace_and_refused_beyond() {
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
        let paths = [
            "CLAUDE.md",
            ".claude/settings.json",
            "up/x",
            "dead",
            "plain/x",
            "no/x",
            "HEARTBEAT.md",
            "USER.md",
            ".hippocampus/x",
            "../x",
            "/etc",
        ];
        let dir = WorkspaceDir::open(&root).unwrap();
        let snapshot = Snapshot::read(&dir, paths);
        assert_eq!(snapshot.real("CLAUDE.md"), "AGENTS.md");
        assert_eq!(snapshot.file("CLAUDE.md"), Some(&b"mine\n"[..]));
        assert_eq!(snapshot.real(".claude/settings.json"), "shared/settings.json");
        assert_eq!(snapshot.state(".claude/settings.json"), &State::Missing);
        assert_eq!(snapshot.state("no/x"), &State::Missing);
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
            assert!(matches!(snapshot.state(odd), State::Odd(_)), "{odd}");
        }
    }
}
