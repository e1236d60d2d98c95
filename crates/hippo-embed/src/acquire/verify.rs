//! Whether what is installed is what the manifest says.

use std::io;
use std::path::{Path, PathBuf};

use super::extract::file_sha256;
use super::record::{Fault, Record};
use super::{AcquireError, ArtifactKind, Layout, LocalModel, Manifest, ManifestFile};

/// The state of one file that should be installed.
#[derive(Debug, Clone)]
pub struct FileCheck {
    /// Name of the artifact that it belongs to.
    pub artifact: String,
    /// The file.
    pub path: PathBuf,
    /// SHA-256 that it should have.
    pub expected: String,
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
    /// Whether all of its files are there with the pinned content.
    pub installed: bool,
    /// The first of its files that is there with other content.
    pub damaged: Option<PathBuf>,
}

/// Reads every file of the installation and compares its checksum. A right file is recorded; a damaged one loses its
/// record, so that the next [`super::pull`] writes it anew.
///
/// # Errors
/// Fails only on a platform without a pinned runtime; what is wrong with a file is in its [`FileState`].
pub fn verify(layout: &Layout, manifest: &Manifest) -> Result<Vec<FileCheck>, AcquireError> {
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

/// The same for the runtime library alone.
///
/// # Errors
/// As [`verify`].
pub fn verify_runtime(layout: &Layout, manifest: &Manifest) -> Result<Vec<FileCheck>, AcquireError> {
    let runtime = manifest.runtime()?.found(layout);
    Ok(check(
        &runtime.name,
        &runtime.folder,
        &runtime.files,
        !runtime.shipped,
    ))
}

/// The same for an imported model, whose files must be as they were imported.
pub fn verify_local(layout: &Layout, model: &LocalModel) -> Vec<FileCheck> {
    check(&model.name, &model.folder(layout), model.checksums(), true)
}

/// Compares checksums; `recorded`: the result is kept in the folder, which nothing is written to where a package made it.
fn check(artifact: &str, folder: &Path, files: &[ManifestFile], recorded: bool) -> Vec<FileCheck> {
    let mut record = Record::load(folder);
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
        tracing::warn!(%error, "could not record what was checked; it is checked again after the next start");
    }
    checks
}

/// Reads each installed file once that has the right size and no record: a copy has other times than its original. Files
/// with the pinned content count as installed afterwards, the others as damaged.
pub fn check_copied(layout: &Layout, manifest: &Manifest) {
    let pinned = [
        manifest.runtime().ok().map(|runtime| runtime.artifact(layout)),
        Some(manifest.default_model().artifact(layout)),
    ];
    for artifact in pinned.into_iter().flatten() {
        check_unrecorded(&artifact.folder, &artifact.files);
    }
    for model in LocalModel::all(layout)
        .into_iter()
        .filter_map(|(_, model)| model.ok())
    {
        check_unrecorded(&model.folder(layout), model.checksums());
    }
}

fn check_unrecorded(folder: &Path, files: &[ManifestFile]) {
    let mut record = Record::load(folder);
    let mut noted = false;
    for file in files {
        if record.fault(folder, file) != Some(Fault::Unchecked) {
            continue;
        }
        if let Ok(found) = file_sha256(&folder.join(&file.name), &mut |_| Ok(())) {
            record.note(folder, file, &found);
            noted = true;
        }
    }
    if noted && let Err(error) = record.save(folder) {
        tracing::debug!(%error, "could not record what was checked; it is checked again after the next start");
    }
}

/// What can be installed here, and whether it is.
///
/// # Errors
/// Fails on a platform without a pinned runtime.
pub fn list(layout: &Layout, manifest: &Manifest) -> Result<Vec<Listed>, AcquireError> {
    let artifacts = manifest.artifacts(layout)?;
    let listed = artifacts.into_iter().map(|artifact| Listed {
        installed: artifact.absent().is_none(),
        damaged: artifact
            .absent()
            .filter(|(_, fault)| *fault == Fault::Damaged)
            .map(|(file, _)| artifact.folder.join(&file.name)),
        size: artifact.files.iter().map(|f| f.size).sum(),
        kind: artifact.kind,
        name: artifact.name,
        version: artifact.version,
        folder: artifact.folder,
    });
    Ok(listed.collect())
}
