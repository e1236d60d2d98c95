//! Socket activation by the service manager.

use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use hippo_store::system::{self, PRIVATE_FILE};
use interprocess::local_socket::tokio::Listener;
use interprocess::os::unix::uds_local_socket as local_socket;
use listenfd::ListenFd;

/// A listening socket that belongs to the service manager. hippod never removes its file.
#[derive(Debug)]
pub struct PassedSocket {
    /// The socket.
    pub listener: UnixListener,
    /// Path of the socket.
    pub path: PathBuf,
}

impl PassedSocket {
    /// Converts the socket into a listener.
    ///
    /// # Errors
    /// Fails if the operating system refuses.
    pub fn serve(self) -> Result<Listener> {
        let listener = local_socket::Listener::from(self.listener).try_into();
        listener.map(Listener::UdSocket).with_context(|| {
            format!(
                "could not use the socket that the service manager passed: {}",
                self.path.display()
            )
        })
    }
}

/// Takes the socket that the service manager passed, if there is one. Must be called before other threads exist,
/// because it removes variables from the environment.
///
/// # Errors
/// Fails if the service manager passed more than one socket, or one that is not a Unix socket of this user that
/// listens at a path.
pub fn passed() -> Result<Option<PassedSocket>> {
    let variable = |name| std::env::var(name).unwrap_or_default();
    // Variables for another process may have been inherited.
    if variable("LISTEN_PID").parse() != Ok(std::process::id()) {
        return Ok(None);
    }
    match variable("LISTEN_FDS").as_str() {
        "0" => return Ok(None),
        "1" => {}
        _ => bail!(
            "could not use the sockets from the service manager: LISTEN_FDS is not 0 or 1\nhint: start hippod by its \
             socket unit, or without LISTEN_FDS"
        ),
    }
    let wrong = "could not use the socket from the service manager: it must be a Unix socket that listens at \
                 a path\nhint: set the path with ListenStream= in the socket unit";
    let listener = ListenFd::from_env()
        .take_unix_listener(0)
        .context(wrong)?
        .context(wrong)?;
    // macOS cannot report whether a socket is listening, and passes no sockets in this way.
    #[cfg(target_os = "linux")]
    ensure!(
        rustix::net::sockopt::socket_acceptconn(&listener).unwrap_or(false),
        wrong
    );
    let address = listener.local_addr().context(wrong)?;
    let path = address.as_pathname().context(wrong)?.to_path_buf();
    keep_private(&path)?;
    Ok(Some(PassedSocket { listener, path }))
}

/// Checks that the socket belongs to this user, and restricts its permissions to those of a socket that hippod binds
/// itself.
#[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
fn keep_private(path: &Path) -> Result<()> {
    let place = path.display();
    let metadata =
        std::fs::symlink_metadata(path).with_context(|| format!("could not inspect the socket: {place}"))?;
    ensure!(
        metadata.file_type().is_socket() && metadata.uid() == rustix::process::geteuid().as_raw(),
        "could not use the socket from the service manager, because it belongs to another user: \
         {place}\nhint: restart the socket unit as the user that runs hippod"
    );
    if metadata.mode() & 0o077 != 0 {
        tracing::warn!(socket = %place, "removed the permissions of other users from the socket; set SocketMode=0600 in its unit");
        system::set_mode(path, PRIVATE_FILE).with_context(|| {
            format!("could not remove the permissions of other users from the socket: {place}")
        })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_passed_socket_is_made_private_and_other_files_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let _listener = UnixListener::bind(&path).unwrap();
        system::set_mode(&path, 0o666).unwrap();
        keep_private(&path).unwrap();
        assert_eq!(path.metadata().unwrap().mode() & 0o777, 0o600);
        let file = folder.path().join("file");
        std::fs::write(&file, "").unwrap();
        assert!(
            keep_private(&file)
                .unwrap_err()
                .to_string()
                .contains("belongs to another user")
        );
        assert!(keep_private(&folder.path().join("none")).is_err());
    }
}
