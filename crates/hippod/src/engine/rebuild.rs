//! `doctor --rebuild`: everything that is derived is made again from the watched files.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use hippo_core::layout::INDEX_FILE;
use hippo_proto::RpcError;
use hippo_store::StoreError;
use hippo_store::db::{Reader, Store};

use super::{Engine, open};
use crate::shared::Slot;

impl Engine {
    /// Makes the index of a workspace again. A sound database keeps its vectors, which depend on nothing but the
    /// text and the model; a damaged one is put aside.
    ///
    /// # Errors
    /// When the old database can neither be emptied nor moved.
    pub(super) fn rebuild(&mut self, root: &Path) -> Result<()> {
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

/// Makes everything derived go that can be made again.
fn empty(state: &Path, root: &Path) -> Result<()> {
    let file = open::database(state, root);
    let emptied = Store::open(&file, &root.to_string_lossy())
        .and_then(|mut store| store.check().and_then(|()| store.clear()));
    match emptied {
        Ok(()) => {}
        // Nothing is wrong with the database, and there is no room for another.
        Err(error @ (StoreError::DiskFull { .. } | StoreError::ReadOnly { .. })) => return Err(error.into()),
        Err(error) => {
            tracing::warn!(%error, "the database is put aside and made again");
            put_aside(&file)?;
            if let Err(error) = take_over(&file, root) {
                tracing::warn!(%error, "what only the damaged database knew could not be read: accesses, removals, history");
            }
        }
    }
    let vectors = open::vector_folder(state, root);
    if let Err(error) = std::fs::remove_dir_all(&vectors)
        && error.kind() != std::io::ErrorKind::NotFound
    {
        tracing::warn!(%error, "could not remove the saved vector index; it will not fit and is not used");
    }
    Ok(())
}

/// Takes over from the database that was put aside what stands in no file: entries with their accesses, and what was
/// removed. A row that cannot be read costs no other.
fn take_over(file: &Path, root: &Path) -> Result<(), StoreError> {
    let aside = with_suffix(file, ".damaged");
    if !aside.exists() {
        return Ok(());
    }
    let known = Reader::open(&aside)?.entries()?;
    let base = Reader::open(&aside)?.base(INDEX_FILE).ok().flatten();
    let mut store = Store::open(file, &root.to_string_lossy())?;
    let mut batch = store.begin_entries()?;
    for record in known.records.values() {
        batch.put_record(record)?;
    }
    for (id, tombstone) in &known.tombstones {
        batch.put_tombstone(id, tombstone)?;
    }
    for pair in &known.co_access {
        batch.put_co_access(pair)?;
    }
    batch.put_quick_access(&known.quick_access)?;
    if let Some(base) = base {
        batch.put_base(INDEX_FILE, &base.bytes, base.at)?;
    }
    batch.commit()?;
    tracing::info!(
        entries = known.records.len(),
        removed = known.tombstones.len(),
        "entries of the damaged database are taken over"
    );
    Ok(())
}

/// Renames a database and its log, so that nothing is destroyed; an earlier one that was put aside goes.
fn put_aside(file: &Path) -> Result<()> {
    for suffix in ["", "-wal", "-shm"] {
        let from = with_suffix(file, suffix);
        let to = with_suffix(file, &format!(".damaged{suffix}"));
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
