//! Is this the only daemon over its state folder, and is its socket's path free and private?

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

/// The right to be the daemon; it ends with this value.
#[derive(Debug)]
pub struct Instance {
    /// Locked until the process ends, however it ends.
    _lock: File,
    socket: PathBuf,
    /// Our socket, once it is bound, where it is a file.
    bound: Mutex<Option<FileId>>,
}

/// Why this process cannot be the daemon.
#[derive(Debug, thiserror::Error)]
pub enum InstanceError {
    /// Another daemon has the state folder.
    #[error("another hippod{} has the state folder: {}", pid.map_or(String::new(), |pid| format!(" (process {pid})")), state.display())]
    Locked {
        /// The folder.
        state: PathBuf,
        /// The other's process id, where it can be read.
        pid: Option<u32>,
    },
    /// Somebody listens on the socket.
    #[error("another hippod answers at: {}", .0.display())]
    Answers(PathBuf),
    /// Something that is no socket stands in the socket's place, and is left alone.
    #[error("could not use the socket's path, it is taken by something else: {}", .0.display())]
    NotASocket(PathBuf),
    /// The operating system cannot bind so long a path.
    #[error("could not use the socket's path, it has {length} bytes and {LONGEST_PATH} are possible: {}", path.display())]
    TooLong {
        /// The path.
        path: PathBuf,
        /// Its bytes.
        length: usize,
    },
    /// Others may put files into the socket's folder.
    #[error("could not use the socket's folder, others may write to it: {}", .0.display())]
    Open(PathBuf),
    /// Another user owns a folder of hippod's.
    #[error("could not use the folder, it belongs to another user: {}", .0.display())]
    NotMine(PathBuf),
    /// The operating system refuses.
    #[error("could not {what}: {}", path.display())]
    Io {
        /// What was tried.
        what: &'static str,
        /// On which path.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
}

impl InstanceError {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Locked { .. } | Self::Answers(_) => {
                "hippoctl status tells about it, hippoctl service stop ends it or says how"
            }
            Self::NotASocket(_) => "move it away, or set HIPPOD_SOCKET to another path",
            Self::TooLong { .. } => "set HIPPOD_SOCKET to a shorter path",
            Self::Open(_) => {
                "set HIPPOD_SOCKET to a path in a folder of your own, or take the rights of others away"
            }
            Self::NotMine(_) => "set HIPPOD_HOME to a folder of your own, or run as its owner",
            Self::Io { .. } => "check the rights of the folder, and whether the disk is full",
        }
    }
}

impl Instance {
    /// Takes the lock, creates the folders (0700) and clears the socket's path. From here on the process creates
    /// files for its user alone (`umask` 077), so that the socket is at no moment open to others.
    ///
    /// # Errors
    /// See [`InstanceError`]. Nothing of another daemon is touched.
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

    /// The same where the service manager holds the socket: its path is left as it is.
    ///
    /// # Errors
    /// As [`Instance::claim`].
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

    /// Binds the socket, closed to others (0600). It is removed when this value goes.
    ///
    /// # Errors
    /// When the operating system refuses.
    pub fn listen(&self) -> Result<Listener, InstanceError> {
        let listener = socket::bind(&self.socket)?;
        *self.bound.lock().unwrap_or_else(PoisonError::into_inner) = socket::id(&self.socket);
        Ok(listener)
    }

    /// Binds the socket again where its file was removed: clients look for it at its path alone. `None` while it is
    /// there, and for a socket of the service manager.
    ///
    /// # Errors
    /// Something else is in its place, or the operating system refuses.
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
        // Another daemon may have bound the path after somebody removed ours.
        let now = socket::id(&self.socket);
        let bound = *self.bound.lock().unwrap_or_else(PoisonError::into_inner);
        if now.is_some() && now == bound {
            // A socket that stays behind is taken over by the next daemon.
            let _ = std::fs::remove_file(&self.socket);
        }
    }
}

/// Folders that belong to hippod and that others may look into: somebody has widened them since the start.
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

/// Closes a folder of hippod's to others.
///
/// # Errors
/// When the operating system refuses.
pub fn close_to_others(folder: &Path) -> Result<(), InstanceError> {
    own_folder(folder)
}

/// Whether the folder of the socket is hippod's own.
fn is_ours(parent: &Path, paths: &Paths) -> bool {
    parent == paths.state
        || paths.state.parent() == Some(parent)
        || parent.file_name().is_some_and(|name| name == "hippod")
}

/// Creates a folder that belongs to hippod, for its user alone.
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
    let metadata = folder.metadata().map_err(io("look at the folder"))?;
    if !system::is_mine(&metadata) {
        return Err(InstanceError::NotMine(folder.to_path_buf()));
    }
    if system::mode(&metadata) & 0o077 != 0 {
        system::set_mode(folder, PRIVATE_FOLDER).map_err(io("close the folder to others"))?;
    }
    Ok(())
}

/// Refuses a `HIPPOD_HOME` of another user, who could exchange what is in it.
#[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
fn check_owner(home: &Path) -> Result<(), InstanceError> {
    match home.metadata() {
        Ok(metadata) if !system::is_mine(&metadata) => Err(InstanceError::NotMine(home.to_path_buf())),
        _ => Ok(()),
    }
}

/// A folder that is not hippod's keeps its mode; but nobody else may be able to put a socket of his own into it.
#[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
fn check_foreign_folder(folder: &Path) -> Result<(), InstanceError> {
    const STICKY: u32 = 0o1000;
    let metadata = folder.metadata().map_err(|source| InstanceError::Io {
        what: "look at the folder",
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
            // The number is for people; without it the message still stands.
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
