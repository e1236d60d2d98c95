//! Did the service manager pass a socket, and may it be served?

use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use hippo_store::system::{self, PRIVATE_FILE};
use interprocess::local_socket::tokio::Listener;
use interprocess::os::unix::uds_local_socket as local_socket;
use listenfd::ListenFd;

use crate::instance::InstanceError;

/// How the socket is called where several are passed, with or without `.socket` at its end.
const NAME: &str = "hippod";
/// More descriptors than this are no service's.
const MOST: usize = 64;

/// A socket that listens, and that belongs to the service manager: its file is never removed by hippod.
#[derive(Debug)]
pub struct Passed {
    /// The socket.
    pub listener: UnixListener,
    /// Its path.
    pub path: PathBuf,
}

impl Passed {
    /// Serves it.
    ///
    /// # Errors
    /// When the operating system refuses.
    pub fn serve(self) -> Result<Listener, InstanceError> {
        let listener = local_socket::Listener::from(self.listener).try_into();
        listener
            .map(Listener::UdSocket)
            .map_err(|source| InstanceError::Io {
                what: "serve the socket that was passed",
                path: self.path,
                source,
            })
    }
}

/// Takes the socket that the service manager passed; nothing where none was passed to this process. To be called before
/// there are other threads: it takes variables out of the environment.
///
/// # Errors
/// What was passed is not one Unix socket of this user that listens at a path.
pub fn passed() -> Result<Option<Passed>> {
    let variable = |name| std::env::var(name).unwrap_or_default();
    // Variables that another process was meant to take, and handed on.
    if variable("LISTEN_PID").parse() != Ok(std::process::id()) {
        return Ok(None);
    }
    let count = match variable("LISTEN_FDS").parse() {
        Ok(0) => return Ok(None),
        Ok(count) if count <= MOST => count,
        _ => bail!(
            "could not take over a socket: LISTEN_FDS says no number from 0 to {MOST}\n\
             hint: start hippod by its socket unit, or without LISTEN_FDS"
        ),
    };
    let at = choose(count, &variable("LISTEN_FDNAMES")).with_context(|| {
        format!(
            "could not take over a socket: {count} were passed, and not one of them is called {NAME}\n\
             hint: pass one socket, or give it FileDescriptorName={NAME}"
        )
    })?;
    let wrong = "could not take over the socket that was passed: it must be a Unix socket that listens at a path\n\
                 hint: ListenStream= in the socket unit takes the path";
    let listener = ListenFd::from_env()
        .take_unix_listener(at)
        .context(wrong)?
        .context(wrong)?;
    // Apple's systems cannot tell, and pass no sockets in this way.
    #[cfg(target_os = "linux")]
    ensure!(
        rustix::net::sockopt::socket_acceptconn(&listener).unwrap_or(false),
        wrong
    );
    let address = listener.local_addr().context(wrong)?;
    let path = address.as_pathname().context(wrong)?.to_path_buf();
    keep_private(&path)?;
    Ok(Some(Passed { listener, path }))
}

/// Which of the sockets is meant.
fn choose(count: usize, names: &str) -> Option<usize> {
    let is_ours = |name: &str| name.strip_suffix(".socket").unwrap_or(name) == NAME;
    let mut ours = names
        .split(':')
        .take(count)
        .enumerate()
        .filter(|(_, name)| is_ours(name));
    match (ours.next(), ours.next()) {
        _ if count == 1 => Some(0),
        (Some((at, _)), None) => Some(at),
        _ => None,
    }
}

/// The socket is this user's, and closed to others, as one that hippod binds itself.
#[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
fn keep_private(path: &Path) -> Result<()> {
    let place = path.display();
    let metadata =
        std::fs::symlink_metadata(path).with_context(|| format!("could not look at the socket: {place}"))?;
    ensure!(
        metadata.file_type().is_socket() && metadata.uid() == rustix::process::geteuid().as_raw(),
        "could not use the socket that was passed, it is not this user's: {place}\n\
         hint: restart the socket unit, as the user that hippod runs as"
    );
    if metadata.mode() & 0o077 != 0 {
        tracing::warn!(socket = %place, "the socket was open to others and is closed now; SocketMode=0600 in its unit does that from the start");
        system::set_mode(path, PRIVATE_FILE)
            .with_context(|| format!("could not close the socket to others: {place}"))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_socket_is_it_and_of_several_the_one_with_the_name() {
        assert_eq!(choose(1, ""), Some(0));
        assert_eq!(choose(1, "other.socket"), Some(0));
        assert_eq!(choose(2, "other.socket:hippod.socket"), Some(1));
        assert_eq!(choose(2, "hippod:other"), Some(0));
        assert_eq!(choose(2, ""), None);
        assert_eq!(choose(2, "hippod:hippod.socket"), None);
        assert_eq!(
            choose(1, "other:hippod"),
            Some(0),
            "names beyond the count name nothing"
        );
    }

    #[test]
    fn a_socket_is_closed_to_others_and_anything_else_refused() {
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
                .contains("not this user's")
        );
        assert!(keep_private(&folder.path().join("none")).is_err());
    }
}
