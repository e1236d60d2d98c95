//! Single-instance lock and ownership of the socket path.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use hippo_proto::Paths;
use hippo_proto::paths::LOCK_FILE;
use hippo_store::system::{self, FileId, PRIVATE_FILE, PRIVATE_FOLDER, WithMode as _};
use interprocess::local_socket::tokio::Listener;

use crate::files::home;

#[cfg(windows)]
#[path = "instance/pipe.rs"]
mod socket;
#[cfg(unix)]
#[path = "instance/socket.rs"]
mod socket;

use socket::LONGEST_PATH;

/// Exclusive right to be the daemon, released on drop.
#[derive(Debug)]
pub struct Instance {
    /// Lock file; the lock is held until the process ends for any reason.
    _lock: File,
    socket: PathBuf,
    /// Identity of our socket file once it is bound.
    bound: Mutex<Option<FileId>>,
}

/// Reason why this process cannot be the daemon.
#[derive(Debug, thiserror::Error)]
pub enum InstanceError {
    /// Another daemon uses the state folder.
    #[error("another hippod{} uses the state folder: {}", pid.map_or(String::new(), |pid| format!(" (process {pid})")), state.display())]
    Locked {
        /// The state folder.
        state: PathBuf,
        /// Process id of the other daemon, if it can be read.
        pid: Option<u32>,
    },
    /// Another process listens on the socket.
    #[error("another hippod answers at: {}", .0.display())]
    Answers(PathBuf),
    /// The socket path is occupied by something other than a socket, which is left unchanged.
    #[error("could not use the path of the socket, because it is not a socket: {}", .0.display())]
    NotASocket(PathBuf),
    /// The path is too long for the operating system.
    #[error("could not use the path of the socket, because it is {length} bytes long and the maximum is \
        {LONGEST_PATH}: {}", path.display())]
    TooLong {
        /// The path.
        path: PathBuf,
        /// Length in bytes.
        length: usize,
    },
    /// Other users can create files in the socket's folder.
    #[error("could not use the folder of the socket, because other users may write to it: {}", .0.display())]
    Open(PathBuf),
    /// Another user owns one of hippod's folders.
    #[error("could not use the folder, because it belongs to another user: {}", .0.display())]
    NotMine(PathBuf),
    /// An I/O operation failed.
    #[error("could not {what}: {}", path.display())]
    Io {
        /// The operation that failed.
        what: &'static str,
        /// Path of the operation.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
}

impl InstanceError {
    /// Returns a suggestion for fixing the problem.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Locked { .. } | Self::Answers(_) => {
                "`hippoctl status` shows the running daemon; to stop it: hippoctl service stop"
            }
            Self::NotASocket(_) => "move that file elsewhere, or set HIPPOD_SOCKET to another path",
            Self::TooLong { .. } => "set HIPPOD_SOCKET to a shorter path",
            Self::Open(_) => {
                "set HIPPOD_SOCKET to a path in a folder of your own, or remove the permissions of other users"
            }
            Self::NotMine(_) => {
                "set HIPPOD_HOME to a folder of your own, or run hippod as the user who owns this folder"
            }
            Self::Io { .. } => "check the permissions of the folder and the free space on its disk",
        }
    }
}

impl Instance {
    /// Takes the lock, creates the folders (mode 0700) and clears the socket path. From then on, the process creates
    /// files that only its user can access (`umask` 077), so that other users never have access to the socket.
    ///
    /// # Errors
    /// See [`InstanceError`]. The files of another daemon are left unchanged.
    pub fn claim(paths: &Paths) -> Result<Self, InstanceError> {
        let length = paths.socket.as_os_str().len();
        if length > LONGEST_PATH {
            return Err(InstanceError::TooLong {
                path: paths.socket.clone(),
                length,
            });
        }
        let instance = Self::claim_beside(paths)?;
        socket::clear(&paths.socket)?;
        Ok(instance)
    }

    /// Takes the lock if the service manager owns the socket. The socket path is left unchanged.
    ///
    /// # Errors
    /// See [`Instance::claim`].
    #[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
    pub fn claim_beside(paths: &Paths) -> Result<Self, InstanceError> {
        socket::restrict_umask();
        own_folder(&paths.state)?;
        home(paths).map_or(Ok(()), check_owner)?;
        let lock = lock(&paths.state)?;
        if let Some(parent) = socket::folder(&paths.socket) {
            if is_ours(parent, paths) || !parent.exists() {
                own_folder(parent)?;
            } else {
                check_foreign_folder(parent)?;
            }
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
    pub fn listen(&self) -> Result<Listener, InstanceError> {
        let listener = socket::bind(&self.socket)?;
        *self.bound.lock().unwrap_or_else(PoisonError::into_inner) = socket::id(&self.socket);
        Ok(listener)
    }

    /// Binds the socket again if its file was removed, because clients connect only through the path. Returns `None` if
    /// the file still exists, or if the socket belongs to the service manager.
    ///
    /// # Errors
    /// Fails if another file occupies the path, or if the operating system refuses.
    #[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
    pub fn listen_again(&self) -> Result<Option<Listener>, InstanceError> {
        let bound = *self.bound.lock().unwrap_or_else(PoisonError::into_inner);
        if bound.is_none() || socket::id(&self.socket) == bound {
            return Ok(None);
        }
        socket::clear(&self.socket)?;
        if let Some(parent) = socket::folder(&self.socket) {
            if !parent.exists() {
                own_folder(parent)?;
            } else if parent.is_dir() {
                check_foreign_folder(parent)?;
            }
        }
        self.listen().map(Some)
    }
}

impl Drop for Instance {
    #[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
    fn drop(&mut self) {
        // Another daemon may have bound the path after our socket file was removed.
        let now = socket::id(&self.socket);
        let bound = *self.bound.lock().unwrap_or_else(PoisonError::into_inner);
        if now.is_some() && now == bound {
            // The next daemon takes over a leftover socket.
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

/// Restricts one of hippod's folders to its user.
///
/// # Errors
/// Fails if the operating system refuses.
pub fn close_to_others(folder: &Path) -> Result<(), InstanceError> {
    own_folder(folder)
}

/// Returns whether the socket's folder is one of hippod's own.
fn is_ours(parent: &Path, paths: &Paths) -> bool {
    parent == paths.state
        || paths.state.parent() == Some(parent)
        || parent.file_name().is_some_and(|name| name == "hippod")
}

/// Creates one of hippod's folders, accessible only to its user.
#[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
fn own_folder(folder: &Path) -> Result<(), InstanceError> {
    let io = |what| {
        move |source| InstanceError::Io {
            what,
            path: folder.to_path_buf(),
            source,
        }
    };
    let mut builder = std::fs::DirBuilder::new();
    builder
        .recursive(true)
        .with_mode(PRIVATE_FOLDER)
        .create(folder)
        .map_err(io("create the folder"))?;
    let metadata = folder.metadata().map_err(io("inspect the folder"))?;
    if !system::is_mine(&metadata) {
        return Err(InstanceError::NotMine(folder.to_path_buf()));
    }
    if system::mode(&metadata) & 0o077 != 0 {
        system::set_mode(folder, PRIVATE_FOLDER).map_err(io("restrict the permissions of the folder"))?;
    }
    Ok(())
}

/// Rejects a `HIPPOD_HOME` of another user, who could replace its content.
#[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
fn check_owner(home: &Path) -> Result<(), InstanceError> {
    match home.metadata() {
        Ok(metadata) if !system::is_mine(&metadata) => Err(InstanceError::NotMine(home.to_path_buf())),
        _ => Ok(()),
    }
}

/// Checks that other users cannot place a socket into a folder that is not hippod's. Its mode is left
/// unchanged.
#[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
fn check_foreign_folder(folder: &Path) -> Result<(), InstanceError> {
    const STICKY: u32 = 0o1000;
    let metadata = folder.metadata().map_err(|source| InstanceError::Io {
        what: "inspect the folder",
        path: folder.to_path_buf(),
        source,
    })?;
    let mode = system::mode(&metadata);
    if mode & 0o022 != 0 && mode & STICKY == 0 {
        return Err(InstanceError::Open(folder.to_path_buf()));
    }
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
fn lock(state: &Path) -> Result<File, InstanceError> {
    let path = state.join(LOCK_FILE);
    let io = |what| {
        let path = path.clone();
        move |source| InstanceError::Io { what, path, source }
    };
    let mut options = OpenOptions::new();
    options
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .with_mode(PRIVATE_FILE);
    let mut file = options.open(&path).map_err(io("open the lock file"))?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let mut text = String::new();
            // The process id is only informational: if the file cannot be read, the error omits the id.
            let _ = file.read_to_string(&mut text);
            return Err(InstanceError::Locked {
                state: state.to_path_buf(),
                pid: text.trim().parse().ok(),
            });
        }
        Err(TryLockError::Error(source)) => return Err(io("lock")(source)),
    }
    file.set_len(0)
        .and_then(|()| file.rewind())
        .and_then(|()| writeln!(file, "{}", std::process::id()))
        .map_err(io("write the lock file"))?;
    Ok(file)
}

#[cfg(all(test, unix))]
mod tests;
