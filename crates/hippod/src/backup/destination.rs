//! Validation of the destination of a backup.

use std::path::{Path, PathBuf};

use hippo_map::layout::INDEX_FILE;
use hippo_proto::{ErrorKind, RpcError};

use super::Backups;
use super::gather::OWN;
use super::refusal::io_refusal;
use crate::files;
use crate::view::WorkspaceView;

/// Returns the destination as a path whose folder contains no links.
///
/// # Errors
/// Returns `conflict` if the path exists, and `bad-request` for a path where the backup would count as memory.
/// Otherwise returns the error of the operating system.
#[expect(clippy::disallowed_methods, reason = "the user chose this path")]
pub fn resolve(backups: &Backups, to: &Path) -> Result<PathBuf, RpcError> {
    let folder = to.parent().unwrap_or(Path::new("/"));
    let folder = folder
        .canonicalize()
        .map_err(|error| io_refusal("write the backup", to, &error))?;
    let path = folder.join(to.file_name().unwrap_or_default());
    // Such a backup would count as memory, and be part of every later backup.
    let (reason, hint) = if files::is_own(&backups.paths, &path) {
        let reason = "hippod keeps its own files there".to_owned();
        (reason, "choose another folder")
    } else if let Some(view) = backups.views.open().iter().find(|view| is_memory_of(&path, view)) {
        let reason = format!(
            "at this path, the backup would become a memory file of the workspace {}",
            view.root.display()
        );
        let hint = "choose a folder outside the workspace, or a folder of the workspace that hippod does not \
                    watch";
        (reason, hint)
    } else {
        return check_free(&path).map(|()| path);
    };
    Err(refusal(ErrorKind::BadRequest, &path, &reason).hint(hint))
}

/// Checks that nothing exists at a path.
///
/// # Errors
/// Returns `conflict` otherwise.
#[expect(clippy::disallowed_methods, reason = "the user chose this path")]
pub fn check_free(path: &Path) -> Result<(), RpcError> {
    match path.symlink_metadata() {
        Err(_) => Ok(()),
        Ok(found) => {
            let what = if found.is_dir() { "folder" } else { "file" };
            let reason = format!("the path is an existing {what}");
            Err(refusal(ErrorKind::Conflict, path, &reason).hint("give the path of a new file"))
        }
    }
}

fn refusal(kind: ErrorKind, path: &Path, reason: &str) -> RpcError {
    RpcError::new(
        kind,
        format!("could not write the backup: {}: {reason}", path.display()),
    )
}

fn is_memory_of(path: &Path, view: &WorkspaceView) -> bool {
    let Ok(inside) = path.strip_prefix(&view.root) else {
        return false;
    };
    let own = [OWN, INDEX_FILE, hippo_fs::harness::FILE];
    own.iter().any(|own| inside.starts_with(own)) || view.rules.is_source(&files::slashed(inside))
}
