//! Compaction trees of the workspaces.
//!
//! A tree consists of nodes for days, weeks and months, and of `ROOT.md`. Each node is derived from the level below it.
//! A run updates the tree of one workspace, and each workspace has at most one run at a time. The run reads the daily
//! logs and the nodes. The crate `hippo_tree` determines which nodes must be updated, and creates their content. The
//! run then replaces each file atomically, unless another program has changed the file in the meantime. If the process
//! stops during a run, the next run writes the remaining nodes.

mod disk;
mod foreign;
mod health;
mod keeper;
mod outdated;
mod passages;
mod private;
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

/// Returns the path of the file with the state of a workspace's tree, in the workspace's state folder.
pub fn state_file(state: &Path, root: &Path) -> PathBuf {
    state::TreeState::file(state, root)
}

/// The trees of all workspaces of the daemon.
pub struct Trees {
    /// State folder of the daemon.
    pub state: PathBuf,
    views: Arc<Views>,
    clock: Arc<dyn Clock>,
    /// Lock of each workspace's tree. A run or a submission holds the lock while it reads and writes nodes.
    locks: Mutex<BTreeMap<PathBuf, Arc<Lock<()>>>>,
    /// Roots of the workspaces whose tree a client's request is about to update. Each such request adds one element.
    awaited: Mutex<Vec<PathBuf>>,
}

/// Registration of a request that updates a tree itself. While the value exists, the automatic updates skip that tree.
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
    /// Creates the trees of a daemon. `state` is the state folder of the daemon.
    pub fn new(state: PathBuf, views: Arc<Views>, clock: Arc<dyn Clock>) -> Self {
        Self {
            state,
            views,
            clock,
            locks: Mutex::default(),
            awaited: Mutex::default(),
        }
    }

    /// Registers a request that updates a tree itself. When the returned value is dropped, the registration ends.
    pub fn await_for(&self, root: &Path) -> TreeWaiter<'_> {
        let mut awaited = self.awaited.lock();
        awaited.push(root.to_path_buf());
        TreeWaiter {
            trees: self,
            root: root.to_path_buf(),
        }
    }

    /// Returns whether a client's request is about to update a tree.
    fn is_awaited(&self, root: &Path) -> bool {
        let awaited = self.awaited.lock();
        awaited.iter().any(|awaited| awaited == root)
    }

    /// Locks the tree of the workspace that contains a folder. Waits while another request or run holds the lock.
    pub async fn lock_tree(&self, folder: &Path) -> OwnedMutexGuard<()> {
        let root = self.views.root_of(folder);
        let lock = self.of(root.as_deref().unwrap_or(folder));
        lock.lock_owned().await
    }

    /// Locks the tree of a workspace. If another request or run holds the lock, this waits if `waits` is true, and
    /// otherwise returns `None`.
    ///
    /// # Errors
    /// Returns `warming` if the folder of the workspace is missing, and `no-workspace` if the workspace has been
    /// removed in the meantime.
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

    /// Returns the lock of a workspace's tree.
    fn of(&self, root: &Path) -> Arc<Lock<()>> {
        let mut locks = self.locks.lock();
        locks.entry(root.to_path_buf()).or_default().clone()
    }
}
