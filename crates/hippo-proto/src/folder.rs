//! The user's decisions about a folder, kept in the state folder.
//!
//! A workspace may be a repository of a stranger, so nothing below its root says what `init` made there or which of its settings are
//! trusted. Both are kept by the canonical root, for the daemon and for `hippoctl`, which reads them without a daemon.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// The file of registered roots, in the state folder.
pub const REGISTRY: &str = "registry.json";
/// The record of `init`, in the folder of decisions.
pub const HARNESS: &str = "harness.json";
/// The hashes of trusted files, in the folder of decisions.
const TRUST: &str = "trust.json";
/// A larger file of ours is not read, in bytes.
const LARGEST: u64 = 16 << 20;

/// The name under which the state of a workspace is kept: a hash of its canonical root.
pub fn key(root: &Path) -> String {
    let hash = blake3::hash(root.as_os_str().as_encoded_bytes());
    hash.to_hex()[..16].to_owned()
}

/// The folder of decisions about a workspace. It outlives the index, which `workspace remove` and `restore` replace.
pub fn decisions(state: &Path, root: &Path) -> PathBuf {
    state.join("decisions").join(key(root))
}

/// The hash by which a file is trusted.
pub fn hash(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex()[..32].to_owned()
}

/// The roots that are registered in a state folder; none where the registry is missing or cannot be read.
pub fn registered(state: &Path) -> BTreeSet<PathBuf> {
    #[derive(Deserialize)]
    struct OnDisk {
        workspaces: BTreeSet<PathBuf>,
    }
    let read = read(&state.join(REGISTRY)).ok();
    let on_disk = read.and_then(|bytes| serde_json::from_slice::<OnDisk>(&bytes).ok());
    on_disk.map(|on_disk| on_disk.workspaces).unwrap_or_default()
}

/// Reads a file of ours.
///
/// # Errors
/// As the system says; [`io::ErrorKind::FileTooLarge`] above 16 MiB.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    if fs::metadata(path)?.len() > LARGEST {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    fs::read(path)
}

/// Replaces a file of ours in one step, durably; the folders above it are made, for this user alone.
///
/// # Errors
/// As the system says; the file is as it was.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)?;
    let draft = path.with_extension(format!("{}.tmp", std::process::id()));
    // A process with the same id may have been stopped while it wrote.
    let _ = fs::remove_file(&draft);
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let written = options.open(&draft).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()
    });
    written.and_then(|()| fs::rename(&draft, path)).inspect_err(|_| {
        // The first error is the one to report.
        let _ = fs::remove_file(&draft);
    })
}

/// The files of settings of a workspace that the user trusts, each as it was when that was said.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trust {
    version: u32,
    files: BTreeMap<String, String>,
}

impl Trust {
    /// The trust in the files of a workspace; none where the record is missing or cannot be read.
    pub fn of(state: &Path, root: &Path) -> Self {
        let read = read(&Self::file(state, root));
        read.map_or_else(|_| Self::default(), |bytes| Self::parse(&bytes))
    }

    /// Reads a record; one that cannot be read is that of no trust.
    pub fn parse(bytes: &[u8]) -> Self {
        let trust: Option<Self> = serde_json::from_slice(bytes).ok();
        trust.filter(|trust| trust.version == 1).unwrap_or_default()
    }

    /// As a file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let whole = Self {
            version: 1,
            files: self.files.clone(),
        };
        serde_json::to_vec_pretty(&whole).unwrap_or_default()
    }

    /// Whether a file with this content is trusted.
    pub fn covers(&self, path: &str, bytes: &[u8]) -> bool {
        self.files
            .get(path)
            .is_some_and(|trusted| *trusted == hash(bytes))
    }

    /// Trusts a file with this hash.
    pub fn add(&mut self, path: &str, hash: &str) {
        self.files.insert(path.to_owned(), hash.to_owned());
    }

    /// Trusts a file no longer.
    pub fn withdraw(&mut self, path: &str) {
        self.files.remove(path);
    }

    /// Writes the record; without a trusted file there is none.
    ///
    /// # Errors
    /// As the system says; the record is as it was.
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
    fn a_file_beyond_its_limit_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("large.json");
        let file = File::create(&path).unwrap();
        file.set_len(LARGEST).unwrap();
        assert_eq!(read(&path).unwrap().len() as u64, LARGEST);
        file.set_len(LARGEST + 1).unwrap();
        assert_eq!(read(&path).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
    }

    #[test]
    fn a_registry_that_cannot_be_read_has_no_roots() {
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
