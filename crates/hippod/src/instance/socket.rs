//! Private Unix socket that never replaces a socket in use.

use std::io::ErrorKind;
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::UnixStream;
use std::path::Path;

use hippo_proto::paths::socket_name;
use hippo_store::system::{self, FileId, PRIVATE_FILE};
use interprocess::local_socket::ListenerOptions;
use interprocess::local_socket::tokio::Listener;
use rustix::fs::Mode;

use super::InstanceError;

/// Maximum length of a Unix socket path in bytes. Linux allows slightly longer paths than other systems.
pub(super) const LONGEST_PATH: usize = if cfg!(target_os = "linux") { 107 } else { 103 };

/// Sets the umask, so that only the user can access files that the process creates.
pub(super) fn restrict_umask() {
    rustix::process::umask(Mode::RWXG | Mode::RWXO);
}

/// Returns the folder that contains the socket.
pub(super) fn folder(socket: &Path) -> Option<&Path> {
    Some(socket.parent().unwrap_or(Path::new("/")))
}

/// Returns the identity of the file at the socket path.
#[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
pub(super) fn id(socket: &Path) -> Option<FileId> {
    let metadata = std::fs::symlink_metadata(socket).ok()?;
    FileId::of(socket, &metadata).ok()
}

/// Binds the socket.
pub(super) fn bind(socket: &Path) -> Result<Listener, InstanceError> {
    let io = |what| {
        move |source| InstanceError::Io {
            what,
            path: socket.to_path_buf(),
            source,
        }
    };
    let listener = ListenerOptions::new()
        .name(socket_name(socket).map_err(io("name the socket"))?)
        // The instance removes the socket, after checking that the file is still its own.
        .reclaim_name(false)
        .create_tokio()
        .map_err(io("bind the socket"))?;
    system::set_mode(socket, PRIVATE_FILE).map_err(io("restrict the permissions of the socket"))?;
    Ok(listener)
}

/// Clears the socket path: removes a socket on which no process listens.
#[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
pub(super) fn clear(socket: &Path) -> Result<(), InstanceError> {
    let io = |what| {
        move |source| InstanceError::Io {
            what,
            path: socket.to_path_buf(),
            source,
        }
    };
    let metadata = match std::fs::symlink_metadata(socket) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(io("inspect the socket")(error)),
    };
    if !metadata.file_type().is_socket() {
        return Err(InstanceError::NotASocket(socket.to_path_buf()));
    }
    match UnixStream::connect(socket) {
        Ok(_) => Err(InstanceError::Answers(socket.to_path_buf())),
        // A process is listening, but its connection queue is full.
        Err(error) if error.kind() == ErrorKind::WouldBlock => {
            Err(InstanceError::Answers(socket.to_path_buf()))
        }
        Err(error) if error.kind() == ErrorKind::ConnectionRefused => {
            std::fs::remove_file(socket).map_err(io("remove the old socket"))
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(io("determine which process listens on the socket")(error)),
    }
}
