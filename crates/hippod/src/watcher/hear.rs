//! Translation of file system events into work for the watcher.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use hippo_proto::WatcherMode;
use hippo_store::system::FileId;
use notify::event::{AccessKind, AccessMode, EventKind, ModifyKind};
use parking_lot::{Condvar, Mutex};

use super::dirty::DirtySet;
use super::{CANARY, OWN_FOLDER, WatchEvent, WatchSpec, WatchState};

/// State shared by the watcher's thread, the operating system's event thread, and the watcher's owner.
#[derive(Debug)]
pub(super) struct WatchShared {
    /// The watched root.
    pub root: PathBuf,
    inbox: Mutex<Inbox>,
    wake: Condvar,
    /// Signals progress of either thread to waiting queries.
    progress: Condvar,
}

/// Pending work of the watcher's thread.
#[derive(Debug)]
pub(super) struct Inbox {
    /// Changes that are reported after the quiet period.
    pub dirty: DirtySet,
    /// Watched folders. If a folder is removed, the operating system drops its watch, and the event for it removes the
    /// entry here.
    pub watched: BTreeMap<PathBuf, FileId>,
    /// State for `status` and `doctor`.
    pub state: WatchState,
    /// Work for the next iteration of the thread.
    pub turn: WatchTurn,
    /// Number of events so far that report an opening of the root folder.
    pub root_openings: u64,
    /// True if the thread has taken a batch that it has not sent yet.
    pub handing_over: bool,
}

/// Work that the thread takes in one iteration.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct WatchTurn {
    /// New folders to watch.
    pub dirs: Option<Vec<PathBuf>>,
    /// Request to write the canary.
    pub canary_asked: bool,
    /// True if the canary was seen.
    pub canary_seen: bool,
    /// True if the root may have disappeared.
    pub check_root: bool,
    /// Reason why no more watches are available, if the limit is reached.
    pub limit: Option<String>,
    /// Request to end the thread.
    pub stop: bool,
    /// Changes to report.
    pub batch: Option<WatchEvent>,
}

impl WatchShared {
    pub fn new(spec: &WatchSpec) -> Self {
        let inbox = Inbox {
            dirty: DirtySet::new(spec.quiet, spec.max_wait),
            watched: BTreeMap::new(),
            state: WatchState {
                mode: WatcherMode::Notify,
                reason: None,
                last_event: None,
                folders: 0,
            },
            turn: WatchTurn::default(),
            root_openings: 0,
            handing_over: false,
        };
        Self {
            root: spec.root.clone(),
            inbox: Mutex::new(inbox),
            wake: Condvar::new(),
            progress: Condvar::new(),
        }
    }

    /// Waits until a condition on the inbox is true. Returns whether it became true before the timeout.
    pub fn wait_until(&self, patience: Duration, is_so: impl Fn(&Inbox) -> bool) -> bool {
        let mut inbox = self.inbox.lock();
        let timeout = self
            .progress
            .wait_while_for(&mut inbox, |inbox| !is_so(inbox), patience);
        !timeout.timed_out()
    }

    /// Marks the batch that the thread took as sent.
    pub fn handed_over(&self) {
        self.with(|inbox| inbox.handing_over = false);
        self.progress.notify_all();
    }

    /// Gives the thread work and wakes it.
    pub fn ask(&self, change: impl FnOnce(&mut WatchTurn)) {
        change(&mut self.inbox.lock().turn);
        self.wake.notify_one();
    }

    /// Changes the inbox without waking the thread; for use by the thread itself.
    pub fn with<T>(&self, change: impl FnOnce(&mut Inbox) -> T) -> T {
        change(&mut self.inbox.lock())
    }

    /// Sleeps until there is work, but at most until `deadline`.
    pub fn next(&self, deadline: Instant) -> WatchTurn {
        let mut inbox = self.inbox.lock();
        loop {
            let now = Instant::now();
            let turn = inbox.take_turn(now);
            if turn != WatchTurn::default() || now >= deadline {
                return turn;
            }
            let until = inbox.dirty.due().map_or(deadline, |due| due.min(deadline));
            self.wake.wait_until(&mut inbox, until);
        }
    }

    /// Processes an event on the operating system's event thread.
    pub fn heard(&self, said: notify::Result<notify::Event>) {
        let now = Instant::now();
        let mut inbox = self.inbox.lock();
        let before = inbox.dirty.due().is_some();
        match said {
            Ok(event) if event.need_rescan() => inbox.dirty.rescan("the system dropped events", now),
            Ok(event) => {
                if !is_change(event.kind) {
                    let is_opening = matches!(event.kind, EventKind::Access(AccessKind::Open(_)));
                    if is_opening && event.paths.contains(&self.root) {
                        inbox.root_openings += 1;
                        drop(inbox);
                        self.progress.notify_all();
                    }
                    return;
                }
                let gone = is_leaving(event.kind);
                for path in event.paths {
                    if gone {
                        inbox.watched.remove(&path);
                    }
                    inbox.take(&self.root, path, now);
                }
            }
            Err(error) => match limit(&error) {
                Some(reason) => inbox.turn.limit = Some(reason),
                None => inbox.dirty.rescan("the system reported an error", now),
            },
        }
        // Further paths only change the deadline, which the thread checks when it wakes up.
        let wake = inbox.turn != WatchTurn::default() || (!before && inbox.dirty.due().is_some());
        inbox.state.last_event = Some(now);
        drop(inbox);
        if wake {
            self.wake.notify_one();
        }
    }
}

impl Inbox {
    /// Classifies a path that may have changed.
    pub fn take(&mut self, root: &Path, path: PathBuf, now: Instant) {
        let Ok(below) = path.strip_prefix(root) else {
            return;
        };
        if below.as_os_str().is_empty() {
            self.turn.check_root = true;
        } else if let Ok(own) = below.strip_prefix(OWN_FOLDER) {
            if own == Path::new(CANARY) {
                self.turn.canary_seen = true;
                return;
            } else if own != Path::new("config.toml") {
                return;
            }
        }
        self.dirty.insert(path, now);
    }

    fn take_turn(&mut self, now: Instant) -> WatchTurn {
        let turn = WatchTurn {
            batch: self.dirty.take(now),
            ..std::mem::take(&mut self.turn)
        };
        self.handing_over |= turn.batch.is_some();
        turn
    }
}

/// Returns the name of the exhausted limit if the error reports one.
pub(super) fn limit(error: &notify::Error) -> Option<String> {
    /// "No space left on device", which inotify reports if its own table is full, and the two errors for too many open
    /// files.
    const ENOSPC: i32 = 28;
    const ENFILE: i32 = 23;
    const EMFILE: i32 = 24;
    match &error.kind {
        notify::ErrorKind::MaxFilesWatch => Some("the limit fs.inotify.max_user_watches is reached".into()),
        notify::ErrorKind::Io(error) => match error.raw_os_error() {
            Some(ENOSPC) => Some("the limit fs.inotify.max_user_watches is reached".into()),
            Some(EMFILE) => Some(
                "the limit fs.inotify.max_user_instances, or the limit of open files (ulimit -n), is reached"
                    .into(),
            ),
            Some(ENFILE) => Some("the limit fs.file-max is reached".into()),
            _ => None,
        },
        _ => None,
    }
}

/// Returns whether content, name or permissions may have changed. Reading is not a change.
fn is_change(kind: EventKind) -> bool {
    match kind {
        EventKind::Access(access) => access == AccessKind::Close(AccessMode::Write),
        EventKind::Any
        | EventKind::Create(_)
        | EventKind::Modify(_)
        | EventKind::Remove(_)
        | EventKind::Other => true,
    }
}

/// Returns whether, after this event, the path may be missing or name another folder.
fn is_leaving(kind: EventKind) -> bool {
    matches!(
        kind,
        EventKind::Remove(_) | EventKind::Modify(ModifyKind::Name(_))
    )
}
