//! The registered workspaces and their states.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::RwLock;
use tokio::sync::watch;
use tracing::Span;

use hippo_proto::{ErrorKind, RpcError};

use crate::registry;
use crate::view::WorkspaceView;

/// Maximum time that a request waits for a workspace that is being opened.
const OPENING: Duration = Duration::from_secs(20);

/// State of a registered workspace.
#[derive(Clone)]
pub enum Slot {
    /// The database is being loaded.
    Opening,
    /// The workspace is ready.
    Open(Arc<WorkspaceView>),
    /// The workspace could not be opened. Requests of clients return this error.
    Broken(RpcError),
}

/// The registered workspaces, by canonical root.
pub struct Views {
    slots: RwLock<BTreeMap<PathBuf, Slot>>,
    changed: watch::Sender<()>,
}

/// Returns the error for a folder that is not in any workspace.
pub fn no_workspace(folder: &Path) -> RpcError {
    let place = folder.display();
    let error = RpcError::new(
        ErrorKind::NoWorkspace,
        format!("could not find a workspace at or above: {place}"),
    );
    error.hint(if hippo_fs::is_present(folder) {
        format!(
            "`hippoctl workspace list` shows the registered workspaces; to register this folder: hippoctl \
             workspace add {place}"
        )
    } else {
        "the folder does not exist; `hippoctl workspace list` shows the registered workspaces, and `hippoctl \
         workspace add DIR` registers one"
            .to_owned()
    })
}

impl Default for Views {
    fn default() -> Self {
        Self {
            slots: RwLock::default(),
            changed: watch::Sender::new(()),
        }
    }
}

impl Views {
    /// Sets the state of a workspace.
    pub fn set(&self, root: &Path, slot: Slot) {
        self.change(|slots| slots.insert(root.to_path_buf(), slot));
    }

    /// Removes a workspace from the list.
    pub fn remove(&self, root: &Path) {
        self.change(|slots| slots.remove(root));
    }

    /// Returns the state of the workspace with this root.
    pub fn slot(&self, root: &Path) -> Option<Slot> {
        self.slots.read().get(root).cloned()
    }

    fn change<T>(&self, change: impl FnOnce(&mut BTreeMap<PathBuf, Slot>) -> T) {
        change(&mut self.slots.write());
        self.changed.send_replace(());
    }

    /// Returns the roots and the states of all workspaces, sorted by root.
    pub fn all(&self) -> Vec<(PathBuf, Slot)> {
        let slots = self.slots.read();
        slots
            .iter()
            .map(|(root, slot)| (root.clone(), slot.clone()))
            .collect()
    }

    /// Returns all workspaces that are ready.
    pub fn open(&self) -> Vec<Arc<WorkspaceView>> {
        let open = |(_, slot)| match slot {
            Slot::Open(view) => Some(view),
            Slot::Opening | Slot::Broken(_) => None,
        };
        self.all().into_iter().filter_map(open).collect()
    }

    /// Waits until no workspace is being opened, but no longer than a time limit. Requests that concern all workspaces
    /// call this first.
    pub async fn opened(&self) {
        let mut changed = self.changed.subscribe();
        let deadline = tokio::time::Instant::now() + OPENING;
        let opening = |(_, slot): &(PathBuf, Slot)| matches!(slot, Slot::Opening);
        while self.all().iter().any(opening) {
            if tokio::time::timeout_at(deadline, changed.changed())
                .await
                .is_err()
            {
                return;
            }
        }
    }

    /// Returns the root of the workspace that contains a folder. The folder need not exist.
    #[expect(clippy::disallowed_methods, reason = "the user chose this path")]
    pub fn root_of(&self, folder: &Path) -> Option<PathBuf> {
        let real = folder.canonicalize().unwrap_or_else(|_| folder.to_path_buf());
        let slots = self.slots.read();
        real.ancestors()
            .find(|above| slots.contains_key(*above))
            .map(Path::to_path_buf)
    }

    /// Returns the view of the workspace that contains a folder. If the workspace is being opened, waits until it is
    /// open.
    ///
    /// # Errors
    /// Returns `no-workspace` if no workspace contains the folder, `warming` if the workspace is not open after the
    /// time limit, or the error if it could not be opened.
    pub async fn get(&self, folder: &str) -> Result<Arc<WorkspaceView>, RpcError> {
        let root = self
            .root_of(Path::new(folder))
            .ok_or_else(|| no_workspace(Path::new(folder)))?;
        Span::current().record("workspace", registry::short_id(&root));
        let mut changed = self.changed.subscribe();
        let deadline = tokio::time::Instant::now() + OPENING;
        loop {
            match self.slot(&root) {
                Some(Slot::Open(view)) => return Ok(view),
                Some(Slot::Broken(error)) => return Err(error),
                Some(Slot::Opening) => {
                    if tokio::time::timeout_at(deadline, changed.changed())
                        .await
                        .is_err()
                    {
                        let what = format!("the workspace is still being opened: {}", root.display());
                        return Err(RpcError::new(ErrorKind::Warming, what).hint("try again in a moment"));
                    }
                }
                None => {
                    let what = format!("the workspace was removed: {}", root.display());
                    return Err(RpcError::new(ErrorKind::NoWorkspace, what)
                        .hint("to register the workspace again: hippoctl workspace add"));
                }
            }
        }
    }
}
