//! Compaction trees of the workspaces.
//!
//! A tree has nodes for days, weeks and months, and `ROOT.md`. Each node is derived from the level below. A run works
//! beside the engine, and each workspace has at most one run at a time. It reads the sources, and `hippo_tree` decides
//! which nodes are due and what they contain. Each file is replaced atomically, unless another writer changed it in the
//! meantime. Nodes that a stopped process did not write are due again.

mod disk;
mod foreign;
mod health;
mod keeper;
mod passages;
mod root;
mod run;
mod serve;
mod settings;
mod sources;
mod state;

pub use foreign::{RestoredTree, give_back, has_originals};
pub use health::{examine, statuses};
pub use keeper::{after, keep, waiting};
pub use run::{TreeOptions, compact};
pub use serve::{pending, show, submit, wish_of};

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hippo_proto::{ErrorKind, RpcError};
use parking_lot::Mutex;
use tokio::sync::{Mutex as Lock, OwnedMutexGuard};

use crate::clock::Clock;
use crate::errors::root_missing;
use crate::views::Views;

/// Returns the path of the tree's state file in the workspace's state folder.
pub fn state_file(state: &Path, root: &Path) -> PathBuf {
    state::TreeState::file(state, root)
}

/// Trees of all workspaces, one value per daemon.
pub struct Trees {
    /// State folder of the daemon.
    pub state: PathBuf,
    views: Arc<Views>,
    clock: Arc<dyn Clock>,
    /// Locks of the workspaces, held while nodes are read and written.
    locks: Mutex<BTreeMap<PathBuf, Arc<Lock<()>>>>,
    /// Workspaces whose tree a request of a client will update, with one element for each request.
    awaited: Mutex<Vec<PathBuf>>,
}

/// Guard of a request that updates a tree itself. While the guard exists, the keeper does not update that tree.
pub struct TreeWaiter<'a> {
    trees: &'a Trees,
    root: PathBuf,
}

impl Drop for TreeWaiter<'_> {
    fn drop(&mut self) {
        let mut awaited = self.trees.awaited.lock();
        if let Some(at) = awaited.iter().position(|root| *root == self.root) {
            awaited.swap_remove(at);
        }
    }
}

impl Trees {
    /// Creates the trees of the daemon with this state folder.
    pub fn new(state: PathBuf, views: Arc<Views>, clock: Arc<dyn Clock>) -> Self {
        Self {
            state,
            views,
            clock,
            locks: Mutex::default(),
            awaited: Mutex::default(),
        }
    }

    /// Registers a request that will update a tree. Dropping the guard ends the registration.
    pub fn await_for(&self, root: &Path) -> TreeWaiter<'_> {
        let mut awaited = self.awaited.lock();
        awaited.push(root.to_path_buf());
        TreeWaiter {
            trees: self,
            root: root.to_path_buf(),
        }
    }

    /// Returns whether a request of a client will update a tree.
    fn is_awaited(&self, root: &Path) -> bool {
        let awaited = self.awaited.lock();
        awaited.iter().any(|awaited| awaited == root)
    }

    /// Waits until the tree of the workspace at or above a folder is free, and locks the tree.
    pub async fn lock_tree(&self, folder: &Path) -> OwnedMutexGuard<()> {
        let root = self.views.root_of(folder);
        let lock = self.of(root.as_deref().unwrap_or(folder));
        lock.lock_owned().await
    }

    /// Locks the tree of a workspace. Returns `None` if the tree is in use and `waits` is false.
    ///
    /// # Errors
    /// Returns `warming` if the workspace's folder is missing, `no-workspace` if the workspace was removed in the
    /// meantime.
    fn take(&self, root: &Path, waits: bool) -> Result<Option<OwnedMutexGuard<()>>, RpcError> {
        if !hippo_fs::is_present(root) {
            return Err(root_missing(root));
        }
        let lock = self.of(root);
        let guard = if waits {
            lock.blocking_lock_owned()
        } else {
            let Ok(guard) = lock.try_lock_owned() else {
                return Ok(None);
            };
            guard
        };
        if self.views.root_of(root).as_deref() == Some(root) {
            return Ok(Some(guard));
        }
        let message = format!("the workspace is no longer registered: {}", root.display());
        Err(RpcError::new(ErrorKind::NoWorkspace, message)
            .hint("nothing was changed; to register the workspace again: hippoctl workspace add"))
    }

    /// Returns the lock of a workspace.
    fn of(&self, root: &Path) -> Arc<Lock<()>> {
        let mut locks = self.locks.lock();
        locks.entry(root.to_path_buf()).or_default().clone()
    }
}
