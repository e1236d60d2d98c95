//! Where does a restored workspace go, and what may not stand there?

use std::fs;
use std::path::{Path, PathBuf};

use hippo_proto::{ErrorKind, Paths, RpcError};

use super::commit::Staged;
use super::gather::OWN;
use super::refusal::io_refusal;
use crate::files;
use crate::shared::Shared;

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

/// Refuses a folder in which something is, unless that may be moved aside.
///
/// # Errors
/// `conflict`, or the folder cannot be read.
pub fn vacant(root: &Path, aside: bool) -> Result<(), RpcError> {
    if aside || is_vacant(root)? {
        return Ok(());
    }
    let what = format!("the folder is not empty: {}", root.display());
    Err(RpcError::new(ErrorKind::Conflict, what)
        .hint("restore into another one: --into DIR; or say --aside: what is there is moved beside it"))
}

/// Refuses to move a folder aside that hippod never had: after the name of a root on another machine anything may stand here.
///
/// # Errors
/// `conflict`.
#[expect(clippy::disallowed_methods, reason = "a place that a person names")]
pub fn known(shared: &Shared, root: &Path) -> Result<(), RpcError> {
    let is_registered = shared.views.root_of(root).is_some_and(|known| known == root);
    if is_registered || root.join(OWN).is_dir() || is_vacant(root)? {
        return Ok(());
    }
    let what = format!("hippod knows nothing of what stands there: {}", root.display());
    Err(RpcError::new(ErrorKind::Conflict, what).hint(format!(
        "restore into another folder: --into DIR; or name this one, where it is what you mean: --aside --into {}",
        root.display()
    )))
}

/// Refuses a place beside which something is of the name under which the files are made ready.
///
/// # Errors
/// `conflict`.
#[expect(clippy::disallowed_methods, reason = "a place that a person names")]
pub fn free_beside(staged: &Staged) -> Result<(), RpcError> {
    if staged.files.symlink_metadata().is_err() {
        return Ok(());
    }
    let what = format!(
        "could not make ready the restore: something else is there: {}",
        staged.files.display()
    );
    Err(RpcError::new(ErrorKind::Conflict, what)
        .hint("move it away, or restore into another folder: --into DIR"))
}

/// Whether a folder is empty, or not there.
#[expect(clippy::disallowed_methods, reason = "a place that a person names")]
pub fn is_vacant(root: &Path) -> Result<bool, RpcError> {
    match fs::read_dir(root) {
        Ok(mut entries) => Ok(entries.next().is_none()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(true),
        Err(error) => Err(io_refusal("look into the folder", root, &error)),
    }
}
