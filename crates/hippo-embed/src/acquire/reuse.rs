//! Installation of files that another pinned model already has.

use std::fs::File;
use std::path::PathBuf;

use super::extract::install_file;
use super::{AcquireError, Artifact, Layout, ManifestFile, ModelManifest};

/// Installs the missing files of an artifact from the installed files of other pinned models. A file with quantized
/// weights is computed from its source.
///
/// # Errors
/// Fails if a file cannot be read or written. A file with wrong content is ignored.
pub(super) fn reuse_files(
    layout: &Layout,
    manifest: &ModelManifest,
    artifact: &Artifact,
) -> Result<(), AcquireError> {
    if artifact.first_fault().is_none() {
        return Ok(());
    }
    for file in artifact.missing_files()? {
        let Some(place) = find_equal(layout, manifest, artifact, file) else {
            continue;
        };
        let mut content = File::open(&place).map_err(|e| AcquireError::io("read", &place, e))?;
        match install_file(&artifact.folder, file, &mut content) {
            Err(AcquireError::Checksum { .. }) => {}
            done => done.and_then(|()| artifact.record_file(file))?,
        }
    }
    Ok(())
}

/// Returns the path of an installed file that has this content according to its manifest.
fn find_equal(
    layout: &Layout,
    manifest: &ModelManifest,
    artifact: &Artifact,
    file: &ManifestFile,
) -> Option<PathBuf> {
    let (_, source) = file.downloaded();
    let others = manifest.models.iter().map(|model| model.own_artifact(layout));
    let paths = others
        .filter(|other| other.folder != artifact.folder)
        .flat_map(|other| {
            let equal = (other.files.into_iter()).find(|one| {
                one.name == file.name && [source, file.sha256.as_str()].contains(&one.sha256.as_str())
            });
            equal.map(|one| other.folder.join(one.name))
        });
    paths.into_iter().find(|path| path.is_file())
}
