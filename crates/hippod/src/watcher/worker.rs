//! The watcher's thread, which watches folders and sends events.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use hippo_fs::WorkspaceDir;
use hippo_store::system::FileId;

use super::backend::{Backend, identity};
use super::hear::{WatchShared, WatchTurn};
use super::poll::changed_since;
use super::{CANARY, OWN_FOLDER, PollMode, WatchEvent, WatchSink, WatchSpec};

/// Interval between checks that the root exists. They are necessary because no event reports that a disk was unmounted.
const ROOT_CHECK: Duration = Duration::from_secs(10);
/// Maximum age in seconds of changes that are reported when a folder is new. The scan that found the folder may have
/// missed such changes.
const YOUNG_SECS: i64 = 60;

/// State of the watcher's thread.
pub(super) struct WatchThread {
    spec: WatchSpec,
    shared: Arc<WatchShared>,
    /// Identity of the root folder; `None` while it is missing.
    root: Option<FileId>,
    /// The folders that must be watched: the root, and the folders that the last scan found.
    wanted: BTreeSet<PathBuf>,
    backend: Backend,
    next_look: Instant,
}

impl WatchThread {
    /// Creates the state, and starts to watch the root.
    pub fn new(spec: WatchSpec, shared: Arc<WatchShared>) -> Self {
        let backend = match spec.poll {
            PollMode::Always => Backend::look(&shared, None),
            PollMode::Auto => {
                Backend::listen(&shared).unwrap_or_else(|reason| Backend::look(&shared, Some(reason)))
            }
        };
        let wanted = BTreeSet::from([spec.root.clone()]);
        let root = identity(&spec.root);
        let mut worker = Self {
            spec,
            shared,
            root,
            wanted,
            backend,
            next_look: Instant::now(),
        };
        worker.cover();
        worker.next_look = Instant::now() + worker.distance();
        worker
    }

    /// Runs the watcher's thread until a stop is requested.
    pub fn run(mut self, sink: WatchSink) {
        let mut voice = Voice(Some(sink));
        loop {
            let turn = self.shared.next(self.next_look);
            if turn.stop {
                voice.0 = None;
                return;
            }
            let hands_over = turn.batch.is_some();
            for event in self.act(turn) {
                voice.say(event);
            }
            if hands_over {
                self.shared.handed_over();
            }
        }
    }

    fn act(&mut self, turn: WatchTurn) -> Vec<WatchEvent> {
        let mut events = Vec::new();
        if turn.canary_seen {
            events.push(WatchEvent::CanarySeen);
        }
        events.extend(turn.batch);
        if let Some(reason) = turn.limit {
            self.fall_back(reason);
        }
        if let Some(dirs) = turn.dirs {
            self.wanted = dirs.into_iter().chain([self.spec.root.clone()]).collect();
            self.cover();
        }
        if turn.canary_asked {
            self.write_canary();
        }
        let due = Instant::now() >= self.next_look;
        if turn.check_root || due {
            self.check_root();
        }
        if due {
            self.look();
            self.next_look = Instant::now() + self.distance();
        }
        events
    }

    fn distance(&self) -> Duration {
        match &self.backend {
            Backend::Notify(_) if self.root.is_some() => ROOT_CHECK,
            _ => self.spec.poll_every,
        }
    }

    /// Watches the folders in `wanted` that are not watched yet, and stops watching all others except hippod's own
    /// folder.
    fn cover(&mut self) {
        let watched = self.shared.with(|inbox| inbox.watched.clone());
        let own = self.spec.root.join(OWN_FOLDER);
        for dir in watched
            .keys()
            .filter(|dir| !self.wanted.contains(*dir) && **dir != own)
        {
            self.shared.with(|inbox| inbox.watched.remove(dir));
            self.backend.unwatch(dir);
        }
        let mut new = Vec::new();
        for dir in self.wanted.clone() {
            let Some(now) = identity(&dir) else { continue };
            let before = watched.get(&dir);
            if before.is_some_and(|before| *before != now) {
                // Another folder has this path now. If the old folder was moved, the old watch still belongs to it.
                self.backend.unwatch(&dir);
            }
            if before != Some(&now) && self.watch(&dir, now) {
                new.push(dir);
            }
        }
        let since = unix_seconds() - YOUNG_SECS;
        let young: Vec<PathBuf> = new.iter().flat_map(|dir| changed_since(dir, since)).collect();
        self.note(young);
        self.shared
            .with(|inbox| inbox.state.folders = inbox.watched.len());
    }

    /// Starts to watch one folder. Returns whether the folder is watched now.
    fn watch(&mut self, dir: &Path, identity: FileId) -> bool {
        // Record the folder before watching it. If the folder disappears after that, the thread that receives events
        // removes the record.
        self.shared
            .with(|inbox| inbox.watched.insert(dir.to_path_buf(), identity));
        let Err(limit) = self.backend.watch(dir) else {
            return true;
        };
        self.shared.with(|inbox| inbox.watched.remove(dir));
        let Some(reason) = limit else { return false };
        // Polling has no limit on the number of folders.
        self.fall_back(reason);
        self.watch(dir, identity)
    }

    /// Switches to polling, for the given reason.
    fn fall_back(&mut self, reason: String) {
        if matches!(self.backend, Backend::Poll(_)) {
            return;
        }
        tracing::warn!(root = %self.spec.root.display(), %reason, "could not watch all folders");
        let mut backend = Backend::look(&self.shared, Some(reason));
        for dir in self.shared.with(|inbox| inbox.watched.clone()).into_keys() {
            // Polling never rejects a folder.
            let _ = backend.watch(&dir);
        }
        self.backend = backend;
        let now = Instant::now();
        self.next_look = now + self.distance();
        self.shared
            .with(|inbox| inbox.dirty.rescan("the limit on watches is reached", now));
    }

    fn look(&mut self) {
        let Backend::Poll(poller) = &mut self.backend else {
            return;
        };
        let own = self.spec.root.join(OWN_FOLDER);
        let changed = poller.look(self.wanted.iter().chain([&own]));
        self.note(changed);
    }

    fn note(&self, paths: Vec<PathBuf>) {
        if paths.is_empty() {
            return;
        }
        let now = Instant::now();
        self.shared.with(|inbox| {
            for path in paths {
                inbox.take(&self.spec.root, path, now);
            }
            inbox.state.last_event = Some(now);
        });
    }

    /// Watches the folder of the canary if necessary, and writes the canary again.
    fn write_canary(&mut self) {
        let root = WorkspaceDir::open(&self.spec.root);
        let Ok(opened) = root.and_then(|root| root.folder(OWN_FOLDER)) else {
            return;
        };
        let folder = self.spec.root.join(OWN_FOLDER);
        let Some(now) = identity(&folder) else { return };
        if self.shared.with(|inbox| inbox.watched.get(&folder) != Some(&now)) {
            self.watch(&folder, now);
        }
        if let Err(error) = opened.overwrite(CANARY, b"hippod\n") {
            tracing::debug!(%error, "could not write the test file of the watcher");
        }
    }

    fn check_root(&mut self) {
        let now = identity(&self.spec.root);
        if now == self.root {
            return;
        }
        self.root = now;
        let reason = if now.is_some() {
            "the root reappeared"
        } else {
            "the root disappeared"
        };
        tracing::info!(root = %self.spec.root.display(), ?reason, "the folder of the workspace was removed, \
                                                                   replaced or restored");
        // The old watches belong to folders that may no longer have these paths.
        self.shared.with(|inbox| inbox.watched.clear());
        if matches!(self.backend, Backend::Notify(_)) {
            match Backend::listen(&self.shared) {
                Ok(backend) => self.backend = backend,
                Err(reason) => self.fall_back(reason),
            }
        }
        self.cover();
        self.shared
            .with(|inbox| inbox.dirty.rescan(reason, Instant::now()));
        self.next_look = Instant::now() + self.distance();
    }
}

/// Sender of the thread's events. If it is dropped because the thread panics, it sends [`WatchEvent::Dead`].
struct Voice(Option<WatchSink>);

impl Voice {
    fn say(&self, event: WatchEvent) {
        if let Some(sink) = &self.0 {
            sink(event);
        }
    }
}

impl Drop for Voice {
    fn drop(&mut self) {
        if let Some(sink) = self.0.take() {
            sink(WatchEvent::Dead("the watcher's thread panicked".into()));
        }
    }
}

fn unix_seconds() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}
