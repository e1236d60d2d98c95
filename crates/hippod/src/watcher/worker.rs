//! The watcher's thread: keeps the right folders watched, and hands on what was heard.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use notify::{RecommendedWatcher, RecursiveMode, Watcher as _};

use super::dirty::Batch;
use super::hear::{Identity, Shared, Turn, limit};
use super::poll::{Poller, changed_since};
use super::{CANARY, Mode, OWN_FOLDER, PollMode, RescanReason, Sink, WatchError, WatchEvent, WatchSpec};

/// Distance between two looks at the root: a disk that was unmounted sends no event.
const ROOT_CHECK: Duration = Duration::from_secs(10);
/// Changes in a new folder that are so young may have been missed by the look that found it.
const YOUNG_SECS: i64 = 60;

/// The thread's own state.
pub(super) struct Worker {
    spec: WatchSpec,
    shared: Arc<Shared>,
    sink: Sink,
    /// Which folder the root was; nothing while it is away.
    root: Option<Identity>,
    /// The root, and what the last scan found.
    wanted: Vec<PathBuf>,
    backend: Backend,
    next_look: Instant,
}

enum Backend {
    Notify(Box<RecommendedWatcher>),
    Poll(Poller),
}

impl Worker {
    /// Prepares the thread, and watches the root already.
    pub fn new(spec: WatchSpec, shared: Arc<Shared>, sink: Sink) -> Result<Self, WatchError> {
        let backend = match (spec.poll, listen(&shared)) {
            (PollMode::Always, _) => poll(&shared, None),
            (_, Ok(backend)) => backend,
            (PollMode::Auto, Err(error)) => poll(&shared, Some(reason(&error))),
            (PollMode::Never, Err(error)) => return Err(WatchError::Unsupported(reason(&error))),
        };
        let wanted = vec![spec.root.clone()];
        let root = identity(&spec.root);
        let mut worker = Self {
            spec,
            shared,
            sink,
            root,
            wanted,
            backend,
            next_look: Instant::now(),
        };
        worker.cover();
        worker.next_look = Instant::now() + worker.distance();
        Ok(worker)
    }

    /// Works until it is told to stop.
    pub fn run(mut self) {
        let guard = LastWords(Some((
            self.spec.root.clone(),
            std::mem::replace(&mut self.sink, Box::new(|_| ())),
        )));
        loop {
            let turn = self.shared.next(self.next_look);
            if turn.stop {
                return guard.silence();
            }
            for event in self.act(turn) {
                guard.say(event);
            }
        }
    }

    fn act(&mut self, turn: Turn) -> Vec<WatchEvent> {
        let Turn {
            dirs,
            canary_asked,
            canary_seen,
            check_root,
            limit,
            stop: _,
            batch,
        } = turn;
        let root = || self.spec.root.clone();
        let mut events = Vec::new();
        if canary_seen {
            events.push(WatchEvent::CanarySeen(root()));
        }
        match batch {
            Some(Batch::Paths(paths)) => events.push(WatchEvent::Dirty(root(), paths)),
            Some(Batch::Rescan(reason)) => events.push(WatchEvent::Rescan(root(), reason)),
            None => {}
        }
        if let Some(reason) = limit {
            self.fall_back(reason);
        }
        if let Some(dirs) = dirs {
            self.wanted = dirs;
            if !self.wanted.contains(&self.spec.root) {
                self.wanted.insert(0, self.spec.root.clone());
            }
            self.cover();
        }
        if canary_asked {
            self.write_canary();
        }
        let due = Instant::now() >= self.next_look;
        if check_root || due {
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

    /// Makes the watched folders the wanted ones.
    fn cover(&mut self) {
        let watched = self.shared.with(|inbox| inbox.watched.clone());
        let own = self.spec.root.join(OWN_FOLDER);
        for dir in watched
            .keys()
            .filter(|dir| !self.wanted.contains(dir) && **dir != own)
        {
            self.shared.with(|inbox| inbox.watched.remove(dir));
            if let Backend::Notify(notify) = &mut self.backend {
                // It may have gone with its folder already.
                let _ = notify.unwatch(dir);
            }
        }
        let mut new = Vec::new();
        for dir in self.wanted.clone() {
            let Some(now) = identity(&dir) else { continue };
            if watched.get(&dir) != Some(&now) && self.watch(&dir, now) {
                new.push(dir);
            }
        }
        let since = unix_seconds() - YOUNG_SECS;
        let young: Vec<PathBuf> = new.iter().flat_map(|dir| changed_since(dir, since)).collect();
        self.note(young);
        let folders = self.shared.with(|inbox| inbox.watched.len());
        self.shared.set_state(|state| state.folders = folders);
    }

    /// Watches one folder. Answers whether it is watched now.
    fn watch(&mut self, dir: &Path, identity: Identity) -> bool {
        // Noted before it is so: the system's thread takes the note away when the folder goes meanwhile.
        self.shared
            .with(|inbox| inbox.watched.insert(dir.to_path_buf(), identity));
        let Backend::Notify(notify) = &mut self.backend else {
            return true;
        };
        let Err(error) = notify.watch(dir, RecursiveMode::NonRecursive) else {
            return true;
        };
        self.shared.with(|inbox| inbox.watched.remove(dir));
        match limit(&error) {
            Some(reason) => {
                self.fall_back(reason);
                // Everything that is wanted is looked at from now on.
                matches!(self.backend, Backend::Poll(_))
            }
            None => {
                tracing::debug!(folder = %dir.display(), %error, "could not watch a folder");
                false
            }
        }
    }

    /// Looks at the files from now on, unless that is switched off.
    fn fall_back(&mut self, reason: String) {
        if matches!(self.backend, Backend::Poll(_)) {
            return;
        }
        tracing::warn!(root = %self.spec.root.display(), %reason, "not all folders can be watched");
        if self.spec.poll == PollMode::Never {
            self.shared.set_state(|state| state.reason = Some(reason));
            return;
        }
        self.backend = poll(&self.shared, Some(reason));
        let now = Instant::now();
        self.look();
        self.next_look = now + self.distance();
        self.shared
            .with(|inbox| inbox.dirty.rescan(RescanReason::WatchLimit, now));
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
        let now = Instant::now();
        let any = !paths.is_empty();
        self.shared.with(|inbox| {
            paths
                .into_iter()
                .for_each(|path| inbox.take(&self.spec.root, path, now))
        });
        if any {
            self.shared.set_state(|state| state.last_event = Some(now));
        }
    }

    /// Writes the canary once more, now that its folder is watched for sure.
    fn write_canary(&mut self) {
        let folder = self.spec.root.join(OWN_FOLDER);
        let Some(now) = identity(&folder) else { return };
        if self.shared.with(|inbox| inbox.watched.get(&folder) != Some(&now)) {
            self.watch(&folder, now);
        }
        if let Err(error) = std::fs::write(folder.join(CANARY), "hippod\n") {
            tracing::debug!(%error, "could not write the canary");
        }
    }

    fn check_root(&mut self) {
        let now = identity(&self.spec.root);
        if now == self.root {
            return;
        }
        self.root = now;
        let reason = if now.is_some() {
            RescanReason::RootBack
        } else {
            RescanReason::RootGone
        };
        tracing::info!(root = %self.spec.root.display(), ?reason, "the workspace's folder changed");
        // The old watches belong to folders that are no longer at these paths.
        self.shared.with(|inbox| inbox.watched.clear());
        if matches!(self.backend, Backend::Notify(_)) {
            match listen(&self.shared) {
                Ok(backend) => self.backend = backend,
                Err(error) => self.fall_back(self::reason(&error)),
            }
        }
        self.cover();
        self.shared
            .with(|inbox| inbox.dirty.rescan(reason, Instant::now()));
        self.next_look = Instant::now() + self.distance();
    }
}

/// Says that the thread has died, unless it ends as it should.
struct LastWords(Option<(PathBuf, Sink)>);

impl LastWords {
    fn say(&self, event: WatchEvent) {
        if let Some((_, sink)) = &self.0 {
            sink(event);
        }
    }

    fn silence(mut self) {
        self.0 = None;
    }
}

impl Drop for LastWords {
    fn drop(&mut self) {
        if let Some((root, sink)) = self.0.take() {
            sink(WatchEvent::Dead(root, "the watcher's thread panicked".into()));
        }
    }
}

fn listen(shared: &Arc<Shared>) -> notify::Result<Backend> {
    let heard = Arc::clone(shared);
    let watcher = notify::recommended_watcher(move |said| heard.heard(said))?;
    shared.set_state(|state| state.mode = Mode::Notify);
    Ok(Backend::Notify(Box::new(watcher)))
}

fn poll(shared: &Shared, reason: Option<String>) -> Backend {
    shared.set_state(|state| {
        state.mode = Mode::Poll;
        state.reason = reason;
    });
    Backend::Poll(Poller::default())
}

fn reason(error: &notify::Error) -> String {
    limit(error).unwrap_or_else(|| error.to_string())
}

fn identity(path: &Path) -> Option<Identity> {
    let metadata = path.metadata().ok().filter(std::fs::Metadata::is_dir)?;
    Some((metadata.dev(), metadata.ino()))
}

fn unix_seconds() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}
