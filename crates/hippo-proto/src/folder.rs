//! Records of the user's decisions about a workspace folder.
//!
//! A workspace may be a cloned, untrusted repository. The record of `init` and the list of trusted settings files are
//! therefore stored outside the workspace, in a folder named by its canonical root. The daemon and `hippoctl` both use
//! these records; `hippoctl` can read the records while no daemon runs.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// File name of the list of registered roots, in the state folder.
pub const REGISTRY: &str = "registry.json";
/// File name of the record that `init` writes into the folder of decisions.
pub const HARNESS: &str = "harness.json";
/// File name of the hashes of trusted files, in the folder of decisions.
const TRUST: &str = "trust.json";
/// Maximum size of a state file in bytes.
const LARGEST: u64 = 16 << 20;

/// Returns the key of a workspace in the state folder: a hash of its canonical root.
pub fn key(root: &Path) -> String {
    let hash = blake3::hash(root.as_os_str().as_encoded_bytes());
    hash.to_hex()[..16].to_owned()
}

/// Returns the folder of the user's decisions about a workspace. `workspace remove` and `restore` keep this folder,
/// although they delete or replace the index.
pub fn decisions(state: &Path, root: &Path) -> PathBuf {
    state.join("decisions").join(key(root))
}

/// Returns the hash that identifies the content of a trusted file.
pub fn hash(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex()[..32].to_owned()
}

/// Returns the registered roots of a state folder, or none if the registry is missing or unreadable.
pub fn registered(state: &Path) -> BTreeSet<PathBuf> {
    #[derive(Deserialize)]
    struct RegistryFile {
        workspaces: BTreeSet<PathBuf>,
    }
    let read = read(&state.join(REGISTRY)).ok();
    let on_disk = read.and_then(|bytes| serde_json::from_slice::<RegistryFile>(&bytes).ok());
    on_disk.map(|on_disk| on_disk.workspaces).unwrap_or_default()
}

/// Reads a state file.
///
/// # Errors
/// Returns any error of the operating system, or [`io::ErrorKind::FileTooLarge`] above 16 MiB.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    if fs::metadata(path)?.len() > LARGEST {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    fs::read(path)
}

/// Replaces a state file atomically and durably; creates its parent folders, accessible only to this user.
///
/// # Errors
/// Returns any error of the operating system; the file is unchanged.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)?;
    let draft = path.with_extension(format!("{}.tmp", std::process::id()));
    // An earlier process with the same id may have left a draft behind.
    let _ = fs::remove_file(&draft);
    let mut options = File::options();
    options.write(true).create_new(true);
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let written = options.open(&draft).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()
    });
    written.and_then(|()| fs::rename(&draft, path)).inspect_err(|_| {
        // An error of this removal is ignored, because the first error is the one to report.
        let _ = fs::remove_file(&draft);
    })
}

/// The settings files of a workspace that the user trusts, with the hash of the trusted content.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trust {
    version: u32,
    files: BTreeMap<String, String>,
}

impl Trust {
    /// Loads the trust record of a workspace. If the record is missing or unreadable, the result is empty.
    pub fn of(state: &Path, root: &Path) -> Self {
        let read = read(&Self::file(state, root));
        read.map_or_else(|_| Self::default(), |bytes| Self::parse(&bytes))
    }

    /// Parses a record. If it is unreadable, the result is empty.
    pub fn parse(bytes: &[u8]) -> Self {
        let trust: Option<Self> = serde_json::from_slice(bytes).ok();
        trust.filter(|trust| trust.version == 1).unwrap_or_default()
    }

    /// Serialises the record.
    pub fn to_bytes(&self) -> Vec<u8> {
        let whole = Self {
            version: 1,
            files: self.files.clone(),
        };
        serde_json::to_vec_pretty(&whole).unwrap_or_default()
    }

    /// Returns whether a file with this content is trusted.
    pub fn covers(&self, path: &str, bytes: &[u8]) -> bool {
        self.files
            .get(path)
            .is_some_and(|trusted| *trusted == hash(bytes))
    }

    /// Adds a trusted file with the hash of its content.
    pub fn add(&mut self, path: &str, hash: &str) {
        self.files.insert(path.to_owned(), hash.to_owned());
    }

    /// Removes the trust in a file.
    pub fn withdraw(&mut self, path: &str) {
        self.files.remove(path);
    }

    /// Writes the record. If it is empty, deletes the file instead.
    ///
    /// # Errors
    /// Returns any error of the operating system; the record is unchanged.
    pub fn keep(&self, state: &Path, root: &Path) -> io::Result<()> {
        let file = Self::file(state, root);
        if self.files.is_empty() {
            return match fs::remove_file(&file) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
                _ => Ok(()),
            };
        }
        write(&file, &self.to_bytes())
    }

    fn file(state: &Path, root: &Path) -> PathBuf {
        decisions(state, root).join(TRUST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trust_is_bound_to_the_content_and_the_root() {
        let state = tempfile::tempdir().unwrap();
        let (state, root, file) = (state.path(), Path::new("/a"), ".hippocampus/config.toml");
        let mut trust = Trust::of(state, root);
        assert_eq!(trust, Trust::default());
        trust.add(file, &hash(b"one"));
        trust.keep(state, root).unwrap();
        let again = Trust::of(state, root);
        assert!(again.covers(file, b"one") && !again.covers(file, b"two") && !again.covers("other", b"one"));
        assert!(!Trust::of(state, Path::new("/b")).covers(file, b"one"));
        trust.withdraw(file);
        trust.keep(state, root).unwrap();
        trust.keep(state, root).unwrap();
        assert!(!Trust::of(state, root).covers(file, b"one"));
        fs::write(Trust::file(state, root), "{").unwrap();
        assert_eq!(Trust::of(state, root), Trust::default());
    }

    #[test]
    fn a_state_file_above_the_limit_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("large.json");
        let file = File::create(&path).unwrap();
        file.set_len(LARGEST).unwrap();
        assert_eq!(read(&path).unwrap().len() as u64, LARGEST);
        file.set_len(LARGEST + 1).unwrap();
        assert_eq!(read(&path).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
    }

    #[test]
    fn an_unreadable_registry_has_no_roots() {
        let state = tempfile::tempdir().unwrap();
        assert!(registered(state.path()).is_empty());
        write(
            &state.path().join(REGISTRY),
            br#"{"version":1,"workspaces":["/a"]}"#,
        )
        .unwrap();
        assert_eq!(registered(state.path()), BTreeSet::from([PathBuf::from("/a")]));
        write(&state.path().join(REGISTRY), b"[").unwrap();
        assert!(registered(state.path()).is_empty());
    }
}
