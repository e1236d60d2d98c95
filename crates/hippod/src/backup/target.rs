//! Destination of a restored workspace and its validation.

use std::fs;
use std::path::{Path, PathBuf};

use hippo_proto::{ErrorKind, Paths, RpcError};

use super::refusal::io_refusal;
use crate::files;
use crate::registry::state_folder;
use crate::staged::StagedWorkspace;

/// Returns the canonical path of a folder that may not exist yet.
///
/// # Errors
/// Fails if the path is not a folder, is inaccessible, or contains hippod's own files.
#[expect(clippy::disallowed_methods, reason = "the user chose this path")]
pub fn root(folder: &Path, paths: &Paths) -> Result<PathBuf, RpcError> {
    let refused = |error| io_refusal("use the folder", folder, &error);
    let mut above = folder;
    let mut below = Vec::new();
    let real = loop {
        match above.canonicalize() {
            Ok(real) => break real,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                let (Some(parent), Some(name)) = (above.parent(), above.file_name()) else {
                    return Err(refused(error));
                };
                if above.symlink_metadata().is_ok() {
                    // The target of a dangling link is unknown.
                    return Err(refused(error));
                }
                below.push(name);
                above = parent;
            }
            Err(error) => return Err(refused(error)),
        }
    };
    let root = below.iter().rev().fold(real, |path, name| path.join(name));
    if root.exists() && !root.is_dir() {
        return Err(RpcError::bad_request(format!("not a folder: {}", root.display()))
            .hint("give an empty or new folder: --into DIR"));
    }
    let state = paths.state.canonicalize().unwrap_or_else(|_| paths.state.clone());
    if state.starts_with(&root) || files::is_own(paths, &root) || root.parent().is_none() {
        let what = format!(
            "{} contains or is inside a folder of hippod's own files",
            root.display()
        );
        return Err(RpcError::bad_request(what).hint("give another folder: --into DIR"));
    }
    Ok(root)
}

/// Rejects a folder that is not empty, and a folder for which hippod already stores state.
///
/// # Errors
/// Returns `conflict`, or fails if the folder is unreadable.
pub fn vacant(state: &Path, root: &Path) -> Result<(), RpcError> {
    let refusal = |what, hint: &str| {
        let what = format!("{what}: {}", root.display());
        Err(RpcError::new(ErrorKind::Conflict, what).hint(hint.to_owned()))
    };
    if !is_vacant(root)? {
        return refusal(
            "the folder is not empty",
            "move its files elsewhere, or restore into another folder: --into DIR",
        );
    }
    if !is_vacant(&state_folder(state, root))? {
        let remove = format!("hippoctl workspace remove --purge {}", root.display());
        return refusal(
            "hippod already stores an index and sessions for a workspace in this folder",
            &format!(
                "restore into another folder with `--into DIR`, or remove the index and the sessions: \
                 {remove}"
            ),
        );
    }
    Ok(())
}

/// Rejects a destination if its staging folder already exists.
///
/// # Errors
/// Returns `conflict`.
#[expect(clippy::disallowed_methods, reason = "the user chose this path")]
pub fn free_beside(staged: &StagedWorkspace) -> Result<(), RpcError> {
    let files = staged.staged_files();
    if files.symlink_metadata().is_err() {
        return Ok(());
    }
    let what = format!(
        "could not prepare the restore: this path already exists: {}",
        files.display()
    );
    Err(RpcError::new(ErrorKind::Conflict, what)
        .hint("move it elsewhere, or restore into another folder: --into DIR"))
}

/// Returns whether a folder is empty or does not exist.
#[expect(clippy::disallowed_methods, reason = "the user chose this path")]
fn is_vacant(root: &Path) -> Result<bool, RpcError> {
    match fs::read_dir(root) {
        Ok(mut entries) => Ok(entries.next().is_none()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(true),
        Err(error) => Err(io_refusal("read the folder", root, &error)),
    }
}
