//! Errors of backups and restores, with hints.

use std::io;
use std::path::Path;

use hippo_proto::{ErrorKind, RpcError};
use hippo_store::StoreError;
use hippo_store::system::is_loop;
use hippo_text::text::clip;

use crate::errors::store_error;

/// Converts an I/O error for clients; `what` is the failed operation.
pub fn io_refusal(what: &str, path: &Path, error: &io::Error) -> RpcError {
    let message = format!("could not {what}: {}: {error}", path.display());
    use io::ErrorKind as Io;
    let (kind, hint) = match error.kind() {
        Io::StorageFull | Io::QuotaExceeded | Io::FileTooLarge => (
            ErrorKind::Internal,
            "free some space, or choose another disk; the unfinished file was removed",
        ),
        Io::PermissionDenied | Io::ReadOnlyFilesystem => (
            ErrorKind::ReadOnly,
            "choose a path that you have permission to read and write",
        ),
        Io::NotFound => (ErrorKind::NotFound, "give the path of an existing file or folder"),
        Io::AlreadyExists | Io::DirectoryNotEmpty => (
            ErrorKind::Conflict,
            "another program created this path in the meantime: choose another path",
        ),
        Io::NotADirectory | Io::IsADirectory | Io::InvalidFilename => {
            (ErrorKind::BadRequest, "choose another path")
        }
        _ if is_loop(error) => (ErrorKind::BadRequest, "choose another path"),
        _ => (ErrorKind::Internal, "check the disk that contains this path"),
    };
    RpcError::new(kind, message).hint(hint)
}

/// Maximum length of a reason in bytes; it is limited because the file may supply parts of the reason.
const LONGEST_REASON: usize = 1000;

/// Returns the error for an unusable backup file.
pub fn unusable(file: &Path, reason: &str) -> RpcError {
    let reason = clip(reason, LONGEST_REASON);
    RpcError::unusable_file(format!("could not use the backup: {}: {reason}", file.display()))
        .hint("nothing was changed; use another copy, or an earlier backup")
}

/// Returns the error for a member that differs from the manifest or is invalid.
pub fn damaged(file: &Path, member: &str, reason: &str) -> RpcError {
    let member = member.escape_debug().to_string();
    unusable(file, &format!("{}: {reason}", clip(&member, LONGEST_REASON / 2)))
}

/// Converts an error of copying or checking a database. If the disk of the copy is full, the database is not reported as
/// damaged.
pub fn copy_refusal(error: &StoreError) -> RpcError {
    match error {
        StoreError::Io { what, path, source } => io_refusal(what, path, source),
        StoreError::DiskFull { path } => RpcError::internal(format!(
            "could not copy the database: no space left for {}",
            path.display()
        ))
        .hint("free some space, or choose another disk; the unfinished files were removed"),
        other => store_error(other),
    }
}
