//! Comparison of installed files with the manifest.

use std::io;
use std::path::{Path, PathBuf};

use super::extract::file_sha256;
use super::record::{ChecksumRecord, FileFault};
use super::{AcquireError, ArtifactKind, Layout, LocalModel, ManifestFile, ModelManifest};

/// The check result of one expected file.
#[derive(Debug, Clone)]
pub struct FileCheck {
    /// Name of the artifact that the file belongs to.
    pub artifact: String,
    /// The file.
    pub path: PathBuf,
    /// Expected SHA-256.
    pub expected: String,
    /// State of the file.
    pub state: InstalledFileState,
}

/// The state of an installed file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InstalledFileState {
    /// The file has the pinned content.
    Good,
    /// The file does not exist.
    Missing,
    /// The content differs.
    Corrupt {
        /// SHA-256 of the file.
        found: String,
    },
    /// The file could not be read.
    Unreadable {
        /// The error of the operating system.
        reason: String,
    },
}

/// An artifact that can be installed on this platform.
#[derive(Debug, Clone)]
pub struct ArtifactStatus {
    /// Model or runtime.
    pub kind: ArtifactKind,
    /// Name, such as `all-minilm-l6-v2`.
    pub name: String,
    /// Package version.
    pub version: String,
    /// Installation folder, which may not exist yet.
    pub folder: PathBuf,
    /// Bytes on disk when complete.
    pub size: u64,
    /// True if all files exist with the pinned content.
    pub installed: bool,
    /// The first file with other content.
    pub damaged: Option<PathBuf>,
}

/// Reads every installed file and compares its checksum. Files that match are recorded. A damaged file loses its
/// record, so that the next [`super::pull`] replaces the file.
///
/// # Errors
/// Fails if no runtime is pinned for this platform. File problems are reported in [`InstalledFileState`].
pub fn verify(layout: &Layout, manifest: &ModelManifest) -> Result<Vec<FileCheck>, AcquireError> {
    let artifacts = manifest.artifacts(layout)?;
    let checks = artifacts.iter().flat_map(|artifact| {
        check(
            &artifact.name,
            &artifact.folder,
            &artifact.files,
            !artifact.shipped,
        )
    });
    Ok(checks.collect())
}

/// Verifies only the runtime library, as [`verify`] does.
///
/// # Errors
/// See [`verify`].
pub fn verify_runtime(layout: &Layout, manifest: &ModelManifest) -> Result<Vec<FileCheck>, AcquireError> {
    let runtime = manifest.runtime()?.locate(layout);
    Ok(check(
        &runtime.name,
        &runtime.folder,
        &runtime.files,
        !runtime.shipped,
    ))
}

/// Verifies an imported model: its files must be unchanged since the import.
pub fn verify_local(layout: &Layout, model: &LocalModel) -> Vec<FileCheck> {
    check(&model.name, &model.folder(layout), model.checksums(), true)
}

/// Compares checksums. If `recorded` is true, saves the result in the folder; it is false for folders of a system
/// package.
fn check(artifact: &str, folder: &Path, files: &[ManifestFile], recorded: bool) -> Vec<FileCheck> {
    let mut record = ChecksumRecord::load(folder);
    let mut noted = false;
    let mut checks = Vec::new();
    for file in files {
        let path = folder.join(&file.name);
        let found = file_sha256(&path, &mut |_| Ok(()));
        let unknown = record.fault(folder, file).is_some();
        if let Ok(found) = &found
            && (unknown || *found != file.sha256)
        {
            record.note(folder, file, found);
            noted = true;
        }
        let state = match found {
            Ok(found) if found == file.sha256 => InstalledFileState::Good,
            Ok(found) => InstalledFileState::Corrupt { found },
            Err(AcquireError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                InstalledFileState::Missing
            }
            Err(error) => InstalledFileState::Unreadable {
                reason: error.to_string(),
            },
        };
        if state != InstalledFileState::Good {
            noted |= record.forget(&file.name);
        }
        checks.push(FileCheck {
            artifact: artifact.into(),
            path,
            expected: file.sha256.clone(),
            state,
        });
    }
    if noted
        && recorded
        && let Err(error) = record.save(folder)
    {
        tracing::warn!(%error, "could not save the checksum record; the files are checked again after the next start");
    }
    checks
}

/// Reads each installed file that has the right size but no matching record, which is the case for copied files because
/// of their modification time. After that, files with the pinned content count as installed, and the others as damaged.
pub fn check_copied(layout: &Layout, manifest: &ModelManifest) {
    let pinned = [
        manifest.runtime().ok().map(|runtime| runtime.artifact(layout)),
        Some(manifest.default_model().artifact(layout)),
    ];
    for artifact in pinned.into_iter().flatten() {
        check_unrecorded(&artifact.folder, &artifact.files);
    }
    for model in LocalModel::list_all(layout)
        .into_iter()
        .filter_map(|(_, model)| model.ok())
    {
        check_unrecorded(&model.folder(layout), model.checksums());
    }
}

fn check_unrecorded(folder: &Path, files: &[ManifestFile]) {
    let mut record = ChecksumRecord::load(folder);
    let mut noted = false;
    for file in files {
        if record.fault(folder, file) != Some(FileFault::Unchecked) {
            continue;
        }
        if let Ok(found) = file_sha256(&folder.join(&file.name), &mut |_| Ok(())) {
            record.note(folder, file, &found);
            noted = true;
        }
    }
    if noted && let Err(error) = record.save(folder) {
        tracing::debug!(%error, "could not save the checksum record; the files are checked again after the next start");
    }
}

/// Lists the artifacts of this platform and whether they are installed.
///
/// # Errors
/// Fails if no runtime is pinned for this platform.
pub fn list(layout: &Layout, manifest: &ModelManifest) -> Result<Vec<ArtifactStatus>, AcquireError> {
    let artifacts = manifest.artifacts(layout)?;
    let listed = artifacts.into_iter().map(|artifact| ArtifactStatus {
        installed: artifact.first_fault().is_none(),
        damaged: artifact
            .first_fault()
            .filter(|(_, fault)| *fault == FileFault::Damaged)
            .map(|(file, _)| artifact.folder.join(&file.name)),
        size: artifact.files.iter().map(|f| f.size).sum(),
        kind: artifact.kind,
        name: artifact.name,
        version: artifact.version,
        folder: artifact.folder,
    });
    Ok(listed.collect())
}
