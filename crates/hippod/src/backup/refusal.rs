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
                .hint("free some space, or choose another disk; nothing was left there")
        }
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            RpcError::new(ErrorKind::ReadOnly, message).hint("choose a place that you may read and write")
        }
        io::ErrorKind::NotFound => RpcError::not_found(message).hint("name a file and a folder that exist"),
        io::ErrorKind::NotADirectory => {
            RpcError::bad_request(message).hint("a file stands where a folder is named: choose another place")
        }
        io::ErrorKind::IsADirectory => {
            RpcError::bad_request(message).hint("a folder stands where a file is named: choose another place")
        }
        io::ErrorKind::InvalidFilename => RpcError::bad_request(message)
            .hint("the path is too long, or no name of this disk: choose another place"),
        io::ErrorKind::AlreadyExists | io::ErrorKind::DirectoryNotEmpty => {
            RpcError::new(ErrorKind::Conflict, message)
                .hint("something came there meanwhile: choose another place")
        }
        _ if is_loop(error) => {
            RpcError::bad_request(message).hint("links lead to each other there: choose another place")
        }
        _ => RpcError::internal(message).hint("look after the disk"),
    }
}

/// Maximum length of a reason in bytes, because parts may come from the file.
const LONGEST_REASON: usize = 1000;

/// Returns the error for an unusable backup file.
pub fn unusable(file: &Path, reason: &str) -> RpcError {
    let reason = clip(reason, LONGEST_REASON);
    RpcError::unusable_file(format!("could not use the backup: {}: {reason}", file.display()))
        .hint("nothing was touched; take another copy of it, or an earlier backup")
}

/// Returns the error for a member that differs from the manifest or is invalid.
pub fn damaged(file: &Path, member: &str, reason: &str) -> RpcError {
    let member = member.escape_debug().to_string();
    unusable(file, &format!("{}: {reason}", clip(&member, LONGEST_REASON / 2)))
}
