//! Which workspaces this daemon serves, and where the state of each lies.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use hippo_proto::folder;
use hippo_store::system;
use serde::{Deserialize, Serialize};

use crate::files;

/// The registered roots, kept in `registry.json` of the state folder.
#[derive(Debug)]
pub struct Registry {
    file: PathBuf,
    roots: BTreeSet<PathBuf>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct OnDisk {
    version: u32,
    workspaces: BTreeSet<PathBuf>,
}

impl Registry {
    /// Reads the registry of a state folder; an absent file is an empty registry.
    ///
    /// # Errors
    /// When the file is there and cannot be read or understood: nothing is overwritten then.
    #[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
    pub fn open(state: &Path) -> Result<Self> {
        let file = state.join(folder::REGISTRY);
        let roots = match std::fs::read(&file) {
            Ok(bytes) => {
                let on_disk: OnDisk = serde_json::from_slice(&bytes)
                    .with_context(|| {
                        format!(
                            "could not understand the registry: {}; move it away, start hippod, and add each folder again: hippoctl workspace add DIR",
                            file.display()
                        )
                    })?;
                on_disk.workspaces
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => BTreeSet::new(),
            Err(error) => {
                let what = format!("could not read the registry: {}", file.display());
                return Err(error).context(what);
            }
        };
        Ok(Self { file, roots })
    }

    /// The roots, ordered.
    pub fn roots(&self) -> impl Iterator<Item = &Path> {
        self.roots.iter().map(PathBuf::as_path)
    }

    /// Registers a canonical root. Answers whether it is new.
    ///
    /// # Errors
    /// When the registry cannot be written; it is unchanged then.
    pub fn add(&mut self, root: &Path) -> Result<bool> {
        if !self.roots.insert(root.to_path_buf()) {
            return Ok(false);
        }
        if let Err(error) = self.save() {
            self.roots.remove(root);
            return Err(error);
        }
        Ok(true)
    }

    /// Takes a root off the list. Answers whether it was on it.
    ///
    /// # Errors
    /// When the registry cannot be written; it is unchanged then.
    pub fn remove(&mut self, root: &Path) -> Result<bool> {
        if !self.roots.remove(root) {
            return Ok(false);
        }
        if let Err(error) = self.save() {
            self.roots.insert(root.to_path_buf());
            return Err(error);
        }
        Ok(true)
    }

    fn save(&self) -> Result<()> {
        let on_disk = OnDisk {
            version: 1,
            workspaces: self.roots.clone(),
        };
        let json = serde_json::to_vec_pretty(&on_disk)?;
        write_atomically(&self.file, &json)
            .with_context(|| format!("could not write the registry: {}", self.file.display()))
    }
}

/// The folder of one workspace's state below the state folder: the name is a hash of the canonical root, so that a
/// project's own name may change or repeat.
pub fn state_folder(state: &Path, root: &Path) -> PathBuf {
    state.join("workspaces").join(folder::key(root))
}

/// How a workspace is called in the log and among the metrics, where its path does not belong: the first digits of the name
/// of its state folder.
pub fn short_id(root: &Path) -> String {
    folder::key(root)[..8].to_owned()
}

/// Replaces a file of ours in one step, durably.
///
/// # Errors
/// As the system says; the file is as it was.
pub fn write_atomically(file: &Path, bytes: &[u8]) -> std::io::Result<()> {
    files::write_whole(file, &file.with_extension("tmp"), bytes)?;
    file.parent().map_or(Ok(()), system::sync_folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn survives_reopening_and_refuses_to_overwrite_what_it_does_not_understand() {
        let folder = tempfile::tempdir().unwrap();
        let mut registry = Registry::open(folder.path()).unwrap();
        assert!(registry.add(Path::new("/a")).unwrap());
        assert!(!registry.add(Path::new("/a")).unwrap());
        assert!(registry.add(Path::new("/b")).unwrap());
        assert!(registry.remove(Path::new("/a")).unwrap());
        let again = Registry::open(folder.path()).unwrap();
        assert_eq!(again.roots().collect::<Vec<_>>(), [Path::new("/b")]);

        std::fs::write(folder.path().join("registry.json"), "{\"version\":1,").unwrap();
        let error = Registry::open(folder.path()).unwrap_err();
        assert!(error.to_string().contains("registry.json"), "{error}");
    }

    #[test]
    fn each_root_has_a_folder_of_its_own() {
        let state = Path::new("/s");
        let (a, b) = (
            state_folder(state, Path::new("/a")),
            state_folder(state, Path::new("/a/b")),
        );
        assert!(a != b && a.starts_with("/s/workspaces"));
    }
}
