//! `doctor --rebuild`: everything that is derived is made again from the watched files.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use anyhow::{Context, Result};

use hippo_store::db::Store;

use super::{Engine, open};
use crate::shared::Slot;

impl Engine {
    /// Makes the index of a workspace again. A sound database keeps its vectors, which depend on nothing but the
    /// text and the model; a damaged one is put aside.
    ///
    /// # Errors
    /// When the old database can neither be emptied nor moved.
    pub(super) fn rebuild(&mut self, root: &Path) -> Result<()> {
        let key = self
            .workspaces
            .values()
            .find(|workspace| workspace.root == root)
            .map(|found| found.key);
        if let Some(workspace) = key.and_then(|key| self.workspaces.remove(&key)) {
            if let Some(cancel) = &workspace.cancel_build {
                cancel.store(true, Ordering::Relaxed);
            }
            workspace.view.forget_readers();
        }
        self.shared.views.set(root, Slot::Opening);
        let state = &self.shared.paths.state;
        let file = open::database(state, root);
        let emptied = Store::open(&file, &root.to_string_lossy())
            .and_then(|mut store| store.check().and_then(|()| store.clear()));
        if let Err(error) = emptied {
            tracing::warn!(%error, "the database is put aside and made again");
            put_aside(&file)?;
        }
        let vectors = open::vector_folder(state, root);
        if let Err(error) = std::fs::remove_dir_all(&vectors)
            && error.kind() != std::io::ErrorKind::NotFound
        {
            tracing::warn!(%error, "could not remove the saved vector index; it will not fit and is not used");
        }
        self.open(root);
        Ok(())
    }
}

/// Renames a database and its log, so that nothing is destroyed; an earlier one that was put aside goes.
fn put_aside(file: &Path) -> Result<()> {
    for suffix in ["", "-wal", "-shm"] {
        let from = with_suffix(file, suffix);
        let to = with_suffix(file, &format!("{suffix}.damaged"));
        match std::fs::rename(&from, &to) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                let what = format!("could not put the damaged database aside: {}", from.display());
                return Err(error).context(what);
            }
            _ => {}
        }
    }
    Ok(())
}

fn with_suffix(file: &Path, suffix: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}
