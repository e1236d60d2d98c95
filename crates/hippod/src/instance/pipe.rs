//! Private named pipe on Windows.

use std::io::{Error, ErrorKind};
use std::path::Path;

use hippo_proto::paths::socket_name;
use hippo_store::system::FileId;
use interprocess::local_socket::tokio::Listener;
use interprocess::local_socket::traits::Stream as _;
use interprocess::local_socket::{ListenerOptions, Stream};
use interprocess::os::windows::local_socket::ListenerOptionsExt;
use interprocess::os::windows::security_descriptor::SecurityDescriptor;
use widestring::u16cstr;

use super::InstanceError;

/// Maximum length of the pipe's path in bytes.
pub(super) const LONGEST_PATH: usize = 240;

/// Does nothing: new files inherit the permissions of their folder.
pub(super) fn restrict_umask() {}

/// Returns `None`, because a pipe is not in a folder.
pub(super) fn folder(_: &Path) -> Option<&Path> {
    None
}

/// Returns `None`, because a pipe is not a file and ends with its process.
pub(super) fn id(_: &Path) -> Option<FileId> {
    None
}

/// Creates the pipe.
pub(super) fn bind(socket: &Path) -> Result<Listener, InstanceError> {
    let io = |what| {
        move |source| InstanceError::Io {
            what,
            path: socket.to_path_buf(),
            source,
        }
    };
    // Full access for the owner, none for others, without inherited permissions.
    let owner = SecurityDescriptor::deserialize(u16cstr!("D:P(A;;GA;;;OW)"));
    ListenerOptions::new()
        .name(socket_name(socket).map_err(io("name the pipe"))?)
        .security_descriptor(owner.map_err(io("restrict the permissions of the pipe"))?)
        .create_tokio()
        .map_err(io("create the pipe"))
}

/// Checks that no other process serves the pipe.
pub(super) fn clear(socket: &Path) -> Result<(), InstanceError> {
    let connected = socket_name(socket).and_then(Stream::connect);
    match connected {
        Ok(_) => Err(InstanceError::Answers(socket.to_path_buf())),
        Err(error) if is_free(&error) => Ok(()),
        Err(source) => Err(InstanceError::Io {
            what: "determine which process serves the pipe",
            path: socket.to_path_buf(),
            source,
        }),
    }
}

fn is_free(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::ConnectionRefused)
}
