//! Translation of file system events for the watcher's thread.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use hippo_proto::WatcherMode;
use hippo_store::system::FileId;
use notify::event::{AccessKind, AccessMode, EventKind, ModifyKind};
use parking_lot::{Condvar, Mutex};

use super::dirty::DirtySet;
use super::{CANARY, OWN_FOLDER, WatchEvent, WatchSpec, WatchState};

/// State that is shared by the watcher's thread, the thread that receives events of the operating system, and the owner
/// of the watcher.
#[derive(Debug)]
pub(super) struct WatchShared {
    /// Path of the watched root folder.
    pub root: PathBuf,
    inbox: Mutex<Inbox>,
    wake: Condvar,
    /// Wakes queries that wait for progress of one of the two threads.
    progress: Condvar,
}

/// Pending work of the watcher's thread.
#[derive(Debug)]
pub(super) struct Inbox {
    /// Changes that are reported after the quiet period.
    pub dirty: DirtySet,
    /// Watched folders. When a folder is removed, the operating system stops watching it, and the event for the removal
    /// also removes it from this map.
    pub watched: BTreeMap<PathBuf, FileId>,
    /// State for `status` and `doctor`.
    pub state: WatchState,
    /// Work for the next turn of the watcher's thread.
    pub turn: WatchTurn,
    /// Number of events that reported that a process opened the root folder.
    pub root_openings: u64,
    /// True while the thread has taken changes from `dirty` but has not sent them yet.
    pub handing_over: bool,
}

/// Work for one turn of the watcher's thread.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct WatchTurn {
    /// The folders to watch from now on, if they were set.
    pub dirs: Option<Vec<PathBuf>>,
    /// True if the thread must write the canary.
    pub canary_asked: bool,
    /// True if an event reported that the canary was written.
    pub canary_seen: bool,
    /// True if the root folder may have disappeared, so that the thread must check it.
    pub check_root: bool,
    /// Description of the limit of the operating system that is reached, so that no more folders can be watched.
    pub limit: Option<String>,
    /// True if the thread must end.
    pub stop: bool,
    /// Changes that the thread must report.
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

    /// Waits until `is_so` returns true for the inbox. Returns false if this does not happen within `patience`.
    pub fn wait_until(&self, patience: Duration, is_so: impl Fn(&Inbox) -> bool) -> bool {
        let mut inbox = self.inbox.lock();
        let timeout = self
            .progress
            .wait_while_for(&mut inbox, |inbox| !is_so(inbox), patience);
        !timeout.timed_out()
    }

    /// Records that the thread has sent the changes that it took.
    pub fn handed_over(&self) {
        self.with(|inbox| inbox.handing_over = false);
        self.progress.notify_all();
    }

    /// Adds work for the watcher's thread and wakes the thread.
    pub fn ask(&self, change: impl FnOnce(&mut WatchTurn)) {
        change(&mut self.inbox.lock().turn);
        self.wake.notify_one();
    }

    /// Accesses the inbox without waking the watcher's thread.
    pub fn with<T>(&self, change: impl FnOnce(&mut Inbox) -> T) -> T {
        change(&mut self.inbox.lock())
    }

    /// Waits until there is work for the watcher's thread, and returns it. Returns at `deadline` if there is none.
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

    /// Processes an event of the operating system. This runs on the thread that receives these events.
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
        // If changes were already pending, do not wake the thread. When it wakes up, it checks whether they are due.
        let wake = inbox.turn != WatchTurn::default() || (!before && inbox.dirty.due().is_some());
        inbox.state.last_event = Some(now);
        drop(inbox);
        if wake {
            self.wake.notify_one();
        }
    }
}

impl Inbox {
    /// Adds a path that may have changed to the work of the thread. Paths in hippod's own folder are ignored, except
    /// the canary and the settings file.
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

/// Returns a description of the system limit that caused an error; `None` if the error has another cause.
pub(super) fn limit(error: &notify::Error) -> Option<String> {
    /// Error "No space left on device", which inotify returns if the limit on watches is reached. `ENFILE` and `EMFILE`
    /// are the errors for too many open files.
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

/// Returns whether an event may report a change of content, name or permissions. Reads are not changes.
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

/// Returns whether an event may mean that its path no longer exists, or is now the path of another folder.
fn is_leaving(kind: EventKind) -> bool {
    matches!(
        kind,
        EventKind::Remove(_) | EventKind::Modify(ModifyKind::Name(_))
    )
}
