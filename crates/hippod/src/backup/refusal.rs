//! Why is a backup or a restore refused, and what is to be done?

use std::io;
use std::path::Path;

use hippo_proto::{ErrorKind, RpcError};

/// An error of the system as clients see it: what was tried, on which path.
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
        _ => RpcError::internal(message).hint("look after the disk"),
    }
}

/// The file is no backup that can be used.
pub fn unusable(file: &Path, reason: &str) -> RpcError {
    RpcError::bad_request(format!("could not use the backup: {}: {reason}", file.display()))
        .hint("nothing was touched; take another copy of it, or an earlier backup")
}

/// One member is not as the manifest says, or cannot be.
pub fn damaged(file: &Path, member: &str, reason: &str) -> RpcError {
    unusable(file, &format!("{}: {reason}", member.escape_debug()))
}
