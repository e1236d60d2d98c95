//! Single-instance lock and ownership of the socket path.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Read, Seek, Write};
use std::os::unix::fs::{DirBuilderExt as _, FileTypeExt, OpenOptionsExt as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use anyhow::{Error, Result, anyhow, bail};
use hippo_proto::Paths;
use hippo_proto::paths::{LOCK_FILE, socket_name};
use hippo_store::system::{self, FileId, PRIVATE_FILE, PRIVATE_FOLDER};
use interprocess::local_socket::ListenerOptions;
use interprocess::local_socket::tokio::Listener;
use parking_lot::Mutex;
use rustix::fs::Mode;

use crate::files::home;

/// Maximum length of a Unix socket path in bytes. Linux allows slightly longer paths than other systems.
const LONGEST_PATH: usize = if cfg!(target_os = "linux") { 107 } else { 103 };
/// Hint if another daemon is running.
const OTHER: &str = "hint: `hippoctl status` shows the running daemon; to stop it: hippoctl service stop";

/// Exclusive right to run as the daemon, released on drop.
#[derive(Debug)]
pub struct Instance {
    /// Lock file; the lock is held until the process ends for any reason.
    _lock: File,
    socket: PathBuf,
    /// Identity of this daemon's socket file, once it is bound.
    bound: Mutex<Option<FileId>>,
}

/// Returns a function that adds the failed operation, its path and a hint to an I/O error.
fn failed(what: &str, path: &Path) -> impl FnOnce(io::Error) -> Error {
    let message = format!("could not {what}: {}", path.display());
    move |source| {
        anyhow!(
            "{message}: {source}\nhint: check the permissions of the folder and the free space on its disk"
        )
    }
}

/// Returns the error for a socket on which another process listens.
fn answers(socket: &Path) -> Error {
    anyhow!("another hippod answers at: {}\n{OTHER}", socket.display())
}

impl Instance {
    /// Takes the lock, creates the folders (mode 0700) and clears the socket path. From then on, the process creates
    /// files that only its user can access (`umask` 077), so that other users never have access to the socket.
    ///
    /// # Errors
    /// Fails if another daemon runs, or if a folder or the socket path is not usable. The files of another daemon are
    /// left unchanged.
    pub fn claim(paths: &Paths) -> Result<Self> {
        let length = paths.socket.as_os_str().len();
        if length > LONGEST_PATH {
            bail!(
                "could not use the path of the socket, because it is {length} bytes long and the maximum is \
                 {LONGEST_PATH}: {}\nhint: set HIPPOD_SOCKET to a shorter path",
                paths.socket.display()
            );
        }
        let instance = Self::claim_beside(paths)?;
        clear(&paths.socket)?;
        Ok(instance)
    }

    /// Takes the lock for a daemon whose socket the service manager owns. The socket path is left unchanged.
    ///
    /// # Errors
    /// See [`Instance::claim`].
    #[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
    pub fn claim_beside(paths: &Paths) -> Result<Self> {
        rustix::process::umask(Mode::RWXG | Mode::RWXO);
        own_folder(&paths.state)?;
        home(paths).map_or(Ok(()), check_owner)?;
        let lock = lock(&paths.state)?;
        let parent = folder(&paths.socket);
        if is_ours(parent, paths) || !parent.exists() {
            own_folder(parent)?;
        } else {
            check_foreign_folder(parent)?;
        }
        Ok(Self {
            _lock: lock,
            socket: paths.socket.clone(),
            bound: Mutex::default(),
        })
    }

    /// Binds the socket, accessible only to its user (0600). The socket is removed on drop.
    ///
    /// # Errors
    /// Fails if the operating system refuses.
    pub fn listen(&self) -> Result<Listener> {
        let listener = bind(&self.socket)?;
        *self.bound.lock() = socket_id(&self.socket);
        Ok(listener)
    }

    /// Binds the socket again if its file was removed, because clients connect only through the path. Returns `None` if
    /// the file still exists, or if the socket belongs to the service manager.
    ///
    /// # Errors
    /// Fails if another file occupies the path, or if the operating system refuses.
    #[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
    pub fn listen_again(&self) -> Result<Option<Listener>> {
        let bound = *self.bound.lock();
        if bound.is_none() || socket_id(&self.socket) == bound {
            return Ok(None);
        }
        clear(&self.socket)?;
        let parent = folder(&self.socket);
        if !parent.exists() {
            own_folder(parent)?;
        } else if parent.is_dir() {
            check_foreign_folder(parent)?;
        }
        self.listen().map(Some)
    }
}

impl Drop for Instance {
    #[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
    fn drop(&mut self) {
        // Another daemon may have bound the path after this daemon's socket file was removed.
        let now = socket_id(&self.socket);
        let bound = *self.bound.lock();
        if now.is_some() && now == bound {
            // An error is ignored, because the next daemon takes over a leftover socket.
            let _ = std::fs::remove_file(&self.socket);
        }
    }
}

/// Returns those of hippod's folders that are accessible to other users, because their permissions were
/// widened since the start.
#[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
pub fn open_to_others(paths: &Paths) -> Vec<PathBuf> {
    let socket = paths.socket.parent().filter(|parent| is_ours(parent, paths));
    let mut folders = vec![paths.state.as_path()];
    folders.extend(socket.filter(|socket| *socket != paths.state));
    let open = |folder: &&Path| {
        let metadata = folder.metadata();
        metadata.is_ok_and(|metadata| system::mode(&metadata) & 0o077 != 0)
    };
    folders.into_iter().filter(open).map(Path::to_path_buf).collect()
}

/// Returns whether the socket's folder is one of hippod's own.
fn is_ours(parent: &Path, paths: &Paths) -> bool {
    parent == paths.state
        || paths.state.parent() == Some(parent)
        || parent.file_name().is_some_and(|name| name == "hippod")
}

/// Creates one of hippod's folders if it is missing, and restricts it to its user.
///
/// # Errors
/// Fails if the folder belongs to another user, or if the operating system refuses.
#[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
pub fn own_folder(folder: &Path) -> Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder
        .recursive(true)
        .mode(PRIVATE_FOLDER)
        .create(folder)
        .map_err(failed("create the folder", folder))?;
    let metadata = folder.metadata().map_err(failed("inspect the folder", folder))?;
    check_owner(folder)?;
    if system::mode(&metadata) & 0o077 != 0 {
        system::set_mode(folder, PRIVATE_FOLDER)
            .map_err(failed("restrict the permissions of the folder", folder))?;
    }
    Ok(())
}

/// Rejects a folder of another user, who could replace its content.
#[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
fn check_owner(folder: &Path) -> Result<()> {
    if folder
        .metadata()
        .is_ok_and(|metadata| !system::is_mine(&metadata))
    {
        bail!(
            "could not use the folder, because it belongs to another user: {}\nhint: set HIPPOD_HOME to a folder of \
             your own, or run hippod as the user who owns this folder",
            folder.display()
        );
    }
    Ok(())
}

/// Checks that other users cannot place a socket into a folder that is not hippod's. Its mode is left
/// unchanged.
#[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
fn check_foreign_folder(folder: &Path) -> Result<()> {
    const STICKY: u32 = 0o1000;
    let metadata = folder.metadata().map_err(failed("inspect the folder", folder))?;
    let mode = system::mode(&metadata);
    if mode & 0o022 != 0 && mode & STICKY == 0 {
        bail!(
            "could not use the folder of the socket, because other users may write to it: {}\nhint: set HIPPOD_SOCKET \
             to a path in a folder of your own, or remove the permissions of other users",
            folder.display()
        );
    }
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
fn lock(state: &Path) -> Result<File> {
    let path = state.join(LOCK_FILE);
    let mut options = OpenOptions::new();
    options
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(PRIVATE_FILE);
    let mut file = options.open(&path).map_err(failed("open the lock file", &path))?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let mut text = String::new();
            // The process id is only informational: if the file cannot be read, the error omits the id.
            let _ = file.read_to_string(&mut text);
            let pid = text.trim().parse::<u32>();
            let process = pid.map_or(String::new(), |pid| format!(" (process {pid})"));
            bail!(
                "another hippod{process} uses the state folder: {}\n{OTHER}",
                state.display()
            );
        }
        Err(TryLockError::Error(source)) => return Err(failed("lock", &path)(source)),
    }
    file.set_len(0)
        .and_then(|()| file.rewind())
        .and_then(|()| writeln!(file, "{}", std::process::id()))
        .map_err(failed("write the lock file", &path))?;
    Ok(file)
}

/// Returns the folder that contains the socket.
fn folder(socket: &Path) -> &Path {
    socket.parent().unwrap_or(Path::new("/"))
}

/// Returns the identity of the file at the socket path.
#[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
fn socket_id(socket: &Path) -> Option<FileId> {
    std::fs::symlink_metadata(socket)
        .ok()
        .map(|metadata| FileId::of(&metadata))
}

/// Binds the socket.
fn bind(socket: &Path) -> Result<Listener> {
    let listener = ListenerOptions::new()
        .name(socket_name(socket).map_err(failed("name the socket", socket))?)
        // The instance removes the socket, after checking that the file is still its own.
        .reclaim_name(false)
        .create_tokio()
        .map_err(failed("bind the socket", socket))?;
    system::set_mode(socket, PRIVATE_FILE)
        .map_err(failed("restrict the permissions of the socket", socket))?;
    Ok(listener)
}

/// Clears the socket path: removes a socket on which no process listens.
#[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
fn clear(socket: &Path) -> Result<()> {
    let metadata = match std::fs::symlink_metadata(socket) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(failed("inspect the socket", socket)(error)),
    };
    if !metadata.file_type().is_socket() {
        bail!(
            "could not use the path of the socket, because it is not a socket: {}\nhint: move that file elsewhere, or \
             set HIPPOD_SOCKET to another path",
            socket.display()
        );
    }
    match UnixStream::connect(socket) {
        Ok(_) => Err(answers(socket)),
        // A process is listening, but its connection queue is full.
        Err(error) if error.kind() == ErrorKind::WouldBlock => Err(answers(socket)),
        Err(error) if error.kind() == ErrorKind::ConnectionRefused => {
            std::fs::remove_file(socket).map_err(failed("remove the old socket", socket))
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(failed("determine which process listens on the socket", socket)(
            error,
        )),
    }
}

#[cfg(test)]
mod tests;
