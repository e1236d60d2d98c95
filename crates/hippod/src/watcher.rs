//! File watcher of a workspace.
//!
//! The watcher reports paths that may have changed. It may miss changes, so hippod also compares the disk with the
//! index regularly. Each workspace has one watcher thread, which sleeps until an event arrives. Every ten seconds, the
//! thread checks that the root exists, because no event reports that a disk was unmounted.

mod backend;
mod dirty;
mod hear;
mod listener;
mod poll;
mod worker;

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use hippo_fs::WorkspaceDir;
use hippo_proto::WatcherMode;

use crate::config::{PollMode, WatchConfig};
use hear::WatchShared;
pub use listener::{Listener, UnreportedChanges};
use worker::WatchThread;

/// Name of hippod's own folder in a workspace.
pub const OWN_FOLDER: &str = ".hippocampus";
/// Name of the test file in hippod's own folder. hippod writes it, and the event for the write proves that the watcher
/// works.
const CANARY: &str = "canary";

/// Maximum delay of a report if changes keep arriving. A longer quiet period replaces this value.
const MAX_WAIT: Duration = Duration::from_secs(2);

/// Callback that receives the events of a watcher. It runs on the watcher's thread.
pub type WatchSink = Box<dyn Fn(WatchEvent) + Send>;

/// Event from the watcher.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WatchEvent {
    /// Absolute paths of files and folders that may have been changed, created or removed.
    Dirty(BTreeSet<PathBuf>),
    /// Any path may have changed. The string is the reason.
    Rescan(&'static str),
    /// The watcher received the event for the canary, so it works.
    CanarySeen,
    /// The watcher has ended and sends no more events. The string is the cause.
    Dead(String),
}

impl WatchEvent {
    /// Returns whether the event reports changes of files.
    pub fn is_report(&self) -> bool {
        matches!(self, Self::Dirty(..) | Self::Rescan(..))
    }
}

/// State of the watcher for `status` and `doctor`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WatchState {
    /// Method by which the watcher detects changes.
    pub mode: WatcherMode,
    /// Reason why the watcher polls, or why some folders are not watched.
    pub reason: Option<String>,
    /// Time of the last event from the operating system.
    pub last_event: Option<Instant>,
    /// Number of watched folders.
    pub folders: usize,
}

/// Parameters of a watcher.
#[derive(Debug, Clone)]
struct WatchSpec {
    root: PathBuf,
    /// Choice between polling always and polling only if the operating system cannot report events.
    poll: PollMode,
    /// Interval between two polls.
    poll_every: Duration,
    /// Quiet period: changes are reported when no other change has arrived for this time.
    quiet: Duration,
    /// Maximum delay of a report if changes keep arriving.
    max_wait: Duration,
}

/// A running watcher. It stops when the value is dropped.
#[derive(Debug)]
pub struct Watcher {
    root: PathBuf,
    shared: Arc<WatchShared>,
}

impl Watcher {
    /// Starts a watcher for a root folder. `root` is canonical. [`Watcher::set_dirs`] sets the folders below the root
    /// that are watched as well.
    ///
    /// # Errors
    /// Fails if the operating system cannot start a thread.
    pub fn start(root: &Path, watch: &WatchConfig, sink: WatchSink) -> io::Result<Self> {
        let quiet = Duration::from_millis(watch.quiet_ms);
        let spec = WatchSpec {
            root: root.to_path_buf(),
            poll: watch.poll,
            poll_every: Duration::from_secs(watch.poll_secs),
            quiet,
            max_wait: MAX_WAIT.max(quiet),
        };
        Self::start_as(spec, sink)
    }

    fn start_as(spec: WatchSpec, sink: WatchSink) -> io::Result<Self> {
        let root = spec.root.clone();
        let shared = Arc::new(WatchShared::new(&spec));
        let worker = WatchThread::new(spec, Arc::clone(&shared));
        std::thread::Builder::new()
            .name("watch".into())
            .spawn(move || worker.run(sink))?;
        Ok(Self { root, shared })
    }

    /// Sets the folders that are watched in addition to the root. When a folder is new, its changes of the last minute
    /// are reported, because the scan that found the folder may have missed them.
    pub fn set_dirs(&self, dirs: Vec<PathBuf>) {
        self.shared.ask(|turn| turn.dirs = Some(dirs));
    }

    /// Writes the canary. A working watcher responds with [`WatchEvent::CanarySeen`].
    ///
    /// # Errors
    /// Fails if the file cannot be written, for instance because the workspace is read-only. The watcher may still
    /// work.
    pub fn write_canary(&self) -> io::Result<()> {
        // This fails if the root is missing, so that the root is not created again.
        let folder = WorkspaceDir::open(&self.root).and_then(|root| root.make_folder(OWN_FOLDER));
        folder.and_then(|folder| folder.overwrite(CANARY, b"hippod\n"))?;
        // The folder may not be watched yet. The watcher's thread first watches it and then writes the canary again.
        self.shared.ask(|turn| turn.canary_asked = true);
        Ok(())
    }

    /// Returns a handle with which queries access the watcher.
    pub fn listener(&self) -> Listener {
        Listener {
            shared: Arc::clone(&self.shared),
        }
    }

    /// Returns the state of the watcher.
    pub fn state(&self) -> WatchState {
        self.shared.with(|inbox| inbox.state.clone())
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.shared.ask(|turn| turn.stop = true);
    }
}

#[cfg(test)]
mod tests;
