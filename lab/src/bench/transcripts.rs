//! Transcripts of the evaluation data in their common format.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::Deserialize;

/// A line of a transcript.
#[derive(Deserialize)]
pub struct TranscriptLine {
    pub role: String,
    #[serde(default)]
    pub kind: String,
    #[serde(default)]
    pub name: Option<String>,
    #[serde(default)]
    pub call_id: Option<String>,
    #[serde(default)]
    pub text: String,
}

/// Returns the lines of a transcript.
///
/// # Errors
/// Fails if the file cannot be read, or if a line has another format.
pub fn lines(path: &Path) -> Result<Vec<TranscriptLine>> {
    read(path)?
        .lines()
        .map(serde_json::from_str)
        .collect::<Result<_, _>>()
        .with_context(|| format!("could not read {}", path.display()))
}

/// Returns all files below a folder.
///
/// # Errors
/// Fails if the folder cannot be read.
pub fn files(folder: &Path) -> Result<BTreeSet<PathBuf>> {
    let mut found = BTreeSet::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let failed = || format!("could not read the evaluation data: {}", folder.display());
        for entry in fs::read_dir(&folder).with_context(failed)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.insert(path);
            }
        }
    }
    Ok(found)
}

/// Returns the content of a file as text. Invalid UTF-8 is replaced.
///
/// # Errors
/// Fails if the file cannot be read.
pub fn read(path: &Path) -> Result<String> {
    let bytes = fs::read(path).with_context(|| format!("could not read {}", path.display()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
