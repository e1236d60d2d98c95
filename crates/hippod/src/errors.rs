//! Errors for clients that several components return.

use std::path::Path;

use hippo_proto::{ErrorKind, RpcError};
use hippo_store::StoreError;

/// Refuses to add text to a file in UTF-16 or Windows-1252, because hippod writes UTF-8.
///
/// # Errors
/// Returns `bad-request` for an unusable file if the content is in one of these encodings.
pub fn require_utf8(path: &str, content: &[u8]) -> Result<(), RpcError> {
    let Some(encoding) = hippo_fs::foreign_encoding(content) else {
        return Ok(());
    };
    let what = format!("could not write into {path}: the file is in {encoding}");
    Err(RpcError::unusable_file(what).hint("save the file in UTF-8, then try again; nothing was written"))
}

/// Converts an error of the store into an error for clients.
pub fn store_error(error: &StoreError) -> RpcError {
    let refusal = RpcError::new(
        match error {
            StoreError::ReadOnly { .. } => ErrorKind::ReadOnly,
            _ if error.is_shortage() => ErrorKind::TooManyOpenFiles,
            _ => ErrorKind::Internal,
        },
        error.to_string(),
    );
    match error {
        StoreError::Corrupt { .. } | StoreError::OtherSchema { .. } => {
            refusal.hint(
            "`hippoctl doctor --rebuild` rebuilds the database from the files and keeps all accesses and \
             removals that can be read",
        )
        }
        _ if error.is_shortage() => refusal.hint(
            "raise the limit of open files (ulimit -n, LimitNOFILE), or remove workspaces; hippod then continues by \
             itself",
        ),
        StoreError::DiskFull { .. } => refusal.hint("free some space; hippod then writes the pending changes"),
        StoreError::ReadOnly { .. } => refusal.hint("make the state folder writable"),
        StoreError::Row { .. } => refusal.hint("everything else can be read; for details: hippoctl doctor"),
        StoreError::Io { .. } | StoreError::Sql { .. } | StoreError::TooManyOpenFiles { .. } => {
            refusal.hint("check the disk of the state folder; when the disk works again, hippod writes the \
                          pending changes")
        }
    }
}

/// Converts an owned error of the store into an error for clients.
pub fn refused(error: StoreError) -> RpcError {
    store_error(&error)
}

/// Returns the error for a workspace whose root is missing.
pub fn root_missing(root: &Path) -> RpcError {
    let what = format!("the workspace folder is missing or empty: {}", root.display());
    RpcError::new(ErrorKind::Warming, what).hint("mount its disk, or restore the folder; nothing was changed")
}

/// Returns the error for a task that panicked or was stopped at shutdown.
pub fn task_failed(error: tokio::task::JoinError) -> RpcError {
    tracing::error!(%error, "a request failed");
    RpcError::internal("the request failed inside the daemon").hint("for details: hippoctl service logs")
}

/// Returns the error for a disconnected client.
pub fn client_gone() -> RpcError {
    RpcError::internal("the client disconnected").hint("try again")
}

/// Returns the error for requests while the engine is stopping.
pub fn stopping() -> RpcError {
    RpcError::internal("the daemon is stopping").hint("start it again: hippoctl service start")
}
