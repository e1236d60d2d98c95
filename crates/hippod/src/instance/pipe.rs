//! How is a named pipe of Windows served, so that it is closed to others?

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

/// The longest path of the named pipe's place, in bytes.
pub(super) const LONGEST_PATH: usize = 240;

/// What is created takes the rights of the folder that it is in.
pub(super) fn restrict_umask() {}

/// A pipe is in no folder.
pub(super) fn folder(_: &Path) -> Option<&Path> {
    None
}

/// A pipe is no file, and goes with its process.
pub(super) fn id(_: &Path) -> Option<FileId> {
    None
}

/// Makes it.
pub(super) fn bind(socket: &Path) -> Result<Listener, InstanceError> {
    let io = |what| {
        move |source| InstanceError::Io {
            what,
            path: socket.to_path_buf(),
            source,
        }
    };
    // All rights to its owner, none to anybody else; nothing is taken over from above.
    let owner = SecurityDescriptor::deserialize(u16cstr!("D:P(A;;GA;;;OW)"));
    ListenerOptions::new()
        .name(socket_name(socket).map_err(io("name the pipe"))?)
        .security_descriptor(owner.map_err(io("close the pipe to others"))?)
        .create_tokio()
        .map_err(io("make the pipe"))
}

/// Finds out whether somebody serves it.
pub(super) fn clear(socket: &Path) -> Result<(), InstanceError> {
    let connected = socket_name(socket).and_then(Stream::connect);
    match connected {
        Ok(_) => Err(InstanceError::Answers(socket.to_path_buf())),
        Err(error) if is_free(&error) => Ok(()),
        Err(source) => Err(InstanceError::Io {
            what: "find out who serves the pipe",
            path: socket.to_path_buf(),
            source,
        }),
    }
}

fn is_free(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::ConnectionRefused)
}
