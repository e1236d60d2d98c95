//! `doctor --rebuild`: everything that is derived is made again from the watched files.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use hippo_proto::RpcError;
use hippo_store::StoreError;
use hippo_store::db::{Store, salvage};

use super::{Engine, open};
use crate::shared::Slot;

impl Engine {
    /// Makes the index of a workspace again. A sound database keeps its vectors, which depend on nothing but the
    /// text and the model; a damaged one is put aside.
    ///
    /// Answers what only the damaged database knew and could not be read.
    ///
    /// # Errors
    /// When the old database can neither be emptied nor replaced.
    pub(super) fn rebuild(&mut self, root: &Path) -> Result<Vec<String>> {
        let waiters = self.close(root);
        self.shared.views.set(root, Slot::Opening);
        let emptied = empty(&self.shared.paths.state, root);
        self.open(root);
        match self.by_root(root) {
            Some(workspace) => workspace.waiters = waiters,
            None => {
                for waiter in waiters {
                    let error =
                        RpcError::internal(format!("could not make the index again: {}", root.display()))
                            .hint("hippoctl doctor tells why");
                    // A client that is gone needs no answer.
                    let _ = waiter.reply.send(Err(error));
                }
            }
        }
        emptied
    }
}

/// Makes everything derived go that can be made again. Answers what else went.
fn empty(state: &Path, root: &Path) -> Result<Vec<String>> {
    let file = open::database(state, root);
    let emptied = Store::open(&file, &root.to_string_lossy())
        .and_then(|mut store| store.check().and_then(|()| store.clear()));
    let lost = match emptied {
        Ok(()) => Vec::new(),
        // Nothing is wrong with the database, and there is no room for another.
        Err(error @ (StoreError::DiskFull { .. } | StoreError::ReadOnly { .. })) => return Err(error.into()),
        Err(error) => {
            tracing::warn!(%error, "the database is made again, and the damaged one put aside");
            replace(&file, root)?
        }
    };
    let vectors = open::vector_folder(state, root);
    if let Err(error) = std::fs::remove_dir_all(&vectors)
        && error.kind() != std::io::ErrorKind::NotFound
    {
        tracing::warn!(%error, "could not remove the saved vector index; it will not fit and is not used");
    }
    Ok(lost)
}

/// Replaces a database by one of what can be read of it: entries with their accesses, what was removed, runs. The old one
/// goes aside when the new one is complete, and [`finish`] does what a kill in between left to be done.
fn replace(file: &Path, root: &Path) -> Result<Vec<String>> {
    let making = with_suffix(file, ".rebuilding");
    for suffix in ["", "-wal", "-shm"] {
        remove(&with_suffix(&making, suffix))?;
    }
    remove(&rebuilt(file))?;
    let salvaged = salvage(file, &making, &root.to_string_lossy())?;
    tracing::info!(
        rows = salvaged.rows,
        lost = salvaged.lost.len(),
        "what stands in no file is taken over from the damaged database"
    );
    rename(&making, &rebuilt(file))?;
    // The log first: it must not come to stand beside another database.
    for suffix in ["-wal", "-shm", ""] {
        let damaged = with_suffix(file, suffix);
        if damaged.exists() {
            rename(&damaged, &with_suffix(file, &format!("{DAMAGED}{suffix}")))?;
        }
    }
    finish(file)?;
    Ok(salvaged.lost)
}

/// Puts a database that was made again in its place, where the damaged one is aside already.
///
/// # Errors
/// As the system says.
pub(super) fn finish(file: &Path) -> Result<()> {
    let rebuilt = rebuilt(file);
    if file.exists() || !rebuilt.exists() {
        return Ok(());
    }
    rename(&rebuilt, file)?;
    let folder = file.parent().unwrap_or(Path::new("."));
    std::fs::File::open(folder)
        .and_then(|folder| folder.sync_all())
        .with_context(|| format!("could not make the new name durable: {}", folder.display()))
}

/// Where the database that was put aside stands.
pub(super) fn put_aside(file: &Path) -> PathBuf {
    with_suffix(file, DAMAGED)
}

/// Ends the name of a database that was put aside; an earlier one gives way.
const DAMAGED: &str = ".damaged";

/// A database that is complete and not in its place yet.
fn rebuilt(file: &Path) -> PathBuf {
    with_suffix(file, ".rebuilt")
}

fn rename(from: &Path, to: &Path) -> Result<()> {
    std::fs::rename(from, to)
        .with_context(|| format!("could not rename {} to {}", from.display(), to.display()))
}

fn remove(file: &Path) -> Result<()> {
    match std::fs::remove_file(file) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("could not remove {}", file.display()))
        }
        _ => Ok(()),
    }
}

fn with_suffix(file: &Path, suffix: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}
