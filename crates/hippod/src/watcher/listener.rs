//! Access to changes that the watcher has not reported yet.

use std::fs::File;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::WatchEvent;
use super::hear::WatchShared;
use hippo_proto::WatcherMode;

/// Maximum time that a query waits for the watcher.
const PATIENCE: Duration = Duration::from_millis(100);

/// Handle with which queries access a running watcher.
#[derive(Debug, Clone)]
pub struct Listener {
    pub(super) shared: Arc<WatchShared>,
}

/// Changes that the watcher has not reported yet.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct UnreportedChanges {
    /// Number of changes. A pending rescan counts as one change.
    pub count: usize,
    /// Time at which the watcher received the oldest of the changes.
    pub since: Option<Instant>,
}

impl Listener {
    /// Waits until the watcher has received all changes that were made before this call. Returns false after a timeout.
    ///
    /// The operating system reports events in order. This function opens the root folder, which causes an event. When
    /// this event arrives, all earlier events have arrived as well. Only Linux reports such an event. On other systems,
    /// and with polling, the function returns true immediately.
    #[expect(clippy::disallowed_methods, reason = "reads only names and times of files")]
    pub fn catch_up(&self) -> bool {
        if !cfg!(target_os = "linux") || self.shared.with(|inbox| inbox.state.mode) == WatcherMode::Poll {
            return true;
        }
        let before = self.shared.with(|inbox| inbox.root_openings);
        if File::open(&self.shared.root).is_err() {
            // A missing root causes no events.
            return true;
        }
        self.shared
            .wait_until(PATIENCE, |inbox| inbox.root_openings != before)
    }

    /// Removes the changes that the watcher has not reported yet, and returns them as the event that the watcher would
    /// have sent.
    pub fn take(&self) -> Option<WatchEvent> {
        // The watcher's thread may have taken changes that it has not sent yet. Wait until it has sent them.
        self.shared.wait_until(PATIENCE, |inbox| !inbox.handing_over);
        self.shared.with(|inbox| inbox.dirty.take_all())
    }

    /// Counts the changes that the watcher has not reported yet. Of the changed paths, only those count for which
    /// `counts` returns true. The argument of `counts` is the path relative to the root.
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
