//! Which paths of a workspace may have changed? Events are hints; comparing the disk is the truth.
//!
//! One thread a workspace. It sleeps until something happens, and looks at the root every ten seconds to notice that
//! it went (a disk that was unmounted sends no event).

mod backend;
mod dirty;
mod hear;
mod listener;
mod poll;
mod worker;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use hippo_fs::WorkspaceDir;

use crate::config::{PollMode, Watch};
use hear::Shared;
pub use listener::{HeldBack, Listener};
use worker::Worker;

/// The folder below a root that is hippod's own.
pub const OWN_FOLDER: &str = ".hippocampus";
/// The file in it whose changes prove that the watcher hears.
const CANARY: &str = "canary";

/// Receives what the watcher has to say, on its thread.
pub type Sink = Box<dyn Fn(WatchEvent) + Send>;

/// What the watcher says. The path is the root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WatchEvent {
    /// These files and folders may have changed, come or gone; absolute.
    Dirty(PathBuf, BTreeSet<PathBuf>),
    /// Anything may have changed.
    Rescan(PathBuf, RescanReason),
    /// The canary was seen: the watcher hears.
    CanarySeen(PathBuf),
    /// Nothing will be said any more: why.
    Dead(PathBuf, String),
}

impl WatchEvent {
    /// Whether it reports changes.
    pub fn is_report(&self) -> bool {
        matches!(self, Self::Dirty(..) | Self::Rescan(..))
    }

    /// Which workspace it concerns.
    pub fn root(&self) -> &Path {
        match self {
            Self::Dirty(root, _) | Self::Rescan(root, _) | Self::CanarySeen(root) | Self::Dead(root, _) => {
                root
            }
        }
    }
}

/// Why the disk must be compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RescanReason {
    /// The system dropped events.
    Overflow,
    /// More paths changed than are worth naming.
    TooMany,
    /// The system gives no more watches; the files are looked at from now on.
    WatchLimit,
    /// The system reported an error.
    Failed,
    /// The root is gone.
    RootGone,
    /// The root is there again, or is another folder than before.
    RootBack,
}

/// How changes are noticed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// The system tells.
    Notify,
    /// The files are looked at.
    Poll,
}

/// The watcher for `status` and `doctor`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WatchState {
    /// How changes are noticed.
    pub mode: Mode,
    /// Why not by the system's telling, or why not all folders are watched.
    pub reason: Option<String>,
    /// The last sign of life from the system.
    pub last_event: Option<Instant>,
    /// Folders watched.
    pub folders: usize,
}

/// What is watched, and how.
#[derive(Debug, Clone)]
struct WatchSpec {
    root: PathBuf,
    /// Whether to look instead of listening.
    poll: PollMode,
    /// Distance between two looks.
    poll_every: Duration,
    /// Changes are handed on when nothing more has come for this long.
    quiet: Duration,
    /// They are handed on after this long in any case.
    max_wait: Duration,
}

impl WatchSpec {
    fn new(root: &Path, watch: &Watch) -> Self {
        Self {
            root: root.to_path_buf(),
            poll: watch.poll,
            poll_every: Duration::from_secs(watch.poll_secs),
            quiet: Duration::from_millis(watch.quiet_ms),
            max_wait: Duration::from_millis(watch.max_wait_ms),
        }
    }
}

/// Why the watcher cannot be asked to prove that it hears.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CanaryError {
    /// The canary cannot be written, in a read-only workspace for instance. The watcher may hear all the same.
    #[error("could not write the canary: {0}")]
    Unprovable(String),
}

/// Why nothing can be watched.
#[derive(Debug, thiserror::Error)]
pub enum WatchError {
    /// The operating system gives no thread.
    #[error("could not start the watcher's thread")]
    Thread(#[source] std::io::Error),
    /// The operating system gives no watches, and looking is switched off (`watch.poll = "never"`).
    #[error("could not watch, and polling is switched off: {0}")]
    Unsupported(String),
}

/// A running watcher; it ends when this value goes.
#[derive(Debug)]
pub struct Watcher {
    root: PathBuf,
    shared: Arc<Shared>,
}

impl Watcher {
    /// Watches a canonical root as the configuration says; folders below it come with [`Watcher::set_dirs`].
    ///
    /// # Errors
    /// See [`WatchError`].
    pub fn start(root: &Path, watch: &Watch, sink: Sink) -> Result<Self, WatchError> {
        Self::start_as(WatchSpec::new(root, watch), sink)
    }

    fn start_as(spec: WatchSpec, sink: Sink) -> Result<Self, WatchError> {
        let root = spec.root.clone();
        let shared = Arc::new(Shared::new(&spec));
        let worker = Worker::new(spec, Arc::clone(&shared))?;
        std::thread::Builder::new()
            .name("watch".into())
            .spawn(move || worker.run(sink))
            .map_err(WatchError::Thread)?;
        Ok(Self { root, shared })
    }

    /// Watches exactly these folders and the root from now on. What changed in a new one during the last minute is
    /// reported, since that may have been between the look that found the folder and this call.
    pub fn set_dirs(&self, dirs: Vec<PathBuf>) {
        self.shared.ask(|inbox| inbox.dirs = Some(dirs));
    }

    /// Changes the canary; [`WatchEvent::CanarySeen`] follows from a watcher that hears.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write_canary(&self) -> Result<(), CanaryError> {
        let unprovable = |error: std::io::Error| CanaryError::Unprovable(error.to_string());
        // A root that is away cannot be opened, and is not created again.
        let folder = WorkspaceDir::open(&self.root).and_then(|root| root.make_folder(OWN_FOLDER));
        let written = folder.and_then(|folder| folder.overwrite(CANARY, b"hippod\n"));
        written.map_err(unprovable)?;
        // Written once more by the thread, after it has made sure that the folder is watched.
        self.shared.ask(|inbox| inbox.canary_asked = true);
        Ok(())
    }

    /// A handle for questions.
    pub fn listener(&self) -> Listener {
        Listener::new(Arc::clone(&self.shared))
    }

    /// How it is.
    pub fn state(&self) -> WatchState {
        self.shared.state()
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.shared.ask(|inbox| inbox.stop = true);
    }
}

#[cfg(test)]
mod tests;
