//! Where changes are heard from: the system, or our own looks.

use std::path::Path;
use std::sync::Arc;

use hippo_store::system::FileId;
use notify::{RecommendedWatcher, RecursiveMode, Watcher as _};

use super::Mode;
use super::hear::{Shared, limit};
use super::poll::Poller;

/// One of the two.
pub(super) enum Backend {
    /// The system tells.
    Notify(Box<RecommendedWatcher>),
    /// We look.
    Poll(Poller),
}

/// Why a folder is not watched.
pub(super) enum Refusal {
    /// There are no more watches: why.
    Limit(String),
    /// This folder cannot be watched; it may have gone.
    Other,
}

impl Backend {
    /// Listens to the system.
    ///
    /// # Errors
    /// Why that is impossible.
    pub fn listen(shared: &Arc<Shared>) -> Result<Self, String> {
        let hearer = Arc::clone(shared);
        let watcher = notify::recommended_watcher(move |said| hearer.heard(said))
            .map_err(|error| limit(&error).unwrap_or_else(|| error.to_string()))?;
        shared.set_state(|state| state.mode = Mode::Notify);
        Ok(Self::Notify(Box::new(watcher)))
    }

    /// Looks, for a reason that people should know of or for none.
    pub fn look(shared: &Shared, reason: Option<String>) -> Self {
        shared.set_state(|state| {
            state.mode = Mode::Poll;
            state.reason = reason;
        });
        Self::Poll(Poller::default())
    }

    /// Watches one folder, not those below it.
    pub fn watch(&mut self, dir: &Path) -> Result<(), Refusal> {
        match self {
            Self::Notify(watcher) => {
                watcher
                    .watch(dir, RecursiveMode::NonRecursive)
                    .map_err(|error| match limit(&error) {
                        Some(reason) => Refusal::Limit(reason),
                        None => {
                            tracing::debug!(folder = %dir.display(), %error, "could not watch a folder");
                            Refusal::Other
                        }
                    })
            }
            Self::Poll(poller) => {
                poller.learn(dir);
                Ok(())
            }
        }
    }

    /// Watches it no longer.
    pub fn unwatch(&mut self, dir: &Path) {
        if let Self::Notify(watcher) = self {
            // The watch may have gone with its folder already.
            let _ = watcher.unwatch(dir);
        }
    }
}

/// Which folder is at a path, if one is.
#[expect(clippy::disallowed_methods, reason = "names and times alone")]
pub(super) fn identity(path: &Path) -> Option<FileId> {
    let metadata = path.metadata().ok().filter(std::fs::Metadata::is_dir)?;
    FileId::of(path, &metadata).ok()
}
