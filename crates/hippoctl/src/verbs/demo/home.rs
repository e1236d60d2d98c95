//! Temporary folder of a demonstration: the example workspace, and the home of a daemon.

use std::fs;
use std::io;
#[cfg(unix)]
use std::os::unix::fs::symlink;
#[cfg(windows)]
use std::os::windows::fs::symlink_file as symlink;
use std::path::PathBuf;
use std::process::Child;
use std::sync::{Arc, Mutex, PoisonError};

use hippo_proto::Paths;
use tempfile::TempDir;

use crate::connect::{DaemonSession, absolute};
use crate::failure::{Exit, Failure};
use crate::launch;
use hippoctl::args::Global;

/// Returns the names and contents of files of the example workspace.
macro_rules! example {
    ($($name:literal,)*) => {
        [$(($name, include_str!(concat!("../../../../../examples/workspace/", $name)))),*]
    };
}

/// All files of the example workspace.
#[rustfmt::skip] // keep the list compact
pub const EXAMPLE: [(&str, &str); 38] = example![
    "AGENTS.md", "HEARTBEAT.md", "MEMORY.md", "SCRATCHPAD.md", "TASK-QUEUE.md", "TOOLS.md", "USER.md",
    "WORKING.md", "knowledge/deploy-runbook.md", "knowledge/incident-2026-03-15-disk-full.md",
    "knowledge/legal-data-processing.md", "knowledge/lora-radio-notes.md", "knowledge/postgres-tuning.md",
    "knowledge/sms-gateway-comparison.md", "memory/2026-03-02.md", "memory/2026-03-03.md",
    "memory/2026-03-04.md", "memory/2026-03-05.md", "memory/2026-03-06.md", "memory/2026-03-09.md",
    "memory/2026-03-10.md", "memory/2026-03-11.md", "memory/2026-03-12.md", "memory/2026-03-13.md",
    "memory/2026-03-15.md", "memory/2026-03-17.md", "memory/2026-03-18.md", "memory/2026-03-19.md",
    "memory/2026-03-23.md", "memory/2026-03-25.md", "memory/2026-03-27.md", "memory/2026-03-30.md",
    "plans/2026-q2-roadmap.md", "plans/sapporo-trip.md", "projects/heron-logger/PROJECT.md",
    "projects/heron-logger/field-notes-otterbach.md", "projects/homelab/PROJECT.md",
    "projects/riverwatch/PROJECT.md",
];

/// The temporary folder and the daemon in it. Both are removed when the value is dropped, and when the user interrupts
/// the program.
pub struct DemoHome {
    state: Arc<Mutex<DemoState>>,
    folder: PathBuf,
}

#[derive(Default)]
struct DemoState {
    folder: Option<TempDir>,
    daemon: Option<Child>,
}

impl DemoHome {
    /// Creates the folder with the example workspace, starts a daemon in it, and returns a session with the daemon. The
    /// daemon uses the installed model of the user, but no other file of the user.
    ///
    /// # Errors
    /// Fails if a file cannot be written, or if the daemon does not start.
    pub fn start(session: &DaemonSession) -> Result<(Self, DaemonSession), Failure> {
        let mut home = Self {
            state: Arc::default(),
            folder: PathBuf::new(),
        };
        let state = Arc::clone(&home.state);
        // The lock is held until the process exits. Therefore, the main thread reports no failure that results from
        // the removal.
        let handler = move || {
            let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
            let _ = state.close();
            std::process::exit(130);
        };
        ctrlc::set_handler(handler)
            .map_err(|error| Failure::new(Exit::Failed, format!("could not handle interrupts: {error}")))?;
        let own = home.prepare(&session.paths)?;
        Ok((home, own))
    }

    /// Creates the folder and starts the daemon. An interrupt takes effect afterwards, and removes both.
    fn prepare(&mut self, user: &Paths) -> Result<DaemonSession, Failure> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let folder = tempfile::Builder::new().prefix("hippod-demo-").tempdir();
        let folder = folder
            .map_err(|error| Failure::file("create a temporary folder", &std::env::temp_dir(), error))?;
        self.folder = absolute(folder.path())?;
        state.folder = Some(folder);
        let home = self.folder.join("home");
        let paths = Paths::below(&home);
        self.fill(user, &paths)
            .map_err(|error| Failure::file("prepare the folder", &self.folder, error))?;
        let (daemon, before) = launch::begin(&paths, Some(&home))?;
        launch::connect(state.daemon.insert(daemon), &paths, before)?;
        DaemonSession::new(Global {
            socket: Some(paths.socket),
            no_start: true,
            ..Global::default()
        })
    }

    /// Returns the folder of the example workspace.
    pub fn workspace(&self) -> PathBuf {
        self.folder.join("workspace")
    }

    /// Stops the daemon and removes the folder.
    ///
    /// # Errors
    /// Fails if the folder cannot be removed.
    pub fn close(self) -> Result<(), Failure> {
        let closed = self.state.lock().unwrap_or_else(PoisonError::into_inner).close();
        closed.map_err(|error| Failure::file("remove the folder", &self.folder, error))
    }

    /// Writes the example workspace, and links the files of the models and runtime libraries of the user. The folders
    /// of the files are not links, because the daemon writes into them. Hidden folders are left out, because they belong
    /// to an installation that is in progress.
    #[expect(clippy::disallowed_methods, reason = "hippod's own folders, and a new folder")]
    fn fill(&self, user: &Paths, own: &Paths) -> io::Result<()> {
        for (name, text) in EXAMPLE {
            let file = self.workspace().join(name);
            file.parent().map_or(Ok(()), fs::create_dir_all)?;
            fs::write(file, text)?;
        }
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
}

impl Drop for DemoHome {
    fn drop(&mut self) {
        // `close` reports errors. After another failure, only that failure is reported.
        let _ = self.state.lock().unwrap_or_else(PoisonError::into_inner).close();
    }
}

impl DemoState {
    /// Ends the daemon, and removes its folder. The daemon is killed, because all of its data is removed.
    fn close(&mut self) -> io::Result<()> {
        if let Some(mut daemon) = self.daemon.take() {
            let _ = daemon.kill();
            let _ = daemon.wait();
        }
        self.folder.take().map_or(Ok(()), TempDir::close)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::Path;

    use super::*;

    fn read(root: &Path, folder: &Path, found: &mut BTreeMap<String, String>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                read(root, &path, found);
            } else {
                let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
                found.insert(name, fs::read_to_string(&path).unwrap());
            }
        }
    }

    #[test]
    fn the_program_contains_each_file_of_the_example_workspace() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/workspace");
        let mut expected = BTreeMap::new();
        read(&root, &root, &mut expected);
        let embedded = EXAMPLE.map(|(name, text)| (name.to_owned(), text.to_owned()));
        assert_eq!(BTreeMap::from(embedded), expected);
    }
}
