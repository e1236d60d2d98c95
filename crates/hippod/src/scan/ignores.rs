//! Cache of the ignore files of a workspace.
//!
//! Ignore files that are links are not read.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};

use hippo_fs::{PathRefusal, WorkspaceDir};
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::SkippedFile;
use super::look::relative;

/// Names of the ignore files, highest precedence first.
const NAMES: [&str; 3] = [".hippoignore", ".ignore", ".gitignore"];
/// Number of the names above that also apply to selected files. Harnesses list private memory in `.gitignore`, to keep
/// it out of the repository. This memory must be indexed.
const FOR_ALL: usize = 2;
/// Maximum size in bytes of an ignore file. A larger file is not used.
const LARGEST: u64 = 1 << 20;

/// The ignore files that have been read so far, by folder.
pub(super) struct Ignores {
    root: PathBuf,
    read: HashMap<PathBuf, [Gitignore; NAMES.len()]>,
    /// Ignore files that cannot be used, or that contain an invalid line, with the reason.
    pub problems: Vec<SkippedFile>,
}

impl Ignores {
    /// Creates an empty cache.
    pub fn new(root: &Path) -> Self {
        Self {
            root: root.to_path_buf(),
            read: HashMap::new(),
            problems: Vec::new(),
        }
    }

    /// Returns the name of the ignore file that excludes a path, or `None` if the path is not excluded. The nearest
    /// `.hippoignore` file with a matching line decides. If there is none, the nearest `.ignore` file with a matching
    /// line decides, and after that the nearest `.gitignore` file. The latter does not apply to selected files.
    pub fn ignored_by(&mut self, path: &Path, is_dir: bool, is_selected: bool) -> Option<&'static str> {
        let mut said = [Match::None, Match::None, Match::None];
        let root = self.root.clone();
        let above = path.ancestors().skip(1);
        for folder in above.take_while(|folder| folder.starts_with(&root)) {
            if !self.read.contains_key(folder) {
                let read = NAMES.map(|name| self.read_one(folder, name));
                self.read.insert(folder.to_path_buf(), read);
            }
            for (said, file) in said.iter_mut().zip(&self.read[folder]) {
                if said.is_none() {
                    *said = file.matched(path, is_dir).map(|_| ());
                }
            }
        }
        let count = if is_selected { FOR_ALL } else { NAMES.len() };
        let (name, said) = NAMES
            .into_iter()
            .zip(said)
            .take(count)
            .find(|(_, said)| !said.is_none())?;
        said.is_ignore().then_some(name)
    }

    fn read_one(&mut self, folder: &Path, name: &str) -> Gitignore {
        let file = folder.join(name);
        let mut wrong = |what: &dyn std::fmt::Display| {
            let reason = format!("could not use an ignore file: {what}");
            self.problems
                .push(SkippedFile::new(relative(&self.root, &file), reason));
        };
        let below = folder.strip_prefix(&self.root).unwrap_or(folder);
        let read = || -> io::Result<Vec<u8>> {
            let dir = WorkspaceDir::open(&self.root)?;
            // The folder may be reached through a link within the workspace, but the file must not be a link.
            let folder = dir.folder(dir.resolve(below)?)?;
            folder.read(name, LARGEST)
        };
        let bytes = match read() {
            Ok(bytes) => bytes,
            Err(error) => {
                match hippo_fs::refusal(&error) {
                    Some(PathRefusal::Link(_)) => wrong(&"it is a link"),
                    Some(refusal) => wrong(refusal),
                    None if hippo_fs::is_absence(&error) => {}
                    None => wrong(&error),
                }
                return Gitignore::empty();
            }
        };
        let mut builder = GitignoreBuilder::new(folder);
        for line in String::from_utf8_lossy(&bytes).lines() {
            if let Err(error) = builder.add_line(None, line) {
                wrong(&error);
            }
        }
        builder.build().unwrap_or_else(|_| Gitignore::empty())
    }
}
