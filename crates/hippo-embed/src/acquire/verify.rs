//! Whether what is installed is what the manifest says.

use std::io;
use std::path::PathBuf;

use super::extract::file_sha256;
use super::record::Record;
use super::{AcquireError, ArtifactKind, Layout, Manifest};

/// The state of one file that should be installed.
#[derive(Debug, Clone)]
pub struct FileCheck {
    /// Name of the artifact that it belongs to.
    pub artifact: String,
    /// The file.
    pub path: PathBuf,
    /// What was found.
    pub state: FileState,
}

/// What was found of an installed file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileState {
    /// The content is as pinned.
    Good,
    /// There is no such file.
    Missing,
    /// The content differs.
    Corrupt {
        /// SHA-256 of what is there.
        found: String,
    },
    /// It could not be read.
    Unreadable {
        /// The operating system's reason.
        reason: String,
    },
}

/// One thing that can be installed on this platform.
#[derive(Debug, Clone)]
pub struct Listed {
    /// Model or runtime.
    pub kind: ArtifactKind,
    /// Name, such as `all-minilm-l6-v2`.
    pub name: String,
    /// Package version.
    pub version: String,
    /// Where it is or would be.
    pub folder: PathBuf,
    /// Bytes that it takes on disk when complete.
    pub size: u64,
    /// Whether all of its files are there as recorded.
    pub installed: bool,
}

/// Reads every file of the installation and compares its checksum. A damaged file loses its record, so that the
/// next [`super::pull`] writes it anew.
///
/// # Errors
/// Fails only on a platform without a pinned runtime; what is wrong with a file is in its [`FileState`].
pub fn verify(layout: &Layout, manifest: &Manifest) -> Result<Vec<FileCheck>, AcquireError> {
    let mut checks = Vec::new();
    for artifact in manifest.artifacts(layout)? {
        let mut record = Record::load(&artifact.folder);
        let mut withdrawn = false;
        for file in &artifact.files {
            let path = artifact.folder.join(&file.name);
            let state = match file_sha256(&path, &mut |_| Ok(())) {
                Ok(found) if found == file.sha256 => FileState::Good,
                Ok(found) => FileState::Corrupt { found },
                Err(AcquireError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                    FileState::Missing
                }
                Err(error) => FileState::Unreadable {
                    reason: error.to_string(),
                },
            };
            if state != FileState::Good {
                withdrawn |= record.forget(&file.name);
            }
            checks.push(FileCheck {
                artifact: artifact.name.clone(),
                path,
                state,
            });
        }
        if withdrawn && let Err(error) = record.save(&artifact.folder) {
            tracing::warn!(%error, "could not withdraw the record of a damaged file");
        }
    }
    Ok(checks)
}

/// What can be installed here, and whether it is.
///
/// # Errors
/// Fails on a platform without a pinned runtime.
pub fn list(layout: &Layout, manifest: &Manifest) -> Result<Vec<Listed>, AcquireError> {
    let artifacts = manifest.artifacts(layout)?;
    let listed = artifacts.into_iter().map(|artifact| Listed {
        installed: artifact.absent().is_none(),
        size: artifact.files.iter().map(|f| f.size).sum(),
        kind: artifact.kind,
        name: artifact.name,
        version: artifact.version,
        folder: artifact.folder,
    });
    Ok(listed.collect())
}
