//! State of the paths that init looks at.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

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
    /// Looks at paths relative to `root`, which is canonical.
    pub fn read<'p>(root: &Path, paths: impl IntoIterator<Item = &'p str>) -> Self {
        let mut snapshot = Self::default();
        for path in paths {
            snapshot.look(root, path);
        }
        snapshot
    }

    fn look(&mut self, root: &Path, path: &str) {
        if self.states.contains_key(path) || self.real.contains_key(path) {
            return;
        }
        match resolve(root, path) {
            Ok(Some(real)) if real != path => {
                self.states.insert(real.clone(), state(&root.join(&real)));
                self.real.insert(path.to_owned(), real);
            }
            Ok(_) => {
                self.states.insert(path.to_owned(), state(&root.join(path)));
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

/// Whether a path stays below the root and no link is on its way.
pub fn is_plain(root: &Path, path: &str) -> bool {
    !path.is_empty() && resolve(root, path) == Ok(None)
}

/// Where a path leads, with the links on its way followed as far as something stands there; nothing where no link is on it.
///
/// # Errors
/// Why it cannot be used: it leads nowhere or out of the workspace.
fn resolve(root: &Path, path: &str) -> Result<Option<String>, String> {
    let mut real = root.to_path_buf();
    let mut parts = Path::new(path).components();
    let mut linked = false;
    if !parts.clone().all(|part| matches!(part, Component::Normal(_))) {
        return Err("it leads out of the workspace".to_owned());
    }
    for part in parts.by_ref() {
        let next = real.join(part);
        let there = match fs::symlink_metadata(&next) {
            Ok(there) => there,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                real = next;
                break;
            }
            Err(error) => return Err(format!("it cannot be looked at ({error})")),
        };
        if !there.is_symlink() {
            real = next;
            continue;
        }
        linked = true;
        real =
            fs::canonicalize(&next).map_err(|error| format!("it is a link that leads nowhere ({error})"))?;
        if !real.starts_with(root) {
            let target = real.display();
            return Err(format!("it is a link that leads out of the workspace ({target})"));
        }
        // Programs heed what lies there.
        if real.components().any(|part| part.as_os_str() == ".git") {
            return Err("it is a link that leads into .git".to_owned());
        }
    }
    let real: PathBuf = real.join(parts.as_path());
    if !linked {
        return Ok(None);
    }
    let real = real.strip_prefix(root).ok().and_then(Path::to_str);
    real.map(|real| Some(real.to_owned()))
        .ok_or_else(|| "it is a link to a name that is not unicode".to_owned())
}

fn state(path: &Path) -> State {
    let metadata = match fs::symlink_metadata(path) {
        Ok(metadata) => metadata,
        Err(error) => {
            return match error.kind() {
                io::ErrorKind::NotFound => State::Missing,
                io::ErrorKind::NotADirectory => {
                    State::Odd("a file stands where its folder would be".to_owned())
                }
                _ => State::Odd(format!("it cannot be looked at ({error})")),
            };
        }
    };
    if metadata.is_dir() {
        return State::Folder;
    }
    if !metadata.is_file() {
        return State::Odd("it is no ordinary file".to_owned());
    }
    if metadata.len() > LARGEST {
        return State::Odd(format!("it is larger than {} MiB", LARGEST >> 20));
    }
    match fs::read(path) {
        Ok(bytes) => State::File(bytes),
        Err(error) => State::Odd(format!("it cannot be read ({error})")),
    }
}

#[cfg(all(test, unix))]
mod tests {
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
        let paths = [
            "CLAUDE.md",
            ".claude/settings.json",
            "up/x",
            "dead",
            "plain/x",
            "no/x",
            "HEARTBEAT.md",
        ];
        let snapshot = Snapshot::read(&root, paths);
        assert_eq!(snapshot.real("CLAUDE.md"), "AGENTS.md");
        assert_eq!(snapshot.file("CLAUDE.md"), Some(&b"mine\n"[..]));
        assert_eq!(snapshot.real(".claude/settings.json"), "shared/settings.json");
        assert_eq!(snapshot.state(".claude/settings.json"), &State::Missing);
        assert_eq!(snapshot.state("no/x"), &State::Missing);
        for odd in ["up/x", "dead", "plain/x", "HEARTBEAT.md"] {
            assert!(matches!(snapshot.state(odd), State::Odd(_)), "{odd}");
        }
        assert!(is_plain(&root, "shared") && is_plain(&root, "no/x"));
        for no in [".claude/x", "up/x", "../x", "/etc", ""] {
            assert!(!is_plain(&root, no), "{no}");
        }
    }
}
