//! Errors of backups and restores, with hints.

use std::io;
use std::path::Path;

use hippo_proto::{ErrorKind, RpcError};
use hippo_store::system::is_loop;
use hippo_text::text::clip;

/// Converts an I/O error for clients; `what` is the failed operation.
pub fn io_refusal(what: &str, path: &Path, error: &io::Error) -> RpcError {
    let message = format!("could not {what}: {}: {error}", path.display());
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            RpcError::internal(message)
                .hint("free some space, or choose another disk; the unfinished file was removed")
        }
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            RpcError::new(ErrorKind::ReadOnly, message)
                .hint("choose a path that you have permission to read and write")
        }
        io::ErrorKind::NotFound => {
            RpcError::not_found(message).hint("give the path of an existing file or folder")
        }
        io::ErrorKind::NotADirectory => RpcError::bad_request(message)
            .hint("this path is a file, but a folder is required: choose another path"),
        io::ErrorKind::IsADirectory => RpcError::bad_request(message)
            .hint("this path is a folder, but a file is required: choose another path"),
        io::ErrorKind::InvalidFilename => RpcError::bad_request(message)
            .hint("the path is too long, or its name is invalid on this disk: choose another path"),
        io::ErrorKind::AlreadyExists | io::ErrorKind::DirectoryNotEmpty => {
            RpcError::new(ErrorKind::Conflict, message)
                .hint("another program created this path in the meantime: choose another path")
        }
        _ if is_loop(error) => RpcError::bad_request(message)
            .hint("the symbolic links in this path form a loop: choose another path"),
        _ => RpcError::internal(message).hint("check the disk"),
    }
}

/// Maximum length of a reason in bytes; it is limited because parts of it may come from the file.
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
