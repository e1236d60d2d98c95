//! Access for questions to changes that the watcher has heard and holds back.

use std::fs::File;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::dirty::Batch;
use super::hear::Shared;
use super::{Mode, WatchEvent};

/// The longest wait for the system to report a change that was made before.
const PATIENCE: Duration = Duration::from_millis(100);

/// A handle on a running watcher.
#[derive(Debug, Clone)]
pub struct Listener {
    shared: Arc<Shared>,
}

/// The changes that the watcher holds back.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct HeldBack {
    /// Their number; a change of anything counts as one.
    pub count: usize,
    /// When the oldest was heard.
    pub since: Option<Instant>,
}

impl Listener {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        Self { shared }
    }

    /// Waits until the watcher has heard of every change made before this call. Returns false where the system did
    /// not report in time.
    ///
    /// The system reports events in order. Opening the root folder is an event as well, so once it arrives, all earlier
    /// events have arrived. Only Linux reports it; elsewhere this returns at once, as it does where files are polled.
    #[expect(clippy::disallowed_methods, reason = "names and times alone")]
    pub fn catch_up(&self) -> bool {
        if !cfg!(target_os = "linux") || self.shared.state().mode == Mode::Poll {
            return true;
        }
        let before = self.shared.with(|inbox| inbox.root_openings);
        if File::open(self.shared.root()).is_err() {
            // Without a root there is nothing to hear of.
            return true;
        }
        self.shared
            .wait_until(PATIENCE, |inbox| inbox.root_openings != before)
    }

    /// Takes what the watcher holds back, as the event that it would have sent later.
    pub fn take(&self) -> Option<WatchEvent> {
        // The thread may have taken a batch that the engine does not have yet.
        self.shared.wait_until(PATIENCE, |inbox| !inbox.handing_over);
        let root = self.shared.root().to_path_buf();
        let batch = self.shared.with(|inbox| inbox.dirty.take_all())?;
        Some(match batch {
            Batch::Paths(paths) => WatchEvent::Dirty(root, paths),
            Batch::Rescan(reason) => WatchEvent::Rescan(root, reason),
        })
    }

    /// Counts the held back paths below the root that `counts` accepts.
    pub fn held_back(&self, counts: impl Fn(&str) -> bool) -> HeldBack {
        let root = self.shared.root();
        self.shared.with(|inbox| {
            let below = inbox
                .dirty
                .paths()
                .filter_map(|path| path.strip_prefix(root).ok());
            let known = below.filter(|path| path.to_str().is_some_and(&counts)).count();
            let count = known + usize::from(inbox.dirty.is_rescan() || inbox.handing_over);
            HeldBack {
                count,
                since: inbox.dirty.since().filter(|_| count > 0),
            }
        })
    }
}
