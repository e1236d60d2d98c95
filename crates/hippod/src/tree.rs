//! Who keeps the compaction tree of a workspace: days, weeks, months and `ROOT.md`, each made from what lies below it?
//!
//! Beside the engine, one at a time for each workspace: sources are read, `hippo_core::tree` says what is due and what it
//! says, and each file is put in place in one step unless somebody wrote it meanwhile. What a stopped process left undone is
//! due again.

mod aside;
mod command;
mod disk;
mod examine;
mod foreign;
mod health;
mod keeper;
mod logs;
mod passages;
mod root;
mod run;
mod serve;
mod settings;
mod sources;
mod state;
mod summaries;

pub use examine::examine;
pub use foreign::{GivenBack, give_back, has_originals, restore_carried};
pub use health::statuses;
pub use keeper::{after, keep, summarise, waiting, wish};
pub use logs::examine as examine_logs;
pub use run::{Wish, compact};
pub use serve::{pending, show, submit, wish_of};

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use hippo_proto::{ErrorKind, RpcError};
use tokio::sync::{Mutex as Lock, OwnedMutexGuard};

use crate::engine::root_missing;
use crate::shared::Shared;

/// What is noted of the tree of a workspace, in its state folder.
pub fn state_file(state: &Path, root: &Path) -> PathBuf {
    state::State::file(state, root)
}

/// One for the daemon: who is at the tree of which workspace.
#[derive(Debug, Default)]
pub struct Trees {
    locks: Mutex<BTreeMap<PathBuf, Locks>>,
    /// Workspaces of which a client waits for what becomes of the tree, as often as there are clients.
    awaited: Mutex<Vec<PathBuf>>,
}

/// Of one workspace.
#[derive(Debug, Clone, Default)]
struct Locks {
    /// Who reads and writes its nodes; held for as long as that takes.
    nodes: Arc<Lock<()>>,
    /// Who has the configured program write summaries, which may take minutes; nobody waits for it.
    program: Arc<Lock<()>>,
}

/// A client waits for what becomes of a tree: the keeper leaves it to the client's own run.
pub struct Awaited<'a> {
    trees: &'a Trees,
    root: PathBuf,
}

impl Drop for Awaited<'_> {
    fn drop(&mut self) {
        let mut awaited = self.trees.awaited.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = awaited.iter().position(|root| *root == self.root) {
            awaited.swap_remove(at);
        }
    }
}

impl Trees {
    /// Says that a client waits for a tree, until the answer goes.
    pub fn await_for(&self, root: &Path) -> Awaited<'_> {
        let mut awaited = self.awaited.lock().unwrap_or_else(PoisonError::into_inner);
        awaited.push(root.to_path_buf());
        Awaited {
            trees: self,
            root: root.to_path_buf(),
        }
    }

    /// Whether a client waits for a tree.
    fn is_awaited(&self, root: &Path) -> bool {
        let awaited = self.awaited.lock().unwrap_or_else(PoisonError::into_inner);
        awaited.iter().any(|awaited| awaited == root)
    }

    /// Waits until nobody is at the tree of the workspace at or above a folder, and keeps others away from it.
    pub async fn alone(&self, shared: &Shared, folder: &Path) -> OwnedMutexGuard<()> {
        let root = shared.views.root_of(folder);
        let lock = self.of(root.as_deref().unwrap_or(folder)).nodes;
        lock.lock_owned().await
    }

    /// Waits for the tree of a workspace, and keeps others away from it; `None`: somebody is at it, and nobody wants to wait.
    ///
    /// # Errors
    /// `warming` where the workspace's folder is away, `no-workspace` where it was removed meanwhile.
    fn take(
        &self,
        shared: &Shared,
        root: &Path,
        waits: bool,
    ) -> Result<Option<OwnedMutexGuard<()>>, RpcError> {
        if !hippo_fs::is_present(root) {
            return Err(root_missing(root));
        }
        let lock = self.of(root).nodes;
        let guard = if waits {
            lock.blocking_lock_owned()
        } else {
            let Ok(guard) = lock.try_lock_owned() else {
                return Ok(None);
            };
            guard
        };
        if shared.views.root_of(root).as_deref() == Some(root) {
            return Ok(Some(guard));
        }
        let message = format!("the workspace is registered no longer: {}", root.display());
        Err(RpcError::new(ErrorKind::NoWorkspace, message)
            .hint("register it again: hippoctl workspace add; nothing was changed"))
    }

    /// The locks of a workspace.
    fn of(&self, root: &Path) -> Locks {
        let mut locks = self.locks.lock().unwrap_or_else(PoisonError::into_inner);
        locks.entry(root.to_path_buf()).or_default().clone()
    }
}
