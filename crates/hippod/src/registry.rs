//! Registry of workspaces, and the paths of their state.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use hippo_proto::folder;
use hippo_store::db::StoreReader;
use hippo_store::system;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use crate::files;

/// Version of the registry format that this build writes.
const VERSION: u32 = 1;

/// The registered roots, stored in `registry.json` of the state folder.
#[derive(Debug)]
pub struct Registry {
    file: PathBuf,
    roots: Mutex<BTreeSet<PathBuf>>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RegistryContent {
    version: u32,
    workspaces: BTreeSet<PathBuf>,
}

impl Registry {
    /// Reads the registry of a state folder. If the file is damaged, it is kept under another name. If it is damaged or
    /// missing, the registry is rebuilt from the databases, each of which records its root.
    ///
    /// # Errors
    /// Fails if an existing file cannot be read or has a newer version. That file is not overwritten.
    #[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
    pub fn open(state: &Path) -> Result<Self> {
        let file = state.join(folder::REGISTRY);
        let bytes = match std::fs::read(&file) {
            Ok(bytes) => Some(bytes),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) => {
                return Err(error)
                    .with_context(|| format!("could not read the registry: {}", file.display()));
            }
        };
        let parsed = bytes.as_deref().map(serde_json::from_slice::<RegistryContent>);
        if let Some(Ok(on_disk)) = parsed {
            anyhow::ensure!(
                on_disk.version <= VERSION,
                "could not read the registry: {} has version {}, and this hippod supports versions up to {VERSION}\nhint: \
                 install the newer hippod that wrote this file",
                file.display(),
                on_disk.version
            );
            let roots = Mutex::new(on_disk.workspaces);
            return Ok(Self { file, roots });
        }
        if bytes.is_some() {
            let aside = free_name(&file.with_extension("json.damaged"));
            std::fs::rename(&file, &aside)
                .with_context(|| format!("could not rename the damaged registry: {}", file.display()))?;
        }
        let roots = roots_of_databases(state);
        if bytes.is_some() || !roots.is_empty() {
            tracing::error!(
                file = %file.display(), workspaces = roots.len(),
                "the registry was damaged or missing, so hippod rebuilt it; a damaged registry is kept in the same \
                 folder as registry.json.damaged"
            );
        }
        let registry = Self {
            file,
            roots: Mutex::default(),
        };
        registry.save(&roots)?;
        *registry.roots.lock() = roots;
        Ok(registry)
    }

    /// Returns the roots in order.
    pub fn roots(&self) -> Vec<PathBuf> {
        self.roots.lock().iter().cloned().collect()
    }

    /// Returns whether a root is registered.
    pub fn contains(&self, root: &Path) -> bool {
        self.roots.lock().contains(root)
    }

    /// Registers a canonical root. Returns whether it is new.
    ///
    /// # Errors
    /// Fails if the registry cannot be written; in this case, the list of roots is unchanged.
    pub fn add(&self, root: &Path) -> Result<bool> {
        self.update(|roots| roots.insert(root.to_path_buf()))
    }

    /// Unregisters a root. Returns whether it was registered.
    ///
    /// # Errors
    /// Fails if the registry cannot be written; in this case, the list of roots is unchanged.
    pub fn remove(&self, root: &Path) -> Result<bool> {
        self.update(|roots| roots.remove(root))
    }

    fn update(&self, change: impl FnOnce(&mut BTreeSet<PathBuf>) -> bool) -> Result<bool> {
        let mut roots = self.roots.lock();
        let mut changed = roots.clone();
        if !change(&mut changed) {
            return Ok(false);
        }
        self.save(&changed)?;
        *roots = changed;
        Ok(true)
    }

    fn save(&self, roots: &BTreeSet<PathBuf>) -> Result<()> {
        let on_disk = RegistryContent {
            version: VERSION,
            workspaces: roots.clone(),
        };
        let json = serde_json::to_vec_pretty(&on_disk)?;
        write_atomically(&self.file, &json)
            .with_context(|| format!("could not write the registry: {}", self.file.display()))
    }
}

/// Returns a free file name: `name`, with a number appended if it is taken.
#[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
pub fn free_name(name: &Path) -> PathBuf {
    let numbered = (2..).map(|number: u32| PathBuf::from(format!("{}.{number}", name.display())));
    let mut names = std::iter::once(name.to_path_buf()).chain(numbered);
    names
        .find(|name| name.symlink_metadata().is_err())
        .unwrap_or_else(|| name.to_path_buf())
}

/// Returns the roots recorded in the databases of a state folder. A database counts only if it is in the folder that
/// belongs to its root.
#[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
fn roots_of_databases(state: &Path) -> BTreeSet<PathBuf> {
    let folders = std::fs::read_dir(state.join("workspaces"))
        .into_iter()
        .flatten()
        .flatten();
    folders
        .filter_map(|folder| {
            let root = StoreReader::open(&folder.path().join("index.db")).and_then(|reader| reader.root());
            let root = PathBuf::from(root.ok()?);
            (state_folder(state, &root) == folder.path()).then_some(root)
        })
        .collect()
}

/// Returns the folder of a workspace's state below the state folder. Its name is a hash of the canonical
/// root, so projects with equal names do not collide.
pub fn state_folder(state: &Path, root: &Path) -> PathBuf {
    state.join("workspaces").join(folder::key(root))
}

/// Returns the path of a workspace's database.
pub fn database_file(state: &Path, root: &Path) -> PathBuf {
    state_folder(state, root).join("index.db")
}

/// Returns the short id of a workspace for logs and metrics, which must not contain the path of the workspace: the
/// first digits of the name of its state folder.
pub fn short_id(root: &Path) -> String {
    folder::key(root)[..8].to_owned()
}

/// Replaces one of hippod's own files atomically and durably.
///
/// # Errors
/// Returns the error of the operating system; the file is unchanged.
pub fn write_atomically(file: &Path, bytes: &[u8]) -> std::io::Result<()> {
    files::write_whole(file, &file.with_extension("tmp"), bytes)?;
    file.parent().map_or(Ok(()), system::sync_folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_registry_survives_reopening() {
        let folder = tempfile::tempdir().unwrap();
        let registry = Registry::open(folder.path()).unwrap();
        assert!(registry.add(Path::new("/a")).unwrap());
        assert!(!registry.add(Path::new("/a")).unwrap());
        assert!(registry.add(Path::new("/b")).unwrap());
        assert!(registry.remove(Path::new("/a")).unwrap());
        let again = Registry::open(folder.path()).unwrap();
        assert_eq!(again.roots(), [Path::new("/b")]);
    }

    #[test]
    fn a_damaged_registry_is_kept_and_rebuilt_from_the_databases() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path();
        let file = state.join("registry.json");
        let registry = Registry::open(state).unwrap();
        registry.add(Path::new("/b")).unwrap();
        let place = state_folder(state, Path::new("/b"));
        std::fs::create_dir_all(&place).unwrap();
        drop(hippo_store::db::Store::open(&place.join("index.db"), "/b").unwrap());
        let roots = |state: &Path| Registry::open(state).unwrap().roots();
        for damage in ["{\"version\":1,", "", "\0\0\0"] {
            std::fs::write(&file, damage).unwrap();
            assert_eq!(roots(state), [Path::new("/b")], "{damage:?}");
            assert_eq!(roots(state), [Path::new("/b")], "the registry is rebuilt");
        }
        assert!(state.join("registry.json.damaged").exists());
        assert!(
            state.join("registry.json.damaged.3").exists(),
            "no damaged file is overwritten"
        );
        std::fs::remove_file(&file).unwrap();
        assert_eq!(roots(state), [Path::new("/b")], "a missing registry is rebuilt");
        std::fs::write(&file, r#"{"version":2,"workspaces":[]}"#).unwrap();
        assert!(Registry::open(state).is_err(), "a newer registry is unchanged");
    }

    #[test]
    fn each_root_has_its_own_state_folder() {
        let state = Path::new("/s");
        let (a, b) = (
            state_folder(state, Path::new("/a")),
            state_folder(state, Path::new("/a/b")),
        );
        assert!(a != b && a.starts_with("/s/workspaces"));
    }
}
