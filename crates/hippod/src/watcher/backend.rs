//! Source of the watcher's events: operating system or polling.

use std::path::Path;
use std::sync::Arc;

use hippo_proto::WatcherMode;
use hippo_store::system::FileId;
use notify::{RecommendedWatcher, RecursiveMode, Watcher as _};

use super::hear::{WatchShared, limit};
use super::poll::Poller;

/// Method by which the watcher notices changes.
pub(super) enum Backend {
    /// Events of the operating system.
    Notify(Box<RecommendedWatcher>),
    /// Repeated inspection of the watched folders.
    Poll(Poller),
}

impl Backend {
    /// Creates a backend that receives events of the operating system.
    ///
    /// # Errors
    /// Returns the reason if the operating system cannot report events.
    pub fn listen(shared: &Arc<WatchShared>) -> Result<Self, String> {
        let hearer = Arc::clone(shared);
        let watcher = notify::recommended_watcher(move |said| hearer.heard(said))
            .map_err(|error| limit(&error).unwrap_or_else(|| error.to_string()))?;
        shared.with(|inbox| inbox.state.mode = WatcherMode::Notify);
        Ok(Self::Notify(Box::new(watcher)))
    }

    /// Creates a backend that polls. `reason` is shown to the user; `None` if the user configured polling.
    pub fn look(shared: &WatchShared, reason: Option<String>) -> Self {
        shared.with(|inbox| {
            inbox.state.mode = WatcherMode::Poll;
            inbox.state.reason = reason;
        });
        Self::Poll(Poller::default())
    }

    /// Watches one folder without its subfolders.
    ///
    /// # Errors
    /// Returns `Some` with the reason if a limit of the operating system is reached, and `None` if only this folder
    /// cannot be watched, for example because it was removed.
    pub fn watch(&mut self, dir: &Path) -> Result<(), Option<String>> {
        match self {
            Self::Notify(watcher) => watcher.watch(dir, RecursiveMode::NonRecursive).map_err(|error| {
                tracing::debug!(folder = %dir.display(), %error, "could not watch a folder");
                limit(&error)
            }),
            Self::Poll(poller) => {
                poller.learn(dir);
                Ok(())
            }
        }
    }

    /// Stops watching a folder.
    pub fn unwatch(&mut self, dir: &Path) {
        if let Self::Notify(watcher) = self {
            // The operating system may have removed the watch together with the folder.
            let _ = watcher.unwatch(dir);
        }
    }
}

/// Returns the identity of the folder at a path; `None` if the path is not a folder.
#[expect(clippy::disallowed_methods, reason = "reads only names and times of files")]
pub(super) fn identity(path: &Path) -> Option<FileId> {
    let metadata = path.metadata().ok().filter(std::fs::Metadata::is_dir)?;
    Some(FileId::of(&metadata))
}
