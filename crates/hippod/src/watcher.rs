//! File watcher that reports possibly changed paths of a workspace.
//!
//! Events are only hints; the comparison of the disk with the index is authoritative. Each workspace has one watcher
//! thread, which sleeps until an event arrives. Every ten seconds it also checks that the root exists, because an
//! unmounted disk sends no event.

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

/// hippod's own folder below a root.
pub const OWN_FOLDER: &str = ".hippocampus";
/// Name of a file in that folder; an event for it proves that the watcher receives events.
const CANARY: &str = "canary";

/// Maximum delay of a report, even while changes keep arriving, unless the quiet period is longer.
const MAX_WAIT: Duration = Duration::from_secs(2);

/// Callback for watcher events, invoked on the watcher's thread.
pub type WatchSink = Box<dyn Fn(WatchEvent) + Send>;

/// Event from the watcher.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WatchEvent {
    /// Files and folders that may have been changed, created or removed; absolute paths.
    Dirty(BTreeSet<PathBuf>),
    /// Any path may have changed; the string is the reason.
    Rescan(&'static str),
    /// The canary event was received: the watcher works.
    CanarySeen,
    /// The watcher ended and sends no more reports; the string is the cause.
    Dead(String),
}

impl WatchEvent {
    /// Returns whether the event reports changes.
    pub fn is_report(&self) -> bool {
        matches!(self, Self::Dirty(..) | Self::Rescan(..))
    }
}

/// State of the watcher for `status` and `doctor`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WatchState {
    /// Method of detecting changes.
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
    /// Polling instead of events: automatic or always.
    poll: PollMode,
    /// Polling interval.
    poll_every: Duration,
    /// Quiet period: changes are reported once no other change arrived for this long.
    quiet: Duration,
    /// Maximum delay of a report, even while changes keep arriving.
    max_wait: Duration,
}

/// A running watcher, stopped on drop.
#[derive(Debug)]
pub struct Watcher {
    root: PathBuf,
    shared: Arc<WatchShared>,
}

impl Watcher {
    /// Starts watching a canonical root with the configured parameters. Folders below it are added with
    /// [`Watcher::set_dirs`].
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

    /// Sets the folders to watch in addition to the root. Changes made within the last minute in a newly watched folder
    /// are reported, because they may have happened between the scan that found the folder and this call.
    pub fn set_dirs(&self, dirs: Vec<PathBuf>) {
        self.shared.ask(|turn| turn.dirs = Some(dirs));
    }

    /// Writes the canary. A working watcher responds with [`WatchEvent::CanarySeen`].
    ///
    /// # Errors
    /// Fails if the file cannot be written, for instance because the workspace is read-only. The watcher may still
    /// work.
    pub fn write_canary(&self) -> io::Result<()> {
        // If the root is missing, opening it fails, so it is not created again.
        let folder = WorkspaceDir::open(&self.root).and_then(|root| root.make_folder(OWN_FOLDER));
        folder.and_then(|folder| folder.overwrite(CANARY, b"hippod\n"))?;
        // The thread writes the canary once more after ensuring that the folder is watched.
        self.shared.ask(|turn| turn.canary_asked = true);
        Ok(())
    }

    /// Returns a handle for queries.
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
