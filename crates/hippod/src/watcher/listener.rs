//! Access of queries to the pending changes of the watcher.

use std::fs::File;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::WatchEvent;
use super::hear::WatchShared;
use hippo_proto::WatcherMode;

/// Maximum wait until the operating system reports an earlier change.
const PATIENCE: Duration = Duration::from_millis(100);

/// Handle to a running watcher.
#[derive(Debug, Clone)]
pub struct Listener {
    pub(super) shared: Arc<WatchShared>,
}

/// Changes that the watcher has not reported yet.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct UnreportedChanges {
    /// Number of changes; a pending rescan counts as one.
    pub count: usize,
    /// Time at which the oldest change was received.
    pub since: Option<Instant>,
}

impl Listener {
    /// Waits until the watcher has received every change made before this call. Returns `false` on a timeout.
    ///
    /// The operating system reports events in order. Opening the root folder also causes an event, and the arrival of
    /// that event proves that all earlier events have arrived. Only Linux reports it; on other systems, and with
    /// polling, this function returns immediately.
    #[expect(clippy::disallowed_methods, reason = "reads only names and times of files")]
    pub fn catch_up(&self) -> bool {
        if !cfg!(target_os = "linux") || self.shared.with(|inbox| inbox.state.mode) == WatcherMode::Poll {
            return true;
        }
        let before = self.shared.with(|inbox| inbox.root_openings);
        if File::open(&self.shared.root).is_err() {
            // A missing root produces no events.
            return true;
        }
        self.shared
            .wait_until(PATIENCE, |inbox| inbox.root_openings != before)
    }

    /// Takes the pending changes, in the form of the event that the watcher would have sent later.
    pub fn take(&self) -> Option<WatchEvent> {
        // The thread may have taken a batch that the engine has not received yet.
        self.shared.wait_until(PATIENCE, |inbox| !inbox.handing_over);
        self.shared.with(|inbox| inbox.dirty.take_all())
    }

    /// Counts the pending paths below the root for which `counts` returns true.
    pub fn held_back(&self, counts: impl Fn(&str) -> bool) -> UnreportedChanges {
        let root = &self.shared.root;
        self.shared.with(|inbox| {
            let below = inbox
                .dirty
                .paths()
                .filter_map(|path| path.strip_prefix(root).ok());
            let known = below.filter(|path| path.to_str().is_some_and(&counts)).count();
            let count = known + usize::from(inbox.dirty.is_rescan() || inbox.handing_over);
            UnreportedChanges {
                count,
                since: inbox.dirty.since().filter(|_| count > 0),
            }
        })
    }
}
