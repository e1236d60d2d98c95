//! Temporary folder with a daemon of its own.

use std::fs;
use std::io;
#[cfg(unix)]
use std::os::unix::fs::symlink;
#[cfg(windows)]
use std::os::windows::fs::symlink_file as symlink;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hippo_proto::Paths;
use tempfile::TempDir;

use crate::connect::{DaemonSession, absolute};
use crate::failure::{Exit, Failure};
use crate::launch;
use hippoctl::args::Global;

/// A temporary folder, and the daemon in it, if one runs. Both are removed when the value is dropped, and when the user
/// interrupts the program.
pub struct OwnDaemon {
    state: Arc<Mutex<OwnState>>,
    folder: PathBuf,
}

#[derive(Default)]
struct OwnState {
    folder: Option<TempDir>,
    daemon: Option<Child>,
}

impl OwnDaemon {
    /// Creates the folder. Its name begins with `prefix`. A process can create only one, because the value handles the
    /// interrupts of the process.
    ///
    /// # Errors
    /// Fails if the folder cannot be created.
    pub fn create(prefix: &str) -> Result<Self, Failure> {
        let state: Arc<Mutex<OwnState>> = Arc::default();
        let handled = Arc::clone(&state);
        // The lock is held until the process exits. Therefore, the main thread reports no failure that results from
        // the removal.
        let handler = move || {
            let mut state = handled.lock().unwrap_or_else(PoisonError::into_inner);
            let _ = state.close();
            std::process::exit(130);
        };
        ctrlc::set_handler(handler)
            .map_err(|error| Failure::new(Exit::Failed, format!("could not handle interrupts: {error}")))?;
        let mut created = state.lock().unwrap_or_else(PoisonError::into_inner);
        let folder = tempfile::Builder::new().prefix(prefix).tempdir();
        let folder = folder
            .map_err(|error| Failure::file("create a temporary folder", &std::env::temp_dir(), error))?;
        let path = absolute(folder.path())?;
        created.folder = Some(folder);
        drop(created);
        Ok(Self { state, folder: path })
    }

    /// Returns the temporary folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Starts a daemon, and returns a session with the daemon. The previous daemon is killed.
    ///
    /// The daemon keeps its files in the folder `home` below the temporary folder, and uses the installed models of the
    /// user, but no other file of the user. `settings` are environment variables. `prepare` writes files before the
    /// start; an interrupt takes effect afterwards.
    ///
    /// # Errors
    /// Fails if a file cannot be written, or if the daemon does not start.
    pub fn start(
        &self,
        user: &Paths,
        home: &str,
        settings: &[(&str, &str)],
        global: Global,
        prepare: impl FnOnce(&Paths) -> io::Result<()>,
    ) -> Result<DaemonSession, Failure> {
        let mut state = self.lock();
        state.kill();
        let home = self.folder.join(home);
        let paths = Paths::below(&home);
        link_models(user, &paths)
            .and_then(|()| prepare(&paths))
            .map_err(|error| Failure::file("prepare the folder", &self.folder, error))?;
        let (daemon, before) = launch::begin(&paths, Some((&home, settings)))?;
        launch::connect(state.daemon.insert(daemon), &paths, before)?;
        DaemonSession::new(Global {
            socket: Some(paths.socket),
            no_start: true,
            ..global
        })
    }

    /// Stops the daemon and removes the folder.
    ///
    /// # Errors
    /// Fails if the folder cannot be removed.
    pub fn close(self) -> Result<(), Failure> {
        let closed = self.lock().close();
        closed.map_err(|error| Failure::file("remove the folder", &self.folder, error))
    }

    fn lock(&self) -> MutexGuard<'_, OwnState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Links the files of the models and runtime libraries of the user. The folders of the files are not links, because the
/// daemon writes into them. Hidden folders are left out, because they belong to an installation that is in progress.
#[expect(clippy::disallowed_methods, reason = "hippod's own folders")]
fn link_models(user: &Paths, own: &Paths) -> io::Result<()> {
    for (from, to) in [(&user.models, &own.models), (&user.runtime, &own.runtime)] {
        for folder in fs::read_dir(from).into_iter().flatten() {
            let name = folder?.file_name();
            if name.to_string_lossy().starts_with('.') {
                continue;
            }
            fs::create_dir_all(to.join(&name))?;
            for file in fs::read_dir(from.join(&name)).into_iter().flatten() {
                let file = file?;
                symlink(file.path(), to.join(&name).join(file.file_name()))?;
            }
        }
    }
    Ok(())
}

impl Drop for OwnDaemon {
    fn drop(&mut self) {
        // `close` reports errors. After another failure, only that failure is reported.
        let _ = self.lock().close();
    }
}

impl OwnState {
    /// Ends the daemon, and removes its folder.
    fn close(&mut self) -> io::Result<()> {
        self.kill();
        self.folder.take().map_or(Ok(()), TempDir::close)
    }

    /// Kills the daemon, because all of its data is removed.
    fn kill(&mut self) {
        if let Some(mut daemon) = self.daemon.take() {
            let _ = daemon.kill();
            let _ = daemon.wait();
        }
    }
}
