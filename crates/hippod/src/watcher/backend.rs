//! Event source of the watcher: operating system or polling.

use std::path::Path;
use std::sync::Arc;

use hippo_proto::WatcherMode;
use hippo_store::system::FileId;
use notify::{RecommendedWatcher, RecursiveMode, Watcher as _};

use super::hear::{WatchShared, limit};
use super::poll::Poller;

/// Source of changes.
pub(super) enum Backend {
    /// Events of the operating system.
    Notify(Box<RecommendedWatcher>),
    /// Polling.
    Poll(Poller),
}

impl Backend {
    /// Creates a backend that receives events of the operating system.
    ///
    /// # Errors
    /// Returns the reason if that is impossible.
    pub fn listen(shared: &Arc<WatchShared>) -> Result<Self, String> {
        let hearer = Arc::clone(shared);
        let watcher = notify::recommended_watcher(move |said| hearer.heard(said))
            .map_err(|error| limit(&error).unwrap_or_else(|| error.to_string()))?;
        shared.with(|inbox| inbox.state.mode = WatcherMode::Notify);
        Ok(Self::Notify(Box::new(watcher)))
    }

    /// Creates a polling backend. `reason`, if given, is shown to the user.
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
    /// Returns the reason if the limit on watches is reached, and `None` if this folder cannot be watched; for example,
    /// it may have been removed.
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
            // The watch may already have been dropped together with its folder.
            let _ = watcher.unwatch(dir);
        }
    }
}

/// Returns the identity of the folder at a path, if there is one.
#[expect(clippy::disallowed_methods, reason = "reads only names and times of files")]
pub(super) fn identity(path: &Path) -> Option<FileId> {
    let metadata = path.metadata().ok().filter(std::fs::Metadata::is_dir)?;
    Some(FileId::of(&metadata))
}
