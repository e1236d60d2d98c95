//! Destination of a backup and its validation.

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use hippo_map::layout::INDEX_FILE;
use hippo_proto::{ErrorKind, RpcError};

use super::Backups;
use super::gather::OWN;
use super::manifest::why_not;
use super::refusal::io_refusal;
use crate::files;
use crate::view::WorkspaceView;

/// File extensions of other archive formats, which a backup file must not have.
const OTHERS: [&str; 13] = [
    ".tar", ".tgz", ".gz", ".txz", ".xz", ".tbz", ".tbz2", ".bz2", ".lz4", ".br", ".7z", ".zip", ".rar",
];

/// Destination of a backup, with the permission to replace a file.
pub struct Destination {
    /// Absolute path whose folder contains no links.
    pub path: PathBuf,
    force: bool,
}

impl Destination {
    /// Validates a destination.
    ///
    /// # Errors
    /// Returns `conflict` if the path exists and may not be replaced, and `bad-request` for the extension of another
    /// format or for a path where the backup would count as memory. Otherwise returns the error of the operating
    /// system.
    #[expect(clippy::disallowed_methods, reason = "the user chose this path")]
    pub fn of(backups: &Backups, to: &Path, force: bool) -> Result<Self, RpcError> {
        let name = to.file_name().unwrap_or_default();
        let low = name.to_string_lossy().to_lowercase();
        if OTHERS.iter().any(|end| low.ends_with(end)) {
            let text = format!(
                "could not write the backup: the extension belongs to another format: {}",
                to.display()
            );
            return Err(RpcError::bad_request(text).hint(
                "a backup is a tar archive compressed with zstd: choose a name that ends in .tar.zst",
            ));
        }
        let folder = to.parent().unwrap_or(Path::new("/"));
        let folder = folder
            .canonicalize()
            .map_err(|error| io_refusal("write the backup", to, &error))?;
        let found = Self {
            path: folder.join(name),
            force,
        };
        found.outside_of_memory(backups)?;
        found.free()?;
        Ok(found)
    }

    /// Checks that the path is free, or that its file may be replaced.
    ///
    /// # Errors
    /// Returns `conflict` otherwise.
    #[expect(clippy::disallowed_methods, reason = "the user chose this path")]
    pub fn free(&self) -> Result<(), RpcError> {
        let Ok(found) = self.path.symlink_metadata() else {
            return Ok(());
        };
        let (there, hint) = match found.is_dir() {
            true => (
                "the path is a folder",
                "give the path of a file in this folder; --force never replaces a folder",
            ),
            false if !found.is_file() => ("the path is not a regular file", "choose another name"),
            false if !self.force => (
                "the file exists",
                "choose another name, or replace the file with --force",
            ),
            false if !is_earlier(&self.path) => (
                "the existing file is not a backup",
                "choose another name; --force replaces only existing backups",
            ),
            false => return Ok(()),
        };
        Err(self.refusal(ErrorKind::Conflict, there).hint(hint))
    }

    fn refusal(&self, kind: ErrorKind, reason: &str) -> RpcError {
        let path = self.path.display();
        RpcError::new(kind, format!("could not write the backup: {path}: {reason}"))
    }

    /// Rejects a path where the backup would count as memory and be included in every later backup.
    fn outside_of_memory(&self, backups: &Backups) -> Result<(), RpcError> {
        if files::is_own(&backups.paths, &self.path) {
            return Err(self
                .refusal(ErrorKind::BadRequest, "hippod keeps its own files there")
                .hint("choose another folder"));
        }
        for view in backups.views.open() {
            if self.is_memory_of(&view) {
                let reason = format!(
                    "at this path, the backup would become a memory file of the workspace {}",
                    view.root.display()
                );
                return Err(self.refusal(ErrorKind::BadRequest, &reason).hint(
                    "choose a folder outside the workspace, or a folder of the workspace that hippod does \
                     not watch",
                ));
            }
        }
        Ok(())
    }

    fn is_memory_of(&self, view: &WorkspaceView) -> bool {
        let Ok(inside) = self.path.strip_prefix(&view.root) else {
            return false;
        };
        let own = [OWN, INDEX_FILE, hippo_fs::harness::FILE];
        if own.iter().any(|own| inside.starts_with(own)) {
            return true;
        }
        view.rules.is_source(&files::slashed(inside))
    }
}

/// Returns whether a file is empty or an earlier backup, judged by the first member of the archive. No other files are
/// replaced.
#[expect(clippy::disallowed_methods, reason = "the user chose this path")]
fn is_earlier(file: &Path) -> bool {
    let Ok(opened) = File::open(file) else {
        return false;
    };
    if opened.metadata().is_ok_and(|found| found.len() == 0) {
        return true;
    }
    let Ok(unpacked) = zstd::Decoder::new(BufReader::new(opened)) else {
        return false;
    };
    let mut archive = tar::Archive::new(unpacked);
    let first = archive.entries().ok().and_then(|mut entries| entries.next());
    first.is_some_and(|first| {
        first.is_ok_and(|first| {
            let name = first.path();
            name.is_ok_and(|name| name.to_str().is_some_and(|name| why_not(name).is_none()))
        })
    })
}
