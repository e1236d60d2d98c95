//! The place of a restored workspace, and what is refused there.

use std::fs;
use std::path::{Path, PathBuf};

use hippo_proto::{ErrorKind, Paths, RpcError};

use super::commit::Staged;
use super::refusal::io_refusal;
use crate::files;
use crate::registry::state_folder;

/// The canonical path of a folder that need not be there yet.
///
/// # Errors
/// What is there is no folder, or cannot be looked at; or it is one that hippod itself lives in.
#[expect(clippy::disallowed_methods, reason = "a place that a person names")]
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
                    // A link that leads nowhere: what is behind it is nobody's guess.
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
            .hint("name a folder that is empty or not there yet: --into DIR"));
    }
    let state = paths.state.canonicalize().unwrap_or_else(|_| paths.state.clone());
    if state.starts_with(&root) || files::is_own(paths, &root) || root.parent().is_none() {
        let what = format!(
            "hippod's own files are in or around this folder: {}",
            root.display()
        );
        return Err(RpcError::bad_request(what).hint("name another one: --into DIR"));
    }
    Ok(root)
}

/// Refuses a folder in which something is, and one of which hippod has the state.
///
/// # Errors
/// `conflict`, or the folder cannot be read.
pub fn vacant(state: &Path, root: &Path) -> Result<(), RpcError> {
    let refusal = |what, hint: &str| {
        let what = format!("{what}: {}", root.display());
        Err(RpcError::new(ErrorKind::Conflict, what).hint(hint.to_owned()))
    };
    if !is_vacant(root)? {
        return refusal(
            "the folder is not empty",
            "move what is in it away, or restore into another folder: --into DIR",
        );
    }
    if !is_vacant(&state_folder(state, root))? {
        let remove = format!("hippoctl workspace remove --purge {}", root.display());
        return refusal(
            "hippod has an index and sessions of a workspace in this folder",
            &format!("remove them: {remove}; or restore into another folder: --into DIR"),
        );
    }
    Ok(())
}

/// Refuses a place beside which something is of the name under which the files are made ready.
///
/// # Errors
/// `conflict`.
#[expect(clippy::disallowed_methods, reason = "a place that a person names")]
pub fn free_beside(staged: &Staged) -> Result<(), RpcError> {
    let files = staged.staged_files();
    if files.symlink_metadata().is_err() {
        return Ok(());
    }
    let what = format!(
        "could not make ready the restore: something else is there: {}",
        files.display()
    );
    Err(RpcError::new(ErrorKind::Conflict, what)
        .hint("move it away, or restore into another folder: --into DIR"))
}

/// Whether a folder is empty, or not there.
#[expect(clippy::disallowed_methods, reason = "a place that a person names")]
fn is_vacant(root: &Path) -> Result<bool, RpcError> {
    match fs::read_dir(root) {
        Ok(mut entries) => Ok(entries.next().is_none()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(true),
        Err(error) => Err(io_refusal("look into the folder", root, &error)),
    }
}
